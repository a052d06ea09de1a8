"""Work in processes: progress, cancel, every way to die, and never a value or a process left."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import pickle
import platform
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import as_completed
from types import SimpleNamespace

import pytest

from rwn_core.errors import RWNError
from rwn_core.parallel import processes
from rwn_core.parallel.compiling import on_compiling
from rwn_core.parallel.job import Job
from rwn_core.parallel.pool import Pool, Stopped
from tests.core.parallel.worker_tasks import (
    LARGE,
    SECRET,
    add,
    alive,
    begun,
    compiles,
    counter,
    crash,
    fail,
    finished,
    heedless,
    large,
    leave,
    linger,
    nested,
    pages_taken_anew,
    refuse,
    refused,
    talk,
    unpicklable,
    unprepared,
    unreadable,
    wait_until,
    warn,
)


def test_work_that_is_done_gives_its_result() -> None:
    job = finished(add, a=2, b=3)
    assert (job.result, job.refusal, job.share) == (5, "", 0.5)
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")


def test_a_worker_that_compiles_is_heard_of_once() -> None:
    heard: list[int] = []
    with on_compiling(lambda: heard.append(1)):
        assert finished(compiles).refusal == ""
    assert heard == [1]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others are not asked")
def test_what_a_worker_frees_it_keeps_for_what_it_asks_for_next() -> None:
    assert finished(pages_taken_anew).result < 1000  # some 10,000 else


def test_a_refusal_arrives_as_it_is() -> None:
    job = finished(refuse)
    assert (job.result, job.refusal) == (None, "There is nothing to predict.")


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (fail, "ValueError"),
        (unreadable, "ValueError"),
        (unpicklable, "AttributeError"),
        (crash, ""),
        (leave, ""),
    ],
)
def test_a_failure_is_a_sentence_without_a_value(
    work: Callable[..., object],
    kind: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    job = finished(work)
    assert job.result is None
    assert job.refusal.startswith("The work stopped before it was done")
    printed = "".join(capfd.readouterr())
    assert SECRET not in job.refusal + repr(job) + caplog.text + printed
    assert "Traceback" not in printed
    if kind:
        (record,) = caplog.records
        number = record.getMessage().split()[1].rstrip(":")
        assert f"({kind}, error {number})" in job.refusal
        assert record.levelno == logging.ERROR
    else:
        assert not caplog.records


def test_the_words_of_a_warning_stay_in_the_worker(capfd: pytest.CaptureFixture[str]) -> None:
    assert finished(warn).refusal == ""
    assert SECRET not in "".join(capfd.readouterr())


def test_what_cannot_be_prepared_is_each_tasks_failure(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for prepare, words in ((unprepared, r"\(ValueError, error"), (refused, SECRET)):
        pool = Pool(prepare, SECRET, workers=1)
        tasks = [pool.submit(number) for number in range(2)]
        for task in tasks:
            with pytest.raises(RWNError, match=words) as caught:
                task.result(60)
            assert isinstance(caught.value, Stopped) == (prepare is unprepared)
            assert (SECRET in str(caught.value)) == (prepare is refused)
        pool.cancel()
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("work", [linger, heedless])
def test_cancel_leaves_no_process(work: Callable[..., object]) -> None:
    job, pid = begun(work)
    assert job.share == 0.25
    job.cancel()
    assert not job.running
    assert (job.result, job.refusal) == (None, "Cancelled.")
    assert multiprocessing.active_children() == []
    assert not alive(pid)


def test_processes_that_heed_nothing_are_killed_within_half_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, killed = [100.0], []

    class Deaf:
        """A process that only a kill ends; to wait for it takes its time from a made clock."""

        def terminate(self) -> None: ...

        def join(self, timeout: float = 0.0) -> None:
            now[0] += timeout

        def is_alive(self) -> bool:
            return self not in killed

        def kill(self) -> None:
            killed.append(self)

    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: now[0]))
    processes.end_workers([SimpleNamespace(process=Deaf()) for _ in range(5)])
    assert len(killed) == 5
    assert 0.1 < now[0] - 100 <= 0.5


def test_a_job_may_be_cancelled_before_it_has_begun() -> None:
    job = Job(large, content=bytes(LARGE))
    job.cancel()
    assert (job.running, job.refusal) == (False, "Cancelled.")
    assert multiprocessing.active_children() == []


def test_a_killed_process_is_a_sentence() -> None:
    job, pid = begun(linger)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not job.running)
    assert job.refusal.startswith("The work stopped before it was done")


def test_ctrl_c_is_for_the_parent() -> None:
    job, pid = begun(linger)
    os.kill(pid, signal.SIGINT)  # which a terminal sends to all
    time.sleep(0.3)
    assert alive(pid)
    assert job.running
    job.cancel()


def test_what_is_larger_than_a_pipe_arrives_whole_though_nobody_looks() -> None:
    content = os.urandom(LARGE)
    job = Job(large, content=content)
    time.sleep(0.1)
    wait_until(lambda: not job.running)
    assert job.result == content + b"!"
    assert finished(talk).share == 19_999 / 20_000


def test_a_job_that_nobody_holds_ends() -> None:
    job, pid = begun(linger)
    threads = threading.active_count()
    del job
    gc.collect()
    wait_until(lambda: not alive(pid))
    wait_until(lambda: threading.active_count() < threads)


def test_a_pool_keeps_what_it_prepared_and_ends_with_its_last_task() -> None:
    pool = Pool(counter, 10, workers=1)
    tasks = [pool.submit(number) for number in (1, 2, 3)]
    pool.close()
    totals, pids = zip(*(task.result(60) for task in tasks), strict=True)
    assert totals == (11, 13, 16)
    assert len(set(pids)) == 1
    assert tasks[0].share == 1.0
    wait_until(lambda: not pool.running)
    assert multiprocessing.active_children() == []
    with pytest.raises(Stopped):
        pool.submit(4).result(0)


def test_a_worker_that_dies_loses_one_task_and_the_others_go_on() -> None:
    pool = Pool(counter, 0, workers=2)
    tasks = [pool.submit(each) for each in (1, None, 2, 3, "fail", 4)]
    for task in as_completed(tasks, 60):
        task.exception()
    failures = [task.exception() for task in tasks]
    assert [isinstance(each, Stopped) for each in failures] == [
        False,
        True,
        False,
        False,
        True,
        False,
    ]
    assert [each.fault.partition(",")[0] for each in failures if each] == ["", "ValueError"]
    (last,) = pool.pids
    os.kill(last, signal.SIGKILL)
    late = [pool.submit(5), pool.submit(6)]
    for task in late:
        assert isinstance(task.exception(60), Stopped)
    wait_until(lambda: not pool.running)
    assert isinstance(pool.submit(7).exception(0), Stopped)


def test_cancel_stops_waiting_tasks_too() -> None:
    pool = Pool(counter, 0, workers=1)
    tasks = [pool.submit("linger"), pool.submit(1)]
    wait_until(lambda: tasks[0].share)
    pool.cancel()
    assert [str(task.exception(0)) for task in tasks] == ["Cancelled."] * 2
    assert not pool.running
    assert not pool.pids


def test_a_pool_without_workers_does_nothing() -> None:
    pool = Pool(counter, 0, workers=0)
    assert not pool.running
    assert isinstance(pool.submit(1).exception(0), Stopped)


def test_a_system_without_room_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    start, rooms = processes._start, iter([True, False])

    def full(process: object) -> None:
        if not next(rooms):
            raise OSError(SECRET)
        start(process)

    monkeypatch.setattr(processes, "_start", full)
    with pytest.raises(RWNError, match="No process could be started") as caught:
        Pool(counter, 0, workers=2)
    del caught
    gc.collect()
    wait_until(lambda: multiprocessing.active_children() == [])


def test_a_cancelled_job_takes_its_own_workers_with_it() -> None:
    job, _ = begun(nested)
    pids = set()
    wait_until(lambda: (pids.add(int(job.share)), len(pids) == 2)[1])
    assert all(alive(pid) for pid in pids)
    job.cancel()
    wait_until(lambda: not any(alive(pid) for pid in pids), 10)


def test_a_task_that_cannot_be_sent_is_its_callers_fault() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        Job(add, a=lambda: 1, b=2)
    gc.collect()
    wait_until(lambda: multiprocessing.active_children() == [])
