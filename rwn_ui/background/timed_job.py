"""A job that says how long it will still take, from how far it is and since when."""

from __future__ import annotations

import time

from rwn_ui.background.job import Job

_SURE = 0.05  # share done before the time left is worth saying


class TimedJob(Job):
    """A job that states the time left; its share grows about as the time passes."""

    _begun: float | None = None  # when it had no longer to wait

    @property
    def words(self) -> str:
        """The activity and the time left, in words."""
        said = super().words
        if self.waits:
            return said
        self._begun = self._begun or time.monotonic()
        left = time_left(self.share, time.monotonic() - self._begun)
        return f"{said}: {left}" if left else said


def time_left(share: float, seconds: float) -> str:
    """Time left after a share was done in so many seconds; empty at its start."""
    if share < _SURE:
        return ""
    left = seconds * (1 - share) / share
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if left >= 2 * length:
            return f"about {left / length:.0f} {unit} left"
    return f"about {max(1, round(left))} seconds left"
