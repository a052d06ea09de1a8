"""Threads, progress, cancelling, and the memory that a search may use."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.neighbors import find_neighborhoods, neighbor_table
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search, check_search
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes, search_bytes
from rwn_core.parallel.threads import (
    POLL_SECONDS,
    Cancelled,
    Ranges,
    Work,
    current_work,
    thread_count,
    work,
)

LONG = np.random.default_rng(1).normal(size=(30_000, 8))  # some three seconds at epsilon 4


def test_ranges_cover_everything_once_on_any_number_of_threads():
    for threads in (1, 2, 4):
        seen: list[tuple[int, int]] = []
        Work(threads=threads).run(lambda a, b: seen.append((a, b)), 1000)  # noqa: B023
        covered = sorted(place for a, b in seen for place in range(a, b))
        assert covered == list(range(1000))


def test_no_thread_is_left_with_a_long_range_while_others_have_none():
    for threads in (1, 2, 4):
        ranges, sizes = Ranges(10_000, threads), list[int]()
        while taken := ranges.take():
            sizes.append(taken[1] - taken[0])
            ranges.finished(sizes[-1], 1e-6)
        left = 10_000 - np.cumsum([0, *sizes[:-1]])
        assert all(
            size <= max(8, some / (2 * threads)) for size, some in zip(sizes, left, strict=True)
        )
        assert (sum(sizes), max(sizes)) == (10_000, pytest.approx(10_000 / 3 / threads, rel=0.5))
        assert len(sizes) < 30 * threads


def test_the_end_of_slow_work_is_shared_out_piece_by_piece():
    ranges, sizes = Ranges(60, 2), list[int]()
    while taken := ranges.take():
        sizes.append(taken[1] - taken[0])
        ranges.finished(sizes[-1], 0.004 * sizes[-1])
    assert max(sizes) > 8
    assert sizes[-4:] == [1, 1, 1, 1]


def test_nothing_to_do_is_done_at_once():
    Work(threads=2, progress=lambda share: None).run(lambda a, b: None, 0)


def test_a_failure_in_a_thread_reaches_the_caller():
    def fail(first: int, last: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Work(threads=2).run(fail, 10)


@pytest.mark.parametrize("count", [2, 40])
def test_long_pieces_are_shared_from_the_first_or_second_on(count):
    threads: list[int] = []

    def piece(first: int, last: int) -> None:
        time.sleep(0.03)
        threads.append(threading.get_native_id())

    Work(threads=2).run(piece, count)
    assert abs(2 * threads.count(threads[0]) - len(threads)) <= max(2, len(threads) // 4)
    assert len(set(threads)) == 2


def test_a_failure_in_another_thread_ends_the_work_of_all():
    caller, done = threading.get_native_id(), list[int]()

    def fail_elsewhere(first: int, last: int) -> None:
        time.sleep(0.01)
        done.append(first)
        if threading.get_native_id() != caller:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Work(threads=2).run(fail_elsewhere, 100_000)
    assert max(done) < 50_000


@pytest.mark.parametrize("threads", [1, 2])
def test_cancelling_ends_the_work_before_its_next_report(threads):
    cancel, shares = threading.Event(), []

    def report(share: float) -> None:
        shares.append(share)
        cancel.set()

    with pytest.raises(Cancelled), work(threads=threads, cancel=cancel, progress=report):
        Search(build_index(LONG, epsilon=4.0), ball=RadiusAndK(k=5, epsilon=4.0)).neighborhoods()
    assert len(shares) == 1
    assert shares[0] < 1


def test_a_range_takes_a_twentieth_of_a_second_whatever_the_pace():
    """Between two ranges a thread looks whether to go on."""
    for pace in (1e-6, 1e-4, 1e-2):  # seconds a piece
        ranges = Ranges(10**9)
        for _ in range(30):
            start, stop = ranges.take()
            ranges.finished(stop - start, (stop - start) * pace)
        start, stop = ranges.take()
        assert (stop - start) * pace == pytest.approx(POLL_SECONDS, rel=0.01)


def test_progress_is_told_as_the_work_goes_on_and_may_stop_it():
    shares: list[float] = []

    def report(share: float) -> None:
        shares.append(share)
        if len(shares) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_neighborhoods(LONG, k=5, epsilon=4.0, progress=report)
    assert shares == sorted(shares)
    assert shares[-1] < 1


def test_progress_of_a_table_never_falls_back(monkeypatch):
    fill, told = Search.fill, list[float]()

    def begin(self, result):
        current_work().report(0.0)
        return fill(self, result)

    monkeypatch.setattr(Search, "fill", begin)
    with work(progress=told.append):
        neighbor_table(LONG[:3000], k=5, epsilon=None)
    assert told == sorted(told)
    assert told[-1] == 1
    search = Search(build_index(LONG[:3000]), ball=RadiusAndK(k=5, epsilon=None))
    result = search.run()
    told.clear()
    with work(progress=told.append):
        search.table(result)
    assert told[0] == 0, "sizes that are known take no half of the time"


def test_threads_come_from_the_call_the_environment_or_the_machine(monkeypatch):
    monkeypatch.delenv("RWN_THREADS", raising=False)
    assert thread_count() >= 1
    monkeypatch.setenv("RWN_THREADS", "3")
    assert thread_count() == 3
    assert thread_count(1) == 1
    for wrong in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("RWN_THREADS", wrong)
        with pytest.raises(ParameterError, match="RWN_THREADS must be a whole number"):
            thread_count()


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_other_things_are_no_number_of_threads(threads):
    with pytest.raises(ParameterError, match="threads must be a whole number"):
        thread_count(threads)


def test_a_table_that_would_not_fit_is_refused_before_the_search(monkeypatch):
    points = LONG[:20_000]
    monkeypatch.setattr("rwn_core.neighbors.search.Search.table", None)
    with pytest.raises(ParameterError) as refused, work(memory=50e6):
        neighbor_table(points, k=5, epsilon=4.0)
    message = str(refused.value)
    for words in ("table of neighbors", "GB", "50 MB", "epsilon", "neighbors=", "RWN_MEMORY"):
        assert words in message


def test_the_estimate_is_near_what_the_table_takes():
    points = LONG[:10_000]
    table = neighbor_table(points, k=5, epsilon=2.0)
    used = table.records.nbytes + table.squared.nbytes
    assert used == pairs_bytes(len(table.records))
    with pytest.raises(ParameterError, match="may be used"), work(memory=0.8 * used):
        neighbor_table(points, k=5, epsilon=2.0)
    with work(memory=1.2 * used + search_bytes(10_000, 8, 0)):
        neighbor_table(points, k=5, epsilon=2.0)


def test_members_of_a_direct_search_are_refused_if_they_would_not_fit(monkeypatch):
    monkeypatch.setenv("RWN_MEMORY", "0.02")
    result = find_neighborhoods(LONG[:10_000], k=5, epsilon=4.0)
    assert result.sizes.min() >= 5
    with pytest.raises(ParameterError, match="table of neighbors needs about"):
        result.pairs()


def test_a_search_needs_memory_in_proportion_to_its_records():
    assert search_bytes(10**6, 10, 10) == pytest.approx(10 * search_bytes(10**5, 10, 10))
    with pytest.raises(ParameterError, match="Searching this table needs about"), work(memory=1e5):
        check_search(LONG[:5000], 0)


def test_the_budget_comes_from_the_call_the_environment_or_the_machine(monkeypatch):
    monkeypatch.delenv("RWN_MEMORY", raising=False)
    assert budget_bytes() > 1e6
    monkeypatch.setenv("RWN_MEMORY", "1.5")
    assert budget_bytes() == 1.5e9
    with work(memory=10):
        assert budget_bytes() == 10
    monkeypatch.setenv("RWN_MEMORY", "much")
    with pytest.raises(ParameterError, match="RWN_MEMORY must be a number of gigabytes"):
        budget_bytes()
    with pytest.raises(ParameterError, match=r"Work needs about 3 GB .* 2 MB .*; do less"):
        check_fits(3e9, 2e6, "Work", "do less")
