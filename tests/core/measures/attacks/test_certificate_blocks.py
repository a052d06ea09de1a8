"""Certificates of large tables: bounds by blocks against beliefs and all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks import certificate
from rwn_core.measures.attacks.certificate import Exchange, linkage_bounds, ratios_a_priori
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.kernel import Kernel
from tests.oracles.whole_file_beliefs import whole_file_beliefs

Array = NDArray[np.float64]


def kernel(width: float = 1.0, cap: float = 1.0) -> Kernel:
    return Kernel(shape="exponential", bandwidth="absolute", own=True, width=width, cap=cap)


def table_of(points: Array, chosen: Kernel) -> AllDonors:
    table = AllDonors.of_points(points, chosen).neighborhoods().table
    assert isinstance(table, AllDonors)
    return table


def points_of(rng: np.random.Generator, n: int) -> Array:
    points = rng.normal(size=(n, 3))
    points[1] = points[0]
    points[2, 0] = 6.0
    points[:, 2] = points[:, 2] > 0.8
    return points


def by_all_pairs(
    points: Array, chosen: Kernel, codes: list[NDArray[np.int64]], rows: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Log-likelihoods of rows for records, and bounds a priori, by full matrices."""
    far = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    weights = np.exp(-far / chosen.width)
    for _ in range(200):  # weights above the cap are cut and the others raised
        weights = np.minimum(weights / weights.sum(axis=1, keepdims=True), chosen.cap)
    free = np.where(weights < chosen.cap * (1 - 1e-9), weights, 0)
    place = free.argmax(axis=1)
    each = np.arange(len(points))
    factors = np.log(free[each, place]) + far[each, place] / chosen.width
    logs = sum(
        np.log(weights @ np.eye(own.max() + 1)[own])[:, shown].T
        for own, shown in zip(codes, rows.T, strict=True)
    )
    near = np.tile(each.astype(np.int32), (len(points), 1))
    ratios = ratios_a_priori(
        factors[:, None],
        factors[near],
        far,
        width=chosen.width,
        slices=len(codes),
        capped=chosen.cap < 1,
    )
    return np.asarray(logs), linkage_bounds(np.asarray(logs), ratios, near)


def codes_of(points: Array) -> list[NDArray[np.int64]]:
    parts = (points[:, :1], points[:, 1:])
    return [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in parts]


@pytest.mark.parametrize("cap", [1.0, 0.4])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_exact_beliefs_and_are_those_of_all_pairs(seed: int, cap: float) -> None:
    rng = np.random.default_rng(seed)
    points, chosen = points_of(rng, 6), kernel(float(rng.choice([0.7, 2.0, 5.0])), cap)
    codes = codes_of(points)
    rows = np.stack([own[rng.integers(0, 6, 6)] for own in codes], axis=1)
    logs, expected = by_all_pairs(points, chosen, codes, rows)
    table = table_of(points, chosen)
    found = Exchange.from_table(table, codes).bounds(list(rows.T))
    bounds = found.bounds[found.rows][:, table.places.number]
    assert (whole_file_beliefs(np.exp(logs)) <= bounds).all()
    assert (bounds >= expected * (1 - 1e-9)).all()
    np.testing.assert_allclose(bounds, expected, rtol=2e-4, atol=1e-7)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    points = points_of(rng, 50)
    codes = codes_of(points)
    rows = [own[rng.permutation(50)] for own in codes]
    whole = Exchange.from_table(table_of(points, kernel()), codes).bounds(rows)
    monkeypatch.setattr(certificate, "BLOCK", 7)
    monkeypatch.setattr("rwn_core.neighbors.all_donors.BLOCK_WEIGHTS", 120)
    parts = Exchange.from_table(table_of(points, kernel()), codes).bounds(rows)
    np.testing.assert_allclose(parts.bounds, whole.bounds, rtol=1e-5)
    assert (parts.rows == whole.rows).all()


def test_what_single_precision_cannot_hold_is_bounded_by_one() -> None:
    """Two records so far apart that the likelihood of one beside the other is below any number."""
    points = np.array([[0.0], [0.0], [300.0], [300.0]])
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])]
    table = table_of(points, kernel(width=2.0))
    found = Exchange.from_table(table, codes).bounds([np.array([0]), np.array([0])])
    assert found.bounds[0, table.places.number].tolist() == pytest.approx(
        [0.5, 0.5, 1, 1], rel=1e-3
    )


def test_chances_below_any_number_and_too_little_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = np.array([[0.0], [1.0], [5000.0]])
    codes = [np.arange(3), np.arange(3)]
    with pytest.raises(NotApplicable, match="larger width"):
        Exchange.from_table(table_of(points, kernel()), codes)
    monkeypatch.setenv("RWN_MEMORY", "0.0000001")
    with pytest.raises(NotApplicable, match="memory"):
        Exchange.from_table(table_of(points, kernel(width=4.0)), codes)
