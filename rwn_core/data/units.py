"""Find the unit that risk is counted in: the person or household of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.identity.panel import repeated_people
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import UNITS, Belong, Rows
from rwn_core.data.variable import Role


class Unit(NamedTuple):
    """The rows that belong together, as a variable numbers them."""

    name: str
    numbers: NDArray[np.int64]  # shape (n,), from 0; a row without a number is a unit alone
    role: Role

    @property
    def size(self) -> int:
        """Number of units."""
        return int(self.numbers.max()) + 1

    @property
    def words(self) -> str:
        """Return "people" or "households"."""
        return "households" if self.role is Role.HOUSEHOLD else "people"


def unit_of(table: Microdata) -> Unit | None:
    """Return the unit that risk is counted in; None where a row is one.

    What the schema states of the rows comes first, then the roles of variables. A person with
    several rows comes before the household; of several identifiers that number people, the one with
    most values. An identifier that merely stays out of a release, such as a region, is none (see
    `repeated_people`), nor is the number of a person within the household, which comes again in
    others.
    """
    rows = table.schema.rows
    if rows is not None and rows.of in UNITS:
        return table.cached(("unit", rows), lambda: _stated(table, rows))
    inside = tuple((v.name, v.role) for v in table.schema.variables if not v.is_released)
    return table.cached(("unit", inside), lambda: _find(table)) if inside else None


def people_in(table: Microdata) -> int:
    """Return the number of people in a table: of units, or of records where a row is one."""
    unit = unit_of(table)
    return table.n if unit is None else unit.size


def random_places(table: Microdata, seed: int) -> NDArray[np.int64]:
    """Return the place of each record's unit in a random order of the units, shape (n,)."""
    unit = unit_of(table)
    numbers = np.arange(table.n) if unit is None else unit.numbers
    return np.argsort(np.random.default_rng(seed).permutation(numbers.max() + 1))[numbers]


def _stated(table: Microdata, rows: Rows) -> Unit | None:
    """Number the rows with the same values; one that lacks a value is a unit alone."""
    codes = np.column_stack([table.codes(name)[0] for name in rows.by])
    known = (codes >= 0).all(axis=1)
    joint = np.full(table.n, -1, dtype=np.int32)
    joint[known] = np.unique(codes[known], axis=0, return_inverse=True)[1].ravel()
    numbers = number_units(joint)
    role = Role.PERSON if rows.of is Belong.PERSON else Role.HOUSEHOLD
    unit = Unit(" and ".join(rows.by), numbers, role)
    return unit if 1 < unit.size < table.n else None


def _find(table: Microdata) -> Unit | None:
    by_role: dict[Role, list[Unit]] = {}
    for variable in table.schema.variables:
        if not variable.is_released:
            numbers = number_units(table.codes(variable.name)[0])
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            unit = Unit(variable.name, numbers, variable.role)
            if 1 < unit.size < table.n:
                by_role.setdefault(variable.role, []).append(unit)
    if Role.IDENTIFIER in by_role and Role.PERSON not in by_role:
        names = [unit.name for unit in by_role[Role.IDENTIFIER]]
        people = repeated_people(table.frame, table.schema.names, names)
        homes = [home.numbers for home in by_role.get(Role.HOUSEHOLD, [])]
        by_role[Role.IDENTIFIER] = [
            unit
            for unit in by_role[Role.IDENTIFIER]
            if unit.name in people
            and all(
                len(set(zip(unit.numbers, home, strict=True))) < 2 * unit.size for home in homes
            )
        ]
    for role in (Role.PERSON, Role.IDENTIFIER, Role.HOUSEHOLD):
        if by_role.get(role):
            return max(by_role[role], key=lambda unit: unit.size)
    return None


def number_units(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the units, shape (n,); a row without a number (-1) is a unit alone."""
    numbers = codes.astype(np.int64)
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = numbers.max(initial=-1) + 1 + np.arange(len(alone))
    return numbers
