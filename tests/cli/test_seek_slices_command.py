"""`rwn seek-slices`: the answer of Python, in words and as a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Point
from tests.cli.conftest import Run


def answered(asked: dict[str, Any], *, reached: bool) -> Any:
    """A search that notes what it was asked and answers at once."""

    def search(data: rwn.Microdata, policy: rwn.Policy, **more: object) -> rwn.SliceAnswer:
        asked.update(policy=policy, **more)
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}, slices=[["age", "weight"]])
        point = Point(setting=setting.resolved(data), spreads={})
        return rwn.SliceAnswer(
            policy=policy, point=point, reached=reached, tried=3, records=data.n, of=data.n
        )

    return search


def test_the_answer_is_that_of_python_and_can_be_masked(rwn_command: Run, monkeypatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("rwn_core.tuning.seek_slices", answered(asked, reached=True))
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


def test_kernels_and_a_soft_start_arrive_and_an_answer_short_of_limits_is_not_written(
    rwn_command: Run, monkeypatch
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("rwn_core.tuning.seek_slices", answered(asked, reached=False))
    search = ("seek-slices", "demo:bodyfat", "--limit", "distance_linkage=0.05", "-o", "s.toml")
    code, _, said = rwn_command(*search, "--kernels")
    assert code == 4
    assert "None of 3 keeps all limits; nearest is" in said
    assert not Path("s.toml").exists()
    assert asked["ranges"].kernels
    assert asked["setting"].params == rwn.RWN(epsilon=1.0, k=5)
    assert rwn_command(*search, "--set", "kernel=gaussian", "--set", "balance=1")[0] == 4
    assert not asked["ranges"].kernels
    assert asked["setting"].params == rwn.RWN(kernel="gaussian", balance=1.0)
