"""One question, one answer: every entrance says the same of a policy on ten small tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.reporting import places_on_map
from rwn_core.reporting.candidates import candidates_map, judged
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import Goal, Grid, Plan, SliceRanges, prepared, seek, seek_slices, sweep
from rwn_core.tuning.policy import Limit, Policy
from rwn_ui.features import limit_queue

SETTING = rwn.RWN(epsilon=3.0, k=15)
ROLES = {"age": rwn.Role.KEY, "size": rwn.Role.KEY, "ill": rwn.Role.CONFIDENTIAL}


def frame(n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    age = rng.integers(20, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "size": rng.normal(170, 9, n).round(1),
            "pay": (20 * age + rng.normal(0, 200, n)).round(0),
            "ill": np.where(rng.random(n) < 0.4, "yes", "no"),
        }
    )


def described(table: pd.DataFrame, roles: dict[str, rwn.Role] | None = None) -> rwn.Microdata:
    data = rwn.Microdata.from_frame(table)
    schema = data.schema
    for name, role in (ROLES if roles is None else roles).items():
        schema = schema.replace_variable(name, role=role)
    return data.with_schema(schema)


def with_roles() -> rwn.Microdata:
    return described(frame())


def without_roles() -> rwn.Microdata:
    return described(frame(), {})


def rare_flag() -> rwn.Microdata:
    table = frame()
    return described(table.assign(ill=np.where(np.arange(len(table)) % 40 == 3, "yes", "no")))


def coarse() -> rwn.Microdata:
    table = frame()
    coarser = {"age": table["age"] // 30, "size": table["size"] // 20}
    return described(table.assign(**coarser)[["age", "size", "ill"]])


def heavy_tail() -> rwn.Microdata:
    table = frame()
    return described(table.assign(pay=np.exp(table["pay"] / 200).round(1)))


def panel() -> rwn.Microdata:
    table = frame(40)
    later = table.assign(age=table["age"] + 2, pay=table["pay"] * 1.1)
    return described(pd.concat([table, later], ignore_index=True))


def households() -> rwn.Microdata:
    table = frame()
    home = np.arange(len(table)) // 2
    return described(table.assign(home=home), {**ROLES, "home": rwn.Role.HOUSEHOLD})


def one_number() -> rwn.Microdata:
    return described(frame()[["pay"]], {})


def constant() -> rwn.Microdata:
    return described(frame().assign(same=1.5))


def far_people() -> rwn.Microdata:
    table = frame()
    far = table["size"].where(np.arange(len(table)) > 2, 400.0)
    return described(table.assign(size=far, double=2 * table["pay"]))


TABLES = (
    with_roles,
    without_roles,
    rare_flag,
    coarse,
    heavy_tail,
    panel,
    households,
    one_number,
    constant,
    far_people,
)


def judged_release(data: rwn.Microdata) -> dict[str, str]:
    made = judge_release(data, SETTING, "csv", Policy())
    record = made.document["verdict"]
    assert (record["state"], record["not_judged"]) == (made.verdict.state, made.verdict.unread)
    return dict(made.verdict.unread)


def tunes_line(data: rwn.Microdata) -> dict[str, str]:
    readings = rwn.audit(data, rwn.mask(data, SETTING, seed=1)).readings
    verdict = Policy().judge(readings)
    line = limit_queue.draw_verdict(Policy(), readings, verdict)
    marks = {"kept": "kept", "broken": "over", "not judged": None}
    assert line["state"] == marks[verdict.state]
    for why in verdict.unread.values():
        assert why[1:] in line["help"]
    return dict(verdict.unread)


def map_and_minutes(data: rwn.Microdata) -> dict[str, str]:
    plan = Plan(measures=(*Policy().measures, "association_loss"), releases=2)
    settings = prepared(data, Grid(axes={"epsilon": (3.0,), "k": (15,)}), references=False)
    swept = sweep(data, settings, plan=plan, workers=1)
    (point,) = swept.points
    verdict = Policy().judge(point)
    (spot,) = places_on_map.map_points(Policy(), swept, "association_loss", POLICY)
    assert spot["kept"] == (verdict.state == "kept")
    assert (spot["y"] is None) == (verdict.state == "not judged")
    scenario = rwn.Scenario(
        name="A", setting=point.setting, readings=point.stated(), unread=point.unread
    )
    again = rwn.Scenario.from_toml(scenario.to_toml())
    (minutes,) = judged([again], Policy())
    assert (minutes.state, minutes.unread) == (verdict.state, verdict.unread)
    if verdict.state == "not judged" and point.median("association_loss") is not None:
        labels = candidates_map([again], Policy())["figure"]["layout"]["annotations"]
        assert any("A: not judged" in each["text"] for each in labels)
    try:
        found = seek(data, swept, Goal(keep=Policy(), best="association_loss"), workers=1)
    except ParameterError:  # no setting has an answer for all measures, or no limit is left
        pass
    else:
        assert found.verdict.unread == verdict.unread
        assert not (found.kept and verdict.unread)
    return dict(verdict.unread)


def slice_search(data: rwn.Microdata) -> dict[str, str]:
    ranges = SliceRanges(tries=2, starts=[()], only_starts=True, weights=False, strengths=(3.0,))
    try:
        found = seek_slices(data, Policy(), ranges=ranges, workers=1)
    except ParameterError:  # one variable has no slices
        return Policy().judgeable(data)[1]
    assert found.verdict.unread == found.unread
    assert not (found.reached and found.unread)
    return dict(found.unread)


def recommendation(data: rwn.Microdata) -> dict[str, str]:
    found = rwn.recommend(data, within=3.0)
    assert found.state in ("broken", "not judged") or not found.unread
    assert found.kept == (found.state == "kept")
    assert not (found.kept and found.unread)
    for why in found.unread.values():
        assert why[1:] in found.reason
    return dict(found.unread)


def quick_verdict(data: rwn.Microdata) -> dict[str, str]:
    found = rwn.quick_verdict(data, SETTING, within=2.0, steps=False)
    assert (found.answer == "can") == (found.state == "kept")
    assert found.answer != "can" or not found.unread
    if found.setting is not None:  # the others are kept
        assert (found.state == "not judged") == bool(found.unread)
        for why in found.unread.values():
            assert why[1:] in found.sentence
    return dict(found.unread)


ENTRANCES: tuple[Callable[[rwn.Microdata], dict[str, str]], ...] = (
    judged_release,
    tunes_line,
    map_and_minutes,
    slice_search,
)
SLOW = (recommendation, quick_verdict)
"""They try many settings, so that they are asked of some tables."""


@pytest.mark.parametrize("make", TABLES)
def test_every_entrance_sets_the_same_limits_apart_for_the_same_reason(
    make: Callable[[], rwn.Microdata],
) -> None:
    data = make()
    _, apart = Policy().judgeable(data)
    for entrance in ENTRANCES:
        assert entrance(data) == apart, entrance.__name__


@pytest.mark.parametrize("make", [with_roles, without_roles, rare_flag, coarse])
def test_advice_sets_the_same_limits_apart(make: Callable[[], rwn.Microdata]) -> None:
    data = make()
    _, apart = Policy().judgeable(data)
    for entrance in SLOW:
        assert entrance(data) == apart, entrance.__name__


def test_no_advice_calls_a_policy_kept_that_was_not_judged() -> None:
    """A limit that every setting keeps, beside one that no variable can be judged by."""
    data = without_roles()
    limits = (
        Limit(measure="bayes_linkage", at_most=0.9),
        Limit(measure="attribute_gain", at_most=0.5),
    )
    for policy in (Policy(limits=limits), Policy(limits=limits[:1])):
        advice = rwn.recommend(data, policy, within=3.0)
        verdict = rwn.quick_verdict(data, SETTING, policy, within=5.0, steps=False)
        unread = set(policy.measures) - {"bayes_linkage"}
        assert set(advice.unread) == set(verdict.unread) == unread
        assert advice.reached
        assert verdict.setting is not None
        assert advice.state == verdict.state == ("not judged" if unread else "kept")
        assert advice.kept == (not unread)
        assert verdict.answer == ("unknown" if unread else "can")
        for words in (advice.reason, verdict.sentence):
            assert ("Attribute gain not judged: " in words) == bool(unread)
            assert not (unread and "keeps the policy" in words)


def test_a_planted_limit_that_nothing_breaks_is_found_by_each() -> None:
    """The tables above tell the entrances apart: some have limits that cannot be judged."""
    sets = {make.__name__: set(Policy().judgeable(make())[1]) for make in TABLES}
    assert not sets["with_roles"]
    assert "attribute_gain" in sets["without_roles"]
    assert len({frozenset(each) for each in sets.values()}) > 1
