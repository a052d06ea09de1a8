"""What lets in: a one-time code that a browser shows, or the secret that a proxy sends.

The launcher tells codes and secret through the server's standard input: arguments and environment
of a process can be read, a pipe cannot.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable

from rwn_ui.server.environment import CODE, EVERYONE, PROXY

CODE_LASTS_S = 60.0
"""Seconds within which a code has to be shown."""
_USED = -math.inf
"""When a code ended that was shown."""
_NOBODY = -1  # the number of no account


class Codes:
    """The codes that each let one browser in, once and within a minute, and their cookies.

    A cookie counts for the account that showed the code: a browser sends it to every port of this
    machine, and another account may listen on one.

    Parameters
    ----------
    clock : function
        Returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # by digests: how long a look-up takes says nothing of the text
        self._ends: dict[bytes, float] = {}
        self._accounts: dict[bytes, int | None] = {}  # of cookies; None where no system says so

    def hear(self, code: str) -> None:
        """Let a code in, from now on for a minute."""
        self._ends[_digest(code)] = self._clock() + CODE_LASTS_S

    def has_heard(self, code: str) -> bool:
        """True if the launcher has told a code, used since or not."""
        return _digest(code) in self._ends

    def exchange(self, code: str, account: int | None) -> str | None:
        """Return a new cookie for a code, which is used up; None if it is unknown, used or late."""
        digest = _digest(code)
        end = self._ends.get(digest)
        if end is None:
            return None
        self._ends[digest] = _USED
        if self._clock() > end:
            return None
        cookie = secrets.token_urlsafe(32)
        self._accounts[_digest(cookie)] = account
        return cookie

    def knows(self, cookie: str, account: int | None) -> bool:
        """True if this account got a cookie of this value for a code."""
        owner = self._accounts.get(_digest(cookie), _NOBODY)
        return owner == account


class ProxySecret:
    """The secret that a proxy sends with each request."""

    def __init__(self) -> None:
        self._secret: str | None = None  # not heard yet: nothing is right

    def hear(self, secret: str) -> None:
        """Take the secret."""
        self._secret = secret

    def knows(self, given: str) -> bool:
        """True if a text is the secret; the time does not say how much of it is right."""
        if self._secret is None:
            return False
        return hmac.compare_digest(given.encode(), self._secret.encode())


Entry = Codes | ProxySecret | None
"""None lets every account of the machine in."""


def entry_named(name: str) -> Entry:
    """Return an entry by its name in the environment; it lets none in before it hears a secret."""
    kinds: dict[str, Callable[[], Entry]] = {
        CODE: Codes,
        PROXY: ProxySecret,
        EVERYONE: lambda: None,
    }
    return kinds[name]()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
