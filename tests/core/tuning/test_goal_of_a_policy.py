"""Goal seek keeps all limits at once, on releases that chose nothing, or says which is nearest."""

import pytest

from rwn_core import ParameterError, SearchAnswer
from rwn_core.tuning import Goal, Grid, Limit, Plan, Point, Policy, Setting, Spread, evaluate, seek
from rwn_core.tuning import goal_seek as goal_module
from rwn_core.tuning import sweep as run_sweep
from tests.lanes import lanes

MEASURES = ("bayes_linkage", "distance_linkage", "attribute_gain", "correlation")
PLAN = Plan(measures=MEASURES, releases=3, seed=5)
pytestmark = pytest.mark.usefixtures("short")


def policy(**limits: float) -> Policy:
    return Policy(limits=tuple(Limit(measure=k, at_most=v) for k, v in limits.items()))


@pytest.fixture(scope="module")
def swept(few):
    return run_sweep(few, Grid(axes={"k": (3, 40), "q": (0.5, 1.0)}), plan=PLAN, workers=1)


def test_a_sweep_is_a_place_to_start(few, swept):
    goal = Goal(keep=policy(distance_linkage=0.1), best="correlation")
    found = seek(few, swept, goal, workers=1)
    same = seek(few, swept.points, goal, plan=PLAN, workers=1)
    assert (found.sentence, found.point.spreads) == (same.sentence, same.point.spreads)
    with pytest.raises(ParameterError, match="Give the plan of the search, or a Sweep"):
        seek(few, swept.points, goal)


def test_settings_of_several_methods_are_refused(bodyfat):
    points = [
        Point(setting=Setting.of(method, parameters), spreads={})
        for method, parameters in (("rwn", {"k": 3}), ("nbrs2015", {"epsilon": 1.0}))
    ]
    goal = Goal(keep=policy(distance_linkage=0.1), best="correlation")
    with pytest.raises(ParameterError, match="settings of nbrs2015, rwn; seek among those of one"):
        seek(bodyfat, points, goal, plan=PLAN)


@pytest.mark.parametrize("releases", lanes(20, 40))
def test_all_limits_are_kept_by_the_answer_on_fresh_releases(few, swept, releases):
    most = 0.15 * releases
    limits = policy(distance_linkage=0.1, attribute_gain=0.3)
    found = seek(few, swept, Goal(keep=limits, best="correlation"), workers=1)
    assert found.reached
    assert found.kept
    fresh = Plan(measures=limits.measures, releases=releases, seed=77_000)
    spreads = evaluate(few, found.point.setting, fresh.keys, fresh.measures).spreads
    for limit in limits.limits:
        assert sum(v > limit.at_most for v in spreads[limit.measure].values) <= most
        assert limit.title in found.sentence
    # one limit alone would be kept by a setting that breaks the other: the planted easy answer
    alone = Goal(keep=policy(attribute_gain=0.3), best="correlation")
    loose = seek(few, swept, alone, workers=1)
    spreads = evaluate(few, loose.point.setting, fresh.keys, fresh.measures).spreads
    assert sum(v > 0.1 for v in spreads["distance_linkage"].values) > most


def test_without_a_setting_the_nearest_is_named_with_its_limit(few, swept):
    limits = policy(bayes_linkage=0.05, distance_linkage=0.9)
    found = seek(few, swept, Goal(keep=limits, best="correlation"), workers=1)
    assert not found.reached
    assert "keeps all limits; nearest is" in found.sentence
    assert "times the limit on Worst-case linkage" in found.sentence
    # nearest is the one that uses least of the limit that it breaks
    used = [limits.judge(point).largest for point in swept]
    assert limits.judge(found.point).largest <= min(used)


def test_a_limit_that_nobody_can_read_is_named_and_not_kept(bodyfat):
    goal = Goal(keep=policy(bayes_linkage=0.5, attribute_gain=0.05), best="correlation")
    spreads = {
        "bayes_linkage": Spread(measure="bayes_linkage", values=(0.1, 0.1)),
        "attribute_gain": Spread(measure="attribute_gain", reason="No variable is confidential."),
        "correlation": Spread(measure="correlation", values=(0.1, 0.1)),
    }
    point = Point(setting=Setting.of("rwn", {"k": 3}), spreads=spreads)
    judged, unread = goal_module._judged(bodyfat, goal, [point])
    assert judged.keep.measures == ("bayes_linkage",)
    answer = SearchAnswer.of_point(judged.keep, point, reached=True, tried=1, unread=unread)
    assert "Attribute gain not judged: no variable is confidential." in answer.sentence
    assert answer.reached
    assert not answer.kept
    with pytest.raises(ParameterError, match="No limit can be judged"):
        goal_module._judged(
            bodyfat, Goal(keep=policy(attribute_gain=0.05), best="correlation"), [point]
        )


def test_a_goal_without_limits_is_refused():
    with pytest.raises(ParameterError, match="has no limits"):
        Goal(best="correlation", keep=Policy(limits=()))


def test_the_verdict_of_a_setting_is_at_the_upper_end_of_one_more_release():
    values = tuple(0.04 + 0.001 * i for i in range(20))
    point = Point(
        setting=Setting.of("rwn", {"k": 3}),
        spreads={"bayes_linkage": Spread(measure="bayes_linkage", values=values)},
    )
    limits = policy(bayes_linkage=0.055)
    assert point.median("bayes_linkage") < 0.055
    assert limits.judge(point).broken == ("bayes_linkage",)
    ends = {"median": 0.05, "high": 0.059}
    assert limits.judge({"bayes_linkage": ends}).broken == ("bayes_linkage",)
    assert limits.judge({"bayes_linkage": {"median": 0.05}}).kept


def test_a_setting_that_lacks_an_answer_keeps_nothing(bodyfat):
    goal = Goal(keep=policy(bayes_linkage=0.5, attribute_gain=0.05), best="correlation")
    full = {key: Spread(measure=key, values=(0.01, 0.01)) for key in goal.measures}
    less = {**full, "attribute_gain": Spread(measure="attribute_gain", reason="Too many.")}
    one, other = (Point(setting=Setting.of("rwn", {"k": 3}), spreads=s) for s in (full, less))
    assert goal.excess(one) < 0 < goal.excess(other)
    judged, unread = goal_module._judged(bodyfat, goal, [one, other])
    assert judged == goal
    assert not unread
