"""A limit that the unmasked file keeps is not judged, wherever limits are judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Goal, Grid, ParameterError, Plan, SliceRanges, seek, seek_slices, sweep
from rwn_core.data.plain import read_plain
from rwn_core.reporting import ReleasedFile, internal_record
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.release_record import read_record
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import prepared
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.verdict import Verdict, decided, empty_end
from tests.core.tuning.test_goal_of_a_policy import policy
from tests.tables import described

CANNOT = "This limit cannot be broken on this table: the unmasked file reads"
PARAMS = rwn.RWN(epsilon=1.0, k=20)


def majority(n: int = 300) -> rwn.Microdata:
    """Fine keys beside a confidential answer that 98 % give alike (finding A1)."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 9, n).round(1),
            "income": np.exp(rng.normal(3, 0.6, n)).round(2),
            "age": rng.integers(20, 80, n),
            "convicted": np.where(np.arange(n) % 50 == 7, "yes", "no"),
        }
    )
    return described(frame, height="key", income="key", age="key", convicted="confidential")


def coarse(n: int = 400) -> rwn.Microdata:
    """Few combinations of keys: nobody is alone, and nobody could be linked."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "region": rng.integers(0, 4, n),
            "answer": rng.choice(["yes", "no"], n),
        }
    )
    return described(frame, sex="key", region="key", answer="confidential")


@pytest.fixture(scope="module")
def rare() -> rwn.Microdata:
    return majority()


POLICY = policy(distance_linkage=0.3, t_closeness=1.0)
"""The second limit is kept by the unmasked file of any of these tables."""


def test_one_release_is_not_judged_by_a_limit_that_nothing_breaks(rare: rwn.Microdata) -> None:
    release = rwn.mask(rare, PARAMS, seed=1)
    readings = rwn.audit(rare, release, measures=POLICY.measures).readings
    verdict = POLICY.judge(readings)
    assert not verdict.kept
    assert verdict.unread["t_closeness"].startswith(CANNOT)
    assert list(verdict.shares) == ["distance_linkage"]
    assert "Lower the limit, choose other keys, or remove it." in verdict.sentence
    # the planted other case: the same release under a limit that the unmasked file breaks
    fair = Policy(limits=POLICY.limits[:1])
    assert fair.judge(readings).kept


def test_a_coarse_table_keeps_no_limit_on_linkage() -> None:
    data = coarse()
    policy = Policy(limits=(Limit(measure="bayes_linkage", at_most=0.05),))
    for params in (rwn.RWN(k=5, q=0.0), rwn.RWN(k=50)):
        release = rwn.mask(data, params, seed=2)
        verdict = policy.judge(rwn.audit(data, release).readings)
        assert (verdict.kept, set(verdict.unread)) == (False, {"bayes_linkage"})
    classes = len(data.frame.drop_duplicates())
    assert f"reads {100 * classes / data.n:.3g} %" in verdict.unread["bayes_linkage"]
    # lowered as the sentence says, it can be broken, and the unmasked file breaks it
    lower = Policy(limits=(Limit(measure="bayes_linkage", at_most=0.9 * classes / data.n),))
    nothing = rwn.mask(data, rwn.RWN(k=5, q=0.0), seed=2)
    assert lower.judge(rwn.audit(data, nothing).readings).broken == ("bayes_linkage",)


def test_the_unmasked_file_never_keeps_a_policy(rare: rwn.Microdata) -> None:
    """Every measure of risk, at any limit: the file itself breaks it or is not judged."""
    release = rwn.mask(rare, rwn.RWN(k=5, q=0.0), seed=1)
    readings = rwn.audit(rare, release).readings
    limits = [
        Limit(measure=key, at_most=at_most)
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower"
        for at_most in (0.01, 0.05, 0.5, 1.0)
    ]
    kept = [each for each in limits if Policy(limits=(each,)).judge(readings).kept]
    assert kept == []


def test_a_point_a_saved_point_and_a_scenario_agree(rare: rwn.Microdata) -> None:
    grid = Grid(axes={"epsilon": (1.0,), "k": (20,), "q": (1.0,)})
    settings = prepared(rare, grid)
    plan = Plan(measures=("correlation", *POLICY.measures), releases=3)
    swept = sweep(rare, settings, plan=plan, workers=1)
    assert not swept.frame(POLICY)["keeps_all_limits"].any()
    assert CANNOT[1:] in swept.words(POLICY)
    (point,) = swept.points
    again = Point.from_dict(orjson.loads(orjson.dumps(point.to_dict())))
    scenario = Scenario(
        table=rare.fingerprint, setting=point.setting, policy=POLICY, readings=point.stated()
    )
    loaded = Scenario.from_toml(scenario.to_toml())
    verdicts = [POLICY.judge(point), POLICY.judge(again), POLICY.judge(loaded.readings)]
    for verdict in verdicts:
        assert not verdict.kept
        assert verdict.unread["t_closeness"].startswith(CANNOT)
        assert all(verdict.bounds[key].ends for key in POLICY.measures)
    # files of an earlier version say nothing of ends, and are read as they were
    old = {
        key: {name: value for name, value in each.items() if name not in ("unmasked", "unrelated")}
        for key, each in loaded.readings.items()
    }
    assert POLICY.judge(old).kept


def test_goal_seek_goes_by_the_other_limits_and_keeps_nothing(rare, short) -> None:
    grid = Grid(axes={"epsilon": (0.5, 2.0), "k": (20,), "q": (1.0,)})
    plan = Plan(measures=("correlation", *POLICY.measures), releases=2)
    swept = sweep(rare, prepared(rare, grid), plan=plan, workers=1)
    answer = seek(rare, swept, Goal(keep=POLICY, best="correlation"), workers=1)
    assert answer.reached
    assert not answer.kept
    assert CANNOT[1:] in answer.sentence
    empty = Policy(limits=POLICY.limits[1:])
    with pytest.raises(ParameterError, match="No limit can be judged on this table"):
        seek(rare, swept, Goal(keep=empty, best="correlation"), workers=1)


def test_a_slice_search_goes_by_the_other_limits_and_reaches_nothing(rare: rwn.Microdata) -> None:
    ranges = SliceRanges(tries=3, starts=[()], only_starts=True, weights=False, strengths=(1.0, 3))
    answer = seek_slices(rare, POLICY, ranges=ranges, workers=1)
    assert not answer.reached
    assert answer.unread["t_closeness"].startswith(CANNOT)
    assert CANNOT[1:] in answer.sentence
    assert "is known to keep all limits" in answer.sentence
    assert not POLICY.judge(answer.point).kept
    shares, late = list[float](), replace(ranges, seconds=1e-3)
    seek_slices(rare, POLICY, ranges=late, workers=1, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    with pytest.raises(ParameterError, match="No limit can be judged"):
        seek_slices(rare, Policy(limits=POLICY.limits[1:]), ranges=ranges, workers=1)


def test_what_is_broken_stays_broken_and_needs_no_end() -> None:
    """A reading above its limit breaks it, also where the unmasked file reads less."""
    limit = Limit(measure="bayes_linkage", at_most=0.05)

    def judged(value: float, unmasked: float, **more: Any) -> tuple[float | None, str, str]:
        ends = {"unmasked": unmasked}
        known = Spread(measure=limit.measure, values=(value,), ends=ends, **more)
        return decided(limit.measure, known, limit.share)

    assert judged(0.06, 0.04)[0] == 0.06
    value, _, why = judged(0.04, 0.04)
    assert (value, why[: len(CANNOT)]) == (None, CANNOT)
    assert judged(0.01, 0.045, is_bound=True, upper=(0.04,))[0] is None


def test_a_limit_on_a_loss_is_empty_where_no_relation_is_left() -> None:
    limit = Limit(measure="correlation", at_most=0.08)
    ends = {"unmasked": 0.0, "unrelated": 0.045}
    words = empty_end(limit.measure, ends, limit.share)
    assert "a file without any relation reads 0.045" in words
    assert empty_end(limit.measure, {"unmasked": 0.0, "unrelated": 0.3}, limit.share) is None
    assert empty_end(limit.measure, {"unmasked": 0.0}, limit.share) is None


def test_where_no_relation_is_left_and_a_limit_is_broken_masking_is_no_help() -> None:
    policy = Policy(limits=(Limit(measure="bayes_linkage", at_most=0.01),))
    verdict = policy.judge({"bayes_linkage": {"median": 0.3, "unmasked": 1.0, "unrelated": 0.02}})
    assert verdict.unreachable == ("bayes_linkage",)
    assert "coarsen values or raise the limit" in verdict.sentence
    other = policy.judge({"bayes_linkage": {"median": 0.3, "unmasked": 1.0, "unrelated": 0.002}})
    assert other.unreachable == ()


@pytest.mark.parametrize(
    ("count", "kept", "words"),
    [
        (1, True, "The limit is kept: Distance linkage, which uses 50 % of its limit."),
        (1, False, "The limit is broken: Distance linkage, which uses 2.0 times its limit."),
        (2, True, "All 2 limits are kept; nearest is Distance linkage"),
        (2, False, "1 of 2 limits is broken, most of all Distance linkage"),
    ],
)
def test_one_limit_is_no_several(count: int, kept: bool, words: str) -> None:
    """Finding P10: "All 1 limits are kept"."""
    limits = (Limit(measure="distance_linkage", at_most=0.1), Limit(measure="queries", at_most=0.1))
    values = {"distance_linkage": 0.05 if kept else 0.2, "queries": 0.01}
    assert Policy(limits=limits[:count]).judge(values).sentence.startswith(words)


@pytest.mark.parametrize(("measure", "value"), [("bayes_linkage", 1.5), ("queries", 100)])
def test_a_percentage_is_no_limit(measure: str, value: float) -> None:
    """Finding P1: a limit of 5 was taken for 500 %, and everything kept it."""
    words = r"\(%s\) must be a fraction from 0 to 1, not a percentage: write 0.05 for 5 percent"
    with pytest.raises(ParameterError, match=words % measure):
        Limit(measure=measure, at_most=value)
    with pytest.raises(ParameterError, match=words % measure):
        read_plain(Policy, [{"measure": measure, "at_most": value}], "policy", path="limit")
    assert Limit(measure=measure, at_most=1).at_most == 1


def test_a_judged_release_and_its_record_say_so(rare: rwn.Microdata) -> None:
    judged = judge_release(rare, PARAMS, "csv", POLICY, further=2)
    assert not judged.verdict.kept
    assert judged.further == (False, False)
    assert judged.document["verdict"]["not_judged"]["t_closeness"].startswith(CANNOT)
    assert judged.document["verdict"]["ends"]["distance_linkage"]["unmasked"] == 1.0
    release = rwn.mask(rare, PARAMS)
    file = ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = read_record(internal_record(rare, release, file, policy=POLICY))
    assert record["verdict"]["kept"] is False
    assert CANNOT[1:] in record["verdict"]["words"]


def test_what_can_be_judged_is_one_answer(rare: rwn.Microdata, bodyfat: rwn.Microdata) -> None:
    """The same limits are set apart of a table and of any of its releases, for the same reason."""
    judged, apart = POLICY.judgeable(rare)
    assert judged == Policy(limits=POLICY.limits[:1])
    release = rwn.mask(rare, PARAMS, seed=1)
    readings = rwn.audit(rare, release, measures=POLICY.measures).readings
    assert POLICY.judge(readings).unread == apart
    schema = rare.schema.with_weights({"age": 3.0}).with_slices([("age", "income")])
    assert POLICY.judgeable(rare.with_schema(schema)) == (judged, apart)
    nothing = Policy(limits=POLICY.limits[1:])
    assert nothing.judgeable(rare) == (None, apart)
    said = rwn.quick_verdict(rare, "rwn", nothing, steps=False)
    assert said.answer == "unknown"
    assert said.sentence == f"The policy cannot be judged here. {apart['t_closeness']}"
    left, reasons = Policy().judgeable(rwn.Microdata.from_frame(rare.frame))
    assert set(left.measures) | set(reasons) == set(Policy().measures)
    assert "confidential" in reasons["attribute_gain"]
    # the unmasked file loses nothing, and yet a limit on a loss can be judged
    loss = Policy(limits=(Limit(measure="association_loss", at_most=0.3),))
    assert loss.judgeable(bodyfat) == (loss, {})
    assert loss.judgeable(rare)[0] is None


def test_the_upper_end_of_few_releases_breaks_no_limit_that_cannot_be_broken() -> None:
    policy = Policy(limits=(Limit(measure="attribute_gain", at_most=0.05),))

    def judged(*values: float, unmasked: float) -> Verdict:
        spread = Spread(measure="attribute_gain", values=values, ends={"unmasked": unmasked})
        assert spread.interval[1] > 0.05
        return policy.judge(
            Point(setting=Setting(params=rwn.RWN(epsilon=1.0)), spreads={spread.measure: spread})
        )

    assert judged(0.01, 0.04, unmasked=0.04).unread["attribute_gain"].startswith(CANNOT)
    assert judged(0.01, 0.04, unmasked=0.06).state == "broken"
    assert judged(0.06, 0.07, unmasked=0.04).state == "broken"  # a release that reads more
