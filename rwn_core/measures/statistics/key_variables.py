"""Key and confidential variables, and the equivalence classes of the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import LEVELS, Role
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, columns, empty_records, released_rows
from rwn_core.measures.measure import Detail, Reading, Sides

_DENSE = 16  # possible pairs of values for each record, up to which they are counted unsorted
MOST_PATTERNS = 64  # of missing values; beyond, missing counts as a value of its own


def key_names(comparison: Comparison) -> tuple[str, ...]:
    """Return the variables with the role key; without any, all that are not confidential."""
    # A sampling weight is known to the survey alone.
    released = comparison.original.schema.released
    keys = tuple([v.name for v in released if v.role is Role.KEY])
    if keys:
        return keys
    names = tuple([v.name for v in released])
    secret = confidential_names(comparison)
    unknown = {v.name for v in released if v.role is Role.SAMPLING_WEIGHT}.union(secret)
    return tuple([name for name in names if name not in unknown]) or names


def confidential_names(comparison: Comparison) -> tuple[str, ...]:
    """Return the confidential variables; without any, the regression's response."""
    released = comparison.original.schema.released
    secret = tuple([v.name for v in released if v.role is Role.CONFIDENTIAL])
    question = comparison.question
    if secret or question is None or len(released) < 2:
        return secret
    known = {v.name: v.role for v in released}
    return (question.response,) if known.get(question.response) is Role.OTHER else ()


def required_confidential(comparison: Comparison) -> tuple[str, ...]:
    """Return `confidential_names`; raise NotApplicable if there are none."""
    names = confidential_names(comparison)
    if not names:
        raise NotApplicable("No variable is confidential. Say which is.")
    return names


