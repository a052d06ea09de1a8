"""`rwn seek`: the setting that keeps all limits, as sentence and scenario, or the nearest."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import goal_seek as goal_module
from tests.cli.conftest import Run

SOON = ("--k", "3,40", "--q", "0.5,1", "--releases", 3, "--workers", 1)
LIMITS = ("--limit", "distance_linkage=0.1", "--limit", "attribute_gain=0.3")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goal_module, "_ROUNDS", 1)
    monkeypatch.setattr(goal_module, "_STATED", 19)


def test_the_answer_is_a_sentence_and_a_scenario_that_masks(rwn_command: Run) -> None:
    code, output, said = rwn_command("seek", "demo:bodyfat", *LIMITS, *SOON, "-o", "found.toml")
    assert code == 0, said
    assert "Distance linkage" in output
    assert "Attribute gain" in output
    assert "Relations lost" in output
    scenario = Scenario.from_toml(Path("found.toml").read_text(encoding="utf-8"))
    assert scenario.policy is not None
    assert scenario.policy.measures == ("distance_linkage", "attribute_gain")
    assert scenario.setting is not None
    assert scenario.setting.words in output
    verdict = scenario.policy.judge_stated(scenario.readings)
    assert verdict.kept
    # and it is what the other commands read
    assert rwn_command("mask", "demo:bodyfat", "out.csv", "--scenario", "found.toml")[0] == 0
    again = ("--scenario", "found.toml", *SOON)
    assert rwn_command("seek", "demo:bodyfat", *again)[1] == output


def test_where_none_keeps_all_limits_the_nearest_is_named_and_nothing_written(
    rwn_command: Run,
) -> None:
    code, output, said = rwn_command("seek", "demo:bodyfat", *SOON, "-o", "found.toml")
    assert (code, output) == (4, "")
    assert "keeps all limits; nearest is k = " in said
    assert "times the limit on Linked over one half" in said
    assert not Path("found.toml").exists()


def test_a_sweep_says_which_settings_keep_all_limits(rwn_command: Run) -> None:
    sweep = ("sweep", "demo:bodyfat", "--k", "3,60", "--q", "1", "--releases", 3, "--workers", 1)
    code, _, said = rwn_command(
        *sweep, "--measure", "correlation", "--limit", "distance_linkage=0.12", "-o", "out.csv"
    )
    assert code == 0
    assert "1 of 2 settings keep all limits" in said
    table = pd.read_csv("out.csv")
    linked = table[table["measure"] == "distance_linkage"]
    assert linked["keeps_all_limits"].tolist() == [False, True]
    assert (linked["share_of_limit"] * 0.12).tolist() == pytest.approx(linked["high"].tolist())
    code, _, said = rwn_command(*sweep, "--limit", "bayes_linkage=0.05", "-o", "two.csv")
    assert code == 0
    assert "None of 2 settings keeps all limits; nearest is k = 60" in said


def test_limits_that_nobody_can_judge_are_named(rwn_command: Run) -> None:
    data = rwn.load_demo("bodyfat")
    columns = {name: data.values(name) for name in ("age", "weight", "height")}
    pd.DataFrame(columns).to_csv("plain.csv", index=False)
    code, output, said = rwn_command(
        *("seek", "plain.csv", "--limit", "distance_linkage=0.9", "--limit", "attribute_gain=0.1"),
        *SOON,
    )
    assert code == 0, said
    assert "Not judged: Attribute gain. No variable is confidential" in output


def test_certified_linkage_alone_is_answered_by_the_smallest_width(rwn_command: Run) -> None:
    """Other than a sweep it draws few releases, and says what the bound does not cover."""
    kernel = ("kernel=exponential", "bandwidth=absolute", "own=true", "cap=1", "width=1,60")
    options = [part for each in kernel for part in ("--set", each)]
    frame = rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]].iloc[:80]
    frame.to_csv("small.csv", index=False)
    code, output, said = rwn_command(
        "seek", "small.csv", "--limit", "certified_linkage=0.1", *options, "--releases", 1
    )
    assert code == 0, said
    assert "the smallest width" in said
    for words in ("Certified linkage", "True matches", "Of the relations across slices"):
        assert words in output
