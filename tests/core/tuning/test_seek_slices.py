"""Slices of a setting, and the search for them: exact expected losses, all limits kept."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import (
    Comparison,
    InputError,
    Measure,
    ParameterError,
    Plan,
    Policy,
    Rounded,
    Setting,
)
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.neighbors import Finder
from rwn_core.reporting.scenario import SavedSearch, Scenario
from rwn_core.tuning import Grid, prepared, slice_presets, sweep
from rwn_core.tuning.evaluate import PreparedTables, SettingPool, evaluate
from rwn_core.tuning.point import Point
from rwn_core.tuning.seek_slices import seek_slices
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.strength import StrengthTrial
from rwn_core.tuning.verdict import Verdict
from tests.core.tuning.test_goal_of_a_policy import policy

evaluate_module = import_module("rwn_core.tuning.evaluate")  # its room has a function of this name
LINKAGE = policy(distance_linkage=0.05)
BOTH = policy(distance_linkage=0.08, true_matches=0.1)
SMALL = slice_presets.SliceRanges(strengths=(2.0, 3.0, 4.0, 5.0, 6.0, 8.0), tries=40, weights=False)


def made(params: object, *, epsilons: tuple[float, ...] = (2.0, 5.0)) -> list[Setting]:
    return [Setting(params=replace(params, epsilon=each)) for each in epsilons]


def test_the_loss_counts_relations_with_categories() -> None:
    cps = rwn.load_demo("cps1988").take(np.arange(1000))
    settings = made(rwn.RWN(epsilon=1.0, k=5), epsilons=(1.0, 4.0))
    losses = SliceLoss.from_settings(cps, settings)
    for slices in ((), slice_presets.preset_slices(cps, "keys_together")):
        for at, each in enumerate(settings):
            own = replace(each, slices=slices).resolved(cps)
            plan = Plan(measures=("association_loss",), releases=20, seed=99)
            median = evaluate(cps, own, plan.keys, plan.measures).median("association_loss")
            assert losses.loss(slices)[at] == pytest.approx(median, rel=0.2, abs=0.03)


@pytest.mark.parametrize(
    "setting",
    [
        Setting(params=rwn.NBRS2015(epsilon=5.0)),
        Setting(params=rwn.RWN(epsilon=5.0, k=5), precision=(("age", 10.0), ("hip", 5.0))),
    ],
    ids=["nbrs2015", "rounded"],
)
def test_the_loss_is_that_of_releases(bodyfat, setting) -> None:
    slices = slice_presets.preset_slices(bodyfat, "related_3")
    loss = SliceLoss.from_settings(bodyfat, [setting]).loss(slices)[0]
    own = replace(setting, slices=slices).resolved(bodyfat)
    plan = Plan(measures=("association_loss",), releases=20, seed=99)
    point = evaluate(bodyfat, own, plan.keys, plan.measures)
    assert loss == pytest.approx(point.median("association_loss"), rel=0.15)


def test_the_answer_keeps_all_limits_and_costs_less_than_none_together(few, quick) -> None:
    found = seek_slices(few, BOTH, ranges=SMALL, workers=1)
    starts = [()]  # which are an answer where somebody asks for the best of them
    ranges = replace(SMALL, starts=starts, only_starts=True)
    alone = seek_slices(few, BOTH, ranges=ranges, workers=1)
    assert alone.slices == ()
    assert found.reached
    assert found.slices
    assert found.point.median("association_loss") < alone.point.median("association_loss")
    assert BOTH.judge(found.point).kept
    setting = found.point.setting
    fresh = Plan(measures=BOTH.measures, releases=60, seed=77_000_000)
    point = evaluate(few, setting, fresh.keys, fresh.measures)
    for limit in BOTH.limits:
        over = np.mean(np.array(point.spreads[limit.measure].values) > limit.at_most)
        assert over <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    for name in ("Distance linkage", "True matches", "Relations lost"):
        assert name in found.sentence
    assert found.sentence.startswith("ε")


def test_one_limit_alone_is_gamed_by_whole_rows_and_a_second_is_not(few, quick) -> None:
    """Linkage alone is content with whole rows, which show two thirds of the people."""
    ranges = replace(SMALL, starts=[slice_presets.preset_slices(few, "whole"), ()], tries=20)
    gamed = seek_slices(few, LINKAGE, ranges=ranges, workers=1)
    (largest,) = gamed.slices
    assert "siri" in largest
    setting = gamed.point.setting
    read = evaluate(few, setting, range(1, 4), ("true_matches",))
    assert read.median("true_matches") > 0.5
    # a second limit is kept by the answer of the test above


def test_none_keeps_all_limits_is_said_with_the_nearest(few, quick) -> None:
    ranges = replace(SMALL, strengths=(1.0, 2.0), tries=12)
    found = seek_slices(few, policy(true_matches=0.0001), ranges=ranges, workers=1)
    assert not found.reached
    assert found.sentence.startswith(f"None of {found.tried} keeps all limits; nearest is ε")
    assert found.tried <= 12 + 1  # a bisection that has begun goes on


@pytest.mark.nightly  # test_sweeping::test_workers_give_the_same_numbers asks the same pool
def test_workers_find_the_same(few, quick) -> None:
    shares: list[float] = []
    starts = [slice_presets.preset_slices(few, "keys_apart")]
    ranges = replace(SMALL, strengths=(3.0, 6.0), starts=starts, tries=4, weights=True)
    here, apart = (
        seek_slices(few, BOTH, ranges=ranges, workers=n, progress=shares.append) for n in (1, 2)
    )
    assert here.sentence == apart.sentence
    assert here.point.spreads == apart.point.spreads
    first = shares[: shares.index(1.0) + 1]
    assert first == sorted(first)


def test_a_large_table_is_searched_on_a_sample_and_says_so(bodyfat, quick) -> None:
    ranges = replace(SMALL, strengths=(5.0, 9.0), records=120, tries=4)
    found = seek_slices(bodyfat, LINKAGE, ranges=ranges, workers=1)
    assert (found.records, found.of) == (120, 241)
    assert "120 random records of 241" in found.sentence


def test_no_more_records_are_searched_than_a_worst_case_is_known_for() -> None:
    """Beyond, linkage is a lower bound, which keeps no limit: nothing would be found."""
    certain = [rwn.MEASURES[key].certain_up_to for key in Policy().measures]
    assert min(each for each in certain if each is not None) >= QUICK_RECORDS


def test_a_step_joins_two_slices_or_moves_one_variable() -> None:
    names = ["a", "b", "c", "d"]
    assert (("a", "b"),) in slice_presets.slice_steps((), names)
    steps = slice_presets.slice_steps((("a", "b"), ("c", "d")), names)
    for one in ((("a", "b", "c", "d"),), (("c", "d"),), (("a", "c", "d"),), (("a", "b", "c"),)):
        assert one in steps
    assert (("a", "c"), ("b", "d")) not in steps


@pytest.mark.parametrize(
    ("change", "words"), [({"records": 1}, "at least two records"), ({"tries": 0}, "one try")]
)
def test_ranges_are_checked(change, words) -> None:
    with pytest.raises(ParameterError, match=words):
        slice_presets.SliceRanges(**change)


def test_a_policy_without_limits_and_a_table_without_numbers_are_refused(bodyfat, few) -> None:
    with pytest.raises(ParameterError, match="no limit"):
        seek_slices(bodyfat, Policy(limits=()))
    schema = few.schema
    for name in few.names[1:]:
        schema = schema.replace_variable(name, masked=False)
    with pytest.raises(ParameterError, match="two masked variables"):
        seek_slices(few.with_schema(schema), LINKAGE)


def test_each_alone_is_the_answer_where_all_that_looked_better_breaks_a_limit(
    few, quick, refuse
) -> None:
    refuse(lambda choice: bool(choice.slices))
    starts = [slice_presets.preset_slices(few, "related_2"), ()]
    found = seek_slices(few, LINKAGE, ranges=replace(SMALL, starts=starts, tries=40), workers=1)
    assert found.reached
    assert found.slices == ()
    assert LINKAGE.judge(found.point).kept


LOOSE = policy(distance_linkage=0.06)
ALONE = replace(SMALL, weights=True, tries=240, starts=[()], only_starts=True)


def test_weights_that_differ_lose_less_within_the_same_limit(small, quick) -> None:
    even = seek_slices(small, LOOSE, ranges=replace(ALONE, weights=False), workers=1)
    moved = seek_slices(small, LOOSE, ranges=ALONE, workers=1)
    assert even.point.setting.weights == ()
    assert (moved.reached, moved.slices) == (True, ())
    assert moved.point.setting.weights
    assert moved.point.median("association_loss") < even.point.median("association_loss")
    assert "weight" in moved.sentence


def test_weights_that_fresh_releases_refuse_are_given_back(small, quick, refuse) -> None:
    refuse(lambda choice: bool(choice.weights))
    found = seek_slices(small, LOOSE, ranges=replace(ALONE, tries=15), workers=1)
    assert (found.reached, found.point.setting.weights) == (True, ())


def test_a_weight_is_halved_and_doubled_within_its_ends() -> None:
    assert list(slice_presets.weight_steps((), "b")) == [(("b", 0.5),), (("b", 2.0),)]
    assert list(slice_presets.weight_steps((("a", 4.0), ("b", 8.0)), "b")) == [
        (("a", 4.0), ("b", 4.0))
    ]
    assert list(slice_presets.weight_steps((("b", 0.5),), "b")) == [(("b", 0.25),), ()]
    assert list(slice_presets.weight_steps((("b", 0.0),), "b")) == []
    assert list(slice_presets.weight_steps((("a", 0.5),), "ab")) == [
        (("a", 0.25), ("b", 0.5)),
        (("b", 2.0),),
    ]


def test_kind_trials_are_found_out_on_fresh_releases(few, quick, monkeypatch) -> None:
    """Trials that are content with everything decide nothing: fresh releases break a limit."""
    fresh = evaluate_module.stated
    kept = []

    def watched(*asked: Any) -> tuple[Point, str]:
        point, note = fresh(*asked)
        kept.append(BOTH.judge(point).kept)
        return point, note

    content = Verdict(shares=dict.fromkeys(BOTH.measures, 0.99), unread={})
    monkeypatch.setattr(StrengthTrial, "verdict", lambda self, place: content)
    monkeypatch.setattr(StrengthTrial, "used", lambda self, place, **_: 0.99)
    monkeypatch.setattr(StrengthTrial, "found", StrengthTrial.first_found)
    monkeypatch.setattr(evaluate_module, "stated", watched)
    found = seek_slices(few, BOTH, ranges=SMALL, workers=1)
    assert found.reached
    assert BOTH.judge(found.point).kept
    assert kept.index(True) == len(kept) - 1


def test_a_limit_that_fresh_releases_break_is_the_only_one_read(few, quick, monkeypatch) -> None:
    """What is read quickest refuses first: the intruder's beliefs are not asked for nothing."""
    limits = policy(distance_linkage=0.5, true_matches=0.0001)
    limits.judgeable(few)  # which reads all of them, once a table
    asked = list[str]()
    read = Measure.read
    points = SettingPool.points

    def counted(self: Measure, comparison: Comparison, **how: bool) -> object:
        asked.append(self.key)
        return read(self, comparison, **how)

    def checked(self: SettingPool, *what: Any) -> object:
        asked.append("check")
        return points(self, *what)

    monkeypatch.setattr(Measure, "read", counted)
    monkeypatch.setattr(SettingPool, "points", checked)
    ranges = replace(SMALL, strengths=(2.0,), starts=[()], only_starts=True)
    assert not seek_slices(few, limits, ranges=ranges, workers=1).reached
    before = {*asked[: asked.index("check")]}
    assert "true_matches" in before
    assert "distance_linkage" not in before


