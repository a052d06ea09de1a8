"""Masked bootstrap samples: what sampling and masking together do to an estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN, Parameters, mask, unrounded
from rwn_core.mechanism.donors import Draws, column_streams
from rwn_core.neighbors import LARGEST_DENSE, NeighborTable, neighbor_table
from rwn_core.randomness import SecretKey


def masked_samples(
    microdata: Microdata, params: Parameters, repeats: int, seed: int | None
) -> Iterator[Microdata]:
    """Bootstrap samples of the records, each masked under its own key.

    Parameters
    ----------
    microdata : Microdata
    params : Parameters
    repeats : int
    seed : int or None
        Of the samples and the maskings; fresh if None.

    Yields
    ------
    Microdata
        With as many records as the table.
    """
    root = np.random.default_rng(seed)
    plain, precision = unrounded(params)
    table = _ranked(microdata, plain)
    for number in range(repeats):
        rows = np.sort(root.integers(0, microdata.n, microdata.n))
        sample = microdata.take(rows)
        key = SecretKey.fresh() if seed is None else SecretKey.from_seed(seed + number)
        if table is None or not isinstance(plain, RWN):
            yield mask(sample, params, seed=key).masked
            continue
        draws = Draws(key, np.arange(sample.n), column_streams(sample))
        neighborhoods = without_clones(table, rows).narrow(k=plain.k, epsilon=plain.epsilon)
        yield plain.redraw(sample, neighborhoods, draws).rounded(precision).masked


def _ranked(microdata: Microdata, params: Parameters) -> NeighborTable | None:
    """Neighbors ranked far enough that every sample has k of them; none for other methods."""
    if not isinstance(params, RWN) or not params.scheme.exact or params.k is None:
        return None
    far = microdata.n - 1 if microdata.n <= LARGEST_DENSE else 3 * params.k + 20
    return neighbor_table(
        params.points(microdata), k=min(far, microdata.n - 1), epsilon=params.epsilon
    )


def without_clones(table: NeighborTable, rows: NDArray[np.int64]) -> NeighborTable:
    """The neighbors of a bootstrap sample, where a record's own copies are none of them.

    A sample holds most of its records twice or more. Copies at distance 0 would give each
    other's values, and the masking would seem weaker than it is on a sample from a population.

    Parameters
    ----------
    table : NeighborTable
        Of the original.
    rows : ndarray of int64, shape (m,)
        The original's record of each record of the sample, ascending.

    Returns
    -------
    NeighborTable
        Of the sample, in its own record numbers.
    """
    times = np.bincount(rows, minlength=table.n)
    first = np.concatenate(([0], np.cumsum(times)))[:-1]
    lengths = np.diff(table.offsets)[rows]
    begin = np.repeat(table.offsets[rows], lengths)
    places = begin + np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    others = table.records[places]
    copies = times[others]
    total = np.concatenate(([0], np.cumsum(copies)))
    within = np.arange(total[-1]) - np.repeat(total[:-1], copies)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return NeighborTable(
        offsets=total[ends],
        records=(np.repeat(first[others], copies) + within).astype(np.int32),
        squared=np.repeat(table.squared[places], copies),
        k=table.k,
        epsilon=table.epsilon,
    )
