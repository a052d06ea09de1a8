"""Releases of a setting drawn from its law, for the average success of an attack."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import NO_DONOR, copy_from_donors, random_streams
from rwn_core.laws.law import Law


def simulate(
    law: Law, generator: np.random.Generator, order: NDArray[np.int64] | None = None
) -> Microdata:
    """Draw a release of the same setting, row-aligned; for study, never for publication."""
    # with an order of records the draw does not depend on the order of the file
    if order is None:
        return copy_from_donors(law.original, simulated_donors(law, generator))
    donors = np.empty((len(order), len(random_streams(law.original))), dtype=np.int64)
    donors[order] = _drawn_in_order(law, generator, order)
    return copy_from_donors(law.original, donors)


def simulated_donors(law: Law, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the donor of each cell, shape (n, p): the own record if unmodified, -1 if lost."""
    neighborhoods = law.neighborhoods
    if neighborhoods is None:
        raise NotApplicable("Releases are simulated for a method that draws from neighborhoods.")
    sizes, n = neighborhoods.sizes, law.original.n
    if neighborhoods.shares is not None:
        return _drawn_in_order(law, generator, np.arange(n))

    def draw() -> NDArray[np.int64]:
        ranks = 1 + np.floor(generator.random(n) * sizes).astype(np.int32)
        drawn = np.full(n, NO_DONOR)
        able = np.flatnonzero(sizes)
        drawn[able] = neighborhoods.donors(able, ranks[able, None])[:, 0]
        return drawn

    return _cells(law, generator, draw, np.arange(n))


def _drawn_in_order(
    law: Law, generator: np.random.Generator, order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return donors drawn in a given order of records, from all donors' probabilities."""
    chances = sparse.csr_array(law.probabilities[order][:, order])
    chances.sort_indices()
    ends = np.cumsum(chances.data)
    before = np.concatenate([[0.0], ends])[chances.indptr]
    able = np.diff(chances.indptr) > 0

    def draw() -> NDArray[np.int64]:
        drawn = np.full(len(order), NO_DONOR)
        places = before[:-1] + generator.random(len(order)) * np.diff(before)
        found = np.searchsorted(ends, places, side="right")
        found = np.clip(found, chances.indptr[:-1], chances.indptr[1:] - 1)
        drawn[able] = order[chances.indices[found[able]]]
        return drawn

    return _cells(law, generator, draw, order)


def _cells(
    law: Law,
    generator: np.random.Generator,
    draw: Callable[[], NDArray[np.int64]],
    own: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the donor of each cell; variables of a slice share a draw."""
    streams = random_streams(law.original)
    chances = _chances(law, generator)
    columns: dict[int, NDArray[np.int64]] = {}
    for place, stream in enumerate(streams):
        if stream not in columns:
            drawn = draw()
            columns[stream] = np.where(generator.random(len(own)) < chances[:, place], drawn, own)
    return np.column_stack([columns[stream] for stream in streams])


def _chances(law: Law, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return each cell's modification probability, given the drawn way of its row, shape (n, p)."""
    weights, cells = zip(*law.components(), strict=True)
    q = np.array([each.q for each in cells])
    if len(q) == 1:
        return np.broadcast_to(q, (law.original.n, q.shape[1]))
    ends = np.cumsum(weights[:-1])
    return q[np.searchsorted(ends, generator.random(law.original.n), side="right")]
