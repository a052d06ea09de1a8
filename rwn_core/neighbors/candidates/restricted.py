"""Neighborhoods among random candidates, and what taking only those costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.brute_force import complete_table
from rwn_core.neighbors.candidates.pairs import paired_table
from rwn_core.neighbors.candidates.partition import partitioned_table
from rwn_core.neighbors.candidates.sample import fresh_sample_table, sampled_table
from rwn_core.neighbors.candidates.scheme import Scheme
from rwn_core.neighbors.radius import Radius, one_radius
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Watch
from rwn_core.randomness import SecretKey

COMPARED = 1000  # records whose neighborhoods are compared with the exact ones


def restricted_table(
    points: NDArray[np.float64],
    k: int | None,
    epsilon: Radius | None,
    *,
    scheme: Scheme,
    key: SecretKey,
    watch: Watch,
) -> NeighborTable:
    """The table of neighbors among the candidates of a scheme that is not exact.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    k : int, optional
    epsilon : float or ndarray of float64, shape (n,), optional
    scheme : Scheme
    key : SecretKey
        The candidates depend on it alone.
    watch : Watch

    Returns
    -------
    NeighborTable

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11, Methods 1, 2, 3(1) and 3(2).
    """
    scheme.check(len(points), k)
    if scheme.neighbors == "sample":
        find = fresh_sample_table if scheme.fresh else sampled_table
        return find(points, k, epsilon, m=int(scheme.m or 0), key=key, watch=watch)
    if scheme.neighbors == "pairs":
        return paired_table(points, k, m=int(scheme.m or 0), key=key)
    return partitioned_table(points, k, epsilon, scheme=scheme, key=key, watch=watch)


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
    points: NDArray[np.float64], neighborhoods: Neighborhoods, *, threads: int = 1
) -> RestrictionCost:
    """Compare neighborhoods with the exact ones, on 1,000 random records.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
    neighborhoods : Neighborhoods
        Found on these points with the same k and epsilon.
    threads : int

    Returns
    -------
    RestrictionCost
    """
    n, k, epsilon = len(points), neighborhoods.k, neighborhoods.epsilon
    some = np.sort(np.random.default_rng(0).permutation(n)[:COMPARED])
    exact, places = _exact(points, some, k, epsilon, threads)
    recall = [
        len(np.intersect1d(exact.members(place), neighborhoods.members(record)))
        / max(1, exact.sizes[place])
        for place, record in zip(places, some, strict=True)
    ]
    return RestrictionCost(
        effective_radius=float(np.median(neighborhoods.radius[some])),
        exact_radius=float(np.median(exact.radius[places])),
        governed_by_k=float((neighborhoods.within[some] < (k or 0)).mean()),
        exact_governed_by_k=float((exact.within[places] < (k or 0)).mean()),
        recall=float(np.mean(recall)),
        compared=len(some),
    )


def _exact(
    points: NDArray[np.float64],
    some: NDArray[np.int64],
    k: int | None,
    epsilon: Radius | None,
    threads: int,
) -> tuple[Neighborhoods, NDArray[np.int64]]:
    """Exact neighborhoods of some records at least, and where these are among them."""
    if len(points) <= LARGEST_DENSE:
        return complete_table(points).narrow(k=k, epsilon=epsilon), some
    from rwn_core.neighbors.fill_table import index_of
    from rwn_core.neighbors.tree_search import neighborhoods_of_some

    index = index_of(points, None)
    watch = Watch(threads=threads)
    table = neighborhoods_of_some(index, points, some, k, epsilon, watch)
    mine = epsilon if epsilon is None or one_radius(epsilon) else np.asarray(epsilon)[some]
    return table.narrow(k=k, epsilon=mine), np.arange(len(some))
