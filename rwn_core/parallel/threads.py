"""Work in threads: their number, progress, cancellation, and the memory that they may take.

What a caller wants of a piece of work is said once, at the door: `with work(threads=2): ...`. All
that is called inside asks `current_work()`, in this thread and in those that it begins; a task of
a process takes it along. Two users in one server do not see each other's.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from rwn_core.errors import ParameterError, RWNError

Item = TypeVar("Item")
Progress = Callable[[float], None]
"""Takes the share done; it may have a method `found`, which takes an answer so far."""

POLL_SECONDS = 0.05  # seconds of work between two looks at whether to go on
LEAST = 8  # of a range, however few are left, unless so many take longer than `BRIEF`
BRIEF = 0.002  # seconds of a range
THREAD_GRAIN = 0.003  # seconds of work for which further threads are started
CELLS_A_THREAD = 100_000  # fewer are not worth another thread
_REPORT_EVERY = 0.1  # seconds between two reports
_POLITE = 5  # what a thread adds to its niceness while a person looks at what another one draws


class Cancelled(RWNError):
    """The work was stopped before it was done."""


def thread_count(threads: int | None = None) -> int:
    """Return the number of threads to use."""
    if threads is None:
        given = os.environ.get("RWN_THREADS", "")
        if not given and hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        if not given:
            return os.cpu_count() or 1
        if not given.isdecimal() or int(given) < 1:
            raise ParameterError("RWN_THREADS must be a whole number of at least 1.")
        return int(given)
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError("threads must be a whole number of at least 1.")
    return threads


def be_polite() -> None:
    """Let this thread, and those that it begins, leave the processors to the process's others."""
    # Only Linux knows a priority of a thread; elsewhere nothing happens.
    if sys.platform == "linux":
        os.nice(_POLITE)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let each product of matrices take one thread, until the last that asks for it has left.

    Of many small products the threads of NumPy and SciPy wait for each other, at full load.
    """
    _ONE_BLAS_THREAD.enter()
    try:
        yield
    finally:
        _ONE_BLAS_THREAD.leave()


class _OneBlasThread:
    """The limit of this process's libraries to one thread, for all that ask for it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def enter(self) -> None:
        """Limit the libraries for the first that asks."""
        with self._lock:
            if not self._inside:
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        """Give the libraries their threads back after the last."""
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


@cache
def _blas() -> ThreadpoolController:
    """Return what limits the threads of this process's libraries; to look for them takes long."""
    import scipy.linalg  # noqa: F401 - it brings a library of its own, which must be there

    return ThreadpoolController()


