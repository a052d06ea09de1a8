"""Workers end with the program that started them, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.core.parallel.worker_tasks import (
    ROOT,
    alive,
    wait_until,
)

PARENT = """
import sys, time
sys.path.insert(0, {tests!r})
from rwn_core.parallel.job import Job
from rwn_core.parallel.pool import Pool
from tests.core.parallel import worker_tasks as work
if __name__ == "__main__":
    job, pool = Job(work.heedless), Pool(work.counter, 0, workers=2)
    while not job.share:
        time.sleep(0.01)
    print(*job._pool.pids, *pool.pids, flush=True)
    {rest}
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], list[int]]]]:
    begun = list[tuple[subprocess.Popen[str], list[int]]]()

    def start(rest: str) -> tuple[subprocess.Popen[str], list[int]]:
        script = tmp_path / "parent.py"
        tests = str(Path(__file__).parents[3])
        script.write_text(PARENT.format(tests=tests, rest=rest), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            # tests may run behind a shell's &, which has SIGINT ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        begun.append((process, pids))
        assert len(pids) == 3
        return process, pids

    yield start
    for process, pids in begun:  # after a failure, too
        for pid in [process.pid] * (process.poll() is None) + [pid for pid in pids if alive(pid)]:
            os.kill(pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_when_their_parent_is_killed(parent, sign: int) -> None:
    process, pids = parent("time.sleep(600)")
    assert all(alive(pid) for pid in pids)
    process.send_signal(sign)
    process.communicate(timeout=20)
    wait_until(lambda: not any(alive(pid) for pid in pids), 10)


def test_workers_end_when_their_parent_ends_in_good_order(parent) -> None:
    process, pids = parent("pass")
    _, printed = process.communicate(timeout=20)  # it does not wait for its workers
    assert (process.returncode, printed) == (0, "")
    assert not any(alive(pid) for pid in pids)
