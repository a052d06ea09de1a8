"""Threads, ranges, pace, politeness and the compiler's cache."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rwn_core import compile_ahead
from rwn_core.errors import ParameterError
from rwn_core.parallel import kernel_cache, memory, threads
from rwn_core.parallel.memory import MEMORY_SHARE, budget_bytes, resident_bytes
from rwn_core.parallel.pace import LONGER, UNKNOWN, Pace, Part, left_words
from rwn_core.parallel.pool import Pool
from rwn_core.parallel.threads import (
    BRIEF,
    LEAST,
    Cancelled,
    Ranges,
    Work,
    current_work,
    in_parts,
    steps,
    work,
)
from tests.core.parallel import worker_tasks
from tests.waiting import HANG_S, until


def test_what_is_left_out_stays_and_ends_with_its_door():
    told = list[float]()
    with work(threads=2, progress=told.append), work(memory=5e6) as inner:
        assert current_work() is inner
        assert (inner.threads, inner.memory, budget_bytes()) == (2, 5e6, 5e6)
        current_work().report(0.5)
    assert told == [0.5]
    assert (current_work().threads, current_work().progress) == (None, None)
    with pytest.raises(ParameterError, match="threads must be"), work(threads=0):
        pass


def test_a_door_is_left_by_an_error_too():
    def stumble() -> None:
        for _ in steps("ab"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), work(threads=3):
        stumble()
    assert current_work().threads is None


def test_a_part_of_a_part_is_reported_within_the_whole():
    told = list[float]()
    with work(progress=told.append), current_work().part(0.5, 1.0), current_work().part(0.0, 0.5):
        current_work().report(0.0)
        current_work().report(1.0)
    assert told == [0.5, 0.75]


def test_a_loop_that_an_error_has_left_changes_no_later_work():
    """It is closed when the error is forgotten, after the work around it has ended."""
    loop = steps("ab")
    with work(cancel=threading.Event()):
        next(loop)
    later = current_work()
    loop.close()
    assert current_work() is later
    # closed within its work, it leaves the work as it was
    with work(cancel=threading.Event()) as around:
        loop = steps("ab")
        next(loop)
        loop.close()
        assert current_work() is around


def test_steps_report_after_each_and_nothing_of_what_a_step_does():
    told = list[float]()
    with work(progress=told.append):
        for _ in steps(range(4)):
            current_work().quiet().run(lambda start, stop: None, 10)
            current_work().run(lambda start, stop: None, 10)
            in_parts(lambda start, stop: None, 10, 10**6)
        assert current_work().progress is not None
    assert told == [0.25, 0.5, 0.75, 1.0]


def all_of(number: int) -> Callable[[], None]:
    """A function that pieces of work call: so many threads wait for each other there, once."""
    together = threading.Barrier(number)
    begun = threading.Event()
    met = threading.local()

    def meet() -> None:
        if not begun.is_set():
            begun.set()
            time.sleep(0.01)  # after so long a piece the other threads begin
        elif not hasattr(met, "before"):
            met.before = together.wait(HANG_S)

    return meet


def test_threads_see_the_work_that_began_them_and_begin_no_others():
    seen = set[tuple[object, ...]]()
    cancel = threading.Event()
    told = list[float]()
    meet = all_of(2)

    def look(start: int, stop: int) -> None:
        meet()
        now = current_work()
        seen.add((threading.get_ident(), now.threads, now.progress, now.cancel is cancel))

    with work(threads=2, cancel=cancel, progress=told.append):
        current_work().run(look, 40)
    assert len({each[0] for each in seen}) == 2
    assert {each[1:] for each in seen} == {(1, None, True)}


def test_two_users_of_one_server_neither_hear_nor_stop_each_other():
    """Each request has a thread of its own; both are inside at the same time."""
    together = threading.Barrier(2)
    told = {0: set[float](), 1: set[float]()}
    ended = {}
    cancels = threading.Event(), threading.Event()

    def serve(user: int) -> None:
        def task(start: int, stop: int) -> None:
            time.sleep(0.002)

        with work(threads=user + 1, progress=told[user].add, cancel=cancels[user]) as mine:
            together.wait()
            for turn in range(3):
                if turn == 1 and user == 0:
                    cancels[0].set()
                try:
                    assert current_work() is mine
                    current_work().part(user / 2, user / 2 + 0.5).run(task, 60)
                except Cancelled:
                    ended[user] = turn
                    return
            ended[user] = "done"

    users = [threading.Thread(target=serve, args=(user,)) for user in (0, 1)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert ended == {0: 1, 1: "done"}
    assert told[0], "the first is told, too"
    assert max(told[0]) <= 0.5 <= min(told[1])


def test_a_task_takes_threads_and_memory_along_to_its_process():
    pool = Pool(worker_tasks.wanted_inside, workers=1)
    try:
        with work(threads=3, memory=7e6):
            some = pool.submit(None)
        other = pool.submit(None)
        assert (some.result(), other.result()) == ((3, 7e6), (None, None))
    finally:
        pool.cancel()


def test_ranges_grow_with_a_quick_pace_and_end_small():
    ranges = Ranges(1000, threads=2)
    taken = []
    while (found := ranges.take()) is not None:
        taken.append(found)
        left = ranges.finished(found[1] - found[0], 0.001 * (found[1] - found[0]))
        is_brief = ranges.done < LEAST  # so few say nothing of the rest
        assert left == pytest.approx(0.0 if is_brief else 0.001 * (1000 - found[1]))
    assert [start for start, _ in taken] == [0, *(stop for _, stop in taken[:-1])]
    sizes = [stop - start for start, stop in taken]
    assert (sizes[0], max(sizes), taken[-1][1]) == (1, 50, 1000)  # 50 take POLL_SECONDS
    assert min(sizes[5:-1]) >= int(BRIEF / 0.001)


def test_one_thread_takes_the_rest_alone():
    ranges = Ranges(100, threads=8)
    ranges.alone = True
    start, stop = ranges.take()
    ranges.finished(stop - start, 1e-12)
    assert [ranges.take() for _ in range(4)] == [(1, 5), (5, 9), (9, 13), (13, 17)]


def test_no_thread_works_on_after_an_error():
    working = set[int]()

    def work(start: int, stop: int) -> None:
        if threading.current_thread() is threading.main_thread():
            until(lambda: working)  # another has begun
            raise ValueError
        working.add(start)
        time.sleep(0.1)
        working.discard(start)

    with pytest.raises(ValueError):  # noqa: PT011
        Work(threads=3).run(work, 4)
    assert working == set()


def test_progress_is_told_ten_times_a_second_and_at_the_end(monkeypatch):
    now = [5.0]
    told = list[float]()
    monkeypatch.setattr(threads.time, "perf_counter", lambda: now[0])
    ranges = Ranges(100)
    monitor = Work(progress=told.append)
    reported = now[0]
    for second, done, end in (
        (5.05, 10, False),
        (5.11, 20, False),
        (5.15, 30, False),
        (5.16, 40, True),
    ):
        now[0], ranges.done = second, done
        reported = monitor._look(ranges, -np.inf if end else reported)
    assert told == [0.2, 0.4]


def test_free_memory_is_the_systems_word_or_a_guess(monkeypatch):
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory._free_bytes() == 4_096_000
    monkeypatch.setattr(os, "sysconf_names", {"SC_PAGE_SIZE": 2})
    assert memory._free_bytes() == 8e9


class Run:
    """A pace by a clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pace = Pace(lambda: self.now)

    def reports(self, now: float, share: float) -> Pace:
        self.now = now
        self.pace.report(share)
        return self.pace


