"""Certified linkage: an upper bound of what any intruder with the original file can link.

The intruder knows the original, the law and all released rows, and believes every assignment of
rows to records equally likely beforehand. Exchanging records i and k in an assignment changes its
likelihood by L_k(r) / L_i(r) times L_i(s) / L_k(s), where s is the row of k. With
M_ik <= min_s L_i(s) / L_k(s) the posterior of record i for row r is therefore at most

    b_i(r) = L_i(r) / sum_k L_k(r) M_ik,    M_ii = 1,

and any records k may be left out of the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.kernel import Kernel
from rwn_core.parallel.memory import GIGABYTE, budget_bytes
from rwn_core.parallel.threads import current_work

LEAST_SUM = 1e-290  # of likelihoods relative to the row's largest; below, the bound is 1
ROUNDED_UP = 1 + 1e-9
AT_ONCE = 256  # rows
COVER = 200  # most probable records that the exchanges of a row go to


def ratios_of_release(likelihood: Floats, near: NDArray[np.int32]) -> Floats:
    """Return log M_ik over the rows of one release, shape (n, m)."""
    # Shapes: likelihood (n, n), its logarithm; near (n, m).
    from rwn_core.measures.attacks.pair_likelihood_kernel import add_least_log_ratios

    least = np.zeros(near.shape)
    fill = partial(add_least_log_ratios, np.ascontiguousarray(likelihood.T), near, least)
    current_work().quiet().run(fill, len(near))
    return least


def ratios_a_priori(factors: Floats, distances: Floats, kernel: Kernel, slices: int) -> Floats:
    """Return log M_ik from distances alone, for the exponential kernel of absolute bandwidth."""
    # Shapes: factors, of i less k, distances and the answer broadcast together.
    # By the triangle inequality no donor's weight changes by more than exp(d(i, k) / width) between
    # two records, besides their factors.
    one = factors - distances / kernel.width
    return slices * (np.minimum(one, 0.0) if kernel.cap < 1 else one)


def linkage_bounds(likelihood: Floats, ratios: Floats, near: NDArray[np.int32]) -> Floats:
    """Return the bound of each posterior, shape (rows, n)."""
    # Shapes: likelihood (rows, n); ratios, near (n, m).
    n, m = near.shape
    relative = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    itself = near == np.arange(n)[:, None]
    if not itself.any(axis=1).all():
        raise ValueError("A record must be among those near it.")
    weights = np.where(itself, 1.0, np.exp(ratios))
    exchange = sparse.csr_array((weights.ravel(), near.ravel(), np.arange(0, n * m + 1, m)))
    sums = np.asarray((exchange @ relative.T).T)
    bounds = np.where(sums > LEAST_SUM, relative / np.maximum(sums, LEAST_SUM), 1.0)
    return np.asarray(np.minimum(bounds * ROUNDED_UP, 1.0))


def unit_bounds(likelihood: Floats, ratios: Floats, units: Integers) -> Floats:
    """Return the bound of each unit's posterior, shape (rows, units)."""
    # Records of one unit, such as a household or a person with several records, are no cover for
    # each other: only exchanges with records of other units count. Shapes: likelihood (rows, n);
    # ratios (n, n); units (n,).
    n = len(units)
    count = int(units.max()) + 1
    order, starts = _grouped(units)
    bounds = np.empty((len(likelihood), count))

    def bound(first: int, last: int) -> None:
        for row in range(first, last):
            logs = likelihood[row]
            cover = np.arange(n) if n <= COVER else np.sort(np.argpartition(-logs, COVER)[:COVER])
            inverse = logs[order, None] - logs[cover] - ratios[np.ix_(order, cover)]
            inverse = np.exp(np.clip(inverse, -700, 700))  # 1 / rho_ik
            shares = 1.0 / np.add.reduceat(inverse, starts, axis=0)
            shares[units[cover], np.arange(len(cover))] = 0.0
            bounds[row] = 1.0 / (1.0 + shares.sum(axis=1))

    current_work().quiet().run(bound, len(likelihood))
    return np.asarray(np.minimum(bounds * ROUNDED_UP, 1.0))


def _grouped(numbers: Integers) -> tuple[Integers, Integers]:
    """Return records in the order of their numbers, and where each number begins."""
    order = np.argsort(numbers, kind="stable")
    return order, np.searchsorted(numbers[order], np.arange(int(numbers.max()) + 1))


