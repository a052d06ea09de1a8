"""Puts rows where a search wants them: rotated, so that the boxes of the tree are small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.embedding import Embedding
from rwn_core.neighbors.index_kernel import rotate
from rwn_core.neighbors.points import CodedPoints, Points
from rwn_core.parallel.threads import Watch

BLOCK = 1024  # rows rotated at a time
ROTATION_ROWS = 100_000  # rows that the axes are taken from

Precision = Literal["single", "double"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rotation:
    """Rotated coordinates: (point - center) @ axes.

    A rotation changes no distance. Along the principal axes the boxes of the tree are smaller.
    """

    center: NDArray[np.float64]
    axes: NDArray[np.float64]
    precision: Precision

    @classmethod
    def fit(cls, points: NDArray[np.float64], precision: Precision) -> Rotation:
        """The principal axes of a table, widest first."""
        step = max(1, len(points) // ROTATION_ROWS)
        some = np.ascontiguousarray(points[::step])
        center = some.mean(axis=0)
        spread = some - center
        _, axes = np.linalg.eigh(spread.T @ spread)
        return cls(center=center, axes=np.ascontiguousarray(axes[:, ::-1]), precision=precision)

    @property
    def unit(self) -> float:
        """Relative error of a rotated coordinate, by rotation and by rounding."""
        dimensions = len(self.center)
        rounding = float(np.finfo(self.dtype).eps) / 2
        return rounding + 4 * dimensions * float(np.finfo(np.float64).eps)

    @property
    def dtype(self) -> Any:
        """Type of the rotated coordinates."""
        return np.float32 if self.precision == "single" else np.float64

    def columns(self, points: NDArray[np.float64], watch: Watch) -> NDArray[Any]:
        """Rotated coordinates of some points, shape (d, g)."""
        columns = np.empty((points.shape[1], len(points)), dtype=self.dtype)

        def fill(start: int, stop: int) -> None:
            first, last = start * BLOCK, min(stop * BLOCK, len(points))
            rotate(points, self.center, self.axes, columns, first, last)

        watch.run(fill, -(-len(points) // BLOCK))
        return columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """Coordinates of a search: a rotation for each of its passes.

    Attributes
    ----------
    rotations : tuple of Rotation
    embedding : Embedding or None
        None where no category is coded; then there is one pass.
    """

    rotations: tuple[Rotation, ...]
    embedding: Embedding | None

    @classmethod
    def fit(cls, rows: NDArray[np.float64], points: Points, precision: Precision) -> Frame:
        """That of a table's distinct rows."""
        if not isinstance(points, CodedPoints):
            return cls(rotations=(Rotation.fit(rows, precision),), embedding=None)
        embedding = Embedding.fit(rows, points)
        passes = range(embedding.passes)
        placed = (embedding.placed(rows, which, querying=False) for which in passes)
        # numbers of levels are large beside the coordinates
        rotations = tuple(Rotation.fit(each, "double") for each in placed)
        return cls(rotations=rotations, embedding=embedding)

    @property
    def unit(self) -> float:
        """Relative error of a rotated coordinate, by rotation and by rounding."""
        return self.rotations[0].unit

    def columns(
        self, rows: NDArray[np.float64], which: int, watch: Watch, *, querying: bool = False
    ) -> NDArray[Any]:
        """Rotated coordinates of some rows in a pass, shape (d, g)."""
        if self.embedding is not None:
            rows = self.embedding.placed(rows, which, querying=querying)
        return self.rotations[which].columns(rows, watch)
