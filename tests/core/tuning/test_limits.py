"""Limits of a policy: judged, bounded, attacked, and those that cannot break."""

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.plain import read_plain
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.measure import Detail
from rwn_core.measures.risk.red_team import RedTeam
from rwn_core.reporting import judged_release
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.release_record import read_record
from rwn_core.tuning import Point, Sweep, prepared
from rwn_core.tuning.evaluate import ATTACKED, evaluate, joined, spread_over_releases
from rwn_core.tuning.evaluate import stated as stated_of
from rwn_core.tuning.point import Spread
from rwn_core.tuning.verdict import Verdict, attacked, decided, empty_end
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
    fair = rwn.Policy(limits=POLICY.limits[:1])
    assert fair.judge(readings).kept


def test_a_coarse_table_keeps_no_limit_on_linkage() -> None:
    data = coarse()
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
    for params in (rwn.RWN(k=5, q=0.0), rwn.RWN(k=50)):
        release = rwn.mask(data, params, seed=2)
        verdict = policy.judge(rwn.audit(data, release).readings)
        assert (verdict.kept, set(verdict.unread)) == (False, {"bayes_linkage"})
    classes = len(data.frame.drop_duplicates())
    assert f"reads {100 * classes / data.n:.3g} %" in verdict.unread["bayes_linkage"]
    # lowered as the sentence says, it can be broken, and the unmasked file breaks it
    lower = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.9 * classes / data.n),))
    nothing = rwn.mask(data, rwn.RWN(k=5, q=0.0), seed=2)
    assert lower.judge(rwn.audit(data, nothing).readings).broken == ("bayes_linkage",)


def test_the_unmasked_file_never_keeps_a_policy(rare: rwn.Microdata) -> None:
    """Every measure of risk, at any limit: the file itself breaks it or is not judged."""
    release = rwn.mask(rare, rwn.RWN(k=5, q=0.0), seed=1)
    readings = rwn.audit(rare, release).readings
    limits = [
        rwn.Limit(measure=key, at_most=at_most)
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower"
        for at_most in (0.01, 0.05, 0.5, 1.0)
    ]
    kept = [each for each in limits if rwn.Policy(limits=(each,)).judge(readings).kept]
    assert kept == []


def test_a_point_a_saved_point_and_a_scenario_agree(rare: rwn.Microdata) -> None:
    grid = rwn.Grid(axes={"epsilon": (1.0,), "k": (20,), "q": (1.0,)})
    settings = prepared(rare, grid)
    plan = rwn.Plan(measures=("correlation", *POLICY.measures), releases=3)
    swept = rwn.sweep(rare, settings, plan=plan, workers=1)
    assert not swept.frame(POLICY)["keeps_all_limits"].any()
    assert CANNOT[1:] in swept.words(POLICY)
    (point,) = swept.points
    again = Point.from_dict(orjson.loads(orjson.dumps(point.to_dict())))
    scenario = rwn.Scenario(
        table=rare.fingerprint, setting=point.setting, policy=POLICY, readings=point.stated()
    )
    loaded = rwn.Scenario.from_toml(scenario.to_toml())
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
    grid = rwn.Grid(axes={"epsilon": (0.5, 2.0), "k": (20,), "q": (1.0,)})
    plan = rwn.Plan(measures=("correlation", *POLICY.measures), releases=2)
    swept = rwn.sweep(rare, prepared(rare, grid), plan=plan, workers=1)
    answer = rwn.seek(rare, swept, rwn.Goal(keep=POLICY, best="correlation"), workers=1)
    assert answer.reached
    assert not answer.kept
    assert CANNOT[1:] in answer.sentence
    empty = rwn.Policy(limits=POLICY.limits[1:])
    with pytest.raises(rwn.ParameterError, match="No limit can be judged on this table"):
        rwn.seek(rare, swept, rwn.Goal(keep=empty, best="correlation"), workers=1)


