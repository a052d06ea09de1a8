"""Approximate distances stay within the error that is stated for them, and nothing near is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rwn_core.neighbors.index import Index, Layout, build_index
from rwn_core.neighbors.kernels.arrays import HULL, Side
from rwn_core.neighbors.kernels.error_bound import widened_edge
from rwn_core.neighbors.kernels.leaf_boxes import leaves_near
from rwn_core.neighbors.kernels.leaf_distances import (
    BLOCK,
    error_between,
    facing_for,
    look,
    scan,
    set_points,
)
from tests.core.neighbors.brute_force import squared_pairs
from tests.core.neighbors.callable_kernels import callable_here

widened_edge, leaves_near = callable_here(widened_edge, leaves_near)
error_between, facing_for, look = callable_here(error_between, facing_for, look)
scan, set_points = callable_here(scan, set_points)

ROWS = 300


def table(kind: str) -> np.ndarray:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(ROWS, 7))
    if kind == "far":
        points += 1e4
    elif kind == "outliers":
        points[::50] *= 1e4
    elif kind == "lattice":
        points = np.unique(np.round(3 * points), axis=0)
    return points


@pytest.mark.parametrize("kind", ["plain", "far", "outliers", "lattice"])
def test_every_approximate_distance_is_within_its_error(kind):
    index = build_index(table(kind), layout=Layout(leaf=48))
    side, unit = index.side, index.frame.unit
    exact, facing = squared_pairs(side.exact), facing_for(side, side)
    np.fill_diagonal(exact, 0.0)
    leaves = len(side.tiles)
    begins = side.starts[leaves - 1 :]
    kind_of = side.tiles.dtype.type
    for leaf in range(leaves):
        set_points(side, leaf, facing)
        count = int(begins[leaf + 1] - begins[leaf])
        facing.edges[:] = -1.0
        facing.edges[:count] = np.inf
        for other in range(leaves):
            assert look(facing, 0, count, side, other) == count
            error = error_between(side, leaf, side, other, unit)
            there = slice(begins[other], begins[other + 1])
            for one in range(0, count, 2):
                two = min(one + 1, count - 1)
                scan(facing, one, two, side, other, kind_of(np.inf), kind_of(-np.inf))
                width = there.stop - there.start
                rough = facing.norms[one] + 2 * facing.products[0, :width].astype(float)
                true = exact[begins[leaf] + one, there]
                assert (abs(rough - true) <= error).all()
                bits = facing.kept[0]
                hit = [int(bits[i // BLOCK]) >> (i % BLOCK) & 1 for i in range(side.tiles.shape[2])]
                assert hit == [1] * width + [0] * (len(hit) - width)  # nothing beyond the last row
                assert not facing.kept[1].any()


def none_is_left_out(index: Index, side: Side) -> bool:
    """Whether every leaf with a near point is listed, whatever leaf asks and how far it looks."""
    exact, leaves = squared_pairs(side.exact), len(side.tiles)
    np.fill_diagonal(exact, 0.0)
    begins = side.starts[leaves - 1 :]
    near = np.empty(leaves, np.int32)
    for leaf in range(leaves):
        to_leaf = exact[begins[leaf] : begins[leaf + 1]].min(axis=0)
        nearest = np.array([to_leaf[a:b].min() for a, b in pairwise(begins)])
        for edge in np.quantile(nearest, [0.1, 0.5, 0.9]):
            widened = widened_edge(edge, side.norms[leaf], side.exact.shape[1], index.frame.unit)
            count = leaves_near(side, 0, side.centers[leaf], side.halves[leaf], widened, near)
            if not set(np.flatnonzero(nearest <= edge)) <= set(near[:count].tolist()):
                return False
    return True


@pytest.mark.parametrize("leaf", [2, 16])
@pytest.mark.parametrize("kind", ["plain", "far", "outliers", "lattice"])
def test_no_leaf_with_a_near_point_is_left_out(kind, leaf):
    index = build_index(table(kind), layout=Layout(leaf=leaf))
    assert none_is_left_out(index, index.side)
    short = index.side.hulls.copy()
    short[:, 1] *= 0.1
    if len(short) > 1:
        assert not none_is_left_out(index, index.side._replace(hulls=short))


def test_a_hull_holds_the_boxes_of_its_leaves():
    index = build_index(table("plain"), layout=Layout(leaf=2))
    side, leaves = index.side, index.leaves
    assert side.hulls.shape == (leaves // HULL, 2, 7)
    for leaf in range(leaves):
        middle, half = side.hulls[leaf // HULL]
        away = abs(side.centers[leaf].astype(float) - middle) + side.halves[leaf]
        assert (away <= half).all()
