"""The law of chained slices: only the first slice says from which record a row comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables


class ChainLaw(CellLaw):
    """The law of a release with chained slices, given what its rows show.

    P(row r | record i is its source) = P_i(values of the first slice) g(row), and g is the same
    for all i, because donors of later slices depend on released values alone. So a row tells from
    which record it comes by its first slice only, whatever all rows together show. Donors of a
    later slice are those of row r, given its earlier slices in this release: `later` holds their
    probabilities by the name of each variable of these slices. The law holds for values released
    in `steps`, the precision of the draw.
    """

    def __init__(
        self, first: CellLaw, later: Mapping[str, DonorTables], steps: Mapping[str, float]
    ) -> None:
        super().__init__(first.original, first.neighborhoods, first.q, rule=first.rule)
        self.donors, self.later, self._steps = first.donors, later, dict(steps)

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release in the precision that it was drawn with; others are refused."""
        if dict(precision) not in ({}, self._steps):
            raise NotApplicable(
                "Later slices of a chain are drawn near to rounded values, so that a chain cannot "
                "be rounded afterwards; draw it with this precision."
            )
        return super().rounded(precision)

    def telling(self, names: Sequence[str] | None = None) -> list[tuple[str, ...]]:
        """Return the first slice, or the part that is known; all of it where later ones are."""
        known = set(self.original.names) if names is None else set(names)
        first = tuple(
            each.name for each in self.original.schema.released if each.name not in self.later
        )
        if names is not None and not known & self.later.keys():
            first = tuple(name for name in first if name in known)
        return [first] if first else []

    @property
    def source(self) -> CellLaw:
        """The law of the first slice alone."""
        (first,) = self.telling()
        chosen = tuple(each for each in self.original.schema.variables if each.name in first)
        original = Microdata(self.original.frame[list(first)], Schema(variables=chosen))
        cells = CellLaw(original, self.neighborhoods, np.ones(len(first)), rule=self._rule)
        cells.donors, cells.precision = self.donors, self.precision
        return cells

    @property
    def independent(self) -> CellLaw:
        """Refused: later slices depend on the earlier ones."""
        raise NotApplicable("Chained slices of a row depend on each other; this is for others.")

    @property
    def probabilities(self) -> sparse.csr_array:
        """Refused: each slice has donors of its own."""
        return self.independent.probabilities

    def retained_each(self, units: Sequence[tuple[str, ...]]) -> Floats:
        """`retained` of several units at once, shape (units, n)."""
        each = [(self.unit_donors(names[0]), joint_codes(self.original, names)) for names in units]
        return np.concatenate([donors.own_value_chance([codes]) for donors, codes in each])

    def rows_unchanged(self) -> Floats:
        """Refused, shape (n,): what a row shows later depends on what it shows first."""
        return self.independent.rows_unchanged()

    def unit_chances(
        self,
        names: tuple[str, ...],
        masked: Microdata,
        rows: Integers,
        people: Microdata | None = None,
    ) -> Floats:
        """Return likelihoods of the first slice; a later one is equally likely for all records.

        Of shape (rows, n).
        """
        if names[0] in self.later:
            return np.ones((len(rows), self.original.n))
        return super().unit_chances(names, masked, rows, people)
