"""A run whose processes are killed goes on where it was, and leaves nothing half-written."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.datasets.stage import Stage
from rwn_core.errors import ReleaseError
from rwn_core.parallel.pool import Stopped
from tests.core.datasets import datasets

METHOD_1 = rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "in", datasets.frame(), 7)


@pytest.fixture(scope="module")
def wanted(source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("whole") / "out"
    datasets.mask(source, target, METHOD_1)
    return datasets.digest(target)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processes of Linux")
def test_a_killed_driver_leaves_no_orphan_and_the_run_goes_on(
    source: Path, wanted: str, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    datasets.killed_driver(source, target, "local", share=0.5)
    (tmp_path / ".out.unfinished" / ".part-000000.parquet.0000").write_bytes(b"half a file")
    datasets.mask(source, target, METHOD_1)
    assert datasets.digest(target) == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["driver.py", "out"]


class Killed(BaseException):
    """Stands for a kill: nothing after it is done."""


@pytest.mark.parametrize("moment", ["end", "rename", "remove"])
def test_a_kill_at_the_end_leaves_no_original_and_the_same_command_ends_well(
    source: Path, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Finding T6: the stage with original values stayed for good, and the command was refused."""
    target, stage = tmp_path / "out", tmp_path / ".out.stage"

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Path if moment == "rename" else Stage, moment, kill)
        with pytest.raises(Killed):
            datasets.mask(source, target, METHOD_1)
    assert stage.exists()
    if moment != "end":
        assert sorted(path.name for path in stage.rglob("*")) == ["ended.json", "run.json"]
    if moment == "remove":
        with pytest.raises(ReleaseError, match="exists; choose a new folder"):
            datasets.mask(source, target, METHOD_1, seed=4)
    made = datasets.mask(source, target, METHOD_1)
    assert datasets.digest(target) == wanted
    assert made.n == len(datasets.frame())
    assert made.changed == datasets.mask(source, tmp_path / "again", METHOD_1).changed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "out"]
    with pytest.raises(ReleaseError, match="exists; choose a new folder"):
        datasets.mask(source, target, METHOD_1)


def test_the_stage_of_a_finished_release_is_removed_on_the_next_start(
    source: Path, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an earlier version left it: all its tasks done, beside the finished release."""
    target, stage = tmp_path / "out", tmp_path / ".out.stage"
    end = Stage.end

    def copied(self: Stage, result: dict[str, object]) -> None:
        shutil.copytree(self.folder, tmp_path / "copy")
        end(self, result)

    with monkeypatch.context() as patched:
        patched.setattr(Stage, "end", copied)
        datasets.mask(source, target, METHOD_1)
    (tmp_path / "copy").rename(stage)
    datasets.mask(source, target, METHOD_1)
    assert datasets.digest(target) == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_came_meanwhile_is_not_taken_for_the_release(
    source: Path, tmp_path: Path
) -> None:
    def other(share: float) -> None:
        if share > 0.5:
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "other").touch()

    with pytest.raises(ReleaseError, match="cannot be written"):
        datasets.mask(source, tmp_path / "out", METHOD_1, progress=other)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["other"]


def test_a_killed_worker_stops_the_run_which_goes_on(
    source: Path, wanted: str, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(share: float) -> None:
        for child in multiprocessing.active_children() if not killed else ():
            killed.append(child.pid or 0)
            os.kill(child.pid or 0, signal.SIGKILL)

    with pytest.raises(Stopped, match="run the same again"):
        datasets.mask(source, tmp_path / "out", METHOD_1, workers=2, progress=kill)
    assert len(killed) == 2
    assert not (tmp_path / "out").exists()
    datasets.mask(source, tmp_path / "out", METHOD_1)
    assert datasets.digest(tmp_path / "out") == wanted
