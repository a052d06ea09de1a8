"""All records as donors, row by row: the same weights and draws as with all pairs stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.masking import SoftRWN, mask
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.distance import CodedPoints
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import list_neighbors
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods
from rwn_core.randomness import SecretKey

CERTIFIED = SoftRWN(kernel="exponential", bandwidth="absolute", own=True, cap=1.0, width=2.0)


def kernel(cap: float) -> Kernel:
    return Kernel(shape="exponential", bandwidth="absolute", own=True, cap=cap, width=0.7)


def points_of(n: int = 150) -> NDArray[np.float64]:
    """Clones, ties, an outlier and records between them."""
    rng = np.random.default_rng(0)
    points = np.round(rng.normal(size=(n, 3)))
    points[: n // 3] = rng.normal(size=(n // 3, 3))
    points[5] = 50.0
    return points


@pytest.mark.parametrize("cap", [1.0, 0.1])
@pytest.mark.parametrize("coded", [False, True])
def test_weights_and_draws_are_those_of_all_pairs(cap: float, coded: bool) -> None:
    values = points_of()
    points = values
    if coded:  # the first level has no length, so that records of two levels can be at one place
        values[:, 2] -= values[:, 2].min()
        levels = np.unique(values[:, 2], return_inverse=True)[1]
        values[:, 2] = np.minimum(levels, 3)
        points = CodedPoints(values=values, squares={2: np.array([0.0, 0.0, 0.5, 1.0])})
    stored = soft_neighborhoods(kernel(cap), scale(kernel(cap), list_neighbors(points, 10)))
    by_row = AllDonors.of_points(points, kernel(cap)).neighborhoods()
    n = len(points)
    draws, q = Draws(SecretKey.from_seed(1), np.arange(n), (0, 1, 2, 3)), np.array([1, 1, 0.5, 0])
    donors = draw_donors(stored, draws, q)
    assert (draw_donors(by_row, draws, q) == donors).all()
    some = np.array([3, 50, n - 1])
    few = AllDonors.of_points(points, kernel(cap), some).neighborhoods()
    own = Draws(SecretKey.from_seed(1), some, (0, 1, 2, 3))
    assert (draw_donors(few, own, q) == donors[some]).all()
    codes = np.random.default_rng(2).integers(0, 9, n)
    tables = [DonorTables(each).table(codes, 0.7).toarray() for each in (stored, by_row)]
    np.testing.assert_allclose(tables[0], tables[1], atol=1e-13)
    np.testing.assert_allclose(by_row.effective_sizes, stored.effective_sizes, rtol=1e-11)
    for record in (0, 5, n - 1):
        assert (by_row.members(record) == stored.members(record)).all()
        np.testing.assert_array_equal(by_row.weights(record), stored.weights(record))
    np.testing.assert_array_equal(by_row.nearest, stored.nearest)
    np.testing.assert_array_equal(by_row.radius, stored.radius)


def test_a_large_table_is_masked_row_by_row() -> None:
    """Above 2,000 records no pair is stored, and what needs all pairs says so."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(2300, 2)).round(1), columns=["a", "b"])
    data = Microdata.from_frame(frame)
    release = mask(data, CERTIFIED, seed=1)
    assert release.law is not None
    found = release.law.neighborhoods
    assert found is not None
    assert isinstance(found.table, AllDonors)
    assert (found.sizes == 2300).all()
    table, values = release.law.table("a")
    assert table.shape == (2300, len(values))
    assert table.data.min() > 0
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
    with pytest.raises(NotApplicable, match="all pairs of 2,300 records"):
        _ = release.law.probabilities
    # without the own record, or balanced, the nearest are weighed as before
    nearest = mask(data, rwn.SoftRWN(kernel="exponential", bandwidth="absolute", cap=1.0), seed=1)
    assert nearest.law is not None
    assert nearest.law.neighborhoods is not None
    assert nearest.law.neighborhoods.sizes.max() < 2000


def test_a_screen_shows_the_same_records_of_the_release() -> None:
    rng = np.random.default_rng(5)
    data = Microdata.from_frame(pd.DataFrame(rng.normal(size=(2100, 2)), columns=["a", "b"]))
    shown = CERTIFIED.preview(data, most=60)
    assert len(shown.records) == 60
    part = shown.release(SecretKey.from_seed(1)).masked.frame
    whole = mask(data, CERTIFIED, seed=1).masked.frame.iloc[shown.records]
    assert (part.to_numpy() == whole.to_numpy()).all()


def test_a_law_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = DonorTables(AllDonors.of_points(points_of(), kernel(1.0)).neighborhoods())
    monkeypatch.setattr("rwn_core.laws.donor_lists.STORED_NUMBERS", 150 * 50)
    assert tables.table(np.arange(150) % 100, 1.0).nnz == 15_000
    with pytest.raises(NotApplicable, match="22,500 probabilities are too many"):
        tables.table(np.arange(150), 1.0)
