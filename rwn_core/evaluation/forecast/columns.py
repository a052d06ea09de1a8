"""The columns that a forecast adds up: numbers, levels and value codes of a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind

MOST_LEVELS = 200  # of one variable; more would be a name, not a category


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """A table's released variables as columns."""

    released: tuple[str, ...]  # all p variables of a release
    names: tuple[str, ...]  # the m continuous and count variables
    # center, unit: shape (m,): a number is center + unit times its column
    center: Floats
    unit: Floats
    # numbers, known: shape (n, m): from -1 to 1, 0 where missing; 1 where known
    numbers: Floats
    known: Floats
    positions: Integers  # shape (m,): which of the p released variables each is
    levels: dict[str, list[Any]]  # of the categorical and ordered variables with at most 200 levels
    dummies: Floats  # shape (n, L): a column for each level, in the order of `levels`
    dummy_positions: Integers  # shape (L,)
    # shape (n, p): equal where two records have the same value, missing included
    codes: Integers
    units: tuple[tuple[int, ...], ...]  # which released variables share a donor; most stand alone

    @classmethod
    def from_table(cls, microdata: Microdata) -> Columns:
        """The columns of a table."""
        released = [variable.name for variable in microdata.schema.released]
        names = microdata.numeric_names
        # numbers: divided before they are summed, as the sum of huge numbers would overflow
        values = microdata.matrix(names)
        missing = np.isnan(values)
        known = (~missing).astype(np.float64)
        filled = np.where(missing, 0.0, values)
        center = (filled / np.maximum(known.sum(axis=0), 1.0)).sum(axis=0)
        numbers = np.where(missing, 0.0, filled - center)
        unit = np.abs(numbers).max(axis=0, initial=0.0)
        unit[unit == 0] = 1.0
        # levels, value codes, and the variables that share a donor
        levels: dict[str, list[Any]] = {}
        dummies, positions, coded = [np.empty((microdata.n, 0))], list[int](), list[Integers]()
        units: dict[object, list[int]] = {}
        for position, variable in enumerate(microdata.schema.released):
            units.setdefault((variable.group,) if variable.group else position, []).append(position)
            if variable.kind not in (Kind.CATEGORICAL, Kind.ORDERED):
                different = np.unique(microdata.values(variable.name), return_inverse=True)
                coded.append(different[1].astype(np.int64))
                continue
            codes, found = microdata.codes(variable.name)
            coded.append(codes.astype(np.int64))
            if len(found) <= MOST_LEVELS:
                levels[variable.name] = list(found)
                dummies.append((codes[:, None] == np.arange(len(found))).astype(np.float64))
                positions += [position] * len(found)
        return cls(
            released=tuple(released),
            names=tuple(names),
            center=center,
            unit=unit,
            numbers=numbers / unit,
            known=known,
            positions=np.array([released.index(name) for name in names], dtype=np.int64),
            levels=levels,
            dummies=np.column_stack(dummies),
            dummy_positions=np.array(positions, dtype=np.int64),
            codes=np.column_stack(coded),
            units=tuple(map(tuple, units.values())),
        )

    @property
    def complete(self) -> bool:
        """True if no number is missing."""
        return bool(self.known.all())

    def pairs_sharing_donor(self, positions: Integers) -> list[tuple[int, int]]:
        """Which pairs of columns, given each one's variable, share a donor."""
        unit_of = {position: number for number, unit in enumerate(self.units) for position in unit}
        own = [unit_of[int(position)] for position in positions]
        return [
            (one, two)
            for one, two in combinations(range(len(own)), 2)
            if own[one] == own[two] and positions[one] != positions[two]
        ]
