"""Who is better: only where the intervals of one more release do not meet."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core.tuning import Point, Setting, Spread
from rwn_core.tuning.match import Matched, beats, best_methods, compare_pair

NEAR = (0.10, 0.11, 0.12)


def spread(measure: str, values: tuple[float, ...], **more: bool) -> Spread:
    return Spread(measure=measure, values=values, **more)


def matched(params: object, **values: tuple[float, ...]) -> Matched:
    spreads = {key: spread(key, each) for key, each in values.items()}
    return Matched(point=Point(setting=Setting(params=params), spreads=spreads), reached=True)


def shifted(by: float) -> tuple[float, ...]:
    return tuple(value + by for value in NEAR)


def test_a_win_needs_intervals_that_are_apart():
    low, high = spread("bayes_linkage", NEAR), spread("bayes_linkage", shifted(0.5))
    assert beats(low, high)
    assert not beats(high, low)
    assert low.interval[1] < high.interval[0]
    # medians differ, and releases overlap
    assert not beats(low, spread("bayes_linkage", shifted(0.01)))


def test_higher_is_better_where_the_measure_says_so():
    low, high = spread("ci_overlap", NEAR), spread("ci_overlap", shifted(0.5))
    assert beats(high, low)
    assert not beats(low, high)


def test_one_release_and_a_lower_bound_win_nothing():
    high = spread("bayes_linkage", shifted(0.5))
    assert not beats(spread("bayes_linkage", (0.1,)), high)
    assert not beats(spread("bayes_linkage", NEAR, is_bound=True), high)
    # the other's true value lies even higher
    assert beats(
        spread("bayes_linkage", NEAR), spread("bayes_linkage", shifted(0.5), is_bound=True)
    )


@pytest.fixture
def two() -> tuple[Matched, Matched]:
    one = matched(
        rwn.RWN(k=5),
        bayes_linkage=shifted(0.5),
        distance_linkage=NEAR,
        correlation=NEAR,
        cells_changed=NEAR,
        marginals=(),
    )
    other = matched(
        rwn.AdditiveNoise(size=1.0),
        bayes_linkage=NEAR,
        distance_linkage=shifted(0.5),
        correlation=shifted(0.001),
        cells_changed=shifted(0.5),
        marginals=NEAR,
    )
    return one, other


def test_a_duel_sorts_every_measure_with_a_better_side(two):
    found = compare_pair(*two, list(two[0].point.spreads))
    assert (found.one, found.other) == ("rwn", "additive_noise")
    assert found.better == ("distance_linkage",)
    assert found.worse == ("bayes_linkage",)
    assert found.open == ("correlation",)  # neither of cells changed, nor without an answer


def test_the_best_median_is_marked_and_ties_are_all(two):
    assert best_methods(two, "bayes_linkage") == ["additive_noise"]
    assert best_methods(two, "cells_changed") == []
    assert best_methods(two, "marginals") == []  # one answer is no comparison
    left = replace(two[1], reached=False)  # lowest, and not in the comparison
    third = matched(rwn.RowCopy(k=5), bayes_linkage=shifted(0.9))
    assert best_methods([two[0], left, third], "bayes_linkage") == ["rwn"]
    same = matched(rwn.RowCopy(k=5), correlation=NEAR)
    assert best_methods([two[0], same], "correlation") == ["rwn", "row_copy"]
