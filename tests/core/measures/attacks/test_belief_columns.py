"""What kernels read of columns of beliefs is what numpy reads of the plain arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rwn_core.measures.attacks.belief_columns_kernel import (
    largest_of_groups,
    largest_shares,
    record_shares,
    shares_above,
    shares_given_part,
    shares_within,
)
from rwn_core.measures.attacks.posterior import entries

N, M = 60, 25


@pytest.fixture
def shares() -> np.ndarray:
    """Of 60 records, for 25 rows: many alike, and nobody's in the last column."""
    rng = np.random.default_rng(3)
    made = np.where(rng.random((N, M)) < 0.3, rng.integers(1, 6, (N, M)) / 8, 0.0)
    made[:, -1] = 0
    return made


@pytest.fixture
def columns(shares: np.ndarray):
    return entries(sparse.csc_array(shares))


def test_the_largest_is_the_first_of_equals(shares, columns) -> None:
    best, first = largest_shares(*columns)
    np.testing.assert_array_equal(best, shares.max(axis=0))
    np.testing.assert_array_equal(first[:-1], shares.argmax(axis=0)[:-1])
    assert first[-1] == -1


def test_a_stored_zero_has_a_holder() -> None:
    """One who is believed of with 0 comes before nobody."""
    starts, records = np.array([0, 1]), np.array([4], np.int32)
    assert largest_shares(starts, records, np.zeros(1))[1] == [4]


def test_the_share_of_one_record_of_each_column(shares, columns) -> None:
    own = np.random.default_rng(1).integers(N, size=M)
    found = record_shares(*columns, own)
    np.testing.assert_array_equal(found, shares[own, np.arange(M)])
    assert 0 < np.count_nonzero(found) < M


def test_shares_above_two_thresholds(shares, columns) -> None:
    starts, _, stored = columns
    low, high = np.full(M, 0.25), np.linspace(0.2, 0.6, M)
    above, least, some = shares_above(starts, stored, low, high)
    np.testing.assert_array_equal(above, (shares > high).sum(axis=0))
    np.testing.assert_array_equal(least, (shares >= low).sum(axis=0))
    np.testing.assert_array_equal(some, (shares > 0).sum(axis=0))


@pytest.mark.parametrize("groups", [N, 7, 1])
def test_the_largest_that_a_group_has_together(shares, columns, groups) -> None:
    group = np.random.default_rng(2).integers(groups, size=N)
    expected = np.zeros((N, M))
    np.add.at(expected, group, shares)
    found = largest_of_groups(*columns, group)
    np.testing.assert_allclose(found, expected.max(axis=0), rtol=1e-15)


def test_who_is_told_the_part_shares_it_out_there(shares) -> None:
    rng = np.random.default_rng(5)
    part, own = rng.integers(4, size=N), rng.integers(N, size=M)
    own[0], part[own[0]] = 0, 4  # nobody but itself
    shares[own[0], 0] = 0
    columns = entries(sparse.csc_array(shares))
    inside = np.where(part[:, np.newaxis] == part[own], shares, 0.0)
    total = inside.sum(axis=0)
    told, pairs = shares_given_part(*columns, part, own)
    some = total > 0
    np.testing.assert_allclose(told[some], inside.max(axis=0)[some] / total[some], rtol=1e-15)
    assert not told[~some].any()
    assert pairs == np.count_nonzero(inside)
    assert not some[0]


@pytest.mark.parametrize("blocks", [1, 6, N])
def test_pairs_of_one_block_are_put_in_order(blocks: int) -> None:
    rng = np.random.default_rng(blocks)
    square = np.where(rng.random((N, N)) < 0.4, rng.random((N, N)), 0.0)
    of, order = rng.integers(blocks, size=N), rng.permutation(N)
    starts, records, stored = shares_within(*entries(sparse.csc_array(square)), of, order)
    found = sparse.csc_array((stored, records, starts), shape=(N, N))
    expected = np.where(of[:, np.newaxis] == of, square, 0.0)[order][:, order]
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    assert all(np.all(np.diff(column) > 0) for column in np.split(records, starts[1:-1]))