def certified_share(
    bounds: NDArray[np.floating[Any]],
    records: NDArray[Any] | None = None,
    rows: NDArray[Any] | None = None,
    *,
    share: float = 1.0,
) -> float:
    """Return the largest share of right links that any rule can expect over all rows, or some."""
    # A record has one row, so that its posteriors sum to 1 over the rows: records with bounds that
    # sum to much more are better counted as certainly linked, each with one row, than by their
    # bounds. Any records may be counted so; those of the largest sums are. Shapes: bounds (r, u).
    records = np.ones(bounds.shape[1]) if records is None else records
    rows = np.ones(len(bounds)) if rows is None else rows
    shares = rows / rows.sum()
    order = np.argsort(shares @ bounds)  # the last are counted
    means = np.zeros(len(order))
    for low in range(0, len(bounds), AT_ONCE):
        some = np.maximum.accumulate(bounds[low : low + AT_ONCE][:, order], axis=1)
        means += shares[low : low + AT_ONCE] @ some
    counted = np.cumsum(records[order][::-1])[::-1] - records[order]
    return float(np.minimum(means + counted / (share * records.sum()), 1.0).min())


BLOCK = 1024  # rows, or points, at a time
HALF_STEP = 2.0**-24  # relative rounding of single precision
ROUNDED_DOWN = np.float32(1 - 1e-5)  # ratios
LEAST_TOTAL = 1e-30  # of likelihoods relative to the row's largest; below, the bound is 1
ROUNDED_OFF = 1e-7  # of a bound with a likelihood below the least number

Singles = NDArray[np.float32]


class Bounds(NamedTuple):
    """The bounds of the posterior of the records of each point, for different released rows."""

    bounds: Singles  # shape (r, u): of one record of the point
    rows: Integers  # shape (n,): which of the r each released row is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """The bounds of every release of a law in which all records are donors."""

    counts: Singles  # shape (u,): records of each point
    # shape (V, u): for each slice, the log-probability of each of its values for each point
    logs: list[Singles]
    ratios: Singles  # shape (u, u): M_ik, at most

    @classmethod
    def from_table(cls, table: AllDonors, codes: Sequence[Integers]) -> Exchange:
        """Return that of a table and the values of its slices, numbered from 0."""
        # Shapes: codes (n,).
        u = len(table.places.points)
        values = [int(each.max()) + 1 for each in codes]
        needed = 4.0 * u * (u + sum(values) + table.donors)
        if needed > budget_bytes():
            raise NotApplicable(
                f"A certificate of this table takes {needed / GIGABYTE:.2g} GB of memory, more "
                "than is free; set RWN_MEMORY, or round the values."
            )
        groups = list(map(_grouped, codes))
        logs = [np.empty((count, u), np.float32) for count in values]
        factors = np.empty(u)
        for low, high in table.blocks():
            weights, factors[low:high] = table.rows(low, high)
            for (order, start), into in zip(groups, logs, strict=True):
                chances = np.add.reduceat(weights[:, order], start, axis=1)
                if not (chances > 0).all():
                    raise NotApplicable(
                        "Some records cannot release some rows (a weight too small for a number), "
                        "so that nothing is certified; set a larger width."
                    )
                into[:, low:high] = np.log(chances).T
        counts = np.bincount(table.places.number, minlength=u).astype(np.float32)
        # M_ik of all pairs of points, rounded down, shape (u, u)
        ratios = np.empty((u, u), np.float32)
        for point, squared in table.squared_from(np.arange(u)):
            apart = factors[point] - factors
            distance = np.sqrt(squared)
            ratios[point] = np.exp(ratios_a_priori(apart, distance, table.kernel, len(codes)))
        ratios *= ROUNDED_DOWN
        np.fill_diagonal(ratios, 1.0)
        return cls(counts=counts, logs=logs, ratios=ratios)

    def bounds(self, columns: Sequence[Integers]) -> Bounds:
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


def bounds_of_units(bounds: Singles, places: Integers, units: Integers) -> Singles:
    """Return the bounds of units of several records: sums of those of their records."""
    # Shapes: bounds (r, u); places, units (n,).
    order, starts = _grouped(units)
    made = np.empty((len(bounds), len(starts)), np.float32)
    for low in range(0, len(bounds), BLOCK):
        some = bounds[low : low + BLOCK][:, places[order]]
        sums = np.add.reduceat(some, starts, axis=1)
        sums *= np.float32(1 + HALF_STEP * len(units))
        np.minimum(sums, 1.0, out=made[low : low + BLOCK])
    return made
