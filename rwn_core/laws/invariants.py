"""What a method keeps of the original in every release: what two releases can be subtracted by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from rwn_core.data.variable import NUMBERS, Kind

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
    """Declare one invariant of a method, and at which parameters it holds."""

    what: What
    # values of parameters at which it holds; at all if empty
    when: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()  # of masked columns; all if empty
    measured: bool = False  # only of numbers that are no whole ones: rounding breaks totals
    # an attribute that names columns whose values stay beside the others' in one combination
    beside: str = ""

    def holds(self, params: Any) -> bool:
        """True if it holds at these parameters."""
        return all(getattr(params, name) == value for name, value in self.when.items())

    @property
    def words(self) -> str:
        """The invariant in words, with its conditions."""
        kinds = f" (of {', '.join(map(str, self.kinds))} columns)" if self.kinds else ""
        whole = " (of numbers that are not whole)" if self.measured else ""
        when = " and ".join(f"{name} = {_shown(value)}" for name, value in self.when.items())
        beside = f", beside those of {self.beside}" if self.beside else ""
        return WORDS[self.what] + beside + kinds + whole + (f", where {when}" if when else "")


def _shown(value: Any) -> str:
    return "nothing" if value == () else f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariants:
    """What every release of a setting keeps of a table, by the names of columns."""

    records: tuple[str, ...] = ()  # every record keeps its own value
    # sets of columns of which every combination of values occurs as often as in the original; of
    # one column: every value
    rows: Sets = ()
    totals: tuple[str, ...] = ()  # beside those of `rows`
    order: tuple[str, ...] = ()  # a larger value never becomes smaller than a smaller one's
    # sets of columns of which every released combination of values occurs in the original; a
    # missing value says nothing
    support: Sets = ()
    fixed: bool = False  # nothing is random

    @property
    def values(self) -> tuple[str, ...]:
        """The columns that keep each value, as often as it occurs."""
        return tuple(dict.fromkeys(name for unit in self.rows for name in unit))

    def rounded(self, precision: Mapping[str, float]) -> Invariants:
        """Return what is kept where some columns are rounded: no totals of them."""
        return replace(self, totals=tuple(n for n in self.totals if n not in precision))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, as a record and a ledger hold it."""
        return {
            name: [list(each) if isinstance(each, tuple) else each for each in value]
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Invariants:
        """Return what a record or a ledger holds."""
        sets = {name: tuple(tuple(each) for each in plain[name]) for name in ("rows", "support")}
        names = {name: tuple(plain[name]) for name in ("records", "totals", "order")}
        return cls(**names, **sets, fixed=bool(plain["fixed"]))
