"""The two ends of all masking: nothing is changed, and no relation between variables is left."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donors import copy_from_donors, random_streams
from rwn_core.neighbors import Neighborhoods, NeighborTable
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import SecretKey


def unmasked(original: Microdata) -> tuple[Microdata, CellLaw]:
    """Return the released variables as they are, and the law that changes no cell."""
    n, p = original.n, len(original.schema.released)
    ones = np.ones(n, dtype=np.int64)
    table = NeighborTable(
        offsets=np.arange(n + 1, dtype=np.int64),
        records=np.roll(np.arange(n, dtype=np.int32), -1),
        squared=np.zeros(n),
        k=1,
    )
    neighborhoods = Neighborhoods(table=table, sizes=ones, within=0 * ones, radius=np.zeros(n), k=1)
    own = np.repeat(np.arange(n)[:, np.newaxis], p, axis=1)
    return copy_from_donors(original, own), CellLaw(original, neighborhoods, np.zeros(p))


def shuffled_donors(original: Microdata, key: SecretKey) -> Integers:
    """Draw a random order for each released variable, shape (n, p); one for each slice."""
    records = np.arange(original.n)
    orders = [
        np.argsort(two_uniforms(key, records, stream)[0], kind="stable")
        for stream in random_streams(original)
    ]
    return np.column_stack(orders)
