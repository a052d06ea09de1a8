"""Invariants: what every release of a method keeps, so that two releases can be subtracted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain
from rwn_core.data.variable import NUMBERS, Kind
from rwn_core.laws.transition_law import is_discrete

Sets = tuple[tuple[str, ...], ...]
What = Literal["records", "rows", "values", "totals", "order", "support", "fixed"]

ORDERED = (*NUMBERS, Kind.ORDERED)
LEVELS_AND_DATES = tuple(kind for kind in Kind if kind not in NUMBERS)
WORDS: Mapping[What, str] = MappingProxyType(
    {
        "records": "every record's own values",
        "rows": "every combination of values of the columns that move together, as often",
        "values": "every value of a column, as often",
        "totals": "the total of a column",
        "order": "the order of the values of a column, ties aside",
        "support": "that released values are values of the column in the original",
        "fixed": "that nothing is random: equal tables give equal releases",
    }
)
"""How each invariant is said, after the word "keeps"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeps:
    """One invariant of a method, and the parameters at which it holds."""

    what: What
    # values of parameters at which it holds; at all if empty
    when: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()  # of masked columns; all if empty
    measured: bool = False  # only of numbers that are no integers: rounding breaks totals
    # an attribute with names of columns; a combination includes their values, too
    including: str = ""

    def holds(self, params: object) -> bool:
        """True if it holds at these parameters."""
        return all(getattr(params, name) == value for name, value in self.when.items())

    @property
    def words(self) -> str:
        """The invariant in words, with its conditions."""
        kinds = f" (of {', '.join(map(str, self.kinds))} columns)" if self.kinds else ""
        measured = " (of numbers that are no integers)" if self.measured else ""
        when = " and ".join(f"{name} = {_shown(value)}" for name, value in self.when.items())
        more = f", those of {self.including} included" if self.including else ""
        return WORDS[self.what] + more + kinds + measured + (f", where {when}" if when else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariants:
    """The statistics of a table that every release of a setting keeps, by names of columns."""

    records: tuple[str, ...] = ()  # every record keeps its own value
    # sets of columns of which every combination of values occurs as often as in the original; of
    # one column: every value
    rows: Sets = ()
    totals: tuple[str, ...] = ()  # those of `rows` keep theirs, too
    order: tuple[str, ...] = ()  # a larger value never becomes smaller than a smaller one's
    # sets of columns of which every released combination of values occurs in the original; a
    # missing value says nothing
    support: Sets = ()
    fixed: bool = False  # nothing is random

    @property
    def values(self) -> tuple[str, ...]:
        """The columns that keep each value, as often as it occurs."""
        return tuple(dict.fromkeys(chain.from_iterable(self.rows)))

    def rounded(self, precision: Mapping[str, float]) -> Invariants:
        """Return the invariants that hold where some columns are rounded: their totals do not."""
        return replace(self, totals=tuple(n for n in self.totals if n not in precision))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, as a record and a ledger hold it."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # tuples become lists
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Invariants:
        """Return what a record or a ledger holds."""
        invariants: Invariants = read_plain(cls, plain, "record", path="keeps")
        return invariants


def _shown(value: object) -> str:
    if value == ():
        return "nothing"
    return f"{value:g}" if isinstance(value, float) else str(value)


def declared(params: Any, microdata: Microdata, units: Sequence[tuple[str, ...]]) -> Invariants:
    """Return the invariants that a setting's `keeps` declares, for units of masked columns."""
    keeps = [each for each in params.keeps if each.holds(params)]
    columns: dict[str, list[Any]] = defaultdict(list)
    for each in keeps:
        able = _columns_of(each, microdata)
        sets = list(filter(None, (_within(unit, able) for unit in units)))
        names = list(chain.from_iterable(sets))
        if each.what in ("rows", "support"):
            included = _included(each, params, microdata)
            columns[each.what] += [(*included, *names_of_set) for names_of_set in sets]
        elif each.what == "values":  # a set of one column keeps every value
            columns["rows"] += [(name,) for name in names]
        elif each.what != "fixed":
            columns[each.what] += names
    # what no draw moves stays in its record, and a record's columns stay together
    moved = set(chain.from_iterable(units)) - set(columns["records"])
    unmoved = tuple(v.name for v in microdata.schema.released if v.name not in moved)
    columns["records"] = list(unmoved)
    if unmoved:
        columns["rows"].append(unmoved)
    unique = {what: tuple(dict.fromkeys(each)) for what, each in columns.items()}
    nothing_moves = not moved
    return Invariants(**unique, fixed=nothing_moves or _is_fixed(keeps))


def _within(names: Sequence[str], able: Container[str]) -> tuple[str, ...]:
    """Return the names that are among some."""
    return tuple(name for name in names if name in able)


def _is_fixed(keeps: Sequence[Keeps]) -> bool:
    """True if equal tables give equal releases."""
    return any(each.what == "fixed" for each in keeps)


def _columns_of(keeps: Keeps, microdata: Microdata) -> set[str]:
    """Return the columns of which a method can keep what it declares."""
    kinds = set(keeps.kinds or Kind)
    if keeps.measured:
        kinds &= set(NUMBERS)
    names = {variable.name for variable in microdata.schema.released if variable.kind in kinds}
    if not keeps.measured:
        return names
    return {name for name in names if not is_discrete(microdata, name)}


def _included(keeps: Keeps, method: object, microdata: Microdata) -> tuple[str, ...]:
    """Return the columns that an attribute of the parameters names beside those of a unit."""
    if not keeps.including:
        return ()
    names = getattr(method, keeps.including)
    return tuple(names(microdata) if callable(names) else names)
