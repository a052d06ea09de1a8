"""No slices are the answer where each variable alone, with weights, is known to lose less."""

from __future__ import annotations

from dataclasses import replace

from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.seek_slices import seek_slices
from rwn_core.tuning.slice_answer import SliceRanges
from rwn_core.tuning.slice_presets import preset_slices

LINKAGE = Policy(limits=(Limit(measure="distance_linkage", at_most=0.05),))
STRENGTHS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
SMALL = SliceRanges(strengths=STRENGTHS, tries=40, weights=False)


def test_slices_lose_no_more_than_weights_alone(small, quick) -> None:
    found = seek_slices(small, LINKAGE, ranges=replace(SMALL, tries=60, weights=True), workers=1)
    ungrouped = replace(SMALL, weights=True, starts=[()], only_starts=True)
    alone = seek_slices(small, LINKAGE, ranges=ungrouped, workers=1)
    assert alone.slices == () != alone.point.setting.weights
    lost = (each.point.median("association_loss") for each in (found, alone))
    assert next(lost) <= next(lost)


def test_each_alone_is_the_answer_where_all_that_looked_better_breaks_a_limit(
    few, quick, refuse
) -> None:
    refuse(lambda choice: bool(choice.slices))
    starts = [preset_slices(few, "related_2"), ()]
    found = seek_slices(few, LINKAGE, ranges=replace(SMALL, starts=starts, tries=40), workers=1)
    assert found.reached
    assert found.slices == ()
    assert LINKAGE.judge_point(found.point).kept


def test_only_the_given_slices_are_an_answer_where_somebody_asks_for_the_best_of_them(
    small, quick
) -> None:
    """Whole rows lose least under this limit, and each alone is not asked for."""
    pair = (("age", "siri"),)
    ranges = replace(SMALL, starts=[pair], only_starts=True, weights=True)
    assert seek_slices(small, LINKAGE, ranges=ranges, workers=1).slices == pair