def test_a_slice_search_goes_by_the_other_limits_and_reaches_nothing(rare: rwn.Microdata) -> None:
    ranges = rwn.SliceRanges(
        tries=3, starts=[()], only_starts=True, weights=False, strengths=(1.0, 3)
    )
    answer = rwn.seek_slices(rare, POLICY, ranges=ranges, workers=1)
    assert not answer.reached
    assert answer.unread["t_closeness"].startswith(CANNOT)
    assert CANNOT[1:] in answer.sentence
    assert "is known to keep all limits" in answer.sentence
    assert not POLICY.judge(answer.point).kept
    shares = list[float]()
    late = replace(ranges, seconds=1e-3)
    rwn.seek_slices(rare, POLICY, ranges=late, workers=1, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    with pytest.raises(rwn.ParameterError, match="No limit can be judged"):
        rwn.seek_slices(rare, rwn.Policy(limits=POLICY.limits[1:]), ranges=ranges, workers=1)


def test_what_is_broken_stays_broken_and_needs_no_end() -> None:
    """A reading above its limit breaks it, also where the unmasked file reads less."""
    limit = rwn.Limit(measure="bayes_linkage", at_most=0.05)

    def judged(value: float, unmasked: float, **more: Any) -> tuple[float | None, str, str]:
        ends = {"unmasked": unmasked}
        known = Spread(measure=limit.measure, values=(value,), ends=ends, **more)
        return decided(limit.measure, known, limit.share)

    assert judged(0.06, 0.04)[0] == 0.06
    value, _, why = judged(0.04, 0.04)
    assert (value, why[: len(CANNOT)]) == (None, CANNOT)
    assert judged(0.01, 0.045, is_bound=True, upper=(0.04,))[0] is None


def test_a_limit_on_a_loss_is_empty_where_no_relation_is_left() -> None:
    limit = rwn.Limit(measure="correlation", at_most=0.08)
    ends = {"unmasked": 0.0, "unrelated": 0.045}
    words = empty_end(limit.measure, ends, limit.share)
    assert "a file without any relation reads 0.045" in words
    assert empty_end(limit.measure, {"unmasked": 0.0, "unrelated": 0.3}, limit.share) is None
    assert empty_end(limit.measure, {"unmasked": 0.0}, limit.share) is None


def test_where_no_relation_is_left_and_a_limit_is_broken_masking_is_no_help() -> None:
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.01),))
    verdict = policy.judge({"bayes_linkage": {"median": 0.3, "unmasked": 1.0, "unrelated": 0.02}})
    assert verdict.unreachable == ("bayes_linkage",)
    assert "coarsen values or raise the limit" in verdict.sentence
    other = policy.judge({"bayes_linkage": {"median": 0.3, "unmasked": 1.0, "unrelated": 0.002}})
    assert other.unreachable == ()


@pytest.mark.parametrize(
    ("count", "kept", "words"),
    [
        (1, True, "This draw keeps its limit: Distance linkage, which uses 50 % of its limit."),
        (1, False, "This draw breaks its limit: Distance linkage, which uses 2.0 times its limit."),
        (2, True, "This draw keeps all 2 limits; nearest is Distance linkage"),
        (2, False, "This draw breaks 1 of 2 limits, most of all Distance linkage"),
    ],
)
def test_one_limit_is_no_several(count: int, kept: bool, words: str) -> None:
    """Finding P10: "All 1 limits are kept"."""
    limits = (
        rwn.Limit(measure="distance_linkage", at_most=0.1),
        rwn.Limit(measure="queries", at_most=0.1),
    )
    values = {"distance_linkage": 0.05 if kept else 0.2, "queries": 0.01}
    assert rwn.Policy(limits=limits[:count]).judge(values).sentence.startswith(words)


@pytest.mark.parametrize(("measure", "value"), [("bayes_linkage", 1.5), ("queries", 100)])
def test_a_percentage_is_no_limit(measure: str, value: float) -> None:
    """Finding P1: a limit of 5 was taken for 500 %, and everything kept it."""
    words = r"\(%s\) must be a fraction from 0 to 1, not a percentage: write 0.05 for 5 percent"
    with pytest.raises(rwn.ParameterError, match=words % measure):
        rwn.Limit(measure=measure, at_most=value)
    with pytest.raises(rwn.ParameterError, match=words % measure):
        read_plain(rwn.Policy, [{"measure": measure, "at_most": value}], "policy", path="limit")
    assert rwn.Limit(measure=measure, at_most=1).at_most == 1


