"""More releases of a setting, drawn from its law: to see how an attack fares on average."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.donors import NOBODY, column_streams, copy_from_donors
from rwn_core.mechanism.row_mixture import RowMixtureLaw


def simulate(law: CellLaw, generator: np.random.Generator) -> Microdata:
    """Draw a release of the same setting; for study, never for publication.

    Parameters
    ----------
    law : CellLaw
        With equally likely donors.
    generator : numpy.random.Generator

    Returns
    -------
    Microdata
        Row-aligned with the original.
    """
    return copy_from_donors(law.original, simulated_donors(law, generator))


def simulated_donors(law: CellLaw, generator: np.random.Generator) -> NDArray[np.int64]:
    """The donor of each cell, shape (n, p): the record itself where kept, -1 where it is lost."""
    n = law.original.n
    sizes, records = law.neighborhoods.sizes, np.arange(n)
    streams = column_streams(law.original)
    whole = generator.random(n) < law.row_share if isinstance(law, RowMixtureLaw) else None
    columns: dict[int, NDArray[np.int64]] = {}
    for place, stream in enumerate(streams):
        if stream in columns:
            continue
        ranks = 1 + np.floor(generator.random(n) * sizes).astype(np.int32)
        drawn = np.full(n, NOBODY)
        able = np.flatnonzero(sizes)
        drawn[able] = law.neighborhoods.donors(able, ranks[able, None])[:, 0]
        cells = generator.random(n) < law.q[place]
        taken = cells if whole is None else whole & (law.q[place] > 0)
        columns[stream] = np.where(taken, drawn, records)
    return np.column_stack([columns[stream] for stream in streams])
