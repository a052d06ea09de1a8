"""A table that is prepared in a thread: its neighbors are ranked while the pages stay in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import rwn_core as rwn
from rwn_core.compile_ahead import warm
from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.kernel_cache import is_ready
from rwn_core.parallel.pool import Job
from rwn_core.parallel.threads import Cancelled, Progress, be_polite
from rwn_ui.background.job import CANCELLED

Prepare = Callable[[rwn.Microdata, Progress, threading.Event], Any]
_COMPILING = threading.Lock()  # for all users
_GLANCE = 0.2  # seconds between two looks at whether to stop


class Task:
    """The preparation of a table in a thread: under way, finished or cancelled."""

    def __init__(
        self, data: rwn.Microdata, name: str, prepare: Prepare, then: Callable[[Any], None]
    ) -> None:
        self.data, self.name = data, name
        self.then = then  # called with the prepared table, in a run of a page
        # begins it anew with another description of the same records
        self.again: Callable[[rwn.Microdata], None] | None = None
        self.words = f"Ranking the neighbors of {data.n:,} records of {name}"
        self.share = 0.0
        self.result: Any = None
        self.refusal = ""  # reason for no result, in one sentence
        self.stop = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._run, args=(prepare,), daemon=True, name="rwn.task").start()

    @property
    def running(self) -> bool:
        """True if it has not ended."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None) -> None:
        """Wait until it has ended, but no longer than this; None waits for its end."""
        self._ended.wait(seconds)

    def cancel(self) -> None:
        """Ask it to stop; it does so within half a second."""
        self.stop.set()

    def progress(self, share: float) -> None:
        """Note the share done."""
        self.share = share

    def check(self, seconds: float = 0.0) -> None:
        """Wait so long; raise `Cancelled` if it is to stop."""
        if self.stop.wait(seconds):
            raise Cancelled(CANCELLED)

    def _run(self, prepare: Prepare) -> None:
        try:
            words = self.words
            _compile(self)
            self.words = words
            be_polite()
            self.result = prepare(self.data, self.progress, self.stop)
        except Cancelled:
            self.refusal = CANCELLED
        except RWNError as refusal:
            self.refusal = str(refusal)
        except Exception as error:  # its text may hold a value: only its type and lines are logged
            self.refusal = (
                f"The table could not be made ready, perhaps for lack of memory (error "
                f"{log_fault(error)}); try it again, or take a sample of its records."
            )
        finally:
            self._ended.set()


def compile_ahead(progress: Progress | None = None) -> None:
    """Compile the search for this machine."""
    warm()


def _compile(task: Task) -> None:
    """Compile in another process, which can be stopped; here if it cannot write its cache."""
    if is_ready():
        return
    task.words = "Compiling the search for this machine, once: half a minute"
    while not _COMPILING.acquire(timeout=_GLANCE):
        task.check()
    try:
        elsewhere = Job(compile_ahead)
        try:
            while elsewhere.running:
                task.check(_GLANCE)
        finally:
            elsewhere.cancel()
        compile_ahead()  # at once if the other process has written its cache
    finally:
        _COMPILING.release()
