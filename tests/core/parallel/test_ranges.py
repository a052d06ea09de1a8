"""Ranges of work for threads, what a search takes in memory, and what the system has of it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rwn_core.parallel import memory, threads
from rwn_core.parallel.threads import BRIEF, LEAST, Ranges, Work


def test_ranges_grow_with_a_quick_pace_and_end_small() -> None:
    ranges, taken = Ranges(1000, threads=2), []
    while (found := ranges.take()) is not None:
        taken.append(found)
        left = ranges.finished(found[1] - found[0], 0.001 * (found[1] - found[0]))
        is_brief = ranges.done < LEAST  # so few say nothing of the rest
        assert left == pytest.approx(0.0 if is_brief else 0.001 * (1000 - found[1]))
    assert [start for start, _ in taken] == [0, *(stop for _, stop in taken[:-1])]
    sizes = [stop - start for start, stop in taken]
    assert (sizes[0], max(sizes), taken[-1][1]) == (1, 50, 1000)  # 50 take POLL_SECONDS
    assert min(sizes[5:-1]) >= int(BRIEF / 0.001)


def test_a_slow_pace_counts_from_the_first_range_on() -> None:
    ranges = Ranges(10, threads=1)
    start, stop = ranges.take()
    assert ranges.finished(stop - start, BRIEF) == pytest.approx(9 * BRIEF)


def test_one_thread_takes_the_rest_alone() -> None:
    ranges = Ranges(100, threads=8)
    ranges.alone = True
    start, stop = ranges.take()
    ranges.finished(stop - start, 1e-12)
    assert [ranges.take() for _ in range(4)] == [(1, 5), (5, 9), (9, 13), (13, 17)]


def test_no_thread_works_on_after_an_error() -> None:
    working = set[int]()

    def work(start: int, stop: int) -> None:
        if threading.current_thread() is threading.main_thread():
            time.sleep(0.02)  # until the others have begun
            raise ValueError
        working.add(start)
        time.sleep(0.1)
        working.discard(start)

    with pytest.raises(ValueError):  # noqa: PT011
        Work(threads=3).run(work, 4)
    assert working == set()


def test_progress_is_told_ten_times_a_second_and_at_the_end(monkeypatch) -> None:
    now, told = [5.0], list[float]()
    monkeypatch.setattr(threads.time, "perf_counter", lambda: now[0])
    ranges = Ranges(100)
    monitor, reported = Work(progress=told.append), now[0]
    for second, done, end in (
        (5.05, 10, False),
        (5.11, 20, False),
        (5.15, 30, False),
        (5.16, 40, True),
    ):
        now[0], ranges.done = second, done
        reported = monitor._look(ranges, -np.inf if end else reported)
    assert told == [0.2, 0.4]


def test_a_search_takes_what_its_arrays_hold() -> None:
    rows, tiles, numbers = 8 * 3 * 2, 4 * 3 * 2, 120 + 8 * 2
    assert memory.search_bytes(100, 3, 2) == 100 * (rows + tiles + numbers)


def test_free_memory_is_the_systems_word_or_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory._free_bytes() == 4_096_000
    monkeypatch.setattr(os, "sysconf_names", {"SC_PAGE_SIZE": 2})
    assert memory._free_bytes() == 8e9


def test_a_system_without_affinity_has_the_processors_it_counts(monkeypatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delenv("RWN_THREADS", raising=False)
    for counted, used in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda counted=counted: counted)
        assert threads.thread_count() == used
