"""The law of methods without donors: each unit of variables is changed by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, codes_like
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import LawOfRows
from rwn_core.laws.donor_lists import Column
from rwn_core.laws.group_law import unchanged
from rwn_core.laws.moments import Moments, joined
from rwn_core.laws.unit_law import Privacy, Unit, UnitLaw


class SeparateLaw(LawOfRows):
    """The law of a method that changes each unit of variables by itself, without donors.

    Each released variable is in one of `parts`. Without the variables `known_by` it is unknown what
    a record does.
    """

    def __init__(self, original: Microdata, parts: Sequence[UnitLaw], known_by: Unit = ()) -> None:
        self.original, self._known_by = original, known_by
        self.precision: Mapping[str, float] = {}
        self._parts = {part.names: part for part in parts}

    @classmethod
    def of_changes(cls, original: Microdata, parts: Sequence[UnitLaw], known_by: Unit = ()) -> Self:
        """Return the law in which variables of no part are released unmasked."""
        changed = set(chain.from_iterable(part.names for part in parts))
        order = [variable.name for variable in original.schema.released]
        every = [*parts, *(unchanged(original, name) for name in order if name not in changed)]
        if all(len(part.names) == 1 for part in parts):
            every.sort(key=lambda part: order.index(part.names[0]))
        return cls(original, every, known_by)

    @property
    def q(self) -> Floats:
        """The mean probability that a cell of each released variable changes, shape (p,)."""
        return np.array([self.modification(v.name) for v in self.original.schema.released])

    def _part(self, name: str) -> UnitLaw:
        return next(part for names, part in self._parts.items() if name in names)

    def units(self) -> list[Unit]:
        """Return the units: variables drawn together."""
        return list(self._parts)

    def privacy(self) -> dict[Unit, Privacy]:
        """Return each unit's differential-privacy parameters."""
        return {unit: part.privacy for unit, part in self._parts.items()}

    def moments(self) -> Moments:
        """Mean and spread of all released numbers; see `Law.moments`."""
        return joined([part.moments() for part in self._parts.values()])

    def keeps_value_counts(self, name: str) -> bool:
        """True if a variable keeps the counts of its values."""
        return self._part(name).keeps_value_counts

    def modification(self, name: str) -> float:
        """The mean probability that a value of one variable changes."""
        return float(1 - self.retained(name).mean())

    def retained(self, *names: str) -> Floats:
        """P(the released values of one unit's variables equal the original's), shape (n,)."""
        return self._part(names[0]).restricted_to(frozenset(names)).retained

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""
        return np.asarray(np.prod([part.retained for part in self._parts.values()], axis=0))

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release after its values are rounded; see `CellLaw.rounded`."""
        if not precision:
            return self
        parts = [part.rounded(precision) for part in self._parts.values()]
        other = type(self)(rounded(self.original, precision), parts, self._known_by)
        other.precision = {**self.precision, **precision}
        return other

    def restricted_to(self, original: Microdata) -> Self:
        """Return the law for an intruder who knows only these variables."""
        names = frozenset(original.names)
        if not names.issuperset(self._known_by):
            raise NotApplicable("Without the variables that make the blocks the law is not known.")
        known = [part for unit, part in self._parts.items() if names & set(unit)]
        parts = [part.restricted_to(names) for part in known]
        other = type(self)(original, parts, self._known_by)
        other.precision = {name: s for name, s in self.precision.items() if name in names}
        return other

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """The law of one variable; see `CellLaw.table`."""
        return self._part(name).restricted_to(frozenset((name,))).table()

    def supports(self, names: Sequence[str], enough: float = np.inf) -> list[Column]:
        """Every record may release any value: the most sources that a row can have."""
        n = self.original.n
        return [(np.array([n]), np.array([1.0])) for _ in names]

    def unit_chances(
        self, names: Unit, masked: Microdata, rows: Integers, people: Microdata | None = None
    ) -> Floats:
        """Return the likelihood of the rows' values for each person, up to a factor a row."""
        # Shapes: rows (m,); the answer (m, people.n).
        return self._part(names[0]).restricted_to(frozenset(names)).chances(masked, rows, people)

    def likelihood_columns(
        self, names: Unit, masked: Microdata, rows: Integers
    ) -> tuple[sparse.csc_array, Integers]:
        """The law of one unit, and which of its columns holds each row's values."""
        if len(names) > 1:
            raise NotApplicable("This is for a method that changes each variable by itself.")
        table, _ = self.table(names[0])
        return sparse.csc_array(table), codes_like(self.original, masked, names[0])[rows]
