"""No slices are the answer where each variable alone, with weights, is known to lose less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.tuning import Plan, Setting
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.seek_slices import SliceRanges, _verified, seek_slices
from rwn_core.tuning.setting_pool import SettingPool
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import masked_names, preset_slices
from rwn_core.tuning.slice_search import SliceSearch
from rwn_core.tuning.slice_steps import Choice, Found

LINKAGE = Policy(limits=(Limit(measure="distance_linkage", at_most=0.05),))
STRENGTHS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
SMALL = SliceRanges(strengths=STRENGTHS, tries=40, weights=False)


def test_slices_begin_with_what_weights_alone_can_do(small, monkeypatch) -> None:
    begun: list[tuple[bool, list[Choice]]] = []
    run = SliceSearch.run

    def noted(search: SliceSearch, starts: Any) -> None:
        begun.append((search.only_starts, list(starts)))
        run(search, starts)

    monkeypatch.setattr(SliceSearch, "run", noted)
    found = seek_slices(small, LINKAGE, ranges=replace(SMALL, tries=60, weights=True), workers=1)
    assert begun[0] == (True, [Choice(())])
    assert not begun[-1][0]
    ungrouped = replace(SMALL, weights=True, starts=[()], only_starts=True)
    alone = seek_slices(small, LINKAGE, ranges=ungrouped, workers=1)
    assert alone.slices == () != alone.point.setting.weights
    assert found.point.median("correlation") <= alone.point.median("correlation")


def test_each_alone_is_the_answer_where_all_that_looked_better_breaks_a_limit(
    few, quick, refuse
) -> None:
    """Asking for the room that slices lack on fresh releases would refuse each alone as well."""
    refuse(lambda found: bool(found.choice.slices))
    starts = [preset_slices(few, "related_2"), ()]
    found = seek_slices(few, LINKAGE, ranges=replace(SMALL, starts=starts, tries=40), workers=1)
    assert found.reached
    assert found.slices == ()
    assert LINKAGE.judge_point(found.point).kept


def test_what_is_left_with_more_room_does_not_displace_what_is_known(
    few, quick, refuse, monkeypatch
) -> None:
    """The search's choice is refused; what leads then keeps all limits, but loses more."""
    whole, pair = (Choice(preset_slices(few, key)) for key in ("whole", "related_2"))
    better = Found(loss=0.1, choice=whole, strength=0)
    worse = Found(loss=0.3, choice=pair, strength=5)
    known = Found(loss=0.2, choice=Choice(()), strength=1)
    refuse(lambda found: found == better)
    monkeypatch.setattr(SliceSearch, "run", lambda self, starts: self.shares.update(trial))
    monkeypatch.setattr(
        SliceSearch, "tighten", lambda self, judged: self.found.__setitem__(0, worse)
    )
    trial = {(whole, 0): {"distance_linkage": 0.5}}
    settings = [Setting(params=rwn.RWN(epsilon=each, k=5)) for each in STRENGTHS]
    plan = Plan(measures=LINKAGE.measures)
    with SettingPool(few, settings, plan, workers=1) as crew:
        search = SliceSearch(
            names=tuple(masked_names(few)),
            settings=settings,
            losses=lambda weights: SliceLoss.of(few, settings),
            crew=crew,
            policy=LINKAGE,
            plan=plan,
            tries=1,
        )
        verified = _verified(replace(search, found=[known]), [])
        assert verified.found == known
        assert verified.kept
        for before, answer in ((None, worse), (verified, known)):
            found = _verified(replace(search, found=[better]), [], known=before)
            assert found.found == answer
            assert found.kept


def test_only_the_given_slices_are_an_answer_where_somebody_asks_for_the_best_of_them(
    small, quick
) -> None:
    """Whole rows lose least under this limit, and each alone is not asked for."""
    pair = (("age", "siri"),)
    ranges = replace(SMALL, starts=[pair], only_starts=True, weights=True)
    assert seek_slices(small, LINKAGE, ranges=ranges, workers=1).slices == pair