def test_what_prepares_the_work_is_no_part_of_its_pace():
    """Formerly "about 10 min left" of two: a worker took a minute to begin."""
    run = Run()
    assert run.pace.words == UNKNOWN
    assert run.reports(0.0, 0.0).words == UNKNOWN, "no share was reported"
    assert run.reports(60.0, 0.1).words == UNKNOWN, "one report is no pace"
    assert run.reports(61.0, 0.11).words == UNKNOWN, "nor is one second"
    for now, share in ((70.0, 0.2), (80.0, 0.3)):
        pace = run.reports(now, share)
    assert pace.seconds_left == pytest.approx(70.0), "a tenth in ten seconds"
    assert pace.words == "about 70 s left"


def test_between_two_reports_it_counts_down_and_never_rises():
    run = Run()
    run.reports(0.0, 0.25)
    run.reports(10.0, 0.5)
    for now in range(10, 31):
        run.now = float(now)
        assert run.pace.seconds_left == 30.0 - now
    assert run.reports(31.0, 0.5).words == LONGER


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_at_an_even_pace_it_is_true_at_every_moment(factor):
    run = Run()
    whole = 60.0 * factor
    for step in range(1, 61):
        left = run.reports(step * factor, step / 60).seconds_left
        assert left is None or left == pytest.approx(whole - run.now, abs=1e-6)


