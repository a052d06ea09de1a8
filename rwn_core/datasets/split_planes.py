"""Cuts space into leaves along planes, so that each holds about as many records as another.

The planes come from a random sample of the records. They decide who works on which record, and
never a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.points import CodedPoints, Points, level_squares, point_values


class Cut(NamedTuple):
    """A plane, and what lies on its two sides: further cuts, or the numbers of leaves."""

    column: int
    value: float
    low: Cut | int
    high: Cut | int


def principal_axes(sample: Points) -> NDArray[np.float64]:
    """Directions to cut along: those in which the records spread most, one in each column.

    A ball crosses a plane the less often, the wider the records are spread across it.
    """
    values, coded = point_values(sample), level_squares(sample)
    axes = np.eye(values.shape[1])
    free = np.array([c for c in range(values.shape[1]) if c not in coded], dtype=np.int64)
    if len(free) > 1 and len(values) > 1:
        _, directions = np.linalg.eigh(np.cov(values[:, free], rowvar=False))
        axes[np.ix_(free, free)] = directions
    return axes


def turned(points: Points, axes: NDArray[np.float64]) -> Points:
    """The same records along other axes; distances stay, but for rounding."""
    values = point_values(points) @ axes
    squares = level_squares(points)
    return CodedPoints(values=values, squares=squares) if squares else values


def build_planes(sample: Points, leaves: int) -> tuple[Cut | int, int]:
    """Cut space so that each leaf has about as many records of a sample."""
    values, count = point_values(sample), 0
    free = [column for column in range(values.shape[1]) if column not in level_squares(sample)]

    def cut(rows: NDArray[np.float64], parts: int) -> Cut | int:
        nonlocal count
        plane = _plane(rows, free, parts) if parts > 1 else None
        if plane is None:
            count += 1
            return count - 1
        column, value = plane
        below = rows[:, column] <= value
        left = min(max(round(parts * below.mean()), 1), parts - 1)
        return Cut(column, value, cut(rows[below], left), cut(rows[~below], parts - left))

    return cut(values, leaves), count


def _plane(rows: NDArray[np.float64], free: Sequence[int], parts: int) -> tuple[int, float] | None:
    """The widest column, and a value with about half of the parts' rows up to it."""
    if len(rows) < 2 or not free:
        return None
    spread = rows[:, free].std(axis=0)
    for position in np.argsort(-spread, kind="stable"):
        column = rows[:, free[position]]
        value = float(np.quantile(column, (parts // 2) / parts, method="lower"))
        if value == column.max():  # the rows up to it would be all
            below = column[column < value]
            if not len(below):
                continue
            value = float(below.max())
        return free[position], value
    return None


def leaf_numbers(root: Cut | int, points: Points, axes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The leaf of each record, shape (n,); planes are put through turned records."""
    values = point_values(points)
    leaf = np.zeros(len(values), dtype=np.int64)
    along: dict[int, NDArray[np.float64]] = {}  # few axes are cut across

    def sort(node: Cut | int, rows: NDArray[np.int64]) -> None:
        if not isinstance(node, Cut):
            leaf[rows] = node
            return
        if node.column not in along:
            along[node.column] = values @ axes[:, node.column]
        below = along[node.column][rows] <= node.value
        sort(node.low, rows[below])
        sort(node.high, rows[~below])

    sort(root, np.arange(len(values)))
    return leaf