def test_a_judged_release_and_its_record_say_so(rare: rwn.Microdata) -> None:
    judged = judge_release(rare, PARAMS, "csv", POLICY, further=True)
    assert not judged.verdict.kept
    assert judged.further
    assert not any(judged.further)
    assert judged.document["verdict"]["not_judged"]["t_closeness"].startswith(CANNOT)
    assert judged.document["verdict"]["ends"]["distance_linkage"]["unmasked"] == 1.0
    release = rwn.mask(rare, PARAMS)
    file = rwn.ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = read_record(rwn.internal_record(rare, release, file, policy=POLICY))
    assert record["verdict"]["kept"] is False
    assert CANNOT[1:] in record["verdict"]["words"]


def test_what_can_be_judged_is_one_answer(rare: rwn.Microdata, bodyfat: rwn.Microdata) -> None:
    """The same limits are set apart of a table and of any of its releases, for the same reason."""
    judged, apart = POLICY.judgeable(rare)
    assert judged == rwn.Policy(limits=POLICY.limits[:1])
    release = rwn.mask(rare, PARAMS, seed=1)
    readings = rwn.audit(rare, release, measures=POLICY.measures).readings
    assert POLICY.judge(readings).unread == apart
    schema = rare.schema.with_weights({"age": 3.0}).with_slices([("age", "income")])
    assert POLICY.judgeable(rare.with_schema(schema)) == (judged, apart)
    nothing = rwn.Policy(limits=POLICY.limits[1:])
    assert nothing.judgeable(rare) == (None, apart)
    said = rwn.quick_verdict(rare, "rwn", nothing, steps=False)
    assert said.answer == "unknown"
    assert said.sentence == f"The policy cannot be judged here. {apart['t_closeness']}"
    left, reasons = rwn.Policy().judgeable(rwn.Microdata.from_frame(rare.frame))
    assert set(left.measures) | set(reasons) == set(rwn.Policy().measures)
    assert "confidential" in reasons["attribute_gain"]
    # the unmasked file loses nothing, and yet a limit on a loss can be judged
    loss = rwn.Policy(limits=(rwn.Limit(measure="association_loss", at_most=0.3),))
    assert loss.judgeable(bodyfat) == (loss, {})
    assert loss.judgeable(rare)[0] is None


def test_the_upper_end_of_few_releases_breaks_no_limit_that_cannot_be_broken() -> None:
    policy = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.05),))

    def judged(*values: float, unmasked: float) -> Verdict:
        spread = Spread(measure="attribute_gain", values=values, ends={"unmasked": unmasked})
        assert spread.interval[1] > 0.05
        return policy.judge(
            Point(
                setting=rwn.Setting(params=rwn.RWN(epsilon=1.0)), spreads={spread.measure: spread}
            )
        )

    assert judged(0.01, 0.04, unmasked=0.04).unread["attribute_gain"].startswith(CANNOT)
    assert judged(0.01, 0.04, unmasked=0.06).state == "broken"
    assert judged(0.06, 0.07, unmasked=0.04).state == "broken"  # a release that reads more


KEY = "bayes_linkage"
BOUNDED = rwn.Policy(limits=(rwn.Limit(measure=KEY, at_most=0.05),))


def reading(value: float, at_most: float | None, estimate: float | None = None) -> rwn.Reading:
    detail = Detail(standing="at least", at_most=at_most, estimate=estimate)
    return rwn.Reading(value=value, detail=detail)


def point(*readings: rwn.Reading) -> Point:
    spread = spread_over_releases(KEY, readings)
    return Point(setting=rwn.Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads={KEY: spread})


KNOWN = [
    # lower bound, upper bound, estimate: kept, broken, the judged number and its name
    (0.01, 0.04, None, True, False, 0.04, "Linkage, estimated at most"),
    (0.01, 0.06, None, False, False, None, "Linkage, at least"),
    (0.01, None, None, False, False, None, "Linkage, at least"),
    (0.07, 0.09, None, False, True, 0.07, "Linkage, at least"),
    (0.01, 0.09, 0.08, False, True, 0.08, "Linkage, an estimate"),
]


