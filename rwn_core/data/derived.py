"""Find numbers that follow from other numbers of the same record: totals, ages, rates, indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata

DERIVED = (
    "{name} follows from {parts} in every record of the original; in this file it does not in "
    "{share} of the records. Compute it again before they are used together."
)
FEWEST = 30  # records with all values of a relation
# records that a candidate is read on before all
STAGES = (2, 8, 64, 256)
SAMPLE = 2_000
AMBIGUOUS = 20  # sets of parts that fit one variable: luck of many zeros
MOST, MOST_OF_THREE = 100, 60  # variables among which two and three parts are looked for
INFORMATIVE = 5.0  # standard deviations of a variable to what rounding leaves open
_DECIMALS = 6
_POWERS = {"ratio": 1, "index": 2}  # of the second part, which the first is divided by


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A variable that follows from others in every record, within rounding."""

    name: str
    parts: tuple[str, ...]
    # "sum": of the parts; "shift": a constant and the part; "rest": a constant less the part;
    # "ratio", "index": a factor times the first part, divided by the second one or its square
    kind: str
    low: float = 0.0  # ends of the constant or factor
    high: float = 0.0

    @property
    def words(self) -> str:
        """Say what follows from what; no value."""
        return f"{self.name} follows from {listed(self.parts)}"

    def broken(self, table: Microdata, steps: Mapping[str, float]) -> float:
        """Return the share of a table's records in which the relation does not hold.

        `steps` are those that the table was rounded to; 0 where no record has all values.
        """
        # constants as many as the original has; a factor has its own rounding in each record
        names = (self.name, *self.parts)
        rounded = float(self.kind in _POWERS)
        columns = [table.values(name) for name in names]
        halves = (steps.get(name, 0.0) / 2 for name in names)
        errors = [max(_error(e, rounded), h) for e, h in zip(columns, halves, strict=True)]
        middle, width = _constants(self.kind, columns, errors)
        known = ~np.isnan(middle)
        off = (middle - width > self.high) | (middle + width < self.low)
        return float(off[known].mean()) if known.any() else 0.0


def broken_relations(
    microdata: Microdata, masked: Microdata, steps: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return the relations of the original that some records of a release do not keep."""
    found = [(each, each.broken(masked, steps)) for each in derived_variables(microdata)]
    return [{"name": each.name, "parts": list(each.parts), "share": b} for each, b in found if b]


def derived_variables(microdata: Microdata) -> tuple[Derived, ...]:
    """Find the released numbers that follow from up to three others in every record.

    A relation holds in all records, and a variable's spread is beyond what rounding leaves open,
    so that independent numbers show none. Three parts are looked for among up to 60 numbers, two
    among up to 100.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(20, 60), "wage": range(40)})
    >>> frame["born"] = 2024 - frame["age"]
    >>> data = Microdata.from_frame(frame.assign(wage=(frame["wage"] * 37) % 41))
    >>> [each.words for each in derived_variables(data)]
    ['born follows from age']
    """
    return microdata.cached("derived_variables", lambda: tuple(_found(microdata)))


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence does.

    >>> listed(["age"]), listed(["a", "b", "c"])
    ('age', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _found(microdata: Microdata) -> Iterator[Derived]:
    """Yield each variable that follows from others, once."""
    sampled = _sampled_numbers(microdata)
    names = list(sampled)
    if microdata.n < FEWEST or len(names) < 2:
        return
    table = np.column_stack([sampled[name] for name in names])
    errors = np.array([_error(column) for column in table.T])
    # the rows that tell most: neither missing values nor zeros
    rows = table[np.argsort((np.nan_to_num(table) == 0).sum(axis=1), kind="stable")[: STAGES[-1]]]
    parts_of: dict[int, tuple[int, ...]] = {}  # by the position of each variable that follows
    for kind, candidates in _candidates(len(names)):
        fitting = _fitting(kind, candidates, rows, errors)
        for y, parts in sorted(fitting, key=lambda each: -each[0]):
            if _is_known(y, parts, parts_of) or _is_said_by_the_other(kind, y, parts):
                continue
            relation = [names[at] for at in (y, *parts)]
            ends = _ends_in_all_records(kind, relation, sampled, microdata)
            if ends is not None:
                parts_of[y] = parts
                low, high = ends
                yield Derived(
                    name=relation[0], parts=tuple(relation[1:]), kind=kind, low=low, high=high
                )


def _sampled_numbers(microdata: Microdata) -> dict[str, Floats]:
    """Return some records' values of the numbers that have three different ones, by name."""
    n = microdata.n
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))
    sampled = {name: microdata.values(name)[some] for name in microdata.numeric_names}
    return {name: x for name, x in sampled.items() if len(np.unique(x[~np.isnan(x)])) > 2}