SLICES = (("abdomen", "hip", "knee"), ("age", "weight"))
METHODS = (
    rwn.RWN(epsilon=3.0, k=5),
    rwn.RWN(k=10, q=0.5),
    rwn.NBRS2015(epsilon=4.0),
    rwn.RWN(k=4, neighbors="sample", m=60),
    Rounded(params=rwn.RWN(k=5), precision={"age": 5.0}),
)


def random_partition(names: list[str], seed: int) -> list[list[str]]:
    """Slices of some of the names, in any order."""
    generator = np.random.default_rng(seed)
    number = generator.integers(0, generator.integers(1, len(names) + 1), len(names))
    parts = [[n for n, own in zip(names, number, strict=True) if own == each] for each in range(20)]
    kept = [part for part in parts if len(part) > 1]
    return [kept[i] for i in generator.permutation(len(kept))]


def test_slices_survive_as_plain_data_and_have_words() -> None:
    plain = Setting.of("rwn", {"k": 5})
    setting = Setting.of("rwn", {"k": 5}, slices=[["weight", "age"], ["hip", "knee", "abdomen"]])
    assert setting.slices == SLICES
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == (
        "k = 5 · q = 1 · abdomen + hip + knee travel together, age + weight travel together"
    )
    assert "slices" not in plain.to_dict()
    apart = Setting.of("rwn", {"k": 5}, slices=[])
    assert Setting.from_dict(apart.to_dict()) == apart
    assert len({each.key for each in (plain, setting, apart)}) == 3
    assert setting.key == Setting.of("rwn", {"k": 5}, slices=SLICES[::-1]).key


