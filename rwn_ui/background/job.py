"""Slow work of one user in a process: progress, cancel, result; at most `JOB_SLOTS` at once."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rwn_core.errors import RWNError
from rwn_core.parallel import pool as job
from rwn_core.parallel.kernel_cache import LIMITS, is_ready
from rwn_core.parallel.processes import Handle, Report, be_polite, fork_workers

WAITS = "waiting until the work of another user ends"
CANCELLED = "Cancelled."
_GLANCE = 0.2  # seconds between two looks for a free slot


def fork_later_workers(ended: Future[Any]) -> None:
    """Have workers forked once a first piece of work is done, which no first picture waits for.

    The process that they are forks of reads the kernels that are compiled then.
    """
    if not ended.cancelled() and ended.exception() is None and is_ready(LIMITS):
        fork_workers("rwn_ui.background.advising", "rwn_ui.background.measure_worker")


class Slots:
    """A semaphore for heavy work of all users; a slot is free when its work ends or is dropped."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: list[weakref.ref[Any]] = []
        self._lock = threading.Lock()

    def take(self, work: Any) -> bool:
        """True if there was a slot, which the work now has."""
        with self._lock:
            alive = [each for each in self._held if (held := each()) and held.running]
            self._held = alive
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
        **arguments: Any,
    ) -> None:
        self.label, self.about, self._doing = label, about, words
        self._lock = threading.Lock()
        self._task = job.Task(job.Call(work, arguments))
        self._task.add_done_callback(fork_later_workers)
        if not self._begin_work():
            threading.Thread(target=_wait, args=(weakref.ref(self),), daemon=True).start()

    @property
    def waits(self) -> bool:
        """True if it waits for a slot."""
        return self._pool is None and not self._task.done()

    @property
    def words(self) -> str:
        """The activity in words, with the time left while it runs."""
        if self.waits:
            return f"{self._doing}: {WAITS}"
        return f"{self._doing}: {self.left}" if self.running else self._doing

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        with self._lock:  # or it might begin meanwhile
            super().cancel()

    def _begin_work(self) -> bool:
        """True if nothing more is to wait for; begins if there is a slot."""
        with self._lock:
            if self.waits:
                if not JOB_SLOTS.take(self):
                    return False
                self._begin_in(job.Pool(_prepare, workers=1))
            return True


def _prepare() -> Handle:
    return _work_politely


def _work_politely(call: job.Call, report: Report) -> Any:
    """Work at a low priority, once all is read: a slider that moves meanwhile comes first."""
    be_polite()  # its workers are as polite
    return job.call(call, report)


def _wait(reference: weakref.ref[Job]) -> None:
    """Begin a job as soon as there is a slot."""
    while (waiting := reference()) is not None:
        try:
            if waiting._begin_work():
                return
        except RWNError as refusal:
            waiting._task.set_exception(refusal)
            return
        del waiting  # this thread must not be its only owner
        time.sleep(_GLANCE)
