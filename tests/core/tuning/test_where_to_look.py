"""Where a search looks first: near what passed before, and at what loses least on all records."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

import rwn_core as rwn
from rwn_core.parallel.clock import processor_seconds
from rwn_core.tuning import FoundSetting, SearchAnswer, Setting, strength
from rwn_core.tuning.point import Point
from rwn_core.tuning.several_draws import Late
from rwn_core.tuning.slice_presets import preset_slices
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial, TableSearch
from rwn_core.tuning.verdict import Verdict

recommending = import_module("rwn_core.tuning.recommend")  # the function has the same name


@pytest.fixture(scope="module")
def policy() -> rwn.Policy:
    return rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.3),))


def places_read(table: TableSearch, setting: Setting) -> int:
    """How many places of a setting a first release was read at."""
    trial = StrengthTrial(table, setting)
    place = trial.steady(MOST_LOST, None)
    assert place is not None
    return len(trial.verdicts)


def test_the_next_setting_of_a_kind_is_read_near_where_the_last_one_passed(few, policy) -> None:
    even = [
        Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=preset_slices(few, each))
        for each in ("related_3", "keys_apart")
    ]
    search = TableSearch(microdata=few, policy=policy)
    places_read(search, even[0])
    near = places_read(search, even[1])
    alone = TableSearch(microdata=few, policy=policy)
    assert near < places_read(alone, even[1])
    # and the same place is found
    kept = [
        StrengthTrial(table, even[1]).steady(MOST_LOST, None)
        for table in (search, TableSearch(microdata=few, policy=policy))
    ]
    assert kept[0] == kept[1]


def test_another_kind_begins_anew(few, policy) -> None:
    search = TableSearch(microdata=few, policy=policy)
    places_read(search, Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
    assert len(search.passed) == 1
    soft = Setting(params=rwn.SoftRWN(), slices=())
    places_read(search, soft)
    assert len(search.passed) == 2


def test_a_part_of_a_table_ranks_by_its_releases_and_not_by_one_more(few, policy) -> None:
    """Three releases that all keep a limit say little of one more; to rank they are enough."""
    setting = Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=())
    used = {}
    for ranks in (True, False):
        table = TableSearch(microdata=few, policy=policy, releases=3, ranks=ranks)
        trial = StrengthTrial(table, setting)
        used[ranks] = trial.used(trial.last)
        _, verdicts = trial.further(trial.last)
        worst = max(each.largest or 0.0 for each in verdicts)
        assert (used[ranks] == worst) == ranks
        found = trial.found(trial.last)
        assert found is not None
        assert (found.verdict.largest == worst) == ranks
    assert used[True] < used[False]


def ranking_of(few: rwn.Microdata, kept: list[bool], settings: list[Setting]) -> TableSearch:
    """A ranking on a part of a table: its settings in this order, and which of them keep."""
    ranking = TableSearch(microdata=few, policy=rwn.Policy())
    for place, (keeps, setting) in enumerate(zip(kept, settings, strict=True)):
        share = 0.5 if keeps else 2.0 + place
        found = FoundSetting(
            point=Point(setting=setting, spreads={}),
            verdict=Verdict(shares={"bayes_linkage": share}, unread={}),
            loss=0.1 + 0.01 * place,
            share=share,
        )
        ranking.tried.append(found)
    return ranking


@pytest.mark.parametrize("keeps", [True, False])
def test_what_loses_least_on_all_records_is_tried_first(few, policy, keeps: bool) -> None:
    """A part may name the worse one first; what keeps no limit there is ranked by the limits."""
    epsilons = (9.0, 0.5, 5.0, 0.7)
    settings = [Setting(params=rwn.RWN(epsilon=each, k=5), slices=()) for each in epsilons]
    table = TableSearch(microdata=few, policy=policy)
    ranked = ranking_of(few, [keeps] * 4, settings)
    assert [each.setting for each in ranked.best] == settings
    first = recommending._starts_of(table, ranked)
    by_loss = sorted(settings, key=table.lost_near)
    assert by_loss != settings
    assert first == (by_loss if keeps else settings)[:3]


def test_a_refused_setting_loses_all(few, policy) -> None:
    strong, weak = (
        Setting(params=rwn.RWN(epsilon=epsilon, k=5), slices=()) for epsilon in (9.0, 0.5)
    )
    refused = replace(weak, slices=(("age", "no such variable"),))
    table = TableSearch(microdata=few, policy=policy)
    assert table.lost_near(weak) < table.lost_near(strong) < 1.0 == table.lost_near(refused)


def test_a_draw_without_time_puts_nothing_last(few, policy) -> None:
    table = TableSearch(microdata=few, policy=policy, until=-1.0)
    assert table.lost_near(Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=())) == 0.0


@pytest.mark.parametrize(
    ("near", "beyond", "named"),
    [
        ((0.30, True), (0.10, True), True),  # a fifth more is left
        ((0.15, True), (0.10, True), False),  # a twentieth more
        ((0.15, False), (0.10, True), True),  # what no radius keeps
        ((0.30, True), (0.10, False), False),  # nothing beyond the levers keeps the limits
    ],
)
def test_another_setting_is_suggested_where_it_leaves_a_tenth_more(
    few, monkeypatch, near: tuple[float, bool], beyond: tuple[float, bool], named: bool
) -> None:
    """By what is lost within epsilon, k and q and beyond them, and whether it keeps the limits."""

    def found(params: rwn.RWN | rwn.SoftRWN, loss: float, keeps: bool) -> SearchAnswer:
        share = 0.5 if keeps else 2.0
        setting = FoundSetting(
            point=Point(setting=Setting(params=params), spreads={}),
            verdict=Verdict(shares={"bayes_linkage": share}, unread={}),
            loss=loss,
            share=share,
        )
        return SearchAnswer(goal=rwn.Policy(), settings=(setting,), reached=keeps)

    def recommended(*_: object, levers: bool = False, **__: object) -> SearchAnswer:
        if levers:
            return found(rwn.RWN(epsilon=1.0, k=5), *near)
        return found(rwn.SoftRWN(), *beyond)

    monkeypatch.setattr(recommending, "recommend", recommended)
    answer = recommending.suggest(few)
    assert answer.settings[0].setting.method == "rwn"
    assert (answer.alternative is not None) == named


def test_a_setting_of_which_nothing_was_read_in_time_was_not_tried(few, policy) -> None:
    setting = Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=())
    later = processor_seconds() + 1e6
    for step in ("ready", "release"):  # each would end too late
        unread = rwn.Microdata(few.frame, few.schema)
        search = TableSearch(microdata=unread, policy=policy, until=later, took={step: 1e9})
        assert search.look(setting) is None
        assert (search.looked, search.skipped) == (0, True)
    search = TableSearch(microdata=few, policy=policy, until=later)
    search.look(setting)
    assert search.looked == 1


def test_a_guess_from_other_records_rules_nothing_out_before_a_setting_is_found(
    few, policy
) -> None:
    """A guess may be several times too long; what was measured on these records is not."""
    setting = Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=())
    other = Setting(params=rwn.SoftRWN(), slices=())
    too_long = dict.fromkeys(("ready", "release", "bayes_linkage"), 1e9)
    search = TableSearch(
        microdata=rwn.Microdata(few.frame, few.schema),
        policy=policy,
        until=processor_seconds() + 1e6,
        guessed=too_long,
    )
    assert search.look(setting) is not None
    assert not search.skipped
    search.took = {}
    assert search.look(other) is None  # one is found: what is expected too late is left out
    assert search.skipped


def test_only_the_first_release_outside_is_expected_to_take_the_time_of_its_halves(
    few, policy, monkeypatch
) -> None:
    """The halves of a table are masked once a setting; further releases share them."""

    def read_limits(*about: object, timed, **more: object) -> object:
        return timed("outside", lambda: "read")

    monkeypatch.setattr(strength, "read_limits", read_limits)
    search = TableSearch(microdata=few, policy=policy, until=processor_seconds() + 1e6)
    trial = StrengthTrial(search, Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=()))
    (one, other) = (trial.at(place) for place in (0, 1))
    for setting in (one, one):
        assert trial._readings(None, 1.0, setting) == "read"
        search.took["outside rwn apart"] = 1e9  # as if it had taken so long
    with pytest.raises(Late):
        trial._readings(None, 1.0, other)
    assert trial._readings(None, 1.0, one) == "read"
