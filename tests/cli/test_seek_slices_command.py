"""`rwn seek-slices`: the answer of Python, in words and as a scenario."""

from __future__ import annotations

from pathlib import Path

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Point
from tests.cli.conftest import Run


def test_the_answer_is_that_of_python_and_can_be_masked(rwn_command: Run, monkeypatch) -> None:
    asked = {}

    def quickly(data: rwn.Microdata, policy: rwn.Policy, **more: object) -> rwn.SliceAnswer:
        asked.update(policy=policy, **more)
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}, slices=[["age", "weight"]])
        point = Point(setting=setting.resolved(data), spreads={})
        return rwn.SliceAnswer(
            policy=policy, point=point, reached=True, tried=1, records=data.n, of=data.n
        )

    monkeypatch.setattr("rwn_core.tuning.seek_slices", quickly)
    limits = ("--limit", "distance_linkage=0.05", "--limit", "true_matches=0.1")
    more = ("--k", 7, "--round", "age=5", "-o", "s.toml")
    code, _, said = rwn_command("seek-slices", "demo:bodyfat", *limits, *more)
    assert code == 0
    assert [each.measure for each in asked["policy"].limits] == ["distance_linkage", "true_matches"]
    assert asked["setting"].params.k == 7
    assert asked["setting"].precision == (("age", 5.0),)
    assert asked["ranges"].records == rwn.SliceRanges().records
    assert "age + weight travel together" in said
    scenario = Scenario.from_toml(Path("s.toml").read_text(encoding="utf-8"))
    assert scenario.setting.slices == (("age", "weight"),)
    assert rwn_command("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml")[0] == 0


def test_where_no_slices_keep_all_limits_nothing_is_written(rwn_command: Run, monkeypatch) -> None:
    def short(data: rwn.Microdata, policy: rwn.Policy, **more: object) -> rwn.SliceAnswer:
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}, slices=[["age", "weight"]])
        point = Point(setting=setting.resolved(data), spreads={})
        return rwn.SliceAnswer(
            policy=policy, point=point, reached=False, tried=3, records=data.n, of=data.n
        )

    monkeypatch.setattr("rwn_core.tuning.seek_slices", short)
    code, _, said = rwn_command(
        "seek-slices", "demo:bodyfat", "--limit", "distance_linkage=0.05", "-o", "s.toml"
    )
    assert code == 4
    assert "None of 3 keeps all limits; nearest is" in said
    assert not Path("s.toml").exists()


def test_kernels_and_a_soft_start_arrive_at_the_search(rwn_command: Run, monkeypatch) -> None:
    asked = {}

    def refused(data: rwn.Microdata, policy: rwn.Policy, **more: object) -> rwn.SliceAnswer:
        asked.update(more)
        raise rwn.ParameterError("enough")

    monkeypatch.setattr("rwn_core.tuning.seek_slices", refused)
    limits = ("--limit", "distance_linkage=0.05")
    rwn_command("seek-slices", "demo:bodyfat", *limits, "--kernels")
    assert asked["ranges"].kernels
    assert asked["setting"].params == rwn.RWN(epsilon=1.0, k=5)
    soft = ("--set", "kernel=gaussian", "--set", "balance=1")
    rwn_command("seek-slices", "demo:bodyfat", *limits, *soft)
    assert not asked["ranges"].kernels
    assert asked["setting"].params == rwn.RWN(kernel="gaussian", balance=1.0)
