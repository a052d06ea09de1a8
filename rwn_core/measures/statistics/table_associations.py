"""Associations of all pairs of released variables of a comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.measures.aligned import codes, matrix
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.association import association_matrix
from rwn_core.measures.statistics.correlation import CORRELATIONS, correlation_matrix
from rwn_core.measures.statistics.independence import chance_levels

Floats = NDArray[np.float64]
NUMBERS = (Kind.CONTINUOUS, Kind.COUNT, Kind.DATE)


def original_associations(comparison: Comparison) -> Floats:
    """Return the original's signed associations in the schema's order, shape (p, p)."""
    return comparison.cached_for_original(
        "associations", lambda: _signed(comparison, comparison.original)
    )


def released_associations(comparison: Comparison) -> Floats:
    """Return the release's signed associations, shape (p, p)."""
    return comparison.cached_for_release(
        "associations", lambda: _signed(comparison, comparison.masked)
    )


def original_chance(comparison: Comparison) -> Floats:
    """Return the chance levels of the original's variables, shape (p, p)."""
    return comparison.cached_for_original("chance levels", lambda: _chance(comparison.original))


def shown(associations: Floats, category: NDArray[np.int64]) -> Floats:
    """Set negative associations with a category to 0: they have no direction."""
    with_category = (category[:, None] + category[None, :]) > 0
    return np.where(with_category, np.maximum(associations, 0.0), associations)


def is_category(original: Microdata) -> NDArray[np.int64]:
    """Return 1 for each released variable that counts by its levels, else 0."""
    return np.array([v.kind not in NUMBERS for v in original.schema.released], dtype=np.int64)


def _signed(comparison: Comparison, table: Microdata) -> Floats:
    original = comparison.original
    numbers, categories = _names(original)
    known: Floats | None = None
    if numbers == original.numeric_names:  # without dates, which the correlations leave out
        share = (
            comparison.cached_for_original if table is original else comparison.cached_for_release
        )
        known = share(CORRELATIONS, lambda: correlation_matrix(matrix(original, table, numbers)))
        if not categories:
            return known
    values = matrix(original, table, numbers)
    found = association_matrix(
        values,
        [codes(original, table, name)[0] for name in categories],
        correlations=known,
        signed=True,
    )
    return _ordered(original, found)


def _chance(original: Microdata) -> Floats:
    numbers, categories = _names(original)
    levels = chance_levels(
        matrix(original, original, numbers),
        [codes(original, original, name)[0] for name in categories],
    )
    return _ordered(original, levels)


def _names(original: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
    released = original.schema.released
    numbers = tuple(v.name for v in released if v.kind in NUMBERS)
    return numbers, tuple(v.name for v in released if v.kind not in NUMBERS)


def _ordered(original: Microdata, found: Floats) -> Floats:
    """Reorder a matrix of numbers, then categories, into the schema's order."""
    place = {name: at for at, name in enumerate(sum(_names(original), ()))}
    order = [place[variable.name] for variable in original.schema.released]
    return found[np.ix_(order, order)]