def test_a_resolved_setting_says_what_travels_on_its_table(bodyfat) -> None:
    grouped = rwn.load_demo("randhie")
    (health,) = grouped.schema.slices
    assert Setting.of("rwn", {"k": 5}).resolved(grouped).slices == (health,)
    assert Setting.of("rwn", {"k": 5}, slices=[]).resolved(grouped).slices == ()
    assert Setting.of("rwn", {"k": 5}).resolved(bodyfat).slices == ()
    resolved = Setting.of("rwn", {"k": 5}, slices=SLICES).resolved(bodyfat)
    assert resolved.applied_to(bodyfat).schema.slices == SLICES
    with pytest.raises(ParameterError, match="nowhere, which is no masked variable"):
        Setting.of("rwn", {"k": 5}, slices=[["age", "nowhere"]]).resolved(bodyfat)


def test_slices_are_an_axis_of_a_grid(bodyfat) -> None:
    grid = Grid(axes={"k": (3, 5)}, slices=((), SLICES, None))
    assert len(grid) == 6
    settings = prepared(bodyfat, grid)
    assert [each.slices for each in settings] == [(), (), SLICES, SLICES]  # no groups: () again


def test_a_scenario_keeps_slices(bodyfat) -> None:
    setting = Setting.of("rwn", {"k": 5}, slices=SLICES).resolved(bodyfat)
    search = SavedSearch(
        grid=Grid(axes={"k": (3,)}, slices=(None, (), SLICES)), plan=Plan(measures=("correlation",))
    )
    scenario = Scenario(setting=setting, search=search)
    again = Scenario.from_toml(scenario.to_toml())
    assert again.setting == setting
    assert again.search.grid.slices == (None, (), SLICES)
    plain = Scenario(search=SavedSearch(grid=Grid(axes={"k": (3,)}), plan=search.plan))
    assert "slices" not in plain.to_toml()
    with pytest.raises(InputError, match=r"setting\.slices\[1\] of the scenario must be a list"):
        Scenario.from_dict(
            {**scenario.to_dict(), "setting": {"parameters": {"k": 3}, "slices": ["age"]}}
        )


