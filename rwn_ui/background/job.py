"""Work of one user in a process: progress, cancel, result; at most `JOB_SLOTS` at once."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from rwn_core.errors import RWNError
from rwn_core.parallel import pool as job
from rwn_core.parallel.processes import Report, be_polite

WAITS = "waiting until the work of another user ends"
CANCELLED = "Cancelled."
_GLANCE = 0.2  # seconds between two looks for a free slot


class Slots:
    """Semaphore for heavy work of all users; a slot is free when its work ends or is dropped."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: list[weakref.ref[Any]] = []
        self._lock = threading.Lock()

    def take(self, work: Any) -> bool:
        """Give work a slot; False if there is none."""
        with self._lock:
            self._held = [each for each in self._held if (work := each()) and work.running]
            if len(self._held) >= self.count:
                return False
            self._held.append(weakref.ref(work))
            return True


# of this server: each work takes a processor, and memory for its tables
JOB_SLOTS = Slots(max(2, os.cpu_count() or 1))


class Job(job.Job):
    """One piece of work waiting, under way, finished or cancelled."""

    def __init__(
        self,
        label: str,  # the setting it belongs to, in words
        work: Callable[..., Any],  # it is given the arguments and `progress`, a `Report`
        *,
        words: str,  # the activity
        about: tuple[Any, ...] = (),  # the choices that it was started with
        on_cancel: Callable[[Job], None] | None = None,  # called if it is cancelled before its end
        **arguments: Any,
    ) -> None:
        self.label, self.about, self._doing = label, about, words
        self._on_cancel = on_cancel
        self._call: tuple[Callable[..., Any], dict[str, Any]] | None = (work, arguments)
        self._refusal, self._lock = "", threading.Lock()  # the reason if it never began
        if not self._begin():
            threading.Thread(target=_wait, args=(weakref.ref(self),), daemon=True).start()

    @property
    def waits(self) -> bool:
        """True if it waits for a slot."""
        return self._call is not None

    @property
    def running(self) -> bool:
        """True until it has ended."""
        return self.waits or (not self._refusal and super().running)

    @property
    def words(self) -> str:
        """The activity in words, with the time left while it runs."""
        if self.waits:
            return f"{self._doing}: {WAITS}"
        return f"{self._doing}: {self.left}" if self.running else self._doing

    @property
    def share(self) -> float:
        """Share done, from 0 to 1."""
        return 0.0 if self.waits or self._refusal else super().share

    @property
    def so_far(self) -> Any:
        """Answer so far; it stays after `cancel`. None while there is none."""
        return None if self.waits or self._refusal else super().so_far

    @property
    def result(self) -> Any:
        """Return value of the work; None without one."""
        return None if self.waits or self._refusal else super().result

    @property
    def refusal(self) -> str:
        """Reason for no result, in one sentence; empty while it runs and with a result."""
        return self._refusal or ("" if self.waits else super().refusal)

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        under_way = self.running
        with self._lock:
            if self._call is not None:
                self._call, self._refusal = None, CANCELLED
        if not self._refusal:
            super().cancel()
        if under_way and self._on_cancel is not None:
            self._on_cancel(self)

    def _begin(self) -> bool:
        """Begin if there is a slot; True if there is nothing more to wait for."""
        with self._lock:
            if self._call is None:
                return True
            if not JOB_SLOTS.take(self):
                return False
            work, arguments = self._call
            super().__init__(_work_politely, task=work, arguments=arguments)
            self._call = None
            return True


def _work_politely(task: Callable[..., Any], arguments: dict[str, Any], progress: Report) -> Any:
    """Do the work at a low priority: a slider that moves meanwhile comes first."""
    be_polite()  # its workers are as polite
    return task(**arguments, progress=progress)


def _wait(reference: weakref.ref[Job]) -> None:
    """Begin a job as soon as there is a slot."""
    while (waiting := reference()) is not None:
        try:
            if waiting._begin():
                return
        except RWNError as refusal:
            waiting._call, waiting._refusal = None, str(refusal)
            return
        del waiting  # this thread must not be its only owner
        time.sleep(_GLANCE)
