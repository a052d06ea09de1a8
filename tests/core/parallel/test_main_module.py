"""No worker runs the program that started it: the main module that stands in, and is put back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

from rwn_core.parallel import processes
from rwn_core.parallel.job import Job
from tests.core.parallel.worker_tasks import (
    ROOT,
    main_of_the_worker,
    wait_until,
)

SCRIPT = """
import os, sys
if "RWN_MAIN_RAN" in os.environ:
    raise RuntimeError("a worker ran the program again")
os.environ["RWN_MAIN_RAN"] = "once"
sys.path.insert(0, {tests!r})
import time
from rwn_core.parallel.job import Job
from tests.core.parallel import worker_tasks as work
job = Job(work.main_of_the_worker)
while job.running:
    time.sleep(0.01)
print(job.result, job.refusal)
"""


@pytest.mark.parametrize("how", ["script", "command", "module"])
def test_no_worker_runs_the_program_that_started_it(tmp_path: Path, how: str) -> None:
    text = SCRIPT.format(tests=str(Path(__file__).parents[3]))
    script = tmp_path / "without_a_guard.py"
    script.write_text(text, encoding="utf-8")
    line = {"script": [str(script)], "command": ["-c", text], "module": ["-m", script.stem]}[how]
    ended = subprocess.run(
        [sys.executable, *line],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )
    assert ended.stdout.strip() == "(None, None, 'once')", ended.stderr


def test_no_worker_runs_what_lies_in_the_current_folder(tmp_path: Path) -> None:
    script, data = tmp_path / "program" / "script.py", tmp_path / "data"
    for folder in (script.parent, data):
        folder.mkdir()
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parents[3])), encoding="utf-8")
    for name in ("pickle", "queue", "socket", "tempfile"):
        planted = f"open({str(data / 'ran')!r}, 'w'); raise ImportError"
        (data / f"{name}.py").write_text(planted, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=data,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.stdout.strip() == "(None, None, 'once')", ended.stderr
    assert not (data / "ran").exists()


def test_many_threads_may_start_jobs_and_the_main_module_is_put_back() -> None:
    main, jobs = sys.modules["__main__"], list[Job]()

    def start() -> None:
        jobs.append(Job(main_of_the_worker))

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.modules["__main__"] is main
    wait_until(lambda: not any(job.running for job in jobs))
    assert {job.refusal for job in jobs} == {""}
    assert {job.result for job in jobs} == {(None, None, None)}


def test_only_one_thread_at_a_time_stands_in_for_the_main_module() -> None:
    main, seen, within = sys.modules["__main__"], list[bool](), list[int]()

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


def test_a_main_module_that_another_thread_has_put_there_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main, other = sys.modules["__main__"], ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    class Process:
        def start(self) -> None:
            sys.modules["__main__"] = other  # as a page of the app does when it is drawn

    processes._start(Process())  # type: ignore[arg-type]
    assert sys.modules["__main__"] is other


@pytest.mark.parametrize("safe", [None, "", "1"])
def test_the_main_module_and_the_environment_are_put_back_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, safe: str | None
) -> None:
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
