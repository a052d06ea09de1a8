"""People who are not in the file: how the worst-case intruder would fare against them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likelihood import attacked_units, likelihoods
from rwn_core.measures.comparison import Comparison
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.row_mixture import RowMixtureLaw
from rwn_core.neighbors.distance import TIE

LARGEST_PAIRS = 2_000_000  # of a stranger and a record, whose distances are held at a time


class Strangers:
    """Somebody who is not in the file, in the eyes of an intruder who does not know that.

    He finds the person's neighborhood among the originals by the usual distance, adds the person
    to everybody whom a row may come from, and applies Bayes' rule.

    Parameters
    ----------
    comparison : Comparison
    law : CellLaw
        Of the release, at one radius for all records.
    strangers : Microdata
        Records of the same variables, not rounded: a release would round them.
    names : sequence of str
        What the intruder knows of everybody.

    Raises
    ------
    NotApplicable
        Each record has a radius of its own.
    """

    def __init__(
        self, comparison: Comparison, law: CellLaw, strangers: Microdata, names: Sequence[str]
    ) -> None:
        self.law, self.masked = law, comparison.masked
        self.strangers = rounded(strangers, law.precision)
        self.names = tuple(names)
        self.near = _neighbors(comparison, law, strangers)

    def beliefs(self, rows: NDArray[np.int64]) -> sparse.csc_array:
        """How much some released rows are believed to be each person's.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)

        Returns
        -------
        sparse array, shape (strangers.n, m)
        """
        others, logs = likelihoods(self.law, self.masked, rows, self.names)
        log_own = self._log_likelihoods(rows)
        with np.errstate(divide="ignore"):
            everybody = np.log(np.asarray(others.sum(axis=0)).ravel()) + logs
        total = np.logaddexp(np.maximum(everybody, -1e300), log_own)
        return sparse.csc_array(np.exp(log_own - total))

    def _log_likelihoods(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log P(each stranger, were he in the file, releases each row), (strangers.n, m)."""
        law, shape = self.law, (self.strangers.n, len(rows))
        kept, drawn = np.zeros(shape), np.zeros(shape)
        for unit in attacked_units(law, self.names):
            same, copied = self._unit(unit, rows)
            q = law.modification(unit[0])
            with np.errstate(divide="ignore"):
                kept += np.log(same.astype(np.float64))
                if isinstance(law, RowMixtureLaw):
                    drawn += np.log(copied if q else same.astype(np.float64))
                else:
                    drawn += np.log((1 - q) * same + q * copied)
        if not isinstance(law, RowMixtureLaw):
            return drawn
        with np.errstate(divide="ignore"):
            shares = np.log([1 - law.row_share, law.row_share])
        return np.asarray(np.logaddexp(shares[0] + kept, shares[1] + drawn))

    def _unit(
        self, unit: tuple[str, ...], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Whether a row has the stranger's own value, and the share of his neighbors with it."""
        told, own, known = (
            self.law.likelihood_columns(unit, table, which)[1]
            for table, which in (
                (self.masked, rows),
                (self.strangers, np.arange(self.strangers.n)),
                (self.law.original, np.arange(self.law.original.n)),
            )
        )
        one_hot = sparse.csr_array((np.ones(len(known)), known, np.arange(len(known) + 1)))
        shares = sparse.csc_array(self.near @ one_hot)  # of thousands of values, few are told
        columns = np.clip(told, 0, shares.shape[1] - 1)
        copied = np.where(told >= 0, shares[:, columns].toarray(), 0.0)
        return (own[:, None] == told) & (told >= 0), copied


def _neighbors(comparison: Comparison, law: CellLaw, strangers: Microdata) -> sparse.csr_array:
    """Each member's probability to be the donor of each stranger, shape (strangers.n, n)."""
    known = law.neighborhoods
    if not isinstance(known.epsilon, int | float | None):
        raise NotApplicable("With a radius for each record there is none for people outside.")
    outside = comparison.metric.points(strangers)
    points = comparison.metric.points(comparison.original)
    size = max(1, LARGEST_PAIRS // len(points))
    starts = range(0, len(outside), size)
    parts = [_near(outside[start : start + size], points, law) for start in starts]
    return sparse.csr_array(sparse.vstack(parts))


def _near(
    outside: NDArray[np.float64], points: NDArray[np.float64], law: CellLaw
) -> sparse.csr_array:
    """The same of a few people."""
    from scipy.spatial.distance import cdist

    known = law.neighborhoods
    squared = cdist(outside, points, "sqeuclidean")
    inside = np.zeros(squared.shape, dtype=bool)
    if isinstance(known.epsilon, int | float):
        edge = known.epsilon**2
        mixture = isinstance(law, RowMixtureLaw)  # its ball is open
        inside |= (squared < edge * (1 - TIE)) if mixture else (squared <= edge * (1 + TIE))
    if known.k is not None:
        kth = np.partition(squared, known.k - 1, axis=1)[:, known.k - 1]
        inside |= squared <= kth[:, None] * (1 + TIE)
    sizes = inside.sum(axis=1, keepdims=True)
    return sparse.csr_array(inside / np.maximum(sizes, 1))
