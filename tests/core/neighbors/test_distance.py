"""Rank order: by squared distance, ties by record number, near-ties as ties."""

from __future__ import annotations

import numpy as np

from rwn_core.neighbors.distance import rank, squared_distances, squared_to_all


def test_ties_go_by_record_number():
    squared, records = rank(np.array([4.0, 1.0, 4.0, 0.0]), np.array([9, 8, 2, 5]))
    assert records.tolist() == [5, 8, 2, 9]
    assert squared.tolist() == [0.0, 1.0, 4.0, 4.0]


def test_near_ties_carry_the_smallest_of_their_distances():
    squared, records = rank(np.array([1 + 5e-10, 1.0, 1 + 2e-9]), np.array([0, 1, 2]))
    assert records.tolist() == [0, 1, 2]
    assert squared.tolist() == [1.0, 1.0, 1 + 2e-9]


def test_rows_are_ranked_one_by_one():
    squared = np.random.default_rng(1).integers(0, 4, (5, 30)).astype(float)
    records = np.broadcast_to(np.arange(30), (5, 30))
    together = rank(squared, records)
    for row in range(5):
        expected = sorted(range(30), key=lambda record, row=row: (squared[row, record], record))
        assert together[1][row].tolist() == expected
        np.testing.assert_array_equal(together[0][row], np.sort(squared[row]))


def test_distances_have_the_same_bits_both_ways_and_in_any_batch():
    points = np.random.default_rng(2).normal(size=(40, 7))
    first, second = np.meshgrid(np.arange(40), np.arange(40), indexing="ij")
    there = squared_distances(points, first, second)
    np.testing.assert_array_equal(there, there.T)
    for record in range(40):
        alone = squared_distances(points, np.array(record), np.arange(40))
        np.testing.assert_array_equal(alone, there[record])
    for record, alone in zip((3, 17), squared_to_all(points, np.array([3, 17])), strict=True):
        np.testing.assert_array_equal(alone, there[record])
    np.testing.assert_allclose(there, np.square(points[:, None] - points[None]).sum(-1), rtol=1e-13)
