"""Linkage of the most certain rows only: precision against recall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POINTS = 200  # of a curve
_DIGITS = 9  # to which two beliefs are the same


class Curve(NamedTuple):
    """Expected precision and recall at each threshold, shape (t,) each.

    Attributes
    ----------
    tau : ndarray of float64
        Least posterior of a row's most likely original at which it is linked, descending.
    precision : ndarray of float64
        Expected share of correct links.
    recall : ndarray of float64
        Share of the rows that are linked.
    """

    tau: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]

    def recall_at(self, precision: float) -> float:
        """Return the largest recall with at least this precision; 0 if none."""
        enough = self.precision >= precision - 10.0**-_DIGITS
        return float(self.recall[enough].max(initial=0.0))

    def thinned(self) -> Curve:
        """Return about `POINTS` of the points, with the first and the last."""
        if len(self.tau) <= POINTS:
            return self
        chosen = np.unique(np.linspace(0, len(self.tau) - 1, POINTS).astype(np.int64))
        return Curve(*(each[chosen] for each in self))


def curve(best: NDArray[np.float64]) -> Curve:
    """Return precision and recall over all thresholds of the posteriors `best`, shape (m,).

    >>> one = curve(np.array([0.5, 1.0, 0.5, 0.0]))
    >>> one.tau.tolist(), one.recall.tolist(), one.precision.round(3).tolist()
    ([1.0, 0.5], [0.25, 0.75], [1.0, 0.667])
    """
    # a link of row r is right with probability best[r]: the mean over linked rows is their
    # expected precision, without simulation (Rao-Blackwell)
    surest = np.sort(np.round(best[best > 0], _DIGITS))[::-1]
    if not surest.size:
        return Curve(*np.empty((3, 0)))
    count = np.arange(1, len(surest) + 1)
    last = np.append(surest[1:] < surest[:-1], True)  # rows of equal belief are linked together
    precision = np.minimum(np.cumsum(surest) / count, 1.0)
    return Curve(surest[last], precision[last], count[last] / len(best))
