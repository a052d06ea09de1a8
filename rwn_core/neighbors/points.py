"""Records as points, where a category of many levels is one column of level numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedPoints:
    """Points with level numbers in place of dummies for categories of many levels.

    Two records that differ in such a category are as far apart in it as their two dummies say:
    the squares of the two levels, added. So nothing grows with the number of levels.

    Attributes
    ----------
    values : ndarray of float64, shape (n, c)
        Coordinates, and level numbers 0, 1, ... of the coded categories.
    squares : mapping of int to ndarray of float64
        By coded column: the squared length of each level's dummy. A level's own is 0 where the
        distance does not know it.
    """

    values: NDArray[np.float64]
    squares: Mapping[int, NDArray[np.float64]]

    def __len__(self) -> int:
        """Number of records."""
        return len(self.values)

    def __getitem__(self, rows: NDArray[np.int64] | slice) -> CodedPoints:
        """Some of the records."""
        return CodedPoints(values=self.values[rows], squares=self.squares)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of records and of columns."""
        return self.values.shape


Points: TypeAlias = NDArray[np.float64] | CodedPoints


def point_values(points: Points) -> NDArray[np.float64]:
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


def level_squares(points: Points) -> Mapping[int, NDArray[np.float64]]:
    """Return the squares that the levels of each coded column add to a distance."""
    return points.squares if isinstance(points, CodedPoints) else {}
