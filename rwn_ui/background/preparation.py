"""A table that is prepared in a thread: its neighbors are ranked while the pages stay in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rwn_core as rwn
from rwn_core.compile_ahead import warm
from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.job import Job
from rwn_core.parallel.kernel_cache import is_ready
from rwn_core.parallel.threads import Cancelled, Progress, be_polite
from rwn_ui.background.job import CANCELLED


class Task:
    """One piece of work under way, finished or cancelled; the work may change its words."""

    def __init__(self, work: Callable[[Task], Any], *, words: str) -> None:
        self.words, self.share = words, 0.0
        self.result: Any = None
        self.refusal = ""  # reason for no result, in one sentence
        self.stop = threading.Event()
        self._ended = threading.Event()
        self._work = work
        threading.Thread(target=self._run, daemon=True, name="rwn.task").start()

    @property
    def running(self) -> bool:
        """True until it has ended."""
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

    def _run(self) -> None:
        try:
            self.result = self._work(self)
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


Prepare = Callable[[rwn.Microdata, Progress, threading.Event], Any]
_COMPILING = threading.Lock()  # for all users
_GLANCE = 0.2  # seconds between two looks at whether to stop


@dataclass(slots=True, eq=False)
class Preparation:
    """A table in preparation."""

    data: rwn.Microdata = field(repr=False)
    name: str
    task: Task = field(repr=False)
    # called with the prepared table, in a run of a page
    then: Callable[[Any], None] = field(repr=False)
    # begins it anew with another description of the same records
    again: Callable[[rwn.Microdata], None] | None = field(default=None, repr=False)

    @classmethod
    def start(
        cls, data: rwn.Microdata, name: str, prepare: Prepare, then: Callable[[Any], None]
    ) -> Preparation:
        """Start compiling, if needed, and then `prepare`."""
        words = f"Ranking the neighbors of {data.n:,} records of {name}"

        def work(task: Task) -> Any:
            _compile(task)
            task.words = words
            be_polite()
            return prepare(data, task.progress, task.stop)

        return cls(data=data, name=name, task=Task(work, words=words), then=then)


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
