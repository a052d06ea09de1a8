"""What a law says of single cells, as exact fractions, and of a record's values as donors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import value_codes
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.posterior import attacked_units

LARGEST_COUNT = 10**6  # a share of selected records is a count divided by at most so many


def exact_probability(law: Law, record: int, name: str, value: Any) -> Fraction:
    """P(released value of this record's variable is `value`) exactly; missing is None.

    The modification probability of a cell must be a short decimal, and the probability that a row
    is selected a count divided by n.
    """
    components = law.components()
    if len(components) == 1:
        return _of_cells(components[0].cells, record, name, value)
    drawn = Fraction(components[0].weight).limit_denominator(LARGEST_COUNT)
    shares = (drawn, 1 - drawn)
    return sum(
        (
            share * _of_cells(cells, record, name, value)
            for share, (_, cells) in zip(shares, components, strict=True)
        ),
        Fraction(0),
    )


def _of_cells(cells: CellLaw, record: int, name: str, value: Any) -> Fraction:
    codes, values = value_codes(cells.original, name)
    code = values.index(value) if value in values else -1
    q = Fraction(str(cells.modification(name)))
    members = cells.neighborhoods.members(record)
    if len(members):
        drawn = Fraction(int((codes[members] == code).sum()), len(members))
    else:
        drawn = Fraction(int(value is None))
    return (1 - q) * int(codes[record] == code) + q * drawn


def donor_load(law: Law, name: str) -> NDArray[np.float64]:
    """Expected number of records that release each record's value of a variable, shape (n,).

    Its sum is n; a release's expected mean weighs the original's values with load / n.
    """
    q = law.modification(name)
    return (1 - q) + q * np.asarray(law.probabilities.sum(axis=0)).ravel()


def coincidence(law: Law) -> NDArray[np.float64]:
    """P(two independent releases of a record are the same row), shape (n,)."""
    cells = law.independent
    rows = np.arange(law.original.n)
    result = np.ones(len(rows))
    for unit in attacked_units(cells, None):
        table, _ = cells.likelihood_columns(unit, cells.original, rows)
        result *= np.asarray(table.multiply(table).sum(axis=1)).ravel()
    return result
