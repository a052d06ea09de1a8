"""A confidential value that counts as learned: the same category, or a number that comes near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.measures.aligned import codes, numbers

NEAR = 0.1  # standard deviations within which a number counts as learned


def secret_values(original: Microdata, table: Microdata, name: str) -> NDArray[np.float64]:
    """A confidential variable of either table as numbers, shape (n,), NaN where missing."""
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        code = codes(original, table, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64))
    return numbers(original, table, name)


def tolerance(original: Microdata, name: str) -> float:
    """How near a number must be to count as learned; a category must be the same."""
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        return 0.0
    return original.once(("tolerance", name), lambda: _tolerance(original.values(name)))


def _tolerance(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return NEAR * float(known.std(ddof=1)) if len(known) > 1 else 0.0
