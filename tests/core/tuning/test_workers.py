"""Worker processes: the same numbers, cancel leaves none of them, and nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import rwn_core as rwn
from rwn_core.tuning import Grid, JobFolder, Plan, SweepRun, prepared, sweep

ROOT = Path(__file__).resolve().parents[3]
PLAN = Plan(measures=("correlation", "distance_linkage"), releases=4)
LONG = Grid(axes={"epsilon": [n / 50 for n in range(100)], "k": range(1, 51)})


def begin(bodyfat: rwn.Microdata, place: Path, workers: int = 2) -> SweepRun:
    """A sweep far too long to end by itself, with some points finished."""
    settings = prepared(bodyfat, LONG, references=False)
    run = SweepRun(
        bodyfat, settings, PLAN, JobFolder.open(place, bodyfat, PLAN, settings), workers=workers
    )
    end = time.monotonic() + 60
    while len(run.sweep()) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    assert len(run.sweep()) >= 3
    return run


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_workers_give_the_same_numbers(bodyfat, tmp_path) -> None:
    grid = Grid(axes={"epsilon": (0, 2), "q": (0.5, 1), "k": (5,)}, weights=({}, {"age": 2.0}))
    shares: list[float] = []
    apart = sweep(bodyfat, grid, plan=PLAN, workers=2, progress=shares.append)
    assert apart.frame().equals(sweep(bodyfat, grid, plan=PLAN, workers=1).frame())
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_cancel_leaves_no_process_and_every_finished_point(bodyfat, tmp_path) -> None:
    run = begin(bodyfat, tmp_path / "job")
    pids = run._pool.pids
    assert len(pids) == 2
    assert run.running
    assert 0 < run.share < 1
    assert run.words.endswith(" left") or run.words.endswith("time unknown yet")
    run.cancel()
    assert not run.running
    assert not any(alive(pid) for pid in pids)
    assert "Cancelled" in run.refusal
    done = {p.setting.key: p for p in run.sweep()}
    assert len(done) >= 3
    again = JobFolder(tmp_path / "job")
    assert all(again.load(p.setting) == p for p in done.values())


def test_a_killed_worker_loses_no_finished_point_and_the_other_goes_on(bodyfat, tmp_path) -> None:
    run = begin(bodyfat, tmp_path / "job")
    done = {p.setting.key for p in run.sweep()}
    first, second = run._pool.pids
    os.kill(first, signal.SIGKILL)
    end = time.monotonic() + 30
    while len(run.sweep()) < len(done) + 3 and time.monotonic() < end:
        time.sleep(0.02)
    assert run.running
    assert done < {p.setting.key for p in run.sweep()}
    os.kill(second, signal.SIGKILL)
    run.join(5)
    assert "start it again" in run.refusal
    assert done < {p.setting.key for p in run.sweep()}


def test_a_point_that_cannot_be_written_is_not_blamed_on_memory(bodyfat, tmp_path) -> None:
    grid = Grid(axes={"epsilon": (1,), "k": (5, 6)})
    settings = prepared(bodyfat, grid, references=False)
    folder = JobFolder.open(tmp_path / "job", bodyfat, PLAN, settings)
    folder.path(settings[0]).mkdir()  # where its file should go
    run = SweepRun(bodyfat, settings, PLAN, folder, workers=2)
    run.join(60)
    assert "1 of 2 settings open. The file" in run.refusal
    assert "could not be written" in run.refusal
    assert "memory" not in run.refusal
