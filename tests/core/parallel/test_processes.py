"""Worker processes: what they begin from, send, keep and end with."""

import gc
import logging
import multiprocessing
import os
import pickle
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rwn_core.errors import ParameterError, RWNError
from rwn_core.parallel import processes
from rwn_core.parallel.kernel_cache import on_compiling
from rwn_core.parallel.pool import Job, Pool, Stopped
from tests.core.parallel import worker_tasks as do
from tests.core.parallel.worker_tasks import LARGE, ROOT, SECRET, alive, begun, finished
from tests.waiting import HANG_S, until

KINDS = ["begun anew", "forked"]
FORKING = """
from rwn_core.parallel import processes
processes.fork_workers()
while not processes._can_fork():
    time.sleep(0.01)
"""
"""What a program does to have its workers forked."""


@pytest.fixture(autouse=True, params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How workers begin, in every test."""
    if request.param == "begun anew":
        monkeypatch.setattr(processes, "_TO_FORK", [])
    elif sys.platform != "linux":
        pytest.skip("no worker is forked on this system")
    else:
        processes.fork_workers("tests.core.parallel.worker_tasks")
        until(processes._can_fork)
    return request.param


def test_work_that_is_done_gives_its_result():
    job = finished(do.add, a=2, b=3)
    assert (job.result, job.refusal, job.share) == (5, "", 0.5)
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")


def test_a_worker_that_compiles_is_heard_of_once():
    heard: list[int] = []
    with on_compiling(lambda: heard.append(1)):
        assert finished(do.compiles).refusal == ""
    assert heard == [1]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others are not asked")
def test_what_a_worker_frees_it_keeps_for_what_it_asks_for_next():
    assert finished(do.pages_taken_anew).result < 1000  # some 10,000 else


def test_a_refusal_arrives_as_it_is():
    job = finished(do.refuse)
    assert (job.result, job.refusal) == (None, "There is nothing to predict.")


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (do.fail, "ValueError"),
        (do.unreadable, "ValueError"),
        (do.unpicklable, "AttributeError"),
        (do.crash, ""),
        (do.leave, ""),
    ],
)
def test_a_failure_is_a_sentence_without_a_value(work, kind, capfd, caplog):
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


def test_the_words_of_a_warning_stay_in_the_worker(capfd):
    assert finished(do.warn).refusal == ""
    assert SECRET not in "".join(capfd.readouterr())


def test_what_cannot_be_prepared_is_each_tasks_failure(capfd, caplog):
    for prepare, words in ((do.unprepared, r"\(ValueError, error"), (do.refused, SECRET)):
        pool = Pool(prepare, SECRET, workers=1)
        tasks = [pool.submit(number) for number in range(2)]
        for task in tasks:
            with pytest.raises(RWNError, match=words) as caught:
                task.result(HANG_S)
            assert isinstance(caught.value, Stopped) == (prepare is do.unprepared)
            assert (SECRET in str(caught.value)) == (prepare is do.refused)
        pool.cancel()
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("work", [do.linger, do.heedless])
def test_cancel_leaves_no_process(work):
    job, pid = begun(work)
    assert job.share == 0.25
    job.cancel()
    assert not job.running
    assert (job.result, job.refusal) == (None, "Cancelled.")
    assert multiprocessing.active_children() == []
    assert not alive(pid)


def test_processes_that_heed_nothing_are_killed_within_half_a_second(monkeypatch):
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


def test_ctrl_c_is_for_the_parent():
    pool = Pool(do.counter, 0, workers=1)
    try:
        total, pid = pool.submit(1).result(HANG_S)
        os.kill(pid, signal.SIGINT)  # which a terminal sends to all
        assert pool.submit(2).result(HANG_S) == (total + 2, pid), "it goes on, as the same process"
    finally:
        pool.cancel()


def test_what_is_larger_than_a_pipe_arrives_whole_though_nobody_looks():
    content = os.urandom(LARGE)
    job = Job(do.large, content=content)
    time.sleep(0.1)
    until(lambda: not job.running)
    assert job.result == content + b"!"
    assert finished(do.talk).share == 19_999 / 20_000


def test_a_job_that_nobody_holds_ends():
    job, pid = begun(do.linger)
    threads = threading.active_count()
    del job
    gc.collect()
    until(lambda: not alive(pid))
    until(lambda: threading.active_count() < threads)


def test_a_pool_keeps_what_it_prepared_and_ends_with_its_last_task():
    pool = Pool(do.counter, 10, workers=1)
    tasks = [pool.submit(number) for number in (1, 2, 3)]
    pool.close()
    totals, pids = zip(*(task.result(HANG_S) for task in tasks), strict=True)
    assert totals == (11, 13, 16)
    assert len(set(pids)) == 1
    assert tasks[0].share == 1.0
    until(lambda: not pool.pids)
    assert multiprocessing.active_children() == []
    with pytest.raises(Stopped):
        pool.submit(4).result(0)


def test_a_worker_that_dies_loses_one_task_and_the_others_go_on():
    pool = Pool(do.counter, 0, workers=2)
    tasks = [pool.submit(each) for each in (1, None, 2, 3, "fail", 4)]
    for task in as_completed(tasks, 60):
        task.exception()
    failures = [task.exception() for task in tasks]
    stopped = [isinstance(each, Stopped) for each in failures]
    assert stopped == [False, True, False, False, True, False]
    assert [each.fault.partition(",")[0] for each in failures if each] == ["", "ValueError"]
    (last,) = pool.pids
    os.kill(last, signal.SIGKILL)
    late = [pool.submit(5), pool.submit(6)]
    for task in late:
        assert isinstance(task.exception(HANG_S), Stopped)
    until(lambda: not pool.pids)
    assert isinstance(pool.submit(7).exception(0), Stopped)


def test_cancel_stops_waiting_tasks_too():
    pool = Pool(do.counter, 0, workers=1)
    tasks = [pool.submit("linger"), pool.submit(1)]
    until(lambda: tasks[0].share)
    pool.cancel()
    assert [str(task.exception(0)) for task in tasks] == ["Cancelled."] * 2
    assert not pool.pids


def test_a_system_without_room_is_a_sentence(monkeypatch):
    start = processes._start
    rooms = iter([True, False, False])

    def full(process: object, **how: bool) -> None:
        if not next(rooms):
            raise OSError(SECRET)
        start(process, **how)

    monkeypatch.setattr(processes, "_start", full)
    with pytest.raises(RWNError, match="No process could be started") as caught:
        Pool(do.counter, 0, workers=2)
    del caught
    gc.collect()
    until(lambda: multiprocessing.active_children() == [])


def test_a_cancelled_job_takes_its_own_workers_with_it():
    job, _ = begun(do.nested)
    until(lambda: job.so_far)
    pids = job.so_far
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    job.cancel()
    until(lambda: not any(alive(pid) for pid in pids))


def test_a_task_that_cannot_be_sent_is_its_callers_fault():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        Job(do.add, a=lambda: 1, b=2)
    gc.collect()
    until(lambda: multiprocessing.active_children() == [])


SCRIPT = """
import os, sys
if "RWN_MAIN_RAN" in os.environ:
    raise RuntimeError("a worker ran the program again")
os.environ["RWN_MAIN_RAN"] = "once"
sys.path.insert(0, {tests!r})
import time
from rwn_core.parallel.pool import Job
from tests.core.parallel import worker_tasks as work
{forking}
job = Job(work.main_of_the_worker)
while job.running:
    time.sleep(0.01)
print(job.result, job.refusal)
"""


def ran(*line: str, path: object = ROOT, cwd: Path | None = None) -> Any:
    """What Python prints of a line, where modules are found in a path."""
    about = {"capture_output": True, "text": True, "timeout": HANG_S, "cwd": cwd}
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, *line], env=environment, **about)


def _script(kind: str) -> str:
    forking = FORKING if kind == "forked" else ""
    return SCRIPT.format(tests=str(Path(__file__).parents[3]), forking=forking)


@pytest.mark.parametrize("how", ["command", "module"])
def test_no_worker_runs_the_program_that_started_it(tmp_path, how, kind):
    text = _script(kind)
    script = tmp_path / "without_a_guard.py"
    script.write_text(text, encoding="utf-8")
    line = {"command": ["-c", text], "module": ["-m", script.stem]}[how]
    ended = ran(*line, path=f"{ROOT}{os.pathsep}{tmp_path}")
    assert ended.stdout.strip() == "(None, None, 'once')", ended.stderr


def test_no_worker_runs_what_lies_in_the_current_folder(tmp_path, kind):
    script, data = tmp_path / "program" / "script.py", tmp_path / "data"
    for folder in (script.parent, data):
        folder.mkdir()
    script.write_text(_script(kind), encoding="utf-8")
    for name in ("pickle", "queue", "socket", "tempfile"):
        planted = f"open({str(data / 'ran')!r}, 'w'); raise ImportError"
        (data / f"{name}.py").write_text(planted, encoding="utf-8")
    ended = ran(str(script), cwd=data)
    assert ended.stdout.strip() == "(None, None, 'once')", ended.stderr
    assert not (data / "ran").exists()


def test_only_one_thread_at_a_time_stands_in_for_the_main_module():
    main = sys.modules["__main__"]
    seen = list[bool]()
    within = list[int]()

    class Slow:
        def start(self) -> None:
            within.append(1)
            seen.append(len(within) == 1 and sys.modules["__main__"] is not main)
            time.sleep(0.05)
            within.pop()

    threads = [threading.Thread(target=processes._start, args=(Slow(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4
    assert sys.modules["__main__"] is main


def test_a_main_module_that_another_thread_has_put_there_stays(monkeypatch):
    main = sys.modules["__main__"]
    other = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    class Process:
        def start(self) -> None:
            sys.modules["__main__"] = other  # as a page of the app does when it is drawn

    processes._start(Process())  # type: ignore[arg-type]
    assert sys.modules["__main__"] is other


@pytest.mark.parametrize("safe", [None, "", "1"])
def test_the_main_module_and_the_environment_are_put_back_after_a_failure(monkeypatch, safe):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if safe is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", safe)
    main = sys.modules["__main__"]

    class Process:
        def start(self) -> None:
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        processes._start(Process())  # type: ignore[arg-type]
    assert sys.modules["__main__"] is main
    assert os.environ.get("PYTHONSAFEPATH") == safe


Begun = tuple[subprocess.Popen[str], list[int]]  # a program, and the processes of its workers
PARENT = """
import sys, time
sys.path.insert(0, {tests!r})
from rwn_core.parallel.pool import Job
from rwn_core.parallel.pool import Pool
from tests.core.parallel import worker_tasks as work
{forking}
if __name__ == "__main__":
    job, pool = Job(work.heedless), Pool(work.counter, 0, workers=2)
    while not job.share:
        time.sleep(0.01)
    print(*job._pool.pids, *pool.pids, flush=True)
    {rest}
"""


@pytest.fixture
def parent(
    tmp_path: Path, kind: str
) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], list[int]]]]:
    begun = list[tuple[subprocess.Popen[str], list[int]]]()

    def start(rest: str) -> Begun:
        script = tmp_path / "parent.py"
        tests = str(Path(__file__).parents[3])
        forking = FORKING if kind == "forked" else ""
        text = PARENT.format(tests=tests, rest=rest, forking=forking)
        script.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            # tests may run behind a shell's &, which has SIGINT ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        pids = [int(pid) for pid in process.stdout.readline().split()]
        begun.append((process, pids))
        assert len(pids) == 3
        return process, pids

    yield start
    for process, pids in begun:  # after a failure, too
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_when_their_parent_is_killed(parent, sign):
    process, pids = parent("time.sleep(600)")
    assert all(alive(pid) for pid in pids)
    process.send_signal(sign)
    process.communicate(timeout=HANG_S)
    until(lambda: not any(alive(pid) for pid in pids))


def test_workers_end_when_their_parent_ends_in_good_order(parent):
    process, pids = parent("pass")
    _, printed = process.communicate(timeout=HANG_S)  # it does not wait for its workers
    assert (process.returncode, printed) == (0, "")
    assert not any(alive(pid) for pid in pids)


def test_a_job_may_be_cancelled_before_it_has_begun():
    job = Job(do.large, content=bytes(LARGE))
    job.cancel()
    assert (job.running, job.refusal) == (False, "Cancelled.")
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(not hasattr(os, "nice"), reason="this system knows no niceness")
def test_work_in_the_background_stands_back_as_far_as_is_said(monkeypatch):
    added = list[int]()
    monkeypatch.setattr(os, "nice", added.append)
    for given in ("0", "7"):
        monkeypatch.setenv("RWN_NICENESS", given)
        processes.be_polite()
    monkeypatch.delenv("RWN_NICENESS")
    processes.be_polite()
    assert added == [0, 7, 19]
    for wrong in ("20", "-1", "much"):
        monkeypatch.setenv("RWN_NICENESS", wrong)
        with pytest.raises(
            ParameterError, match="RWN_NICENESS must be a whole number from 0 to 19"
        ):
            processes.be_polite()


def test_a_pool_without_workers_does_nothing():
    pool = Pool(do.counter, 0, workers=0)
    assert not pool.pids
    assert isinstance(pool.submit(1).exception(0), Stopped)


def test_a_fork_has_the_environment_of_its_caller(monkeypatch, kind):
    monkeypatch.setenv("RWN_NICENESS", "7")
    about = finished(do.surroundings).result
    assert about["RWN_NICENESS"] == "7"
    assert processes.TO_FORK not in about
    assert about.get("PYTHONPATH") == os.environ.get("PYTHONPATH")


def test_a_fork_has_imported_the_program_of_its_caller(kind):
    source, is_new = finished(do.source_of_the_program).result
    assert source == processes.__file__
    assert is_new == (kind == "begun anew")


def test_what_may_be_taken_over_is_never_forked(kind):
    pool = Pool(do.source_of_the_program_alone, workers=1, plain=True)
    assert pool.submit(None).result(HANG_S) == b"new"
    pool.cancel()


def test_where_the_process_to_fork_ends_no_worker_lives_on_and_later_ones_work(kind):
    if kind != "forked":
        pytest.skip("no process to fork")
    (ready, _) = processes._TO_FORK[0]
    job, pid = begun(do.heedless)
    os.kill(int(ready.read_text()), signal.SIGKILL)
    until(lambda: not job.running and not alive(pid))
    assert job.refusal.startswith("The work stopped before it was done")
    assert finished(do.source_of_the_program).result[1]  # one that begins anew
    until(processes._can_fork)
    assert not finished(do.source_of_the_program).result[1]


ENDING = """
import sys, time
sys.path.insert(0, {tests!r})
from rwn_core.parallel import processes
from rwn_core.parallel.pool import Job
from tests.core.parallel import worker_tasks as work
processes.fork_workers()
time.sleep({after})
if {wait}:
    while not processes._can_fork():
        time.sleep(0.01)
    job = Job(work.linger)
"""


@pytest.mark.parametrize(("after", "wait"), [(0, False), (0.5, False), (0, True)])
def test_a_program_may_end_while_a_process_begins(kind, after, wait):
    if kind != "forked":
        pytest.skip("no process to fork")
    tests = str(Path(__file__).parents[3])
    ended = ran("-c", ENDING.format(tests=tests, after=after, wait=wait))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_no_process_waits_for_the_one_to_fork(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "_TO_FORK", [(tmp_path / "not yet", ())])
    assert finished(do.source_of_the_program).result[1]