def test_hours_minutes_and_seconds():
    some = {0.2: "1 s", 89: "89 s", 91: "2 min", 5000: "83 min", 9000: "2 h"}
    assert {s: left_words(s) for s in some} == {s: f"about {w} left" for s, w in some.items()}


ENDS = """
import atexit, threading, time
from rwn_core.parallel import threads

def piece(start, stop):
    begun.set()
    time.sleep(0.01)

def work():
    try:
        while True:
            threads.Work(threads=2).run(piece, 4)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    ended.set()

begun = threading.Event()
ended = threading.Event()
atexit.register(lambda: ended.wait(600))
threading.Thread(target=work, daemon=True).start()
begun.wait(600)
"""


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows a priority of a thread")
def test_a_polite_thread_and_those_it_begins_stand_back_and_nobody_else():
    before = niceness()
    seen = dict[int, int]()
    meet = all_of(3)

    def piece(start: int, stop: int) -> None:
        meet()
        seen[threading.get_native_id()] = niceness()

    def work() -> None:
        threads.be_polite()
        threads.Work(threads=3).run(piece, 40)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert len(seen) == 3
    assert set(seen.values()) == {min(19, before + threads._POLITE)}
    assert niceness() == before


def test_work_of_a_program_that_ends_is_cancelled_and_no_fault():
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("Cancelled The program ends.\n", "")


def test_a_system_without_threads_to_spare_is_a_fault(monkeypatch):
    def none_left(pool: ThreadPoolExecutor, *labor: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", none_left)
    with pytest.raises(RuntimeError, match="can't start"):
        threads.Work(threads=2).run(lambda start, stop: time.sleep(0.01), 4)
    threads.Work(threads=2).run(lambda start, stop: None, 40)  # too little for another one


@pytest.fixture
def _nothing_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel_cache.os, "access", lambda *_: False)


@pytest.mark.usefixtures("_nothing_writable")
def test_an_account_without_a_home_gets_a_folder_nobody_can_guess(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(kernel_cache.Path, "home", no_home)
    place = kernel_cache.folder().parent
    assert place == kernel_cache.folder().parent  # the same for the whole process
    assert place.stat().st_mode & 0o077 == 0


def test_a_given_folder_is_used_and_remembers(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    assert kernel_cache._of_the_user() == [tmp_path / "rwn"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path))
    assert kernel_cache.folder().parent == tmp_path
    assert not kernel_cache.is_ready()
    kernel_cache.set_ready()
    assert kernel_cache.is_ready()


def test_kernels_are_compiled_by_one_process_and_the_others_wait_for_them(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path))
    theirs = list[bool]()
    waits = threading.Event()
    held = kernel_cache.file_lock.held

    def noted(*of):
        waits.set()
        return held(*of)

    def begin() -> None:
        with kernel_cache.compiler() as is_theirs:
            theirs.append(is_theirs)

    other = threading.Thread(target=begin)
    with kernel_cache.compiler() as is_ours:
        monkeypatch.setattr(kernel_cache.file_lock, "held", noted)
        other.start()
        assert waits.wait(HANG_S)  # with the usual patience
        with kernel_cache.compiler(wait=False) as is_left:
            assert not is_left  # who does not wait leaves it to the other one
        monkeypatch.setattr(kernel_cache, "PATIENCE_S", 0.0)
        with kernel_cache.compiler() as is_given_up:
            assert is_given_up  # after so long a process compiles what it needs
        kernel_cache.set_ready()
    other.join()
    assert (is_ours, theirs) == (True, [False])