@pytest.mark.parametrize("known", KNOWN)
def test_which_bound_decides(known):
    low, high, estimate, kept, broken, value, title = known
    verdict = BOUNDED.judge({KEY: reading(low, high, estimate)})
    assert (verdict.kept, bool(verdict.broken)) == (kept, broken)
    assert verdict.values.get(KEY) == value
    assert verdict.title(KEY) == title
    if value is not None:
        assert verdict.largest == pytest.approx(value / 0.05)
        plain = title.removesuffix(", at least")
        least = "" if plain == title else "at least "
        assert f"{plain}, which uses {least}" in verdict.sentence
    elif high is not None:
        assert "two bounds" in verdict.unread[KEY]
        assert f"{title} not judged: " in verdict.sentence
    else:
        assert "Only a lower bound" in verdict.unread[KEY]


def test_a_worst_case_is_judged_by_itself():
    found = rwn.Reading(value=0.04, detail=Detail(standing="worst", at_most=0.04))
    verdict = BOUNDED.judge({KEY: found})
    assert verdict.kept
    assert verdict.title(KEY) == "Worst-case linkage"


def test_a_setting_is_judged_by_the_upper_bounds_of_its_releases():
    readings = [reading(0.01, 0.030), reading(0.02, 0.032), reading(0.01, 0.031)]
    found = point(*readings)
    verdict = BOUNDED.judge(found)
    assert verdict.kept
    assert 0.032 < verdict.values[KEY] < 0.05
    assert not BOUNDED.judge(point(*readings, reading(0.01, 0.06))).kept
    # one release without an upper bound leaves the setting without
    assert not BOUNDED.judge(point(*readings, reading(0.01, None))).kept
    assert BOUNDED.judge(point(*[reading(0.06, 0.07)] * 3)).broken == (KEY,)


def test_what_is_saved_of_a_setting_is_read_again():
    found = point(reading(0.01, 0.03), reading(0.02, 0.04))
    assert Point.from_dict(found.to_dict()) == found
    older = found.to_dict()
    del older["readings"][KEY]["upper"]
    again = Point.from_dict(older)
    assert again.spreads[KEY].is_bound
    assert again.spreads[KEY].upper == ()
    assert not BOUNDED.judge(again).kept


def test_medians_of_lower_bounds_keep_no_limit_of_a_scenario():
    for readings in ([reading(0.01, None)] * 3, [reading(0.01, 0.09)] * 3):
        verdict = BOUNDED.judge(point(*readings).stated())
        assert not verdict.kept
        assert not verdict.broken
    verdict = BOUNDED.judge(point(*[reading(0.01, 0.03)] * 3).stated())
    assert verdict.kept
    assert verdict.title(KEY) == "Linkage, estimated at most"
    assert BOUNDED.judge({KEY: {"median": 0.01}}).kept  # a worst case


def test_parts_of_a_setting_together_are_no_worst_case():
    one, other = point(reading(0.01, 0.03)), point(reading(0.02, 0.04))
    spread = joined([one, other]).spreads[KEY]
    assert (spread.is_bound, spread.values, spread.upper) == (True, (0.01, 0.02), (0.03, 0.04))
    without = joined([one, point(reading(0.02, None))]).spreads[KEY]
    assert (without.is_bound, without.upper) == (True, ())


def test_a_search_for_a_linkage_takes_no_lower_bound_for_it():
    goal = rwn.Goal(keep=policy(**{KEY: 0.05}), best="correlation")
    assert goal.excess(point(reading(0.01, 0.03))) < 0
    assert goal.excess(point(reading(0.01, 0.09))) > 0
    assert goal.excess(point(reading(0.01, None))) > 0
    worst = Spread(measure=KEY, values=(0.01,))
    assert goal.excess(Point(setting=point(reading(0, 0)).setting, spreads={KEY: worst})) < 0


