"""More releases of a setting, drawn from its law: to see how an attack fares on average."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.cell_law import CellLaw
from rwn_core.donors import column_streams, copy_from_donors
from rwn_core.microdata import Microdata


def simulate(law: CellLaw, generator: np.random.Generator) -> Microdata:
    """Draw a release of the same setting; for study, never for publication.

    Parameters
    ----------
    law : CellLaw
        Of independent cells with equally likely donors, none of the neighborhoods empty.
    generator : numpy.random.Generator

    Returns
    -------
    Microdata
        Row-aligned with the original.
    """
    return copy_from_donors(law.original, simulated_donors(law, generator))


def simulated_donors(law: CellLaw, generator: np.random.Generator) -> NDArray[np.int64]:
    """The donor of each cell, shape (n, p); the record itself where a value is kept."""
    n = law.original.n
    sizes, records = law.neighborhoods.sizes, np.arange(n)
    streams = column_streams(law.original)
    columns: dict[int, NDArray[np.int64]] = {}
    for place, stream in enumerate(streams):
        if stream in columns:
            continue
        ranks = 1 + np.floor(generator.random(n) * sizes).astype(np.int32)
        drawn = law.neighborhoods.donors(records, ranks[:, None])[:, 0]
        columns[stream] = np.where(generator.random(n) < law.q[place], drawn, records)
    return np.column_stack([columns[stream] for stream in streams])
