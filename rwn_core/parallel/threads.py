"""Runs work in ranges over threads: how many, how far, and when to stop."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

from rwn_core.errors import ParameterError, RWNError

POLL_SECONDS = 0.05  # seconds of work between two looks at whether to go on
LEAST = 8  # of a range, however few are left, unless so many take longer than `BRIEF`
BRIEF = 0.002  # seconds of a range
THREAD_GRAIN = 0.003  # seconds of work for which further threads are started
CELLS_A_THREAD = 100_000  # fewer are not worth another thread
_REPORT_EVERY = 0.1  # seconds between two reports
_POLITE = 5  # what a thread adds to its niceness while a person looks at what another one draws

Progress = Callable[[float], None]


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


class Ranges:
    """Hands out ranges of 0 to `count` that take about `POLL_SECONDS` seconds each.

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
            fitting = int(POLL_SECONDS / max(self._pace, 1e-9))
            self._size = max(1, min(fitting, 4 * size))
            if self.done < LEAST and self._pace < BRIEF:
                return 0.0  # most of the time of so short a range is the call
            return (self.count - self._next) * self._pace


def _labor(work: Callable[[int, int], None], ranges: Ranges, stop: threading.Event) -> None:
    try:
        while not stop.is_set() and _do_range(work, ranges) is not None:
            pass
    except BaseException:
        stop.set()
        raise


def _do_range(work: Callable[[int, int], None], ranges: Ranges) -> float | None:
    """Do the next range; the seconds left after it in one thread, None if there was no range."""
    taken = ranges.take()
    if taken is None:
        return None
    started = time.perf_counter()
    work(*taken)
    return ranges.finished(taken[1] - taken[0], time.perf_counter() - started)


def _start_helpers(
    pool: ThreadPoolExecutor, labor: Callable[[], None], count: int
) -> set[Future[None]]:
    """Begin so many threads with the same labor, unless the program is just ending."""
    try:
        return {pool.submit(labor) for _ in range(count)}
    except RuntimeError as error:
        if "interpreter shutdown" not in str(error):
            raise
        raise Cancelled("The program ends.") from None  # which is no fault to report


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressMonitor:
    """Threads and memory to use, the progress callback and the cancellation of a work."""

    threads: int = 1
    progress: Progress | None = None
    cancel: threading.Event | None = None
    budget: float | None = None  # bytes; None for what is free, see `memory.budget_bytes`

    def run(self, work: Callable[[int, int], None], count: int) -> None:
        """Call `work(start, stop)` for ranges that make up 0 to `count`, on several threads."""
        # This thread is one of them; the others are started where there is work for them.
        threads, watched = self.threads, self.progress is not None or self.cancel is not None
        ranges, stop, others = Ranges(count, threads), threading.Event(), set[Future[None]]()
        pool = ThreadPoolExecutor(max(1, threads - 1))
        help_with = partial(_labor, work, ranges, stop)
        reported = time.perf_counter()
        try:
            if 1 < count <= 2 * threads:  # each is a large part of it
                others = _start_helpers(pool, help_with, threads - 1)
            while not stop.is_set() and ranges.done < count:
                ranges.alone = not others
                left = _do_range(work, ranges)
                if left is None:
                    break
                if not others and threads > 1 and left > THREAD_GRAIN:
                    others = _start_helpers(pool, help_with, threads - 1)
                if watched:
                    reported = self._look(ranges, reported)
            while others:
                done, others = wait(others, timeout=_REPORT_EVERY, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                reported = self._look(ranges, reported)
            self._look(ranges, -math.inf)
        finally:
            stop.set()  # also after an error, or Ctrl-C: no thread goes on for longer than a slice
            pool.shutdown(wait=True)

    def _look(self, ranges: Ranges, reported: float) -> float:
        """Stop, or report the share done unless it was just before; return when it was."""
        due = time.perf_counter() - reported >= _REPORT_EVERY
        watch = self if due else replace(self, progress=None)
        watch.report(ranges.done / max(ranges.count, 1))
        return time.perf_counter() if due else reported

    def part(self, begin: float, end: float) -> ProgressMonitor:
        """The same monitor, for the part from `begin` to `end` of the whole."""
        report = self.progress
        if report is None:
            return self
        return replace(self, progress=lambda share: report(begin + (end - begin) * share))

    def report(self, share: float) -> None:
        """Report the share done from a loop of short steps, and stop it if it is to stop."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("The work was cancelled.")
        if self.progress is not None:
            self.progress(share)


def in_parts(work: Callable[[int, int], None], rows: int, cells: int, threads: int) -> None:
    """Do some work on ranges of rows, in threads where they have many cells."""
    parts = max(1, min(threads, cells // CELLS_A_THREAD))
    if parts == 1:
        work(0, rows)
        return
    ProgressMonitor(threads=parts).run(
        lambda a, b: work(a * rows // parts, b * rows // parts), parts
    )