@pytest.mark.parametrize("params", METHODS, ids=lambda each: each.method)
def test_one_move_equals_a_table_with_these_groups(bodyfat, params) -> None:
    seed = METHODS.index(params)
    slices = random_partition([v.name for v in bodyfat.schema.released], seed)
    grouped = bodyfat.schema
    for number, names in enumerate(slices):  # by hand, in the schema
        for name in names:
            grouped = grouped.replace_variable(name, group=f"g{number}")
    key = rwn.SecretKey.from_seed(seed)
    wanted = params.prepare(bodyfat.with_schema(grouped)).release(key)
    made = params.prepare(bodyfat).with_slices(slices).release(key)
    pd.testing.assert_frame_equal(made.masked.frame, wanted.masked.frame)
    np.testing.assert_array_equal(made.donors, wanted.donors)
    if made.law is not None:
        assert sorted(map(sorted, made.law.units())) == sorted(map(sorted, wanted.law.units()))
        np.testing.assert_array_equal(made.law.rows_unchanged(), wanted.law.rows_unchanged())


def test_no_neighbor_is_searched_anew_when_only_slices_change(bodyfat, monkeypatch) -> None:
    ready = rwn.RWN(k=5).prepare(bodyfat, settings=[rwn.RWN(k=9)])
    ready.release(rwn.SecretKey.from_seed(1))
    moved = ready.with_slices(SLICES)
    assert moved.finder is ready.finder
    assert moved.law.neighborhoods is ready.law.neighborhoods
    assert moved.about is not None

    settings = [
        Setting.of("rwn", {"k": 5}, slices=each) for each in ((), SLICES, (("hip", "neck"),))
    ]
    settings = prepared(bodyfat, settings)
    plan = Plan(measures=("correlation",), releases=2)
    tables = PreparedTables(bodyfat, settings, metrics=1, held=1)
    asked = plan.keys, plan.measures
    ranked = []
    stored = Finder.__init__
    monkeypatch.setattr(
        Finder,
        "__init__",
        lambda self, *args, **more: (ranked.append(1), stored(self, *args, **more))[1],
    )
    points = [evaluate(tables, setting, *asked) for setting in settings]
    assert len(ranked) == 1
    fresh = [evaluate(bodyfat, s, *asked) for s in settings]
    assert [p.spreads for p in points] == [p.spreads for p in fresh]
    swept = sweep(bodyfat, settings, plan=plan, workers=1)
    assert [p.spreads for p in swept] == [p.spreads for p in points]
    assert set(swept.frame()["slices"]) == {"", "abdomen+hip+knee age+weight", "hip+neck"}


