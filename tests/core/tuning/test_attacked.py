"""A verdict is the worse of what a measure states and what a simple attack achieved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Limit, Microdata, NotApplicable, Policy, Setting
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.measure import Detail, Reading
from rwn_core.measures.risk.red_team import RedTeam
from rwn_core.reporting import judged_release
from rwn_core.reporting.judged_release import judge_release
from rwn_core.tuning.evaluate import ATTACKED, Plan, evaluate
from rwn_core.tuning.evaluate import stated as stated_of
from rwn_core.tuning.point import Point, Spread
from rwn_core.tuning.verdict import attacked
from tests.tables import described


def team(identity: float | None = None, attribute: float | None = None) -> Reading:
    def row(value: float | None, words: str) -> Finding | None:
        counts = {"right": 1.0, "named": 1.0, "people": 2.0, "base": 0.0}
        found = Finding(attack="", words=words, kind="attribute", score=value or 0.0, **counts)
        return None if value is None else found

    best = {"identity": row(identity, "ranks"), "attribute": row(attribute, "a merge on age")}
    return Reading(value=1.0, detail=RedTeam(findings=[], **best))


def stated(value: float, **detail: Any) -> Reading:
    return Reading(value=value, interval=(value, value), detail=Detail(**detail))


POLICY = Policy(
    limits=tuple(Limit(measure=key, at_most=0.05) for key in ("bayes_linkage", "attribute_gain"))
)


def test_the_worse_of_stated_and_attacked_is_judged_and_says_by_whom() -> None:
    readings = {"bayes_linkage": stated(0.04), "attribute_gain": stated(0.02)}
    assert POLICY.judge(readings).kept
    verdict = POLICY.judge({**readings, "red_team": team(0.03, 0.61)})
    assert verdict.broken == ("attribute_gain",)
    assert verdict.values == {"bayes_linkage": 0.04, "attribute_gain": 0.61}
    assert [each.by for each in verdict.bounds.values()] == ["", "a merge on age"]
    assert "Attribute gain, 61 % by a merge on age, which uses 12 times its limit" in (
        verdict.sentence
    )


def test_what_is_stated_stays_where_no_attack_goes_further() -> None:
    readings = {"bayes_linkage": stated(0.04), "attribute_gain": NotApplicable("No secret.")}
    for found in (team(), team(0.04, 0.5), NotApplicable("Too few records.")):
        assert attacked({**readings, "red_team": found}) == {**readings, "red_team": found}
    assert attacked(readings) is readings


def test_a_raised_reading_holds_what_was_stated_and_a_bound_that_is_not_below_it() -> None:
    readings = {"bayes_linkage": stated(0.01, standing="at least", at_most=0.03)}
    raised = attacked({**readings, "red_team": team(0.4)})["bayes_linkage"]
    assert (raised.value, raised.interval) == (0.4, None)
    assert raised.detail.standing == "at least"
    assert (raised.detail.at_most, raised.detail.attacked_by) == (0.4, "ranks")
    assert POLICY.judge({**readings, "red_team": team(0.4)}).broken == ("bayes_linkage",)


def test_a_spread_names_its_attack_in_files_too() -> None:
    spread = Spread(measure="attribute_gain", values=(0.4, 0.5), by="a merge on age")
    assert Spread.from_dict("attribute_gain", spread.to_dict()) == spread
    plain = Spread(measure="attribute_gain", values=(0.1, 0.2))
    assert "by" not in plain.to_dict()
    setting = Setting(params=rwn.RWN(k=3))
    point, few = (Point(setting=setting, spreads={"attribute_gain": s}) for s in (plain, spread))
    asked = list[Plan]()

    class Crew:
        """Answers with a point, then with that of the attacked releases."""

        until = float("inf")

        def __init__(self, *answers: Point) -> None:
            self._answers = list(answers)

        def points(self, settings: list[Setting], plan: Plan, progress: object) -> list[Point]:
            asked.append(plan)
            return [self._answers.pop(0)]

    plan = Plan(measures=("attribute_gain", "correlation"), releases=59, seed=4)
    assert stated_of(Crew(point, few), setting, plan, print)[0].spreads["attribute_gain"] is spread
    assert stated_of(Crew(point, point), setting, plan, print) == (point, "")
    assert asked[0] == plan
    assert asked[1].measures == ("attribute_gain", "red_team")
    assert (asked[1].releases, asked[1].seed) == (ATTACKED, 4) == (5, 4)
    assert POLICY.judge(few).bounds["attribute_gain"].by == "a merge on age"


def open_secret(n: int = 120, seed: int = 0) -> Microdata:
    """Two fine keys and a rare flag."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "flag": ["no"] * n})
    frame.loc[rng.choice(n, 6, replace=False), "flag"] = "yes"
    slices = [["x", "y", "flag"]]
    return described(frame, slices, x="key", y="key", flag="confidential")


def test_trials_attack_a_few_releases_of_an_answer() -> None:
    plan = Plan(measures=("attribute_gain", "red_team"), releases=ATTACKED, seed=4)
    setting = Setting(params=rwn.RowCopy(epsilon=0, k=3, q=1))
    data = open_secret()
    point = evaluate(data, setting.resolved(data), plan.keys, plan.measures)
    assert point.spreads["red_team"].median > 0.2


def test_a_judged_release_is_attacked_and_its_record_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # of the secrets that are drawn in earnest, one in 25 masks all rare flags by chance
    monkeypatch.setattr(
        judged_release, "mask", lambda data, params, **how: rwn.mask(data, params, seed=1)
    )
    policy = Policy(limits=(Limit(measure="attribute_gain", at_most=0.2),))
    judged = judge_release(
        open_secret(), rwn.RowCopy(epsilon=0, k=5, q=1), "csv", policy,
        further=1,
    )  # fmt: skip
    words = judged.document["readings"]["red_team"]["words"]
    assert "flag is named for" in words
    assert not judged.verdict.kept
    assert not any(judged.further)
    assert judged.document["verdict"]["words"] == judged.verdict.sentence
