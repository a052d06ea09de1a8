"""Time left of work that reports the share done, by the pace of this run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rwn_core.parallel.threads import Progress

UNKNOWN = "time unknown yet"
LONGER = "longer than expected"
_SURE = 4.0  # seconds between the first report and the first estimate


class Pace:
    """The pace of one run; what comes before its first report is no part of it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, float] | None = None  # time and share
        self._last = (0.0, 0.0)
        self._left: float | None = None  # seconds, at the last report

    def report(self, share: float) -> None:
        """Take in the share done; one that is no larger than the last says nothing."""
        now = self._clock()
        if share <= self._last[1]:
            return
        self._first = self._first or (now, share)
        self._last = now, share
        started, before = self._first
        if now - started >= _SURE:
            self._left = (now - started) * max(1.0 - share, 0.0) / (share - before)

    @property
    def seconds_left(self) -> float | None:
        """Seconds left, below 0 where the estimate has run out; None before there is one."""
        if self._left is None:
            return None
        return self._left - (self._clock() - self._last[0])

    @property
    def words(self) -> str:
        """The time left, in words."""
        return left_words(self.seconds_left)


class Part:
    """A receiver of the reports of a part of some work, and of its answers so far."""

    def __init__(self, parent: Progress | None, begin: float = 0.0, end: float = 1.0) -> None:
        self._parent = parent or (lambda share: None)
        self._begin = begin
        self._end = end
        self.found: Callable[[Any], None] = getattr(parent, "found", lambda answer: None)

    def __call__(self, share: float) -> None:
        """Report the share done of the part."""
        self._parent(self._begin + (self._end - self._begin) * share)


def left_words(seconds: float | None) -> str:
    """Write the seconds left.

    >>> left_words(None), left_words(50.2), left_words(130), left_words(-1)
    ('time unknown yet', 'about 50 s left', 'about 2 min left', 'longer than expected')
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 0:
        return LONGER
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"about {seconds / length:.0f} {unit} left"
    return f"about {max(1, round(seconds))} s left"