def keys_and_secrets(comparison: Comparison) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys that are not confidential, and the confidential variables; some of each."""
    secrets = required_confidential(comparison)
    keys = tuple([name for name in key_names(comparison) if name not in secrets])
    if not keys:
        raise NotApplicable("No key variable other than the confidential ones is left.")
    return keys, secrets


def only(microdata: Microdata, names: Sequence[str]) -> Microdata:
    """Return a table of some of its variables, in its own order."""
    chosen = tuple(v for v in microdata.schema.variables if v.name in names)
    return Microdata(microdata.frame[[v.name for v in chosen]], Schema(variables=chosen))


def cell_codes(comparison: Comparison, names: Sequence[str]) -> tuple[Integers, Integers]:
    """Return the values of both tables as codes, shapes (n, v) and (n', v)."""
    # Equal codes in a column are equal values, also across the tables; -1 is missing.
    known = comparison.cached_for_release("paired codes", dict[str, tuple[Integers, Integers]])
    original, masked = comparison.original, comparison.masked
    numbered = comparison.cached_for_original("numbered values", dict[str, tuple[Floats, Integers]])
    levels, plain = list[str](), list[str]()
    for name in names:
        if name not in known:
            kind = original.schema.by_name[name].kind
            (levels if kind in LEVELS else plain).append(name)
    for name in levels:
        one, other = (codes(original, table, name)[0] for table in (original, masked))
        known[name] = one.astype(np.int64), other.astype(np.int64)
    both = [columns(original, table, plain) if plain else () for table in (original, masked)]
    for name, values, shown in zip(plain, *both, strict=True):
        if name not in numbered:
            numbered[name] = _numbered(values)
        distinct, own = numbered[name]
        place = np.searchsorted(distinct, shown)
        found = np.append(distinct, np.nan)[place] == shown
        if (found | np.isnan(shown)).all():  # nothing but the original's values, as donors give
            known[name] = own, np.where(found, place, -1)
        else:
            _, together = _numbered(np.concatenate((values, shown)))
            known[name] = together[: original.n], together[original.n :]
    before, after = zip(*[known[name] for name in names], strict=True)
    return np.column_stack(before), np.column_stack(after)


def key_cells(comparison: Comparison, keys: Sequence[str]) -> tuple[Integers, Integers]:
    """Return `cell_codes` of the keys for counting equivalence classes."""
    # Released records that lost all values form a class of their own.
    original, released = cell_codes(comparison, keys)
    lost = empty_records(comparison.masked)
    return original, np.where(lost[:, np.newaxis], released.max(axis=0) + 1, released)


def _numbered(values: Floats) -> tuple[Floats, Integers]:
    """Return the distinct values, ascending, and the code of each record; -1 is missing."""
    # Shapes: values (n,); distinct (d,); numbered (n,).
    known = ~np.isnan(values)
    numbered = np.full(len(values), -1, dtype=np.int64)
    distinct, numbered[known] = np.unique(values[known], return_inverse=True)
    return distinct, numbered


def classes(cells: Integers) -> Integers:
    """Return the number of each record's equivalence class, shape (n,); missing is a value."""
    numbered = np.zeros(len(cells), dtype=np.int64)
    for column in cells.T:
        numbered = finer(numbered, column)
        if numbered.max(initial=-1) + 1 == len(cells):
            break  # every record is alone in a class; no further variable changes that
    return numbered


def finer(numbered: Integers, column: Integers) -> Integers:
    """Return the classes of records that are equal in some variables and in one more, shape (n,).

    Classes are numbered in the order of the values.
    """
    # both factors are at most the number of records, or of values in two tables
    pair = numbered * (column.max(initial=-1) + 2) + column + 1
    most = int(pair.max(initial=-1)) + 1
    if most > _DENSE * len(pair):
        return np.unique(pair, return_inverse=True)[1].astype(np.int64)
    occurs = np.zeros(most, dtype=bool)
    occurs[pair] = True
    return np.asarray((np.cumsum(occurs) - 1)[pair], dtype=np.int64)


def confidential_classes(
    comparison: Comparison,
) -> tuple[tuple[str, ...], tuple[str, ...], list[tuple[Integers, Integers]]]:
    """Return keys, confidential variables, and both tables' class numbers and value codes."""
    keys, secrets = keys_and_secrets(comparison)
    rows = released_rows(comparison.original, comparison.masked)
    (before, after), (own, shown) = cell_codes(comparison, keys), cell_codes(comparison, secrets)
    return keys, secrets, [(classes(before), own), (classes(after[rows]), shown[rows])]


ROWS_OF_UNITS = "Rows of one {0} with the same key values count as one"
"""What a measure says of units that counts classes of equal key values."""
SHARES_OF_UNITS = f"{ROWS_OF_UNITS}, and each {{0}} counts by the share of the own rows"
"""The same, where the value is a share of units."""


def owners(comparison: Comparison) -> tuple[Integers | None, Integers | None]:
    """Return the unit of each record, and of each released row; None where a row is one."""
    rows = released_rows(comparison.original, comparison.masked)
    units = comparison.units
    if units is None or comparison.masked.n != comparison.original.n:
        return units, None  # the people of the rows are not known
    return units, units[rows]


def once(cells: Integers, units: Integers | None) -> Floats:
    """Return what each record counts, shape (n,), if a unit's records with equal cells are one."""
    if units is None:
        return np.ones(len(cells))
    pairs = classes(np.column_stack((cells, units)))
    return np.asarray(1.0 / np.bincount(pairs)[pairs])


def counts_of_classes(cells: Integers, units: Integers | None) -> Integers:
    """Return the number of units in each class, shape (c,), by the number of the class."""
    return np.rint(np.bincount(classes(cells), once(cells, units))).astype(np.int64)


def mean_of_units(values: Floats | Booleans, units: Integers | None) -> float:
    """Return the mean over rows, or over units of the mean over their rows; values (n,)."""
    each = once(np.zeros((len(values), 0), dtype=np.int64), units)
    return float((values * each).sum() / each.sum())


def mean_reading(rows: Sides[Any], comparison: Comparison, detail: Detail) -> Reading[Any]:
    """Return the mean over the rows of both files, or over the units of these rows."""
    # Shapes: each side of rows (m,), of the records and of the released rows.
    own, shown = owners(comparison)
    before, after = mean_of_units(rows.original, own), mean_of_units(rows.released, shown)
    people = 0 if shown is None else len(np.unique(shown))
    return Reading(value=after, baseline=before, detail=detail, people=people)


def class_sizes(cells: Integers, units: Integers | None = None) -> Integers:
    """Return the number of records, or of units, that agree with each record, shape (n,)."""
    # A missing value agrees with any, as in sdcMicro's freqCalc (Hundepool et al. 2012, section
    # 3.2.1).
    return np.rint(class_totals(cells, np.ones(len(cells)), units)).astype(np.int64)


def _patterns(known: Booleans) -> tuple[Booleans, Integers]:
    """Return the different rows of a table of marks in their order, and each row's number."""
    # Shapes: known (n, v); the answer (patterns, v) and (n,).
    if known.all():  # in most files
        return known[:1], np.zeros(len(known), dtype=np.int64)
    pattern = classes(known.astype(np.int64))
    patterns = np.empty((int(pattern.max()) + 1, known.shape[1]), dtype=bool)
    patterns[pattern] = known
    return patterns, pattern


def class_totals(cells: Integers, weights: Floats, units: Integers | None = None) -> Floats:
    """Return the total weight of the records, or units, that agree with each record, shape (n,)."""
    known = cells >= 0
    of_unit = weights
    if units is not None:  # a unit weighs what its rows weigh on average
        of_unit = np.bincount(units, weights) / np.maximum(np.bincount(units), 1)
        weights = of_unit[units]
    patterns, pattern = _patterns(known)
    if len(patterns) == 1 or len(patterns) > MOST_PATTERNS:
        numbered = classes(cells)
        return np.asarray(np.bincount(numbered, weights * once(cells, units))[numbered])
    totals = np.zeros(len(cells))
    for one, first in enumerate(patterns):
        ours = np.flatnonzero(pattern == one)
        _, row, back = np.unique(classes(cells[ours]), return_index=True, return_inverse=True)
        different = cells[ours[row]]
        total = np.zeros(len(row))
        agree = sparse.csr_array((len(row), len(of_unit)), dtype=bool)
        for two, second in enumerate(patterns):
            shared, there = np.flatnonzero(first & second), np.flatnonzero(pattern == two)
            numbered = classes(np.concatenate((different, cells[there]))[:, shared])
            own, theirs = np.split(numbered, [len(row)])
            if units is not None:  # a unit with rows of several patterns agrees once
                places, size = (theirs, units[there]), (numbered.max() + 1, len(of_unit))
                rows = sparse.csr_array((np.ones(len(there), dtype=bool), places), shape=size)
                agree = agree + rows[own]
            elif shared.size:
                total += np.bincount(theirs, weights[there], numbered.max() + 1)[own]
            else:
                total += weights[there].sum()
        totals[ours] = (total if units is None else agree @ of_unit)[back]
    return totals
