"""Worker processes: the same numbers, and what is finished stays, whatever ends early."""

from __future__ import annotations

import os
import signal
from typing import Any

import pandas as pd
import pytest

from rwn_core.errors import NotWritten, RWNError
from rwn_core.tuning import Grid, Plan, sweep
from rwn_core.tuning.evaluate import SettingPool
from rwn_core.tuning.sweep import JobFolder

PLAN = Plan(measures=("correlation", "distance_linkage"), releases=4)
GRID = Grid(axes={"epsilon": (0, 2), "q": (0.5, 1), "k": (5,)}, weights=({}, {"age": 2.0}))


@pytest.fixture(scope="module")
def whole(bodyfat) -> pd.DataFrame:
    """What one process reads."""
    return sweep(bodyfat, GRID, plan=PLAN, workers=1).frame()


class Stop(Exception):
    """What a caller ends a sweep with."""


def test_workers_give_the_same_numbers(bodyfat, whole) -> None:
    shares: list[float] = []
    apart = sweep(bodyfat, GRID, plan=PLAN, workers=2, progress=shares.append)
    assert apart.frame().equals(whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_that_is_ended_loses_no_finished_point(bodyfat, whole, tmp_path, workers) -> None:
    place = tmp_path / "job"

    def end(share: float) -> None:
        if share > 0.6:
            raise Stop

    with pytest.raises(Stop):
        sweep(bodyfat, GRID, plan=PLAN, workers=workers, folder=place, progress=end)
    kept = {path: path.stat().st_mtime_ns for path in place.glob("*.json")}
    assert 1 < len(kept) < 1 + len(GRID.settings())
    done = sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    assert done.complete
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert done.frame().equals(whole)


def test_a_killed_worker_ends_the_sweep_with_a_sentence(bodyfat, tmp_path, monkeypatch) -> None:
    place, began = tmp_path / "job", SettingPool.points

    def killed(pool: SettingPool, *asked: Any) -> Any:
        if len(list(place.glob("*.json"))) > 1:
            for pid in pool._pool.pids:
                os.kill(pid, signal.SIGKILL)
        return began(pool, *asked)

    monkeypatch.setattr(SettingPool, "points", killed)
    with pytest.raises(RWNError, match="memory"):
        sweep(bodyfat, GRID, plan=PLAN, workers=2, folder=place)
    monkeypatch.undo()
    assert 1 < len(list(place.glob("*.json"))) < 1 + len(GRID.settings())
    assert sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place).complete


def test_a_point_that_cannot_be_written_is_not_blamed_on_memory(bodyfat, tmp_path) -> None:
    folder = JobFolder(tmp_path / "job", bodyfat, PLAN)
    first = sweep(bodyfat, GRID.settings()[0], plan=PLAN, workers=1).points[0]
    folder.path(first.setting).mkdir()  # where its file should go
    with pytest.raises(NotWritten, match="could not be written"):
        sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=tmp_path / "job")
