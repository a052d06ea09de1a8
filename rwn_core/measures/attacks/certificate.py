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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.parallel.threads import Watch, thread_count

LEAST_SUM = 1e-290  # of likelihoods relative to the row's largest; below, the bound is 1
ROUNDED_UP = 1 + 1e-9
AT_ONCE = 256  # rows
COVER = 200  # likeliest records that the exchanges of a row go to


def ratios_of_law(
    slices: Sequence[NDArray[np.float64]], near: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return log M_ik before anything is drawn, shape (n, m)."""
    # Shapes: slices (n, V); near (n, m).
    least = np.zeros(near.shape)
    for probabilities in slices:
        _add_least(_logs(probabilities), near, least)
    return least


def ratios_of_release(
    likelihood: NDArray[np.float64], near: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return log M_ik over the rows of one release, shape (n, m)."""
    # Shapes: likelihood (n, n); near (n, m).
    least = np.zeros(near.shape)
    _add_least(np.ascontiguousarray(likelihood.T), near, least)
    return least


def ratios_a_priori(
    own: NDArray[np.float64] | np.float64,
    other: NDArray[np.float64],
    distances: NDArray[np.float64],
    *,
    width: float,
    slices: int,
    capped: bool,
) -> NDArray[np.float64]:
    """Return log M_ik from distances alone, for the exponential kernel of absolute bandwidth."""
    # By the triangle inequality no donor's weight changes by more than exp(d(i, k) / width) between
    # two records, beside their factors.
    one = own - other - distances / width
    return slices * (np.minimum(one, 0.0) if capped else one)


def linkage_bounds(
    likelihood: NDArray[np.float64], ratios: NDArray[np.float64], near: NDArray[np.int32]
) -> NDArray[np.float64]:
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


def unit_bounds(
    likelihood: NDArray[np.float64],
    ratios: NDArray[np.float64],
    units: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the bound of each unit's posterior, shape (rows, units)."""
    # Records of one unit, such as a household or a person with several records, are no cover for
    # each other: only exchanges with records of other units count. Shapes: likelihood (rows, n);
    # ratios (n, n); units (n,).
    n, count = len(units), int(units.max()) + 1
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(count))
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

    Watch(threads=thread_count()).run(bound, len(likelihood))
    return np.asarray(np.minimum(bounds * ROUNDED_UP, 1.0))


def certified_share(
    bounds: NDArray[np.floating[Any]],
    records: NDArray[Any] | None = None,
    rows: NDArray[Any] | None = None,
    *,
    share: float = 1.0,
) -> float:
    """Return the largest share of right links that any rule can expect over all rows, or some."""
    # A record has one row, so that its posteriors sum to 1 over the rows: records whose bounds sum
    # to much more are better counted as linked for certain, each with one row, than by their
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


def _add_least(
    logs: NDArray[np.float64], near: NDArray[np.int32], least: NDArray[np.float64]
) -> None:
    from rwn_core.measures.attacks.certificate_kernel import add_least_log_ratios

    work = partial(add_least_log_ratios, logs, near, least)
    Watch(threads=thread_count()).run(work, len(near))


def _logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    if not (probabilities > 0).all():
        raise NotApplicable(
            "Some records cannot release some values (own = false, or a weight too small for a "
            "number), so that nothing is certified; set own = true, or a larger width."
        )
    return np.asarray(np.log(probabilities))
