"""How levels are named: tolerances, counts and scores against slow ones that share no code."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import beta

import rwn_core as rwn
from rwn_core.measures.attacks.attribute_attack import jointly
from rwn_core.measures.attacks.likeliest_value import (
    CERTAINTIES,
    EXACT,
    Named,
    Names,
    People,
    ReleasedValues,
    Tolerance,
    best_score,
    beyond_outside,
    count_names,
    most_within_reach,
    tolerance,
)
from tests.oracles.exact_assignments import sinkhorn


def numbers(values: np.ndarray) -> rwn.Microdata:
    return rwn.Microdata.from_frame(pd.DataFrame({"x": values, "y": np.arange(len(values)) * 1.0}))


def test_the_tolerance_is_the_least_of_three():
    values = np.concatenate([np.arange(1.0, 101.0), [1e9]])
    near = tolerance(numbers(values), "x")
    assert near.absolute == pytest.approx(0.1 * 50)  # quartiles 26 and 76; the SD is 1e8
    got = near.around(np.array([10.0, 100.0, 1e9]))
    np.testing.assert_allclose(got, [0.5, 5.0, 5.0], rtol=1e-9)


def test_half_the_people_at_one_value_must_be_named_exactly():
    values = np.concatenate([np.zeros(80), np.arange(1.0, 21.0)])
    near = tolerance(numbers(values), "x")
    assert near.absolute == 0.0
    assert near.right(np.array([3.0, 3.1]), np.array([3.0, 3.0])).tolist() == [True, False]
    # the same number, written twice
    assert near.right(np.array([0.1 + 0.2]), np.array([0.3])).all()


def test_a_share_of_the_value_needs_an_origin():
    centred = np.random.default_rng(2).normal(size=300)
    assert tolerance(numbers(centred), "x").relative is None
    assert tolerance(numbers(centred + 50), "x").relative == 0.05


def test_most_people_within_reach_of_one_value_by_all_pairs():
    rng = np.random.default_rng(3)
    for near in (Tolerance(0.3, 0.05), Tolerance(0.4), EXACT):
        values = rng.integers(0, 30, 60) / 3.0
        reach = near.around(values)
        points = np.concatenate([values - reach, values, values + reach])
        slow = max(sum(abs(p - v) <= near.around(np.array([v]))[0] * (1 + 1e-9)
                       for v in values) for p in points) / 60  # fmt: skip
        assert most_within_reach(values, near) == pytest.approx(slow)


def counted_slowly(names: Names, truth: list[float], level: int, sure: float) -> tuple[float, ...]:
    """Right names and names of one level, by plain loops."""
    right = named = 0.0
    for person, own in enumerate(truth):
        said = [k for k in range(len(names.person)) if names.person[k] == person]
        if np.isnan(own):
            continue
        for at in said:
            if names.value[at] == level and names.share[at] >= sure:
                named += 1 / len(said)
                right += (own == level) / len(said)
    return right, named


@pytest.mark.parametrize("levels", [2, 5, 20])
def test_names_are_counted_as_by_hand(levels):
    rng = np.random.default_rng(levels)
    people, classes = 60, 25
    truth = rng.integers(0, levels, people).astype(float)
    truth[::9] = np.nan
    released_values = rng.integers(0, levels, 40).astype(float)
    released_values[::11] = np.nan
    group = np.r_[np.arange(classes), rng.integers(0, classes, 40 - classes)]
    values = ReleasedValues(group, released_values, EXACT, levels)
    weights = rng.integers(0, 3, (people, classes)) * 1.0
    names = values.named(sparse.csr_array(weights))
    for person in range(people):
        mass = {v: weights[person][group[released_values == v]].sum() for v in range(levels)}
        own = names.person == person
        if not sum(mass.values()):
            assert not own.any()
            continue
        top = max(mass.values())
        assert sorted(names.value[own]) == [v for v in mass if mass[v] == top]
        np.testing.assert_allclose(names.share[own], top / sum(mass.values()))
    who = People(truth=truth, near=EXACT, levels=levels)
    nobody = Names(names.person[:0], names.value[:0], names.share[:0])
    none, found = count_names([nobody, names], who)
    assert not none.named.any()
    for (at, sure), level in product(enumerate(CERTAINTIES), range(levels)):
        slow = counted_slowly(names, truth.tolist(), level, sure * (1 - 1e-9))
        assert (found.right[at, level], found.named[at, level]) == pytest.approx(slow)
    assert who.of_level().tolist() == [float((truth == v).sum()) for v in range(levels)]


def score_slowly(right: float, named: float, people: float, base: float) -> float:
    """Recall times what the lower end of the precision lies beyond the base."""
    if right <= 0 or people <= 0 or base >= 1:
        return 0.0
    low = beta.ppf(0.025, right, max(named - right, 0) + 1)
    return right / people * max(low - base, 0) / (1 - base)


def test_the_best_score_is_the_largest_of_all():
    rng = np.random.default_rng(5)
    for _ in range(20):
        named = rng.integers(0, 40, (30, 4)) * 1.0
        right = np.floor(named * rng.random(named.shape))
        people = right.max(axis=0) + rng.integers(0, 5, 4)
        base = rng.random(4) * 0.6
        slow = np.array([[score_slowly(right[i, j], named[i, j], people[j], base[j])
                          for j in range(4)] for i in range(30)])  # fmt: skip
        place, score = best_score(right, named, people, base)
        assert score == pytest.approx(slow.max())
        assert score == 0 or slow[place] == pytest.approx(slow.max())
    # planted: the mean over levels is not the worst one
    assert slow.max() > 1.2 * slow.max(axis=0).mean()


def test_outside_the_same_names_are_the_baseline():
    truth = np.repeat([0.0, 1.0], [180, 20])
    who = People(truth=truth, near=EXACT, levels=2)
    one = Named(right=np.array([[0.0, 18.0]]), named=np.array([[0.0, 20.0]]))
    nobody = Named(right=np.zeros((1, 2)), named=np.zeros((1, 2)))
    place, score = beyond_outside(one, who, nobody, who)
    assert (place, score) == ((0, 1), pytest.approx(score_slowly(18, 20, 20, 0.1)))
    assert beyond_outside(one, who, one, who)[1] == 0.0
    # one lucky name outside does not excuse eighteen inside
    lucky = Named(right=np.array([[0.0, 1.0]]), named=np.array([[0.0, 1.0]]))
    assert beyond_outside(one, who, lucky, who)[1] > 0.5


def test_rows_are_weighed_together_as_single_rows_are():
    """The scaling of classes is that of all rows, by plain arrays."""
    rng = np.random.default_rng(6)
    group = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    classes = rng.random((8, 5)) + 0.01
    source = classes / classes.sum(axis=0)
    slow = sinkhorn(source[:, group], steps=20)
    rows = np.bincount(group)
    found = jointly(sparse.csr_array(source), sparse.csc_array(source), rows)
    assert found is not None
    got = found.toarray()[:, group]
    np.testing.assert_allclose(got / got.sum(axis=0), slow / slow.sum(axis=0), atol=1e-4)
    lost = sparse.csc_array(np.eye(3) * [1, 1, 0])
    assert jointly(lost.tocsr(), lost, np.ones(3, int)) is None


def test_names_of_many_small_levels_by_luck_score_nothing() -> None:
    """Of 60 levels with four people each some are named twice, rightly: chance, in most tables."""
    rng = np.random.default_rng(8)
    people, base = np.full(60, 4.0), np.full(60, 4 / 240)
    named = rng.integers(0, 4, (200, 36, 60)).astype(float)
    right = rng.binomial(named.astype(int), 4 / 240).astype(float)
    scores = [
        best_score(one, all_, people, base)[1] for one, all_ in zip(right, named, strict=True)
    ]
    assert np.mean(np.array(scores) > 0) <= 0.02
    right[0, 3, 7], named[0, 3, 7] = 4, 4  # and what is named is found
    assert best_score(right[0], named[0], people, base)[0] == (3, 7)
    assert best_score(right[0], named[0], people, base)[1] > 0.3