class Ranges:
    """A source of ranges of 0 to `count` that take about `POLL_SECONDS` seconds each.

    Towards the end they are smaller, so that all `threads` end at about the same time.
    """

    def __init__(self, count: int, threads: int = 1, first: int = 1) -> None:
        self.count = count
        self.done = 0
        self.alone = False  # while one thread takes all of them, the last is not made small
        self._threads = threads
        self._next = 0
        self._size = first
        self._pace = 0.0
        self._lock = threading.Lock()

    def take(self) -> tuple[int, int] | None:
        """The next range, or nothing if there is none left."""
        with self._lock:
            start = self._next
            least = min(LEAST, int(BRIEF / max(self._pace, 1e-9)))
            left = self.count - start
            share = left if self.alone else max(1, least, left // (2 * self._threads))
            self._next = stop = min(self.count, start + min(self._size, share))
        return (start, stop) if start < stop else None

    def finished(self, size: int, seconds: float) -> float:
        """Learn from a range how large the next may be; return the rest's seconds in one thread."""
        with self._lock:
            self.done += size
            self._pace = seconds / size
            self._size = max(1, min(int(POLL_SECONDS / max(self._pace, 1e-9)), 4 * size))
            if self.done < LEAST and self._pace < BRIEF:
                return 0.0  # most of the time of so short a range is the call
            return (self.count - self._next) * self._pace


@dataclass(slots=True, kw_only=True, eq=False)
class Work:
    """The threads, progress, cancel and memory of a piece of work, in force within a `with`."""

    threads: int | None = None  # None for RWN_THREADS or all processors
    progress: Progress | None = None  # what it raises stops the work
    cancel: threading.Event | None = None  # set by another thread, it stops the work
    memory: float | None = None  # bytes; None for what is free, see `memory.budget_bytes`
    begin: float = 0.0  # of the part of the whole that is reported
    end: float = 1.0
    _before: Any = field(default=None, init=False)

    def __enter__(self) -> Work:
        """Put it in force."""
        self._before = _CURRENT.get()
        _CURRENT.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Put in force what was before."""
        _CURRENT.set(self._before)

    def part(self, begin: float, end: float) -> Work:
        """The same work, for the part from `begin` to `end` of what it reports."""
        length = self.end - self.begin
        return replace(self, begin=self.begin + length * begin, end=self.begin + length * end)

    def quiet(self) -> Work:
        """The same work without reports; a step of a loop that reports itself."""
        return replace(self, progress=None)

    def report(self, share: float) -> None:
        """Stop if the work is to stop, and report the share done."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("The work was cancelled.")
        if self.progress is not None:
            self.progress(self.begin + (self.end - self.begin) * share)

    def found(self, answer: object) -> None:
        """Report an answer so far, to what takes one; the last one counts."""
        tell = getattr(self.progress, "found", None)
        if tell is not None:
            tell(answer)

    def run(self, task: Callable[[int, int], None], count: int) -> None:
        """Call `task(start, stop)` for ranges that make up 0 to `count`, on several threads."""
        # This thread is one of them; the others are started where there is work for them.
        threads = thread_count(self.threads)
        watched = (self.progress, self.cancel) != (None, None)
        ranges = Ranges(count, threads)
        stop = threading.Event()
        others = set[Future[None]]()
        pool = ThreadPoolExecutor(max(1, threads - 1))
        reported = time.perf_counter()

        def help_with() -> None:
            try:
                while not stop.is_set() and (mine := ranges.take()) is not None:
                    began = time.perf_counter()
                    task(*mine)
                    ranges.finished(mine[1] - mine[0], time.perf_counter() - began)
            except BaseException:
                stop.set()
                raise

        # what a range begins takes no further threads, and its reports are none of this work's
        before = _CURRENT.set(replace(self, threads=1, progress=None))
        try:
            if 1 < count <= 2 * threads:  # each is a large part of it
                others = _start_others(pool, help_with, threads - 1)
            while not stop.is_set() and ranges.done < count:
                ranges.alone = not others
                if (taken := ranges.take()) is None:
                    break
                started = time.perf_counter()
                task(*taken)
                left = ranges.finished(taken[1] - taken[0], time.perf_counter() - started)
                if not others and threads > 1 and left > THREAD_GRAIN:
                    others = _start_others(pool, help_with, threads - 1)
                if watched:
                    reported = self._look(ranges, reported)
            while others:
                done, others = wait(others, timeout=_REPORT_EVERY, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                reported = self._look(ranges, reported)
            if watched:
                self._look(ranges, -math.inf)
        finally:
            _CURRENT.reset(before)
            stop.set()  # also after an error, or Ctrl-C: no thread goes on for longer than a slice
            pool.shutdown(wait=True)

    def _look(self, ranges: Ranges, reported: float) -> float:
        """Stop, or report the share done unless it was just before; return when it was."""
        due = time.perf_counter() - reported >= _REPORT_EVERY
        watch = self if due else self.quiet()
        watch.report(ranges.done / max(ranges.count, 1))
        return time.perf_counter() if due else reported


def _start_others(
    pool: ThreadPoolExecutor, labor: Callable[[], None], count: int
) -> set[Future[None]]:
    """Begin a number of threads with the same labor, in copies of this context."""
    try:
        return {pool.submit(copy_context().run, labor) for _ in range(count)}
    except RuntimeError as error:
        if "interpreter shutdown" not in str(error):
            raise
        raise Cancelled("The program ends.") from None  # which is no fault to report


_CURRENT: ContextVar[Work] = ContextVar("work", default=Work())  # noqa: B039
current_work = _CURRENT.get
"""Return what the caller wants of the work that goes on."""


def work(
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    memory: float | None = None,
) -> Work:
    """State what is wanted of the work within a `with`; what is left out does not change.

    >>> with work(threads=1), work(memory=1e9) as inner:
    ...     inner.threads, inner is current_work()
    (1, True)
    """
    now = current_work()
    return Work(
        threads=now.threads if threads is None else thread_count(threads),
        progress=now.progress if progress is None else progress,
        cancel=now.cancel if cancel is None else cancel,
        memory=now.memory if memory is None else memory,
        begin=now.begin if progress is None else 0.0,
        end=now.end if progress is None else 1.0,
    )


def steps(items: Sequence[Item]) -> Iterator[Item]:
    """Yield each item, and report the share done after it; what it takes itself is not reported.

    >>> shares = []
    >>> with work(progress=shares.append):
    ...     for _ in steps("ab"):
    ...         current_work().report(0.7)
    >>> shares
    [0.5, 1.0]
    """
    outer = current_work()
    for number, item in enumerate(items, start=1):
        before = _CURRENT.get()
        quiet = outer.quiet()
        _CURRENT.set(quiet)
        try:
            yield item
        finally:
            # a loop that an error has left is closed later, when other work may be in force
            if _CURRENT.get() is quiet:
                _CURRENT.set(before)
        outer.report(number / len(items))


def in_parts(task: Callable[[int, int], None], rows: int, cells: int) -> None:
    """Do some work on ranges of rows, in threads where they have many cells."""
    parts = cells // CELLS_A_THREAD
    if parts > 1:
        parts = min(parts, thread_count(current_work().threads))
    if parts <= 1:
        task(0, rows)
    else:
        current_work().quiet().run(lambda a, b: task(a * rows // parts, b * rows // parts), parts)
