"""Certified linkage of large tables, in blocks of rows, by ratios that are known a priori.

Records of one point have equal likelihoods, so a point stands for its records. Numbers are of
single precision; each bound is raised by what rounding can have taken from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.certificate import ratios_a_priori
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.parallel.memory import GIGABYTE, budget_bytes

BLOCK = 1024  # rows, or points, at a time
HALF_STEP = 2.0**-24  # relative rounding of single precision
ROUNDED_DOWN = np.float32(1 - 1e-5)  # ratios
LEAST_TOTAL = 1e-30  # of likelihoods relative to the row's largest; below, the bound is 1
ROUNDED_OFF = 1e-7  # of a bound whose likelihood is below the least number

Floats = NDArray[np.float32]


class Bounds(NamedTuple):
    """Bounds of the posterior of the records of each point, for different released rows.

    Attributes
    ----------
    bounds : ndarray of float32, shape (r, u)
        Of one record of the point.
    rows : ndarray of int64, shape (n,)
        Which of the r each released row is.
    """

    bounds: Floats
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """Hold what bounds every release of a law in which all records are donors.

    Attributes
    ----------
    counts : ndarray of float32, shape (u,)
        Records of each point.
    logs : list of ndarray of float32, shape (V, u)
        For each slice, the log-probability of each of its values for each point.
    ratios : ndarray of float32, shape (u, u)
        M_ik, at most.
    """

    counts: Floats
    logs: list[Floats]
    ratios: Floats

    @classmethod
    def from_table(cls, table: AllDonors, codes: Sequence[NDArray[np.int64]]) -> Exchange:
        """Return that of a table and the values of its slices, numbered from 0."""
        # Shapes: codes (n,).
        u = len(table.places.points)
        values = [int(each.max()) + 1 for each in codes]
        _refuse_large(u, sum(values), table.donors)
        orders = [np.argsort(each, kind="stable") for each in codes]
        starts = [
            np.searchsorted(each[order], np.arange(count))
            for each, order, count in zip(codes, orders, values, strict=True)
        ]
        logs = [np.empty((count, u), np.float32) for count in values]
        factors = np.empty(u)
        for low, high in table.blocks():
            weights, factors[low:high] = table.rows(low, high)
            for order, start, into in zip(orders, starts, logs, strict=True):
                chances = np.add.reduceat(weights[:, order], start, axis=1)
                if not (chances > 0).all():
                    raise NotApplicable(
                        "Some records cannot release some rows (a weight too small for a number), "
                        "so that nothing is certified; set a larger width."
                    )
                into[:, low:high] = np.log(chances).T
        counts = np.bincount(table.places.number, minlength=u).astype(np.float32)
        ratios = _ratios(table, factors, len(codes))
        return cls(counts=counts, logs=logs, ratios=ratios)

    def bounds(self, columns: Sequence[NDArray[np.int64]]) -> Bounds:
        """Return the bounds of some released rows, by the number of each slice's value."""
        different, rows = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        made = np.empty((len(different), len(self.counts)), np.float32)
        largest = max(-float(each.min()) for each in self.logs)
        # sums of u numbers, logarithms of both likelihoods, and a few operations
        raised = np.float32(1 + HALF_STEP * (len(self.counts) + 4 * len(columns) * largest + 100))
        for low in range(0, len(different), BLOCK):
            some = different[low : low + BLOCK]
            likelihood = np.zeros((len(some), len(self.counts)), np.float32)
            for values, logs in zip(some.T, self.logs, strict=True):
                likelihood += logs[values]
            likelihood -= likelihood.max(axis=1, keepdims=True)
            np.exp(likelihood, out=likelihood)
            total = (likelihood * self.counts) @ self.ratios.T
            known = total > LEAST_TOTAL
            np.divide(likelihood, total, out=likelihood, where=known)
            likelihood[~known] = 1.0
            likelihood *= raised
            made[low : low + BLOCK] = np.clip(likelihood, ROUNDED_OFF, 1.0)
        return Bounds(made, rows.ravel())


def bounds_of_units(bounds: Floats, places: NDArray[np.int64], units: NDArray[np.int64]) -> Floats:
    """Return the bounds of units of several records: sums of those of their records."""
    # Shapes: bounds (r, u); places, units (n,).
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(int(units.max()) + 1))
    made = np.empty((len(bounds), len(starts)), np.float32)
    for low in range(0, len(bounds), BLOCK):
        some = bounds[low : low + BLOCK][:, places[order]]
        sums = np.add.reduceat(some, starts, axis=1)
        sums *= np.float32(1 + HALF_STEP * len(units))
        np.minimum(sums, 1.0, out=made[low : low + BLOCK])
    return made


def _ratios(table: AllDonors, factors: NDArray[np.float64], slices: int) -> Floats:
    """Return M_ik of all pairs of points, rounded down."""
    u, kernel = len(factors), table.kernel
    made = np.empty((u, u), np.float32)
    for point, squared in table.squared_from(np.arange(u)):
        made[point] = np.exp(
            ratios_a_priori(
                factors[point],
                factors,
                np.sqrt(squared),
                width=kernel.width,
                slices=slices,
                capped=kernel.cap < 1,
            )
        )
    made *= ROUNDED_DOWN
    np.fill_diagonal(made, 1.0)
    return made


def _refuse_large(points: int, values: int, rows: int) -> None:
    needed = 4.0 * points * (points + values + rows)
    if needed > budget_bytes():
        raise NotApplicable(
            f"A certificate of this table takes {needed / GIGABYTE:.2g} GB of memory, more than "
            "is free; set RWN_MEMORY, or round the values."
        )
