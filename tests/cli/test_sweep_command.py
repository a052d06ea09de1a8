"""`rwn sweep`: the numbers of Python, the exit codes of the other commands."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario, Search
from rwn_core.tuning import Grid, Plan, Setting, sweep
from tests.cli.conftest import Run

MEASURES = ("correlation", "distance_linkage")


def expected() -> pd.DataFrame:
    data = rwn.load_demo("bodyfat").with_weights({"age": 2.0})
    grid = Grid(axes={"epsilon": (0, 1.5), "k": (3, 5), "q": (0.5,)})
    return sweep(data, grid, plan=Plan(measures=MEASURES, releases=2, seed=3), workers=1).frame()


def same(path: Path, frame: pd.DataFrame) -> bool:
    frame.to_csv(path.with_suffix(".expected"), index=False, lineterminator="\n")
    return path.read_bytes() == path.with_suffix(".expected").read_bytes()


def test_options_give_the_numbers_of_python(rwn_command: Run) -> None:
    code, output, said = rwn_command(
        *("sweep", "demo:bodyfat", "--epsilon", "0,1.5", "--k", "3,5", "--q", "0.5"),
        *("--measure", "correlation", "--measure", "distance_linkage", "--releases", 2),
        *("--seed", 3, "--weight", "age=2", "--workers", 1, "-o", "out.csv"),
    )
    assert (code, output) == (0, "")
    assert "4 settings, 2 releases each" in said
    assert same(Path("out.csv"), expected())
    assert [path.name for path in Path().iterdir() if path.suffix == ".sweep"] == []


def test_a_scenario_gives_the_same_numbers(rwn_command: Run) -> None:
    scenario = Scenario(
        setting=Setting.of("rwn", {"k": 5}, {"age": 2.0}),
        search=Search(
            grid=Grid(axes={"epsilon": (0, 1.5), "k": (3, 5), "q": (0.5,)}),
            plan=Plan(measures=MEASURES, releases=2, seed=3),
        ),
    )
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    code, _, _ = rwn_command(
        "sweep", "demo:bodyfat", "--scenario", "s.toml", "--workers", 1, "-o", "out.csv"
    )
    assert code == 0
    assert same(Path("out.csv"), expected())
    code, _, said = rwn_command(
        *("sweep", "demo:bodyfat", "--scenario", "s.toml", "--k", "5", "--releases", 1),
        *("--workers", 1, "-o", "out.parquet"),
    )
    assert code == 0
    assert "2 settings, 1 release each" in said
    assert len(pd.read_parquet("out.parquet")) == 4


def test_a_second_run_goes_on_where_the_first_was_stopped(rwn_command: Run) -> None:
    data = rwn.load_demo("bodyfat")
    plan = Plan(measures=MEASURES, releases=2)
    sweep(data, Grid(axes={"k": (3,)}), plan=plan, workers=1, folder=Path("out.csv.sweep"))
    names = ("--measure", "correlation", "--measure", "distance_linkage", "--releases", 2)
    ends = ("--workers", 1, "-o", "out.csv")
    assert rwn_command("sweep", "demo:bodyfat", "--k", "3,5", *names, *ends)[0] == 0
    assert len(pd.read_csv("out.csv")) == 4
    assert not Path("out.csv.sweep").exists()


def test_methods_side_by_side_in_one_table(rwn_command: Run) -> None:
    code, _, said = rwn_command(
        *("sweep", "demo:bodyfat", "--method", "rwn,nbrs2015", "--epsilon", "2", "--k", "3,5"),
        *("--measure", "correlation", "--releases", 1, "--workers", 1, "-o", "out.csv"),
    )
    assert code == 0
    assert "3 settings" in said
    assert pd.read_csv("out.csv")["method"].tolist() == ["rwn", "rwn", "nbrs2015"]
