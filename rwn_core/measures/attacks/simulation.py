"""More releases of a setting, drawn from its law: to see how an attack fares on average."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.mechanism.donors import NOBODY, column_streams, copy_from_donors
from rwn_core.mechanism.law import Law


def simulate(law: Law, generator: np.random.Generator) -> Microdata:
    """Draw a release of the same setting; for study, never for publication.

    Parameters
    ----------
    law : Law
        With equally likely donors.
    generator : numpy.random.Generator

    Returns
    -------
    Microdata
        Row-aligned with the original.

    Raises
    ------
    NotApplicable
        The method has no neighborhoods to draw from.
    """
    return copy_from_donors(law.original, simulated_donors(law, generator))


def simulated_donors(law: Law, generator: np.random.Generator) -> NDArray[np.int64]:
    """The donor of each cell, shape (n, p): the record itself where kept, -1 where it is lost."""
    neighborhoods, n = law.neighborhoods, law.original.n
    if neighborhoods is None:
        raise NotApplicable("Releases are simulated for a method that draws from neighborhoods.")
    sizes, records = neighborhoods.sizes, np.arange(n)
    streams = column_streams(law.original)
    chances = _chances(law, generator)
    columns: dict[int, NDArray[np.int64]] = {}
    for place, stream in enumerate(streams):
        if stream in columns:
            continue
        ranks = 1 + np.floor(generator.random(n) * sizes).astype(np.int32)
        drawn = np.full(n, NOBODY)
        able = np.flatnonzero(sizes)
        drawn[able] = neighborhoods.donors(able, ranks[able, None])[:, 0]
        columns[stream] = np.where(generator.random(n) < chances[:, place], drawn, records)
    return np.column_stack([columns[stream] for stream in streams])


def _chances(law: Law, generator: np.random.Generator) -> NDArray[np.float64]:
    """How likely each cell is modified, once it is drawn how its row comes about, shape (n, p)."""
    weights, cells = zip(*law.components(), strict=True)
    q = np.array([each.q for each in cells])
    if len(q) == 1:
        return np.broadcast_to(q, (law.original.n, q.shape[1]))
    ends = np.cumsum(weights[:-1])
    return q[np.searchsorted(ends, generator.random(law.original.n), side="right")]
