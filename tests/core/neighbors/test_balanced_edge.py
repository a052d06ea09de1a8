"""Neighborhoods of a radius and k in which every record gives equally often."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.neighbors import Finder
from rwn_core.neighbors.kernel import Kernel, RadiusAndK
from tests.tables import table


def weights(points: np.ndarray, *, k: int | None, epsilon: float | None) -> np.ndarray:
    """Return the balanced matrix of some points."""
    ball = RadiusAndK(k=k, epsilon=epsilon, kernel=Kernel(balance=1.0, own=True))
    return Finder(points=points).find(ball)[0].probabilities().toarray()


def slowly(points: np.ndarray, k: int, epsilon: float, cap: float) -> np.ndarray:
    """Return the balanced matrix by turns of rows and columns, from all distances."""
    n = len(points)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    reach = np.maximum(np.sort(distance, axis=1)[:, k], epsilon)
    member = (distance <= reach[:, None]) | (distance <= reach[None, :])
    found = member.astype(float)
    for _ in range(20_000):
        for axis in (1, 0):
            found = capped(found, cap, axis)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-6
    assert n == len(found)
    return found


def capped(matrix: np.ndarray, cap: float, axis: int) -> np.ndarray:
    """Scale rows or columns to 1, where nothing lies above the cap."""
    assert (matrix <= cap).all() or (matrix == matrix.astype(int)).all()
    return matrix / matrix.sum(axis=axis, keepdims=True)


def test_two_pairs_exchange_half() -> None:
    found = weights(np.array([[0.0], [1.0], [10.0], [11.0]]), k=1, epsilon=None)
    half = np.array([[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(found[:2, :2], half)
    np.testing.assert_allclose(found[2:, 2:], half)
    assert not found[:2, 2:].any()


def test_a_star_keeps_the_golden_ratio_at_its_ends() -> None:
    # ends x and center y of x^2 + x y = 1 and y^2 + 2 x y = 1: x^2 = (sqrt(5) - 1) / 2
    found = weights(np.array([[-1.0], [0.0], [1.0]]), k=None, epsilon=1.0)
    own = (np.sqrt(5) - 1) / 2
    expected = [[own, 1 - own, 0], [1 - own, 2 * own - 1, 1 - own], [0, 1 - own, own]]
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_a_slow_program(seed: int) -> None:
    points = np.random.default_rng(seed).lognormal(size=(30, 2))
    found = weights(points, k=22, epsilon=0.5)
    expected = slowly(points, 22, 0.5, cap=0.1)
    assert expected.max() < 0.1  # so that the cap has no part in it
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found, found.T, atol=1e-6)


def test_every_record_gives_equally_often_and_without_balance_it_does_not() -> None:
    data = table("skewed", 120)
    balanced = rwn.RWN(epsilon=1.0, k=20, balance=1.0)
    even = rwn.RWN(epsilon=1.0, k=20)
    gives = {}
    for name, method in {"balanced": balanced, "even": even}.items():
        law = method.prepare(data).law
        assert law is not None
        gives[name] = np.asarray(law.probabilities.sum(axis=0)).ravel()
    assert np.abs(gives["balanced"] - 1).max() < 1e-6
    assert np.abs(gives["even"] - 1).max() > 0.3  # the fault that is looked for


def test_half_a_balance_lies_between() -> None:
    data = table("skewed", 120)
    start = rwn.RWN(epsilon=1.0, k=20, balance=0.5).prepare(data)
    gives = np.asarray(start.law.probabilities.sum(axis=0)).ravel()
    assert 0.05 < np.abs(gives - 1).max() < 1.0


def test_one_matrix_however_the_table_is_prepared() -> None:
    data = table("cloud", 90)
    method = rwn.RWN(epsilon=0.8, k=10, balance=1.0)
    expected = method.prepare(data).law.probabilities.toarray()
    wide = rwn.RWN(epsilon=2.0, k=30, balance=1.0)
    moved = wide.prepare(data, settings=[method]).with_setting(method)
    np.testing.assert_allclose(moved.law.probabilities.toarray(), expected)
    shown = method.preview(data)
    np.testing.assert_allclose(shown.law.probabilities.toarray(), expected)


def test_some_records_have_the_rows_of_all() -> None:
    data = table("cloud", 90)
    method = rwn.RWN(epsilon=0.8, k=10, balance=1.0)
    some = np.array([3, 17, 60])
    key = rwn.SecretKey.from_seed(4)
    whole = method.prepare(data).release(key).donors
    part = method.prepare(data, records=some).release(key).donors
    np.testing.assert_array_equal(part, whole[some])


def test_a_table_that_is_stored_in_part_is_as_one_of_all_pairs() -> None:
    points = np.random.default_rng(1).normal(size=(80, 3))
    ball = RadiusAndK(k=12, epsilon=0.7, kernel=Kernel(balance=1.0, own=True))
    every = Finder(points=points)
    part = Finder(points=points)
    part.store(RadiusAndK(k=12, epsilon=0.7))
    complete = rwn.neighbors.neighbor_table(points, k=79, epsilon=None)
    every.table = complete
    one, two = (each.find(ball)[0].probabilities().toarray() for each in (every, part))
    np.testing.assert_allclose(one, two, atol=1e-9)


def test_a_sample_of_candidates_is_not_balanced() -> None:
    with pytest.raises(ParameterError, match=r"balance needs neighbors to be exact\."):
        rwn.RWN(epsilon=1.0, k=5, balance=1.0, neighbors="sample", m=20)