def team(identity: float | None = None, attribute: float | None = None) -> rwn.Reading:
    def row(value: float | None, words: str) -> Finding | None:
        counts = {"right": 1.0, "named": 1.0, "people": 2.0, "base": 0.0}
        found = Finding(attack="", words=words, kind="attribute", score=value or 0.0, **counts)
        return None if value is None else found

    best = {"identity": row(identity, "ranks"), "attribute": row(attribute, "a merge on age")}
    return rwn.Reading(value=1.0, detail=RedTeam(findings=[], **best))


def stated(value: float, **detail: Any) -> rwn.Reading:
    return rwn.Reading(value=value, interval=(value, value), detail=Detail(**detail))


UNDER_ATTACK = rwn.Policy(
    limits=tuple(
        rwn.Limit(measure=key, at_most=0.05) for key in ("bayes_linkage", "attribute_gain")
    )
)


def test_the_worse_of_stated_and_attacked_is_judged_and_says_by_whom() -> None:
    readings = {"bayes_linkage": stated(0.04), "attribute_gain": stated(0.02)}
    assert UNDER_ATTACK.judge(readings).kept
    verdict = UNDER_ATTACK.judge({**readings, "red_team": team(0.03, 0.61)})
    assert verdict.broken == ("attribute_gain",)
    assert verdict.values == {"bayes_linkage": 0.04, "attribute_gain": 0.61}
    assert [each.by for each in verdict.bounds.values()] == ["", "a merge on age"]
    assert "Attribute gain, 61 % by a merge on age, which uses 12 times its limit" in (
        verdict.sentence
    )


def test_what_is_stated_stays_where_no_attack_goes_further() -> None:
    readings = {"bayes_linkage": stated(0.04), "attribute_gain": rwn.NotApplicable("No secret.")}
    for found in (team(), team(0.04, 0.5), rwn.NotApplicable("Too few records.")):
        assert attacked({**readings, "red_team": found}) == {**readings, "red_team": found}
    assert attacked(readings) is readings


def test_a_raised_reading_holds_what_was_stated_and_a_bound_that_is_not_below_it() -> None:
    readings = {"bayes_linkage": stated(0.01, standing="at least", at_most=0.03)}
    raised = attacked({**readings, "red_team": team(0.4)})["bayes_linkage"]
    assert (raised.value, raised.interval) == (0.4, None)
    assert raised.detail.standing == "at least"
    assert (raised.detail.at_most, raised.detail.attacked_by) == (0.4, "ranks")
    assert UNDER_ATTACK.judge({**readings, "red_team": team(0.4)}).broken == ("bayes_linkage",)


def test_a_spread_names_its_attack_in_files_too() -> None:
    spread = Spread(measure="attribute_gain", values=(0.4, 0.5), by="a merge on age")
    assert Spread.from_dict("attribute_gain", spread.to_dict()) == spread
    plain = Spread(measure="attribute_gain", values=(0.1, 0.2))
    assert "by" not in plain.to_dict()
    setting = rwn.Setting(params=rwn.RWN(k=3))
    point, few = (Point(setting=setting, spreads={"attribute_gain": s}) for s in (plain, spread))
    asked = list[rwn.Plan]()

    class Crew:
        """Answers with a point, then with that of the attacked releases."""

        until = float("inf")

        def __init__(self, *answers: Point) -> None:
            self._answers = list(answers)

        def points(
            self, settings: list[rwn.Setting], plan: rwn.Plan, progress: object
        ) -> list[Point]:
            asked.append(plan)
            return [self._answers.pop(0)]

    plan = rwn.Plan(measures=("attribute_gain", "correlation"), releases=59, seed=4)
    assert stated_of(Crew(point, few), setting, plan, print)[0].spreads["attribute_gain"] is spread
    assert stated_of(Crew(point, point), setting, plan, print) == (point, "")
    assert asked[0] == plan
    assert asked[1].measures == ("attribute_gain", "red_team")
    assert (asked[1].releases, asked[1].seed) == (ATTACKED, 4) == (5, 4)
    assert UNDER_ATTACK.judge(few).bounds["attribute_gain"].by == "a merge on age"


