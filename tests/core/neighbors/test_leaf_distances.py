"""Rough distances stay within the error that is stated for them, and no near leaf is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rwn_core.neighbors.distance_kernel import (
    error_between,
    leaf_gaps,
    rows_near,
    widened_edge,
    write_products,
)
from rwn_core.neighbors.index import Index, IndexArrays, build_index
from tests.core.neighbors.brute_force import squared_pairs
from tests.core.neighbors.callable_kernels import callable_here

widened_edge, leaf_gaps = callable_here(widened_edge, leaf_gaps)
error_between, rows_near, write_products = callable_here(error_between, rows_near, write_products)

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


def points_of(side: IndexArrays, leaf: int) -> np.ndarray:
    """A leaf's rotated points, shape (d, width)."""
    return side.boxes[0, :, leaf, None] + side.tiles[leaf, :-1]


@pytest.mark.parametrize("kind", ["plain", "far", "outliers", "lattice"])
def test_every_rough_distance_is_within_its_error(kind):
    index = build_index(table(kind), leaf=48)
    side, unit = index.side, index.frame.rotations[0].unit
    exact = squared_pairs(side.exact) * side.scale
    np.fill_diagonal(exact, 0.0)
    leaves, width = len(side.tiles), side.tiles.shape[2]
    begins = side.starts[leaves - 1 :]
    product = np.empty(width, side.tiles.dtype)
    norms, gaps, near = product.copy(), product.copy(), np.empty(width + 1, np.int64)
    for leaf in range(leaves):
        points = points_of(side, leaf)
        local, edges = np.empty_like(points), np.full(width, np.inf, points.dtype)
        count = int(begins[leaf + 1] - begins[leaf])
        for other in range(leaves):
            arrays = (side.boxes, other, local, norms, gaps, near)
            assert rows_near(points, edges, 0, count, *arrays) == count
            assert near[:count].tolist() == list(range(count))
            error = error_between(side, leaf, side, other, unit)
            there = slice(begins[other], begins[other + 1])
            inside = there.stop - there.start
            for row in range(count):
                write_products(side.tiles[other], local, row, product)
                rough = norms[row] + 2 * product[:inside].astype(float)
                assert (abs(rough - exact[begins[leaf] + row, there]) <= error).all()
                assert not (product[inside:] <= np.inf).any(), "beyond the last row"


def none_is_left_out(index: Index, side: IndexArrays) -> bool:
    """Whether every leaf with a near point is listed, whatever leaf asks and how far it looks."""
    exact, leaves = squared_pairs(side.exact) * side.scale, len(side.tiles)
    np.fill_diagonal(exact, 0.0)
    begins = side.starts[leaves - 1 :]
    gaps = np.empty(leaves, side.tiles.dtype)
    for leaf in range(leaves):
        to_leaf = exact[begins[leaf] : begins[leaf + 1]].min(axis=0)
        nearest = np.array([to_leaf[a:b].min() for a, b in pairwise(begins)])
        center, half = side.boxes[:, :, leaf].copy()
        leaf_gaps(side.boxes, 0, leaves, center, half, gaps)
        for edge in np.quantile(nearest, [0.1, 0.5, 0.9]):
            widened = widened_edge(
                edge, side.norms[leaf], side.exact.shape[1], index.frame.rotations[0].unit
            )
            if not (gaps[nearest <= edge] <= widened).all():
                return False
    return True


@pytest.mark.parametrize("leaf", [2, 16])
@pytest.mark.parametrize("kind", ["plain", "far", "outliers", "lattice"])
def test_no_leaf_with_a_near_point_is_left_out(kind, leaf):
    index = build_index(table(kind), leaf=leaf)
    assert none_is_left_out(index, index.side)
    short = index.side.boxes.copy()
    short[1] *= 0.1
    assert not none_is_left_out(index, index.side._replace(boxes=short))
