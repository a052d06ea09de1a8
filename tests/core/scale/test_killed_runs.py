"""A run whose processes are killed goes on where it was, and leaves nothing half-written."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pytest

import rwn_core as rwn
from rwn_core.parallel.pool import Stopped

ROOT = Path(__file__).parents[3]
METHOD_1 = rwn.RWN(k=5, neighbors="sample", m=150)
DRIVER = """
import multiprocessing, os, signal, sys
sys.path.insert(0, {tests!r})
import datasets
import rwn_core as rwn

def kill(share):
    if share > 0.5:
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    options = rwn.RunOptions(
        schema=datasets.SCHEMA, workers=2, rows=1024, file_rows=800, progress=kill
    )
    method = rwn.RWN(k=5, neighbors="sample", m=150)
    rwn.mask_dataset({source!r}, {target!r}, method, seed=3, options=options)
"""


def options(**changes: object) -> rwn.RunOptions:
    return rwn.RunOptions(
        **{"schema": datasets.SCHEMA, "workers": 1, "rows": 1024, "file_rows": 800} | changes
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "in", datasets.frame(), 7)


@pytest.fixture(scope="module")
def wanted(source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("whole") / "out"
    rwn.mask_dataset(source, target, METHOD_1, seed=3, options=options())
    return datasets.digest(target)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processes of Linux")
def test_a_killed_driver_leaves_no_orphan_and_the_run_goes_on(
    source: Path, wanted: str, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    script = tmp_path / "driver.py"
    tests = str(Path(__file__).parent)
    script.write_text(DRIVER.format(tests=tests, source=str(source), target=str(target)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    workers = [int(pid) for pid in ended.stdout.split()]
    assert len(workers) == 2
    until = time.monotonic() + 10
    while any(alive(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in workers)
    assert not target.exists()
    assert list((tmp_path / ".out.stage").rglob("*.done"))
    (tmp_path / ".out.unfinished" / ".part-000000.parquet.0000").write_bytes(b"half a file")
    rwn.mask_dataset(source, target, METHOD_1, seed=3, options=options())
    assert datasets.digest(target) == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["driver.py", "out"]


def test_a_killed_worker_stops_the_run_which_goes_on(
    source: Path, wanted: str, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(share: float) -> None:
        for child in multiprocessing.active_children() if not killed else ():
            killed.append(child.pid or 0)
            os.kill(child.pid or 0, signal.SIGKILL)

    with pytest.raises(Stopped, match="run the same again"):
        rwn.mask_dataset(
            source, tmp_path / "out", METHOD_1, seed=3, options=options(workers=2, progress=kill)
        )
    assert len(killed) == 2
    assert not (tmp_path / "out").exists()
    rwn.mask_dataset(source, tmp_path / "out", METHOD_1, seed=3, options=options())
    assert datasets.digest(tmp_path / "out") == wanted
