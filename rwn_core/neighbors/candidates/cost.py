"""Says what taking neighbors among random candidates costs, against everybody being one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.brute_force import complete_table
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods
from rwn_core.parallel.threads import Watch

COMPARED = 1000  # records whose neighborhoods are compared with the exact ones


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictionCost:
    """What taking candidates at random costs, against everybody being one.

    Attributes
    ----------
    effective_radius, exact_radius : float
        Median radius of the neighborhoods, and of the exact ones.
    governed_by_k, exact_governed_by_k : float
        Share of records with fewer than k candidates within epsilon, who fall back to k.
    recall : float
        Share of an exact neighborhood's members that are still members, on average.
    compared : int
        Records that this was read on, drawn at random.
    """

    effective_radius: float
    exact_radius: float
    governed_by_k: float
    exact_governed_by_k: float
    recall: float
    compared: int

    def __str__(self) -> str:
        """One line for a person."""
        return (
            f"median radius {self.effective_radius:.3g} (exact {self.exact_radius:.3g}), "
            f"{self.governed_by_k:.1%} of records fall back to k "
            f"(exact {self.exact_governed_by_k:.1%}), {self.recall:.1%} of the exact members kept"
        )


def restriction_cost(
    points: Points, neighborhoods: Neighborhoods, *, threads: int = 1
) -> RestrictionCost:
    """Compare neighborhoods with the exact ones, on 1,000 random records.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    neighborhoods : Neighborhoods
        Those of these points with the same k and epsilon.
    threads : int

    Returns
    -------
    RestrictionCost
    """
    n, k, epsilon = len(points), neighborhoods.k, neighborhoods.epsilon
    some = np.sort(np.random.default_rng(0).permutation(n)[:COMPARED])
    exact, rows = _exact(points, some, k, epsilon, threads)
    recall = [
        len(np.intersect1d(exact.members(row), neighborhoods.members(record)))
        / max(1, exact.sizes[row])
        for row, record in zip(rows, some, strict=True)
    ]
    return RestrictionCost(
        effective_radius=float(np.median(neighborhoods.radius[some])),
        exact_radius=float(np.median(exact.radius[rows])),
        governed_by_k=float((neighborhoods.within[some] < (k or 0)).mean()),
        exact_governed_by_k=float((exact.within[rows] < (k or 0)).mean()),
        recall=float(np.mean(recall)),
        compared=len(some),
    )


def _exact(
    points: Points,
    some: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    threads: int,
) -> tuple[Neighborhoods, NDArray[np.int64]]:
    """Exact neighborhoods of some records at least, and the rows of these."""
    if len(points) <= LARGEST_DENSE:
        return complete_table(points).narrow(k=k, epsilon=epsilon), some
    from rwn_core.neighbors.tree_search import index_of, neighborhoods_of_some

    index = index_of(points, None)
    watch = Watch(threads=threads)
    table = neighborhoods_of_some(index, points, some, k, epsilon, watch)
    mine = epsilon if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)[some]
    return table.narrow(k=k, epsilon=mine), np.arange(len(some))
