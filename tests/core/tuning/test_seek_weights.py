"""The slice search moves weights, too, where nobody gave any."""

from __future__ import annotations

from dataclasses import replace

from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.seek_slices import seek_slices, weight_steps
from rwn_core.tuning.slice_answer import SliceRanges

LINKAGE = Policy(limits=(Limit(measure="distance_linkage", at_most=0.06),))
ALONE = SliceRanges(strengths=(2.0, 3.0, 4.0, 5.0, 6.0, 8.0), starts=[()], only_starts=True)


def test_weights_that_differ_lose_less_within_the_same_limit(small, quick) -> None:
    even = seek_slices(small, LINKAGE, ranges=replace(ALONE, weights=False), workers=1)
    moved = seek_slices(small, LINKAGE, ranges=ALONE, workers=1)
    assert even.point.setting.weights == ()
    assert (moved.reached, moved.slices) == (True, ())
    assert moved.point.setting.weights
    assert moved.point.median("association_loss") < even.point.median("association_loss")
    assert "weight" in moved.sentence


def test_weights_that_fresh_releases_refuse_are_given_back(small, quick, refuse) -> None:
    refuse(lambda choice: bool(choice.weights))
    found = seek_slices(small, LINKAGE, ranges=replace(ALONE, tries=15), workers=1)
    assert (found.reached, found.point.setting.weights) == (True, ())


def test_who_gave_weights_meant_them(small) -> None:
    given = small.schema.replace_variable("age", weight=2.0)
    ranges = replace(ALONE, strengths=(8.0,))
    found = seek_slices(small.with_schema(given), LINKAGE, ranges=ranges, workers=1)
    assert found.point.setting.weights == (("age", 2.0),)


def test_a_weight_is_halved_and_doubled_within_its_ends() -> None:
    assert list(weight_steps((), "b")) == [(("b", 0.5),), (("b", 2.0),)]
    assert list(weight_steps((("a", 4.0), ("b", 8.0)), "b")) == [(("a", 4.0), ("b", 4.0))]
    assert list(weight_steps((("b", 0.5),), "b")) == [(("b", 0.25),), ()]
    assert list(weight_steps((("b", 0.0),), "b")) == []
    assert list(weight_steps((("a", 0.5),), "ab")) == [(("a", 0.25), ("b", 0.5)), (("b", 2.0),)]
