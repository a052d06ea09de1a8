"""Lets so many heavy works of all users go on at once; the others wait."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Protocol


class Work(Protocol):
    """Something that goes on in processes of its own."""

    @property
    def running(self) -> bool:
        """True until it has ended."""


class Places:
    """Works that hold a slot, each until it ends or is dropped.

    Parameters
    ----------
    count : int
        How many works may go on at once.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: list[weakref.ref[Any]] = []
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """True if all slots are taken."""
        self._held = [each for each in self._held if (work := each()) and work.running]
        return len(self._held) >= self.count

    def take(self, work: Work) -> bool:
        """Give work a place; whether there was one."""
        with self._lock:
            if self.full:
                return False
            self._held.append(weakref.ref(work))
            return True


# of this server: each work takes a processor, and memory for its tables
PLACES = Places(max(2, os.cpu_count() or 1))