def test_presets_cover_the_roles_and_the_relations(bodyfat) -> None:
    known = {key: slice_presets.preset_slices(bodyfat, key) for key in slice_presets.PRESETS}
    assert known["alone"] == ()
    assert known["keys_together"][1] == ("age", "height", "weight")
    assert known["keys_apart"] == known["keys_together"][:1]
    assert "siri" not in {name for names in known["confidential_apart"] for name in names}
    assert known["whole"] == (tuple(sorted(v.name for v in bodyfat.schema.released)),)
    for key, slices in known.items():
        assert bodyfat.schema.with_slices(slices).slices == slices
        assert known[slice_presets.preset_key(bodyfat, slices)] == slices, key
    assert slice_presets.preset_key(bodyfat, (("age", "neck"),)) is None
    with pytest.raises(ParameterError, match="no slices half"):
        slice_presets.preset_slices(bodyfat, "half")


@pytest.mark.parametrize("count", [2, 5])
def test_related_variables_are_in_one_slice(bodyfat, count) -> None:
    slices = slice_presets.preset_slices(bodyfat, f"related_{count}")
    names = slice_presets.masked_names(bodyfat)
    alone = len(names) - sum(map(len, slices))
    assert len(slices) + alone == count
    own = {name: number for number, each in enumerate(slices) for name in each}
    inside = [[bool(own.get(a) == own.get(b) and a in own) for b in names] for a in names]
    square = np.abs(np.corrcoef(bodyfat.matrix(names), rowvar=False))
    inside = np.array(inside)
    off = ~np.eye(len(names), dtype=bool)
    assert square[inside & off].mean() > square[~inside & off].mean()
