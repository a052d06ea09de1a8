"""Expected sums of a release under a law without neighborhoods."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import ExpectedSums, Floats
from rwn_core.laws.moments import Moments


class ExpectedCells(Protocol):
    """Expectations of single cells."""

    def retained(self, *names: str) -> Floats:  # words: the name in laws
        """P(the released value of a variable equals the original's), shape (n,)."""

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value of a variable with levels is released), shape (n, V), and the values."""


def sums_of_moments(
    columns: Columns, cells: ExpectedCells, rows_intact: Floats, moments: Moments
) -> ExpectedSums:
    """Return the expected sums of one setting without neighborhoods."""
    order = [moments.names.index(name) for name in columns.names]
    means = (moments.means[:, order] - columns.center) / columns.unit
    known = (~np.isnan(means)).astype(np.float64)
    shown, scale = np.nan_to_num(means), np.outer(columns.unit, columns.unit)
    together, totals = (
        each[np.ix_(order, order)] / scale for each in (moments.together, moments.totals)
    )
    alone = [cells.retained(name).sum() for name in columns.released]
    return ExpectedSums(
        first=shown.sum(axis=0)[np.newaxis],
        first_seen=(shown.T @ known)[np.newaxis],
        seen=(known.T @ known)[np.newaxis],
        second=(shown.T @ shown + together)[np.newaxis],
        noise=totals[np.newaxis],
        third=np.zeros((1, len(order))),  # its numbers have laws of their own, like a normal one
        fourth=np.zeros((1, len(order))),
        together=_levels(columns, cells)[np.newaxis],
        kept=np.array([alone]),
        rows=np.array([rows_intact.sum()]),
        unseen=np.empty((1, 0)),
        gap_means=np.empty((1, 0)),
    )


def _levels(columns: Columns, cells: ExpectedCells) -> Floats:
    """Expected counts of two levels together, of one level on the diagonal."""
    chances = [np.empty((len(columns.codes), 0))]
    for name, levels in columns.levels.items():
        table, values = cells.table(name)
        places = [values.index(level) for level in levels]
        chances.append(table[:, places].toarray())
    each = np.column_stack(chances)
    together = each.T @ each
    np.fill_diagonal(together, each.sum(axis=0))
    return np.asarray(together)