def open_secret(n: int = 120, seed: int = 0) -> rwn.Microdata:
    """Two fine keys and a rare flag."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "flag": ["no"] * n})
    frame.loc[rng.choice(n, 6, replace=False), "flag"] = "yes"
    slices = [["x", "y", "flag"]]
    return described(frame, slices, x="key", y="key", flag="confidential")


def test_trials_attack_a_few_releases_of_an_answer() -> None:
    plan = rwn.Plan(measures=("attribute_gain", "red_team"), releases=ATTACKED, seed=4)
    setting = rwn.Setting(params=rwn.RowCopy(epsilon=0, k=3, q=1))
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
    policy = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.2),))
    judged = judge_release(
        open_secret(), rwn.RowCopy(epsilon=0, k=5, q=1), "csv", policy,
        further=True,
    )  # fmt: skip
    words = judged.document["readings"]["red_team"]["words"]
    assert "flag is named for" in words
    assert not judged.verdict.kept
    assert not any(judged.further)
    assert judged.document["verdict"]["words"] == judged.verdict.sentence


PLAN = rwn.Plan(measures=("correlation", "distance_linkage"), releases=2)
LINKAGE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.3),))
FEW, MANY = 1.0, 6.0  # radii that reach hardly anybody, and nearly everybody


@pytest.fixture(scope="module")
def swept(bodyfat) -> Sweep:
    grid = rwn.Grid(axes={"epsilon": (FEW, MANY), "q": (1.0,)}, method="nbrs2015")
    return rwn.sweep(bodyfat, grid, plan=PLAN, workers=1)


def test_a_point_knows_how_many_records_it_releases(bodyfat, swept) -> None:
    few, many = swept.points
    release = rwn.mask(bodyfat, few.setting.params, seed=1).masked.frame
    assert few.shown[0] == pytest.approx(1 - release.isna().all(axis=1).mean())
    assert (few.few, many.few) == (True, False)
    assert 0 < few.released < 0.1 < 0.9 < many.released
    assert Point.from_dict(few.to_dict()).shown == few.shown
    shown = swept.frame().groupby("epsilon")["records_released"].first()
    assert shown.tolist() == [few.released, many.released]


def test_it_keeps_no_policy_and_the_sweep_says_why(swept) -> None:
    few, many = swept.points
    verdict = LINKAGE.judge(few)
    assert (verdict.broken, verdict.unread, verdict.kept) == ((), {}, False)
    assert verdict.sentence.endswith("of the records are released.")
    assert LINKAGE.judge(many).kept
    assert swept.words(LINKAGE) == (
        "1 of 2 settings keep all limits. 1 setting releases fewer than 50 % of the records, which "
        "keeps no policy; choose one that releases more."
    )
    strict = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.0001),))
    assert f"nearest is {many.setting.words}" in swept.words(strict)
    alone = replace(swept, points=(many,))
    assert alone.words(LINKAGE) == "1 of 1 setting keeps all limits."


def test_goal_seek_does_not_propose_it(bodyfat, swept, short) -> None:
    found = rwn.seek(bodyfat, swept, rwn.Goal(keep=LINKAGE, best="distance_linkage"), workers=1)
    assert found.reached
    assert not found.point.few
    alone = Sweep(plan=PLAN, points=swept.points[:1])
    none = rwn.seek(bodyfat, alone, rwn.Goal(keep=LINKAGE, best="correlation"), workers=1)
    assert not none.reached
    assert "too few records" in none.sentence
    back = rwn.Goal(keep=policy(correlation=0.5), best="distance_linkage")
    assert not rwn.seek(bodyfat, alone, back, workers=1).reached


def test_a_sample_is_as_small_as_was_asked() -> None:
    setting = rwn.Setting(params=rwn.METHODS["sampling"](left_out=0.8))
    assert not Point(setting=setting, spreads={}, shown=(0.2,)).few


def test_it_is_on_no_frontier(swept) -> None:
    assert rwn.frontier(swept.points, "correlation", "distance_linkage") == [swept.points[1]]
