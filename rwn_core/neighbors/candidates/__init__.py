"""Random candidates for neighbors: Methods 1 to 3 of the paper for large tables."""

from __future__ import annotations

from rwn_core.neighbors.candidates.pairs import paired_table
from rwn_core.neighbors.candidates.partition import partitioned_table
from rwn_core.neighbors.candidates.sample import fresh_sample_table, sampled_table
from rwn_core.neighbors.candidates.scheme import Scheme
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.radius import Radius
from rwn_core.neighbors.table import NeighborTable
from rwn_core.parallel.threads import Watch
from rwn_core.randomness import SecretKey


def restricted_table(
    points: Points,
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