def _is_known(y: int, parts: tuple[int, ...], parts_of: Mapping[int, tuple[int, ...]]) -> bool:
    """True if a variable follows from others, or is a part of a relation of the same variables."""
    # of one relation the last variable follows from the others
    relation = {y, *parts}
    return y in parts_of or any(relation == {at, *parts_of[at]} for at in parts_of)


def _is_said_by_the_other(kind: str, y: int, parts: tuple[int, ...]) -> bool:
    """True if two variables follow from each other, and the later one is the part."""
    return kind in ("shift", "rest") and parts[0] > y


def _ends_in_all_records(
    kind: str, relation: Sequence[str], sampled: Mapping[str, Floats], microdata: Microdata
) -> tuple[float, float] | None:
    """Return the ends of the constant that all records share; None where there is none."""
    if _checked(kind, [sampled[name] for name in relation]) is None:  # a sample is read faster
        return None
    return _checked(kind, [microdata.values(name) for name in relation])


def _candidates(count: int) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield each kind with the positions of possible parts, shape (candidates, parts)."""
    single = np.arange(count)[:, None]
    pairs = np.array(list(combinations(range(count), 2)))
    yield "shift", single
    yield "rest", single
    if count > MOST:
        return
    yield "sum", pairs
    if 3 <= count <= MOST_OF_THREE:
        yield "sum", np.array(list(combinations(range(count), 3)))
    for kind in _POWERS:
        yield kind, np.array(list(permutations(range(count), 2)))


def _fitting(
    kind: str, parts: NDArray[np.int64], rows: Floats, errors: Floats
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each variable with the parts that it may follow from, by a few rows."""
    # what all variables share at the first stage, at which most candidates fail
    begin = [rows[: STAGES[0], each] for each in parts.T], [errors[each] for each in parts.T]
    for y in range(len(errors)):
        left, (columns, theirs) = parts, begin
        for few in STAGES:
            middle, width = _constants(kind, [rows[:few, [y]], *columns], [errors[y], *theirs])
            low = np.fmax.reduce(middle - width)
            high = np.fmin.reduce(middle + width)
            left = left[(low <= 0) & (high >= 0) if kind == "sum" else low <= high]
            left = left[(left != y).all(axis=1)]
            more = STAGES[min(STAGES.index(few) + 1, len(STAGES) - 1)]
            columns, theirs = [rows[:more, each] for each in left.T], [errors[e] for e in left.T]
        if len(left) <= AMBIGUOUS:
            yield from ((y, tuple(map(int, each))) for each in left)


def _checked(kind: str, columns: Sequence[Floats]) -> tuple[float, float] | None:
    """Return the ends of the constant that all records share; None where there is none."""
    known = ~np.isnan(columns).any(axis=0)
    columns = [each[known] for each in columns]
    if known.sum() < FEWEST or any(np.ptp(each) == 0 for each in columns):
        return None
    spread = float(columns[0].std())
    for rounded in (0.0, 1.0):  # counts are exact
        middle, width = _constants(kind, columns, [_error(each, rounded) for each in columns])
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.abs(columns[0] / middle) if kind in _POWERS else 1.0
        low, high = float((middle - width).max()), float((middle + width).min())
        fits = low <= 0 <= high if kind == "sum" else low <= high
        if fits and INFORMATIVE * float(np.median(width * scale)) <= spread:
            return (low, high) if kind in _POWERS else (float(middle.min()), float(middle.max()))
    return None


def _constants(
    kind: str, columns: Sequence[Floats], errors: Sequence[Floats | float]
) -> tuple[Floats, Floats]:
    """Return the constant of each record, and what rounding leaves open of it on either side."""
    # columns and both results: shape (n,) each
    y = columns[0]
    parts = columns[1:]
    if kind not in _POWERS:
        sign = -1.0 if kind == "rest" else 1.0
        return y - sign * sum(parts), np.zeros(y.shape) + sum(errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = parts[0] / parts[1] ** _POWERS[kind]
        open_share = errors[1] / np.abs(parts[0]) + _POWERS[kind] * errors[2] / np.abs(parts[1])
        middle, width = y / value, (errors[0] + np.abs(y) * open_share) / np.abs(value)
    known: Booleans = np.isfinite(middle) & np.isfinite(width)
    return np.where(known, middle, np.nan), np.where(known, width, np.nan)


def _error(column: Floats, rounded: float = 1.0) -> float:
    """Return half of the step that a column's values are written with, or that of computing."""
    # column: shape (n,)
    known = column[~np.isnan(column)]
    some = known[:SAMPLE]
    computed = 1e-9 * float(np.abs(known).max(initial=0.0))
    for decimals in range(_DECIMALS + 1 if rounded else 0):
        moved = some * 10.0**decimals
        if (np.abs(moved - np.round(moved)) <= 1e-6).all():
            return max(0.5 * 10.0**-decimals, computed)
    return computed
