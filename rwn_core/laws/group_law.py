"""The laws of methods that work by groups: fixed results, and values drawn within a group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, codes_like, value_codes
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable
from rwn_core.laws.moments import Moments, certain, independent
from rwn_core.laws.unit_law import FROM_FILE, UNMASKED, Privacy, UnitLaw

NO_OUTSIDERS = "What becomes of people outside depends on the groups that they would join."


@dataclass(frozen=True, kw_only=True, eq=False)
class DeterministicUnit(UnitLaw):
    """The law of variables released as fixed functions of the original."""

    # what each record releases, row by row; the original itself if nothing changes
    shown: Microdata

    @property
    def privacy(self) -> Privacy:
        """None at all; see `UnitLaw`."""
        return UNMASKED if self.shown is self.original else Privacy(np.inf, "follows from the file")

    @property
    def retained(self) -> Floats:
        """1 where no value changes."""
        own, shown = self._own_and_shown()
        pairs = [(codes_like(own, shown, name), value_codes(own, name)[0]) for name in self.names]
        return np.asarray(np.all([one == two for one, two in pairs], axis=0), np.float64)

    def _own_and_shown(self) -> tuple[Microdata, Microdata]:
        """Return both tables as they are written."""
        return self._written, rounded(self.shown, self.precision)

    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """1 where a row has what the record releases; see `UnitLaw`."""
        if people is not None and self.shown is not self.original:
            raise NotApplicable(NO_OUTSIDERS)
        shown = rounded(self.shown if people is None else people, self.precision)
        same = np.ones((len(rows), shown.n), dtype=bool)
        for name in self.names:
            same &= codes_like(shown, masked, name)[rows, None] == value_codes(shown, name)[0]
        return same.astype(np.float64)

    def moments(self) -> Moments:
        """The results, without any spread."""
        return certain(self._own_and_shown()[1], self.names)

    def table(self) -> tuple[sparse.csr_array, list[Any]]:
        """Codes of the released values; new values follow the original's."""
        if len(self.names) > 1:
            raise NotApplicable("Several variables change together.")
        (name,) = self.names
        own, shown = self._own_and_shown()
        values = list(value_codes(own, name)[1])
        codes, results = value_codes(shown, name)
        column = codes_like(own, shown, name)
        for code, value in enumerate(results):
            members = codes == code
            if (column[members] < 0).any():
                column[members] = len(values)
                values.append(value)
        n = len(column)
        shape = (len(column), len(values))
        return sparse.csr_array((np.ones(n), column, np.arange(n + 1)), shape=shape), values


def unchanged(original: Microdata, name: str) -> DeterministicUnit:
    """Return the law of a variable released unmasked."""
    return DeterministicUnit(
        original=original, shown=original, names=(name,), keeps_value_counts=True
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RedrawWithinGroups(UnitLaw):
    """The law of a variable drawn within groups of values, which may exchange them."""

    group: Integers  # shape (V,): the group of each value, in the order of `value_codes`
    chance: Floats  # shape (V,): P(a value is drawn in its group); sums to 1 in each

    @property
    def _of_record(self) -> Integers:
        """The group of each record, shape (n,)."""
        return self.group[value_codes(self.original, self.names[0])[0]]

    def _by_group(self) -> tuple[sparse.csr_array, list[Any]]:
        """P(each written value | group), and the values."""
        codes, values = value_codes(self._written, self.names[0])
        becomes = np.zeros(len(self.group), dtype=np.int64)
        becomes[value_codes(self.original, self.names[0])[0]] = codes
        shape = (int(self.group.max()) + 1, len(values))
        return sparse.csr_array((self.chance, (self.group, becomes)), shape=shape), values

    @property
    def privacy(self) -> Privacy:
        """None as soon as there are two groups; see `UnitLaw`."""
        if self.keeps_value_counts:
            return Privacy(np.inf, "keeps the count of every value, which one person changes")
        if self.group.max() > 0:
            return Privacy(np.inf, "can only take values of its group")
        return FROM_FILE

    @property
    def retained(self) -> Floats:
        """P(the value does not change)."""
        # Shape: (n,).
        shown = value_codes(self._written, self.names[0])[0]
        return np.asarray(self._by_group()[0][self._of_record, shown], dtype=np.float64).ravel()

    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """The probability of the rows' values in each record's group; see `UnitLaw`."""
        if people is not None:
            raise NotApplicable(NO_OUTSIDERS)
        released = codes_like(self._written, masked, self.names[0])[rows]
        of_rows = self._by_group()[0][:, np.maximum(released, 0)].toarray().T
        return np.where(released[:, np.newaxis] >= 0, of_rows, 0.0)[:, self._of_record]

    def moments(self) -> Moments:
        """Mean and variance of each record's group; sums are certain where records exchange."""
        table, values = self._by_group()
        own = self.original.values(self.names[0])
        group = self._of_record
        center = np.nanmean(own) if not np.isnan(own).all() else 0.0
        numbers = np.array([0.0 if value is None else value - center for value in values])
        mean = np.asarray(table @ numbers)
        variance = np.maximum(table @ numbers**2 - mean**2, 0.0)
        means = np.where(np.isnan(own), np.nan, center + mean[group])[:, np.newaxis]
        found = independent(self.names, means, variance[group][:, np.newaxis])
        return replace(found, totals=np.zeros((1, 1))) if self.keeps_value_counts else found

    def table(self) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value is released for each record), and the values; see `UnitLaw`."""
        table, values = self._by_group()
        return sparse.csr_array(table[self._of_record]), values
