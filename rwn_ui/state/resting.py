"""Takes back results of idle users while the server needs much memory.

A table of 20,000 records and its stored neighbors take 200 MB. All of it follows from the choices,
so that it is made again, to the bit, when its user comes back; see `change_table.prepare_again`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rwn_core.parallel.memory import resident_bytes
from rwn_ui.state.results import RESULTS, Results
from rwn_ui.state.work import WORK, Work

REST = 10.0  # seconds without a look at a page, after which a user rests
LARGEST_GROWTH = 400_000_000  # bytes that the server may grow before users who rest give back

User = tuple[Results, Work]


class Resting:
    """Frees memory of idle users, the longest idle first.

    Parameters
    ----------
    taken : callable
        The memory that the server takes now.
    """

    def __init__(self, taken: Callable[[], float] = resident_bytes) -> None:
        self._taken, self._first = taken, taken()

    def give_back(self, states: Sequence[Mapping[str, Any]]) -> bool:
        """Free one user's tables if needed; True if it did."""
        if len(states) < 2 or self._taken() - self._first <= LARGEST_GROWTH:
            return False
        now = time.monotonic()
        rest = [user for user in map(_user, states) if user is not None and _rests(user, now)]
        if not rest:
            return False
        results, work = min(rest, key=lambda user: user[0].used)
        results.give_back()
        if work.worker is not None:
            work.worker.cancel()  # what it has answered stays
        return True


def _user(state: Mapping[str, Any]) -> User | None:
    try:
        return state[RESULTS], state[WORK]
    except KeyError:  # it has just come, or gone
        return None


def _rests(user: User, now: float) -> bool:
    """True if a user has tables to free and none in preparation."""
    results, work = user
    return results.holds_tables and work.preparation is None and now - results.used >= REST