def test_processes_that_need_the_attacks_compile_different_parts_of_them(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path))
    monkeypatch.setattr(compile_ahead, "_small_release", lambda: None)
    used = list[str]()
    parts = {name: lambda _, name=name: used.append(name) for name in ("links", "names")}
    monkeypatch.setattr(compile_ahead, "PARTS", parts)
    last = SimpleNamespace(read=lambda _: used.append("the last"))
    monkeypatch.setattr(compile_ahead, "ATTRIBUTE_GAIN", last)
    with kernel_cache.compiler("links"):  # another process does
        other = threading.Thread(target=compile_ahead.warm_for_limits)
        other.start()
        until(lambda: used)
        kernel_cache.set_ready("links")
    other.join()
    assert used == ["names", "the last"]
    assert kernel_cache.is_ready(kernel_cache.LIMITS)
    compile_ahead.warm_for_limits()
    assert used == ["names", "the last"], "once a machine"


def test_code_that_was_installed_anew_is_not_taken_for_ready(monkeypatch, tmp_path):
    for name in ("parallel/jit.py", "laws/search_kernel.py"):
        source = tmp_path / name
        source.parent.mkdir()
        source.write_text("")
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    state = kernel_cache._state.__wrapped__
    first = state()
    assert state() == first
    os.utime(source, ns=(1, 1))  # as another installation of the same version leaves it
    assert state() != first


def test_memory_is_what_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RWN_MEMORY", raising=False)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0.001 * total < budget_bytes() <= MEMORY_SHARE * total
    before = resident_bytes()
    held = bytearray(b"x") * 200_000_000
    assert resident_bytes() - before == pytest.approx(len(held), rel=0.2)


def test_a_slow_pace_counts_from_the_first_range_on():
    ranges = Ranges(10, threads=1)
    start, stop = ranges.take()
    assert ranges.finished(stop - start, BRIEF) == pytest.approx(9 * BRIEF)


def test_elsewhere_nobody_is_asked(monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(threads.sys, "platform", "darwin")
    monkeypatch.setattr(threads.os, "nice", asked.append)
    threads.be_polite()  # there it would be the whole process
    assert asked == []


def test_a_part_reports_its_share_of_the_whole() -> None:
    shares: list[float] = []
    part = Part(shares.append, 0.5, 0.7)
    for share in (0.0, 0.5, 1.0):
        part(share)
    assert shares == pytest.approx([0.5, 0.6, 0.7])


def test_an_answer_so_far_goes_to_what_takes_one():
    class Listener:
        def __init__(self) -> None:
            self.answers = list[object]()

        def __call__(self, share: float) -> None:
            pass

        def found(self, answer: object) -> None:
            self.answers.append(answer)

    listener = Listener()
    current_work().found(1)
    with work(progress=listener), current_work().part(0.2, 0.4):
        current_work().found(2)
        for _ in steps("a"):
            current_work().found(3)  # that of a step is none of the whole
    assert listener.answers == [2]


def blas_threads() -> list[int]:
    """How many threads each library of products takes."""
    return [each["num_threads"] for each in threads._blas().info() if each["user_api"] == "blas"]


def test_products_have_their_threads_back_after_the_last_that_asked_for_one() -> None:
    """Two pieces of work overlap, and the first to begin is the first to end."""
    with threads._blas().limit(limits=2, user_api="blas"):
        before = blas_threads()
        first = threads.one_blas_thread()
        second = threads.one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) == {1}
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}, "the second still asks for one"
        second.__exit__(None, None, None)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), threads.one_blas_thread():
            raise ZeroDivisionError
        assert blas_threads() == before
