"""Puts rows where a search wants them: rotated, so that the boxes of the tree are small.

Where categories are coded, there is one kind of points for each set that two records agree in.
Two records that differ in a category are as far apart in it as w_a + w_b, the squares of their
levels. For those that differ in all categories that is a shift, the querying record's own w_a,
and one more coordinate, the square root of w_b on the other side and 0 on this one. For those
that agree in some category, its level numbers are a coordinate, so far apart that no others are
near. So there is a pass of the search for each set of categories (`search_kernel.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Singles
from rwn_core.errors import ParameterError
from rwn_core.neighbors.distance import CodedPoints, Points
from rwn_core.parallel.threads import current_work

BLOCK = 1024  # rows rotated at a time
ROTATION_ROWS = 100_000  # rows that the axes are taken from

# decides: passes of a search over coded categories; further ones are compared pair by pair
CODED_PASSES = 4

FARTHEST = 1e152  # the squares of some thousands of such differences still have a sum
LARGEST_EXPONENT = 500  # of a scale, which is squared


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rotation:
    """The rotated coordinates: (point - center) @ axes, in single precision.

    A rotation scales all distances equally. Along the principal axes the boxes of the
    tree are smaller.
    """

    center: Floats
    axes: Floats

    @classmethod
    def fit(cls, points: Floats, scale: float) -> Rotation:
        """The principal axes of a table, widest first."""
        # Shapes: points (g, d).
        some = np.ascontiguousarray(points[:: max(1, len(points) // ROTATION_ROWS)])
        center = some.mean(axis=0)
        spread = some - center
        _, axes = np.linalg.eigh(spread.T @ spread)
        return cls(center=center, axes=np.ascontiguousarray(axes[:, ::-1]) * scale)

    @property
    def unit(self) -> float:
        """Relative error of a rotated coordinate, by rotation and by rounding."""
        dimensions = len(self.center)
        rounding = float(np.finfo(np.float32).eps) / 2
        return rounding + 4 * dimensions * float(np.finfo(np.float64).eps)

    def columns(self, points: Floats) -> Singles:
        """Rotated coordinates of some points, shape (d, g)."""
        columns = np.empty((points.shape[1], len(points)), dtype=np.float32)

        def fill(start: int, stop: int) -> None:
            first = start * BLOCK
            last = min(stop * BLOCK, len(points))
            columns[:, first:last] = ((points[first:last] - self.center) @ self.axes).T

        current_work().run(fill, -(-len(points) // BLOCK))
        return columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Embedding:
    """The points of rows with coded categories, pass by pass."""

    numbers: Integers  # the columns that are coordinates
    # shape (a,): the coded columns that passes tell apart, those of most levels
    coded: Integers
    squares: tuple[Floats, ...]  # theirs: what each level adds to a squared distance
    # how far apart neighboring level numbers are put; more than the extent of the table
    apart: float

    @classmethod
    def fit(cls, rows: Floats, points: CodedPoints) -> Embedding:
        """Fit the embedding of a table's distinct rows."""
        # Shapes: rows (g, c).
        most = CODED_PASSES.bit_length() - 1
        by_levels = sorted(points.squares, key=lambda column: -len(points.squares[column]))
        coded = np.array(sorted(by_levels[:most]), dtype=np.int64)
        numbers = np.setdiff1d(np.arange(points.shape[1]), np.array(sorted(points.squares)))
        extent = np.ptp(rows[:, numbers], axis=0) if len(numbers) else np.zeros(1)
        levels = sum(2 * float(square.max()) for square in points.squares.values())
        return cls(
            numbers=numbers,
            coded=coded,
            squares=tuple(points.squares[column] for column in coded.tolist()),
            apart=2 * float(np.sqrt((extent**2).sum() + levels)),
        )

    @property
    def passes(self) -> int:
        """One for each set of categories that two rows may agree in."""
        return 1 << len(self.coded)

    @property
    def far(self) -> float:
        """More than the squared distance of any two rows that agree as a pass asks."""
        return self.apart**2 / 2

    def placed(self, rows: Floats, which: int, *, querying: bool) -> Floats:
        """The points of some rows in a pass, shape (g, number of coordinates + a)."""
        points = np.empty((len(rows), len(self.numbers) + len(self.coded)))
        points[:, : len(self.numbers)] = rows[:, self.numbers]
        for bit, column in enumerate(self.coded.tolist()):
            place = len(self.numbers) + bit
            if which >> bit & 1:
                points[:, place] = rows[:, column] * self.apart
            else:
                points[:, place] = 0.0 if querying else np.sqrt(self._square(rows, bit))
        return points

    def shifts(self, rows: Floats) -> Floats:
        """Return the shift of each row's squared distances, shape (passes, g)."""
        squares = [self._square(rows, bit) for bit in range(len(self.coded))]
        shifts = np.zeros((self.passes, len(rows)))
        for which in range(self.passes):
            for bit, square in enumerate(squares):
                shifts[which] += 0.0 if which >> bit & 1 else square
        return shifts

    def _square(self, rows: Floats, bit: int) -> Floats:
        # Shapes: rows (g, c); the answer (g,).
        return self.squares[bit][rows[:, self.coded[bit]].astype(np.int64)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """The coordinates of a search: a rotation for each of its passes."""

    rotations: tuple[Rotation, ...]
    embedding: Embedding | None  # None where no category is coded; then there is one pass
    scale: float  # of the rotated coordinates, a power of two: single precision has their squares

    @classmethod
    def fit(cls, rows: Floats, points: Points) -> Frame:
        """That of a table's distinct rows."""
        if not float(np.ptp(rows, axis=0).max(initial=0.0)) < FARTHEST:
            raise ParameterError(
                f"Every coordinate of the records must be a number, less than {FARTHEST:g} from "
                "any other one; make the weights smaller."
            )
        if not isinstance(points, CodedPoints):
            scale = _scale(float(np.ptp(rows, axis=0).max(initial=0.0)))
            return cls(rotations=(Rotation.fit(rows, scale),), embedding=None, scale=scale)
        embedding = Embedding.fit(rows, points)
        passes = range(embedding.passes)
        placed = (embedding.placed(rows, which, querying=False) for which in passes)
        scale = _scale(embedding.apart)
        rotations = tuple(Rotation.fit(each, scale) for each in placed)
        return cls(rotations=rotations, embedding=embedding, scale=scale)

    def columns(self, rows: Floats, which: int, *, querying: bool = False) -> Singles:
        """Rotated coordinates of some rows in a pass, shape (d, g)."""
        if self.embedding is not None:
            rows = self.embedding.placed(rows, which, querying=querying)
        return self.rotations[which].columns(rows)


def _scale(extent: float) -> float:
    """Return the power of two that makes an extent at most 1, and more than a half."""
    exponent = -int(np.frexp(extent)[1])
    return float(np.ldexp(1.0, min(max(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT)))
