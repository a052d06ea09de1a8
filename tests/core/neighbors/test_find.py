"""Both engines against all pairs in plain float64, on tables full of ties."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.neighbors import (
    NeighborTable,
    all_neighbors,
    find,
    find_neighborhoods,
    neighbor_table,
)
from rwn_core.neighbors.table import complete_table
from tests.core.neighbors.brute_force import hard_settings, hard_table, member_sets
from tests.core.neighbors.searched import searched_table

TABLES = 120


def found_sets(result) -> list[set[int]]:
    return [set(result.members(i).tolist()) for i in range(result.n)]


@pytest.mark.parametrize("group", range(4))
def test_dense_and_tree_engine_equal_brute_force(group):
    for number in range(group, TABLES, 4):
        points = hard_table(number)
        complete = complete_table(points)
        for k, epsilon in hard_settings(points, number):
            expected = member_sets(points, k=k, epsilon=epsilon)
            dense = complete.cut(k=k, epsilon=epsilon)
            tree = searched_table(points, k=k, epsilon=epsilon).cut(k=k, epsilon=epsilon)
            assert found_sets(dense) == expected, (number, k, epsilon)
            assert found_sets(tree) == expected, (number, k, epsilon)
            for record in range(len(points)):  # the same ranks, so the same donors
                assert np.array_equal(dense.members(record), tree.members(record))
            assert np.array_equal(dense.radius, tree.radius)
            assert dense.sizes.tolist() == [len(members) for members in expected]


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_strict_radius_leaves_out_the_boundary(number):
    points = hard_table(number)
    for _, epsilon in hard_settings(points, number):
        if epsilon:
            expected = member_sets(points, epsilon=epsilon, strict=True)
            for table in (complete_table(points), searched_table(points, k=None, epsilon=epsilon)):
                assert found_sets(table.cut(k=None, epsilon=epsilon, strict=True)) == expected


@pytest.mark.parametrize("number", range(0, 60, 5))
def test_row_order_does_not_matter(number):
    points = hard_table(number)
    order = np.random.default_rng(number).permutation(len(points))
    for k, epsilon in hard_settings(points, number):
        reference = found_sets(find_neighborhoods(points, k=k, epsilon=epsilon))
        moved = found_sets(find_neighborhoods(points[order], k=k, epsilon=epsilon))
        assert [reference[i] for i in order] == [set(order[list(m)].tolist()) for m in moved]


def test_a_large_file_takes_the_tree_and_gives_the_same(monkeypatch):
    points = np.random.default_rng(5).integers(0, 12, (2001, 3)).astype(float)
    tree = find_neighborhoods(points, k=7, epsilon=1.0)
    assert tree.table.k == 7
    for module in (find, all_neighbors):
        monkeypatch.setattr(module, "LARGEST_DENSE", 3000)
    dense = find_neighborhoods(points, k=7, epsilon=1.0)
    assert dense.table.k == 2000
    np.testing.assert_array_equal(tree.sizes, dense.sizes)
    np.testing.assert_array_equal(tree.pairs()[1], dense.pairs()[1])
    np.testing.assert_array_equal(tree.nearest, dense.nearest)


def test_near_ties_within_one_part_in_a_billion_belong_together():
    """1 and 1 + 3e-10 are one tie; the k-th distance never cuts it in two."""
    points = np.array([[0.0], [1.0], [-(1 + 3e-10)], [2.0]])
    for table in (complete_table(points), searched_table(points, k=1, epsilon=0.0)):
        assert set(table.cut(k=1, epsilon=None).members(0).tolist()) == {1, 2}
    for table in (complete_table(points), searched_table(points, k=None, epsilon=1.0)):
        assert set(table.cut(k=None, epsilon=1.0).members(0).tolist()) == {1, 2}


@pytest.mark.parametrize("number", range(3))
def test_numbers_of_any_type_give_the_same_sets(number):
    points = hard_table(number)
    expected = found_sets(find_neighborhoods(points, k=1, epsilon=1.0))
    for epsilon in (1, np.float32(1), np.int64(1)):
        result = find_neighborhoods(points, k=np.int64(1), epsilon=epsilon)
        assert found_sets(result) == expected


def test_a_radius_in_single_precision_keeps_its_boundary():
    """The tie rule needs float64 even where the radius came as a float32."""
    epsilon = np.float32(0.1)
    points = np.array([[0.0], [float(epsilon) * (1 + 4e-10)]])
    assert find_neighborhoods(points, epsilon=epsilon).sizes.tolist() == [1, 1]


@pytest.mark.parametrize(
    "setting", [{}, {"k": 0}, {"k": 4}, {"k": 1.5}, {"k": True}, {"epsilon": -1.0}]
)
def test_a_setting_outside_its_range_is_refused(setting):
    with pytest.raises(ParameterError, match=r"epsilon|k must be"):
        find_neighborhoods(np.arange(4.0)[:, None], **setting)


def test_a_table_refuses_what_it_does_not_hold():
    table = searched_table(np.arange(9.0)[:, None], k=2, epsilon=1.0)
    assert table.covers(k=2, epsilon=1.0)
    assert not table.covers(k=3, epsilon=None)
    assert not table.covers(k=None, epsilon=1.5)
    with pytest.raises(ParameterError, match="does not reach"):
        table.cut(k=3, epsilon=1.0)


def test_the_radius_of_a_row_with_fewer_than_k_stored():
    """Epsilon takes all three; k, which is not reached, must not turn the radius to 0."""
    table = NeighborTable(
        offsets=np.array([0, 3, 5]),
        records=np.array([1, 2, 3, 0, 2], dtype=np.int32),
        squared=np.array([0.25, 1.0, 2.25, 0.25, 9.0]),
        k=5,
        epsilon=2.0,
    )
    result = table.cut(k=5, epsilon=2.0)
    assert result.sizes.tolist() == [3, 2]
    assert result.radius.tolist() == [2.0, 3.0]


def test_one_search_serves_every_smaller_setting():
    points = np.random.default_rng(8).integers(0, 5, (80, 3)).astype(float)
    table = neighbor_table(points, k=10, epsilon=2.0)
    wide = searched_table(points, k=10, epsilon=2.0)
    for k in (None, 1, 4, 10):
        for epsilon in (None, 0.0, 1.0, 2.0):
            if k is None and epsilon is None:
                continue
            expected = member_sets(points, k=k, epsilon=epsilon)
            assert found_sets(table.cut(k=k, epsilon=epsilon)) == expected
            assert found_sets(wide.cut(k=k, epsilon=epsilon)) == expected
