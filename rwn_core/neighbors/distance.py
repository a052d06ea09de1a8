"""Points and squared distances in a fixed order; of equal ones the lower record is first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rwn_core.data.arrays import Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedPoints:
    """The points with level numbers in place of dummies for categories of many levels.

    Two records that differ in such a category are as far apart in it as their two dummies say:
    the squares of the two levels, added. So nothing grows with the number of levels.
    """

    # shape (n, c): coordinates, and level numbers 0, 1, ... of the coded categories.
    values: Floats
    # By coded column: the squared length of each level's dummy. A level's own is 0 where the
    # distance does not know it.
    squares: Mapping[int, Floats]

    def __len__(self) -> int:
        """Number of records."""
        return len(self.values)

    def __getitem__(self, rows: Integers | slice) -> CodedPoints:
        """Some of the records."""
        return CodedPoints(values=self.values[rows], squares=self.squares)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of records and of columns."""
        return self.values.shape


Points: TypeAlias = Floats | CodedPoints


def point_values(points: Points) -> Floats:
    """The columns of points, coded ones among them."""
    return points.values if isinstance(points, CodedPoints) else points


def some_columns(points: Points, columns: list[int]) -> Points:
    """Some columns of points, with each record's values side by side in memory."""
    if not isinstance(points, CodedPoints):
        return points[:, columns].copy("C")
    squares = points.squares
    return CodedPoints(
        values=points.values[:, columns].copy("C"),
        squares={at: squares[column] for at, column in enumerate(columns) if column in squares},
    )


def level_squares(points: Points) -> Mapping[int, Floats]:
    """Return the squares that the levels of each coded column add to a distance."""
    return points.squares if isinstance(points, CodedPoints) else {}


TIE = 1e-9  # squared distances closer than this, relatively, count as equal


def squared_distances(points: Points, rows: Integers, others: Integers) -> Floats:
    """Squared distances of pairs, shape as `rows` and `others` broadcast."""
    # Differences are squared and summed coordinate by coordinate, so that every way to compute them
    # gives the same bits.
    total = np.zeros(np.broadcast_shapes(np.shape(rows), np.shape(others)))
    values = point_values(points)
    squares = level_squares(points)
    for column in range(points.shape[1]):
        coordinate = values[:, column]
        if column in squares:
            for square in _of_levels(coordinate[rows], coordinate[others], squares[column]):
                total += square
            continue
        difference = coordinate[rows] - coordinate[others]
        total += difference * difference
    return total


def squared_to_all(points: Points, rows: Integers) -> Iterator[Floats]:
    """The `squared_distances` from each of some records to all, shape (n,), one after another."""
    # The same memory is used for all of them.
    if isinstance(points, CodedPoints):
        everyone = np.arange(len(points))
        yield from (squared_distances(points, row, everyone) for row in rows)
        return
    columns = np.ascontiguousarray(points.T)
    total, difference = np.empty((2, len(points)))
    for row in rows:
        total[:] = 0.0
        for column in columns:
            np.subtract(column[row], column, out=difference)
            np.multiply(difference, difference, out=difference)
            np.add(total, difference, out=total)
        yield total


def squared_between(one: Points, other: Points) -> Floats:
    """Squared distances from each of some people to each of some records, shape (m, n)."""
    # Not summed in the fixed order: comparisons of them allow for `TIE`.
    from scipy.spatial.distance import cdist

    both = [point_values(points) for points in (one, other)]
    squares = level_squares(other)
    if squares:
        numbers = [column for column in range(other.shape[1]) if column not in squares]
        both = [values[:, numbers] for values in both]
    total: Floats = cdist(*both, "sqeuclidean")
    for column, each in squares.items():
        mine = point_values(one)[:, column, None]
        theirs = point_values(other)[None, :, column]
        for square in _of_levels(mine, theirs, each):
            total += square
    return total


def squared_of_pairs(one: Points, other: Points) -> Floats:
    """Squared distance of each person to the record at the same place, shape (m,)."""
    # Not summed in the fixed order, as `squared_between`.
    squares = level_squares(other)
    mine = point_values(one)
    theirs = point_values(other)
    total = np.zeros(len(mine))
    for column in range(other.shape[1]):
        if column in squares:
            for square in _of_levels(mine[:, column], theirs[:, column], squares[column]):
                total += square
        else:
            total += (mine[:, column] - theirs[:, column]) ** 2
    return total


def _of_levels(one: Floats, other: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the squares that a category's two levels add to squared distances, in their order."""
    first = np.minimum(one, other).astype(np.int64)
    second = np.maximum(one, other).astype(np.int64)
    unlike = first != second
    return np.where(unlike, squares[first], 0.0), np.where(unlike, squares[second], 0.0)


def rank(squared: Floats, records: Integers) -> tuple[Floats, Integers]:
    """Sort each row's candidates by distance, ties by record number."""
    # Shapes: squared, records (r, m) or (m,).
    order = np.argsort(squared, axis=-1)
    squared = np.take_along_axis(squared, order, -1)
    records = np.take_along_axis(records, order, -1)
    new = np.ones(squared.shape, dtype=bool)
    new[..., 1:] = squared[..., 1:] > squared[..., :-1] * (1 + TIE)
    if new.all():
        return squared, records
    group = np.cumsum(new, axis=-1)
    span = int(records.max()) + 1 if records.size else 1
    order = np.argsort(group * span + records, axis=-1)  # no two are equal
    records = np.take_along_axis(records, order, -1)
    first = np.maximum.accumulate(np.where(new, np.arange(squared.shape[-1]), 0), axis=-1)
    return np.take_along_axis(squared, first, -1), records
