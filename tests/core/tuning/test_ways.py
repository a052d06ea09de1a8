"""Searches go where the use is left: ways, cuts, attacks on the last answer, and their clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.schema import as_slices
from rwn_core.measures import MEASURES, USE
from rwn_core.measures.measure import Reading
from rwn_core.parallel import clock
from rwn_core.tuning import FoundSetting, Point, Setting, Verdict, several_draws
from rwn_core.tuning.disclosed_within_slices import is_disclosed_within_slices
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.point import setting_name
from rwn_core.tuning.recommend import look_at_ways
from rwn_core.tuning.releases_left import several_left
from rwn_core.tuning.several_draws import DECISIVE, RELEASES
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import preset_slices
from rwn_core.tuning.strength import StrengthTrial, TableSearch
from rwn_core.tuning.verdict import RED_TEAM
from rwn_core.tuning.ways import LATER, WAYS, in_way, kind, later_donors, way_of
from tests.tables import described

NAMES = ["siri", "age", "weight", "height", "abdomen", "neck"]


@pytest.fixture(scope="module")
def few() -> rwn.Microdata:
    """Body fat with five measurements of 120 men, of which age is known."""
    data = rwn.load_demo("bodyfat").take(range(120))
    schema = data.schema.releasing(NAMES)
    return data.with_schema(schema)


@pytest.fixture(scope="module")
def policy(few: rwn.Microdata) -> rwn.Policy:
    measures = ("bayes_linkage", "attribute_gain", "true_matches")
    wide = rwn.Policy(limits=tuple(rwn.Limit(measure=key, at_most=0.2) for key in measures))
    judged, _ = wide.judgeable(few)
    assert judged is not None
    return judged


@pytest.mark.parametrize("way", WAYS)
def test_a_way_is_known_from_its_parameters(way: str) -> None:
    params = in_way(rwn.SoftRWN(tie=True), way)
    assert way_of(params) == way
    assert way_of(rwn.RWN(k=5)) == "apart"


def test_settings_of_other_ways_are_other_settings() -> None:
    kinds = {kind(Setting(params=in_way(rwn.SoftRWN(), way), slices=())) for way in WAYS}
    assert len(kinds) == len(WAYS)


def test_responses_stand_apart_from_all_others(few: rwn.Microdata) -> None:
    (others,) = preset_slices(few, "all_but_responses")
    assert set(others) == set(NAMES) - {"siri"}
    two = rwn.StatedRegression(formula="abdomen ~ weight")
    used = few.with_schema(few.schema.used_for(rwn.Use(regressions=(two,))))
    assert preset_slices(used, "responses_together") == (
        ("abdomen", "siri"),
        ("age", "height", "neck", "weight"),
    )


def test_what_is_lost_at_least_is_never_more_than_what_is_lost(few: rwn.Microdata) -> None:
    slices = preset_slices(few, "all_but_responses")
    settings = [Setting(params=rwn.RWN(epsilon=e, k=5), slices=()) for e in (0.5, 2.0)]
    bounds = SliceLoss.from_settings(few, settings).least_lost(slices)
    tables = PreparedTables(few)
    for setting, bound in zip(settings, bounds, strict=True):
        own = replace(setting, slices=slices).resolved(few)
        left = several_left(tables, own, range(8))
        assert left is not None
        assert bound <= 1.0 - (left.least or 0.0) + 0.05
        assert bound > 0.3 * (1.0 - (left.least or 0.0))


def test_attacks_are_tried_on_the_last_answer_only(few, policy, monkeypatch) -> None:
    tried = list[int]()
    read = several_draws.read_safely

    def counted(key: str, *given: object, **more: object) -> object:
        tried.append(1)
        return read(key, *given, **more)

    monkeypatch.setattr(several_draws, "read_safely", counted)
    table = TableSearch(microdata=few, policy=policy, places=8)
    for preset in ("all_but_responses", "related_3"):
        table.look(Setting(params=rwn.SoftRWN(balance=1.0), slices=preset_slices(few, preset)))
    assert not tried
    assert table.best[0].kept
    table.attack()
    assert len(tried) >= table.releases
    assert table.best[0].attacked


def test_the_next_best_is_the_answer_where_attacks_break_the_best(few, policy, monkeypatch) -> None:
    table = TableSearch(microdata=few, policy=policy, places=8)
    for preset in ("all_but_responses", "alone"):
        table.look(
            Setting(params=rwn.SoftRWN(balance=1.0), slices=preset_slices(few, preset)), 0.99
        )
    first, second = table.best
    assert second.kept
    found = StrengthTrial.found

    def broken(trial: StrengthTrial, place: int, *, attack: bool = False) -> object:
        made = found(trial, place)
        assert made is not None
        if attack and trial.at(place) == first.setting:
            return replace(made, share=2.0, attacked=True)
        return replace(made, attacked=attack)

    monkeypatch.setattr(StrengthTrial, "found", broken)
    table.attack()
    assert table.best[0].setting == second.setting
    assert table.best[0].attacked


def test_no_width_leaves_less_than_two_neighbors(few, policy) -> None:
    table = TableSearch(microdata=few, policy=policy, places=79)
    trial = StrengthTrial(table, Setting(params=rwn.SoftRWN(balance=1.0), slices=()))
    (floor,) = table.tables.floors.values()
    assert trial.values[0] == floor > 0.05
    assert trial.last == len(trial.values) - 1
    own = table.tables.moved(trial.at(0)).exact_law.neighborhoods
    assert own.imbalance < 1e-6


def test_an_answer_says_what_is_left(few, policy) -> None:
    table = TableSearch(microdata=few, policy=policy, places=8)
    found = table.look(Setting(params=rwn.SoftRWN(balance=1.0), slices=()))
    assert found is not None
    assert found.left is not None
    assert found.loss == pytest.approx(1 - (found.left.least or 0))
    assert found.left_words == found.left.sentence
    assert found.left.sentence.startswith("Left: ")
    assert found.point.spreads[USE].median is not None
    answer = table.answer(policy, policy, few.n)
    assert (answer.left, answer.worst_slope) == (found.left, found.left.worst_slope)


def test_the_clock_counts_work_and_no_waiting(few, policy, monkeypatch) -> None:
    """The same settings on a machine on which each second takes an hour."""
    searched = []
    for hours in (0, 1):
        monkeypatch.setattr("time.monotonic", lambda hours=hours: 1e9 + 3600.0 * hours)
        until = clock.processor_seconds() + 1e6
        table = TableSearch(microdata=few, policy=policy, places=8, until=until)
        table.look(Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
        searched.append([each.setting for each in table.best])
    assert searched[0] == searched[1]
    assert searched[0]


def test_the_best_is_read_on_as_many_releases_as_no_law_needs(few, policy) -> None:
    table = TableSearch(microdata=few, policy=policy, places=8)
    trial = StrengthTrial(table, Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
    assert len(trial.losses(3)) == RELEASES
    trial.decide(3)
    assert len(trial.losses(3)) == DECISIVE
    large = TableSearch(microdata=few, policy=policy, places=8, releases=3)
    trial = StrengthTrial(large, Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
    trial.decide(3)
    assert len(trial.losses(3)) == 3, "a release of a large table takes long"


def test_no_setting_takes_all_of_the_time(few, policy, monkeypatch) -> None:
    """Each reading of the clock is a second later: the first setting is left, the next begins."""
    seconds = iter(range(10**9))
    monkeypatch.setattr(clock, "processor_seconds", lambda: float(next(seconds)))
    table = TableSearch(microdata=few, policy=policy, places=8, until=120.0)
    table.look(Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
    assert table.skipped
    assert not table.over, "time is left for others"
    looked = table.looked
    table.look(Setting(params=rwn.RWN(epsilon=1.0, k=20), slices=()))
    table.look(Setting(params=rwn.SoftRWN(), slices=()))
    assert table.looked > looked


def test_many_donors_of_a_later_slice_are_another_setting(few) -> None:
    predicted = in_way(rwn.RWN(k=5), "predicted")
    settings = [Setting(params=replace(predicted, later=later), slices=()) for later in (20, 40)]
    assert len(set(map(kind, settings))) == 2
    apart = [Setting(params=rwn.RWN(k=5, later=later), slices=()) for later in (20, 40)]
    assert len(set(map(kind, apart))) == 1


def test_an_objective_that_forgets_the_response_is_told_apart(few) -> None:
    """The planted fault: the mean over all pairs prefers a file without the response's relations.

    All other variables travel together; the response comes from far away.
    """
    slices = preset_slices(few, "all_but_responses")
    setting = Setting(params=rwn.SoftRWN(width=4.0, balance=1.0), slices=slices).resolved(few)
    release = PreparedTables(few).compared(setting, 1)
    use = MEASURES[USE].read(release)
    pairs = MEASURES["association_loss"].read(release)
    assert isinstance(use, Reading)
    assert isinstance(pairs, Reading)
    assert pairs.value < 0.6
    assert use.value < 0.25
    assert RED_TEAM in MEASURES


@pytest.mark.parametrize(
    ("share", "refused", "tried"),
    [(0.9, 0, []), (1.2, 0, [60]), (1.2, 60, [60, 50]), (3.0, 0, [])],
    ids=["keeps all limits", "just breaks one", "half of the records are too many", "far beyond"],
)
def test_more_donors_are_tried_where_a_limit_is_just_broken(
    few, policy, monkeypatch, share: float, refused: int, tried: list[int]
) -> None:
    looked = []

    def look(self: TableSearch, setting: Setting) -> FoundSetting | None:
        looked.append((way_of(setting.params), setting.params.later))
        if setting.params.later == refused:
            return None
        self.looked += 1
        shares = dict.fromkeys(policy.measures, share)
        verdict = Verdict(shares=shares, unread={})
        point = Point(setting=setting, spreads={})
        return FoundSetting(point=point, verdict=verdict, loss=0.1, share=share)

    monkeypatch.setattr(TableSearch, "look", look)
    search = TableSearch(microdata=few, policy=policy)
    look_at_ways(search, few, {"predicted": rwn.RWN(epsilon=0.0, k=20)})
    usual = later_donors(few.n, LATER[0])
    assert looked[0] == ("predicted", usual)
    assert [later for _, later in looked if later != usual] == tried


@pytest.mark.parametrize(
    ("params", "slices", "name"),
    [
        (rwn.RWN(k=5), (), "RWN, each variable by itself"),
        (rwn.RWN(k=5), (("a", "b"), ("c", "d")), "RWN, 2 groups"),
        (rwn.RWN(k=5), (("a", "b", "c", "d"),), "RWN, whole records"),
        (rwn.SoftRWN(tie=True), (("a", "b", "c"),), "Soft RWN, 2 groups tied"),
        (rwn.RWN(k=5, by_prediction=True), (("a", "b", "c"),), "RWN, 2 groups, d by prediction"),
        (
            rwn.RWN(k=5, by_prediction=True),
            (("a", "b"),),
            "RWN, 3 groups, the later ones by prediction",
        ),
        (rwn.PRAM(change=0.1), (), rwn.PRAM.title),
    ],
)
def test_a_setting_has_a_short_name(params, slices, name: str) -> None:
    assert setting_name(Setting(params=params, slices=slices), ["a", "b", "c", "d"]) == name


def test_slices_that_a_method_refuses_are_not_tried_after_others(few: rwn.Microdata) -> None:
    """The table is prepared for both at once, but a key alone may be in no later slice."""
    params = rwn.RWN(k=20, by_prediction=True, later=20)
    tables = PreparedTables(few)
    others = tuple(name for name in NAMES if name != "siri")
    tables.start(Setting(params=params, slices=(others,)))
    apart = Setting(params=params, slices=(("weight", "siri"),))
    with pytest.raises(rwn.ParameterError, match="identifying variable"):
        apart.params.check(apart.applied_to(few))
    with pytest.raises(rwn.ParameterError, match="identifying variable"):
        tables.start(apart)


CONFIDENTIAL_FOUR = described(
    pd.DataFrame(
        {
            "age": np.arange(200) % 40,
            "glucose": np.random.default_rng(1).normal(size=200),
            "insulin": np.random.default_rng(2).normal(size=200),
            "test": np.random.default_rng(3).integers(2, size=200),
            "visits": np.random.default_rng(4).integers(3, size=200),
        }
    ),
    age="key",
    glucose="confidential",
    insulin="confidential",
    test="confidential",
    visits="confidential",
)
GAIN_ALONE = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.05),))


@pytest.mark.parametrize(
    ("slices", "read"),
    [
        ([], False),
        ([["test", "visits"]], False),  # and three visits with many
        ([["glucose", "insulin"]], True),
        ([["insulin", "test"]], True),
    ],
)
def test_slices_that_disclose_their_confidential_values_are_not_tried(slices, read):
    """What is ruled out without a release is what simple attacks reach on several, and no more."""
    setting = Setting(params=rwn.RWN(epsilon=1e3), slices=as_slices(slices))
    assert is_disclosed_within_slices(CONFIDENTIAL_FOUR, GAIN_ALONE, setting) == read
    verdict = rwn.judge_setting(CONFIDENTIAL_FOUR, setting, GAIN_ALONE)
    assert (verdict.shares["attribute_gain"] > 4) == read
    without_limit = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
    assert not is_disclosed_within_slices(CONFIDENTIAL_FOUR, without_limit, setting)
