"""Small parts of measures, each by hand: texts, ends of ranges, and what is between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rwn_core as rwn
from rwn_core.measures.attacks.assignment import SCALED, sum_to_one
from rwn_core.measures.attacks.posterior import MANY_PAIRS, counted_pairs
from rwn_core.measures.attacks.predicate import simplest_between
from rwn_core.measures.attacks.red_team.files import _filled
from rwn_core.measures.attacks.true_match import travel_mates
from rwn_core.measures.drawing import style
from rwn_core.measures.risk.repeated_releases import RepeatedReleases, sentence
from rwn_core.measures.risk.worst_linkage import draw_precision_recall
from rwn_core.measures.statistics.population import _pitman_misfit
from rwn_core.measures.utility.use_left import _related_left


def test_numbers_are_written_with_three_digits_and_a_true_minus() -> None:
    written = {
        12.345: "12.3",
        0.0: "0",
        -0.00123: "−0.00123",
        999_999.0: "999999",
        1e6: "1.00e+06",
        5e-5: "5.00e−05",
        1e-4: "0.000100",
    }
    assert {value: style.number(value) for value in written} == written
    assert style.number(float("nan")) == style.number(None) == "–"


def test_the_original_is_drawn_solid_and_the_release_dashed() -> None:
    original, release = (style.line([0], [0], released=each)["line"] for each in (False, True))
    assert (original["dash"], original["color"]) == ("solid", style.ORIGINAL)
    assert (release["dash"], release["color"]) == ("dash", style.RELEASED)


@pytest.mark.parametrize(
    ("one", "other", "between"),
    [(262.75, 363.15, 300.0), (80, 81, 80.5), (0.12, 0.1, 0.11), (5, 5, 5)],
)
def test_a_number_of_few_digits_lies_between_two(one: float, other: float, between: float) -> None:
    assert simplest_between(one, other) == between == simplest_between(other, one)


def test_missing_values_lie_in_the_middle_and_are_marked() -> None:
    known, missing = np.array([2.0, 3.0]), np.array([1.0, np.nan, 4.0])
    people, rows = _filled(missing, known)
    assert people.tolist() == [[1, 0], [2.5, 1], [4, 0]]
    assert rows.tolist() == [[2, 0], [3, 0]]  # marked, too, as they are compared
    people, rows = _filled(known, np.array([np.nan, np.nan]))
    assert people.tolist() == [[2, 0], [3, 0]]
    assert rows.tolist() == [[0, 1], [0, 1]]
    # none is missing: nothing tells them apart but the values
    assert [each.tolist() for each in _filled(known, known)] == [[[2], [3]]] * 2


def test_who_travels_with_a_confidential_variable_is_known_by_its_slice() -> None:
    slices = [("a", "secret"), ("b", "c")]
    assert travel_mates(("a", "b", "c"), slices, ("secret",)) == (("a",), ("a", "b", "c"))


def test_pitmans_chance_of_the_sizes_of_classes_is_that_of_adding_one_after_another() -> None:
    """Ewens and Pitman: a class of s gets the next of n with (s - a) / (n + t), a new one the rest.

    Another order of arrivals has the same chance.
    """
    alpha, theta = 0.3, 1.7
    logs = []
    for arrivals in ([0, 0, 1, 0, 2], [0, 1, 2, 0, 0]):
        sizes: list[int] = []
        log = 0.0
        for came, own in enumerate(arrivals):
            if own == len(sizes):
                log += np.log((theta + alpha * own) / (theta + came))
                sizes.append(0)
            else:
                log += np.log((sizes[own] - alpha) / (theta + came))
            sizes[own] += 1
        logs.append(log)
    assert logs[0] == pytest.approx(logs[1], abs=1e-12)
    found = [
        _pitman_misfit(np.array([alpha, np.log(theta + alpha)]), np.array(each))
        for each in ([3, 1, 1], [1, 3, 1])
    ]
    assert found == pytest.approx([-logs[0], -logs[0]], abs=1e-9)


def test_a_linkage_that_is_a_lower_bound_is_said_to_be_at_least_so_large() -> None:
    detail = RepeatedReleases(
        names=["a"], releases=[1, 3], same_order=np.array([0.1, 0.2]), shuffled=0.1
    )
    said = [
        sentence(rwn.Reading(value=0.2, detail=replace(detail, standing=standing)), 100)
        for standing in ("worst", "at least")
    ]
    assert "link at least" in said[1]
    assert said[0] == said[1].replace("link at least", "link")


def test_a_curve_of_some_rows_says_so() -> None:
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(k=9, epsilon=2.0), seed=1)
    compared = rwn.Comparison(original=data, masked=release.masked, law=release.law)
    reading = rwn.MEASURES["abstaining_linkage"].read(compared)
    assert isinstance(reading, rwn.Reading)
    words = [
        str(draw_precision_recall(replace(reading, detail=each)))
        for each in (reading.detail, replace(reading.detail, sampled=True))
    ]
    assert ["· sample" in each for each in words] == [False, True]


def test_relations_of_one_variable_are_none() -> None:
    frame = pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0) ** 2})
    for names, known in ((["x"], False), (["x", "y"], True)):
        data = rwn.Microdata.from_frame(frame[names])
        pairs = ~np.eye(len(names), dtype=bool)
        left = _related_left(rwn.Comparison(original=data, masked=data), pairs)
        assert (left is not None) == known


def test_steps_of_ranges_ascend() -> None:
    """No number between two lies on either of them, however near they are."""
    draw = np.random.default_rng(3)
    for one, other in pairwise(np.sort(draw.normal(size=200) * 10.0 ** draw.integers(-6, 6, 200))):
        assert one < simplest_between(one, other) < other


@pytest.mark.parametrize("pairs", [0, 1, 60, MANY_PAIRS + 1])
def test_pairs_are_counted_where_they_are_few_as_where_they_are_many(pairs: int) -> None:
    rng = np.random.default_rng(pairs)
    row = rng.integers(0, 7, pairs)
    column = rng.integers(0, 5, pairs)
    slow = np.zeros((7, 5))
    for place in zip(row, column, strict=True):
        slow[place] += 1
    found = counted_pairs(row, column, (7, 5))
    assert found.shape == (7, 5)
    assert (found.toarray() == slow).all()
    assert found.nnz == (slow > 0).sum()
    assert found.has_sorted_indices


def test_sums_are_scaled_to_one_by_turns_or_it_is_refused() -> None:
    rng = np.random.default_rng(8)
    belief = rng.random((6, 4)) * (rng.random((6, 4)) < 0.8)
    belief[:, 3] = 0.0  # a class that nobody has a share of
    rows = np.array([1.0, 2.0, 3.0, 1.0])
    of_record = np.ones(6)
    of_column = (belief.sum(axis=0) > 0).astype(float)
    for _ in range(5):
        of_record = 1 / (belief @ (of_column * rows))
        sums = of_record @ belief
        of_column[:3] = 1 / sums[:3]
    found = sum_to_one(sparse.csc_array(belief), rows, steps=5)
    assert found is not None
    np.testing.assert_allclose(found[0], of_record, rtol=1e-12)
    np.testing.assert_allclose(found[1], of_column, rtol=1e-12)
    # near enough, the factors stay
    done = sum_to_one(sparse.csc_array(np.eye(3)), np.ones(3), steps=1_000)
    assert done is not None
    assert np.abs(done[1] - 1).max() < SCALED
    belief[2] = 0.0  # a person that no row can come from
    assert sum_to_one(sparse.csc_array(belief), rows) is None
