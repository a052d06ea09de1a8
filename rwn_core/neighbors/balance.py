"""Balanced weights: every record is drawn equally often, and no weight is above the cap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.parallel.threads import in_parts

STOP = 1e-7  # largest difference of a column's sum from its target at which rounds end
MOST_ROUNDS = 400
DAMPED_ROUNDS = 5  # before Newton's steps are tried
NEWTON_ROUNDS, LARGEST_STEP, CUTS = 60, 3.0, 6


class KernelRows(NamedTuple):
    """Hold a kernel as compressed rows: the possible donors of each record."""

    starts: Integers  # shape (n + 1,)
    members: Integers32  # shape (m,)
    logs: Floats  # shape (m,): logarithms of the kernel


class RowWeights(NamedTuple):
    """Weights min(cap, e^row K e^column), with rows that sum to 1."""

    # row, column: shape (n,): logarithms of the factors; with the kernel they are all that weights
    # need
    row: Floats
    column: Floats
    weights: Floats  # shape (m,)
    error: float  # largest difference of a column's sum from its target
    rounds: int


def row_weights(rows: KernelRows, cap: float, column: Floats) -> RowWeights:
    """Return weights with rows of sum 1, for given columns' factors of all records."""
    # Shape: column (n,).
    row, weights = _filled(rows, column, np.full(len(rows.starts) - 1, cap))
    return RowWeights(row, column, weights, np.nan, 0)


def balanced_weights(rows: KernelRows, cap: float, share: float = 1.0) -> RowWeights:
    """Return weights with columns that sum to 1, or approach it by a share."""
    from rwn_core.neighbors.weight_kernel import fill_log

    n, fully = len(rows.starts) - 1, share >= 1
    targets, column, caps, logs = np.ones(n), np.zeros(n), np.full(n, cap), np.zeros(n)
    if not fully:
        free = row_weights(rows, cap, np.zeros(n))
        if share <= 0:
            return free
        targets = (1 - share) * column_sums(rows, free.weights) + share
        fill_log(targets, logs)
    for rounds in range(1, MOST_ROUNDS + 1):
        row, weights = _filled(rows, column, caps)
        error = float(np.abs(column_sums(rows, weights) - targets).max())
        if error <= STOP or rounds == MOST_ROUNDS:
            break
        if not fully:  # rows are scaled to 1 and columns to their targets by turns
            column = _filled(rows, row, cap / targets)[0] + logs  # the kernel is symmetric
            continue
        # damped rounds, and Newton's steps where they help
        column = (row + column) / 2
        if rounds >= DAMPED_ROUNDS:
            column = _newton(rows, column, cap, weights)
    return RowWeights(row, column, weights, error, rounds)


def balanced_both_ways(rows: KernelRows, columns: KernelRows, cap: float) -> RowWeights:
    """Return weights of a kernel of rows and as many records, both with sums of 1.

    `columns` is the kernel turned: the rows of each record.
    """
    from rwn_core.neighbors.weight_kernel import ROUNDING, solve_newton

    n = len(rows.starts) - 1
    column, caps, step = np.zeros(n), np.full(n, cap), np.empty(n)
    row, weights = _filled(rows, column, caps)
    for rounds in range(1, MOST_ROUNDS + 1):
        missing = 1 - column_sums(rows, weights)
        error = float(np.abs(missing).max())
        if error <= STOP:
            break
        # a step of Newton's method, with rows at 1, where it helps; else columns and rows by turns
        free = np.where(weights < cap * (1 - ROUNDING), weights, 0.0)
        of_rows = np.maximum(np.add.reduceat(free, rows.starts[:-1]), 1e-300)
        of_columns, better = column_sums(rows, free), False
        if rounds > DAMPED_ROUNDS and of_columns.min() >= 1e-8 and error <= 0.9:
            sums, accuracy = (of_rows, of_columns), min(0.1, np.sqrt(error))
            solve_newton(rows, free, sums, missing, accuracy, NEWTON_ROUNDS, step)
            size = min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
            for tried in (column + size / 3.0**cut * step for cut in range(CUTS)):
                row, weights = _filled(rows, tried, caps)
                squares = [np.cumsum(x**2)[-1] for x in (1 - column_sums(rows, weights), missing)]
                if better := bool(squares[0] < squares[1]):
                    column = tried
                    break
        if not better:
            column = _filled(columns, row, caps)[0]
            row, weights = _filled(rows, column, caps)
    return RowWeights(row, column, weights, error, rounds)


def column_sums(rows: KernelRows, weights: Floats) -> Floats:
    """Return the sums of columns, shape (n,)."""
    totals = np.bincount(rows.members, weights, minlength=len(rows.starts) - 1)
    return totals.astype(np.float64, copy=False)


def _filled(rows: KernelRows, column: Floats, caps: Floats) -> tuple[Floats, Floats]:
    # Shapes: column, caps (n,); the answer (n,) and (m,).
    from rwn_core.neighbors.weight_kernel import fill_rows

    row, weights = np.empty(len(caps)), np.empty(len(rows.members))

    def fill(first: int, last: int) -> None:
        fill_rows(rows, column, caps, row, weights, first, last)

    in_parts(fill, len(row), len(weights))
    return row, weights


def _newton(rows: KernelRows, column: Floats, cap: float, room: Floats) -> Floats:
    """Return the factors after a step of Newton's method; as they were where it does not help."""
    # Shapes: column, the answer (n,); room (m,), overwritten.
    from rwn_core.neighbors.weight_kernel import solve_newton, weigh_both_ways

    n = len(column)
    free, totals, step = np.empty(n), np.empty(n), np.empty(n)

    def look(tried: Floats) -> float:
        """Return the distance of sums from 1, added in their order."""
        # Shape: tried (n,).

        def weigh(first: int, last: int) -> None:
            weigh_both_ways(rows, tried, cap, (room, free, totals), first, last)

        in_parts(weigh, n, len(room))
        return float(np.cumsum((totals - 1) ** 2)[-1])

    before = look(column)
    largest = float(np.abs(totals - 1).max())
    if free.min() < 1e-8 or largest > 0.9:
        return column
    accuracy = min(0.1, np.sqrt(largest))
    sums = (np.empty(0), free)
    solve_newton(rows, room, sums, 1 - totals, accuracy, NEWTON_ROUNDS, step)
    size = min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
    for _ in range(CUTS):
        tried = column + size * step
        if look(tried) < before:
            return tried
        size /= 3
    return column
