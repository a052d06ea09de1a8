"""An event by which work ends when its processor time is over."""

from __future__ import annotations

import threading

from rwn_core.parallel import clock
from rwn_core.parallel.threads import current_work


class Deadline(threading.Event):
    """An event that sets itself when its processor time is over, or work around it is cancelled."""

    def __init__(self, until: float) -> None:
        super().__init__()
        self.until = until
        self._around = current_work().cancel

    def is_set(self) -> bool:
        """True if the time is over, or the work around it is to stop."""
        stopped = self._around is not None and self._around.is_set()
        return stopped or clock.processor_seconds() > self.until
