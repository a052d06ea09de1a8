"""True fragments: how surely a person's own values of one unit appear together in a release."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.value_survival import appearance, expected_copies

MOST_PAIRS = 10_000_000  # of a record and a possible donor


class Fragments(NamedTuple):
    """What becomes of values that only one person has, shape (n,) each.

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
    """Whose values of some variables that share a donor appear, if nobody else has the same.

    Parameters
    ----------
    law : Law
        Of n records.
    unit : tuple of str
        One of `law.units()`.

    Returns
    -------
    Fragments
        Of every person who is alone with his values of the unit, or of a part of it: a row shows
        them if and only if it takes the unit from that person.

    Raises
    ------
    NotApplicable
        There are too many possible donors, or none at all.

    Notes
    -----
    Rows are independent, so P(appears) = 1 - prod_i (1 - P(row i shows t)) and
    E[rows] = sum_i P(row i shows t).
    """
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
