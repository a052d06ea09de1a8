"""True fragments: P(a person's own values of one unit appear together in a release)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.value_survival import appearance, expected_copies

MOST_PAIRS = 10_000_000  # of a record and a possible donor


class Fragments(NamedTuple):
    """Appearance of values that only one person has, shape (n,) each.

    Attributes
    ----------
    appears : ndarray of float64
        P(some released row shows a person's own values).
    rows : ndarray of float64
        Expected number of such rows.
    """

    appears: NDArray[np.float64]
    rows: NDArray[np.float64]


def fragments(law: Law, unit: tuple[str, ...]) -> Fragments:
    """Return the appearance of unique values of one unit; NotApplicable with too many donors."""
    # rows are independent: P(appears) = 1 - prod_i (1 - P(row i shows t)), E[rows] their sum.
    # True of sample uniques on the unit or a part of it: a row shows them only as their recipient.
    if law.neighborhoods is None or law.neighborhoods.sizes.sum() > MOST_PAIRS:
        raise NotApplicable("This needs neighborhoods of at most 10 million donors in all.")
    own = np.arange(law.original.n)
    ways = [
        weight * cells.donors.table(own, cells.modification(unit[0]))
        for weight, cells in law.components()
        if cells.donors is not None  # as whoever has neighborhoods
    ]
    table = sum(ways[1:], ways[0])
    return Fragments(appearance(table), expected_copies(table))
