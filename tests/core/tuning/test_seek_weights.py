"""The slice search moves weights, too, where nobody gave any."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.seek_slices import SliceRanges, seek_slices
from rwn_core.tuning.slice_search import SliceSearch
from rwn_core.tuning.slice_steps import Choice, Found, weight_steps

module = import_module("rwn_core.tuning.seek_slices")  # its room has a function of this name
LINKAGE = Policy(limits=(Limit(measure="distance_linkage", at_most=0.06),))
ALONE = SliceRanges(strengths=(2.0, 3.0, 4.0, 5.0, 6.0, 8.0), starts=[()], only_starts=True)


@pytest.fixture(scope="module")
def few() -> rwn.Microdata:
    """Four variables of a demo."""
    data = rwn.load_demo("bodyfat")
    names = ["siri", "age", "weight", "abdomen"]
    schema = replace(
        data.schema,
        variables=tuple(data.schema.variable(name) for name in names),
        question=None,
    )
    return rwn.Microdata.from_frame(data.frame[names], schema)


def test_weights_that_differ_lose_less_within_the_same_limit(few) -> None:
    even = seek_slices(few, LINKAGE, ranges=replace(ALONE, weights=False), workers=1)
    moved = seek_slices(few, LINKAGE, ranges=ALONE, workers=1)
    assert even.point.setting.weights == ()
    assert (moved.reached, moved.slices) == (True, ())
    assert moved.point.setting.weights
    assert moved.point.median("correlation") < even.point.median("correlation")
    assert "weight of" in moved.sentence


def test_slices_begin_with_what_weights_alone_can_do(few, monkeypatch) -> None:
    """So that no answer with slices loses to a better one without them."""
    begun: list[tuple[bool, list[Choice]]] = []
    run = SliceSearch.run

    def noted(search: SliceSearch, starts: Any) -> None:
        begun.append((search.cautious, list(starts)))
        run(search, starts)

    monkeypatch.setattr(SliceSearch, "run", noted)
    ranges = replace(ALONE, starts=None, only_starts=False, tries=60)
    found = seek_slices(few, LINKAGE, ranges=ranges, workers=1)
    (first, lone), (second, starts), *_ = begun
    assert (first, lone, second) == (False, [Choice(())], True)
    assert starts[-1].slices == () != starts[-1].weights
    alone = seek_slices(few, LINKAGE, ranges=ALONE, workers=1)
    assert found.point.median("correlation") <= alone.point.median("correlation")
    begun.clear()
    seek_slices(few, LINKAGE, ranges=replace(ranges, weights=False), workers=1)
    assert all(cautious for cautious, _ in begun)


def test_weights_that_fresh_releases_refuse_are_given_back(few, monkeypatch) -> None:
    fresh = module._fresh

    def planted(search: SliceSearch, found: Found, *which: Any) -> Point:
        point = fresh(search, found, *which)
        if not found.choice.weights:
            return point
        spread = point.spreads["distance_linkage"]
        broken = replace(spread, values=(0.09,) * len(spread.values))
        return replace(point, spreads={**point.spreads, "distance_linkage": broken})

    monkeypatch.setattr(module, "_fresh", planted)
    found = seek_slices(few, LINKAGE, ranges=replace(ALONE, tries=30), workers=1)
    assert (found.reached, found.point.setting.weights) == (True, ())


def test_who_gave_weights_meant_them(few) -> None:
    given = few.schema.replace_variable("age", weight=2.0)
    ranges = replace(ALONE, strengths=(8.0,))
    found = seek_slices(few.with_schema(given), LINKAGE, ranges=ranges, workers=1)
    assert found.point.setting.weights == (("age", 2.0),)


def test_a_weight_is_halved_and_doubled_within_its_ends() -> None:
    assert list(weight_steps((), "b")) == [(("b", 0.5),), (("b", 2.0),)]
    assert list(weight_steps((("a", 4.0), ("b", 8.0)), "b")) == [(("a", 4.0), ("b", 4.0))]
    assert list(weight_steps((("b", 0.5),), "b")) == [(("b", 0.25),), ()]
    assert list(weight_steps((("b", 0.0),), "b")) == []
    assert list(weight_steps((("a", 0.5),), "ab")) == [(("a", 0.25), ("b", 0.5)), (("b", 2.0),)]
