"""Values of any kind as numbers from 0 on: equal values of a table have equal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind

_LARGEST_NUMBER = 2.0**62


def value_codes(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Level numbers of any kind of variable; missing, where it occurs, is the last level."""
    return microdata.cached(("value codes", name), lambda: _number_values(microdata, name))


def _number_values(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    if microdata.schema.by_name[name].kind in (Kind.CATEGORICAL, Kind.ORDERED):
        level_codes, levels = microdata.codes(name)
        values: list[Any] = list(levels)
        codes = level_codes.astype(np.int64)
    else:
        numbers = microdata.values(name)
        distinct, inverse = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
        codes = np.full(len(numbers), -1, dtype=np.int64)
        codes[~np.isnan(numbers)] = inverse
        values = distinct.tolist()
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        values.append(None)
    return codes, values


def codes_like(original: Microdata, masked: Microdata, name: str) -> NDArray[np.int64]:
    """The masked values as level numbers of the original's; -1 for a value it does not have."""
    return _codes_of(value_codes(original, name)[1], original, masked, name)


def _codes_of(
    values: list[Any], original: Microdata, masked: Microdata, name: str
) -> NDArray[np.int64]:
    missing = len(values) - 1 if values[-1] is None else -1
    known = values[:-1] if values[-1] is None else values
    if original.schema.by_name[name].kind in (Kind.CATEGORICAL, Kind.ORDERED):
        codes, _ = masked.codes(name, known)
        lost = masked.frame[name].isna().to_numpy()
        return np.where(lost, missing, codes).astype(np.int64)
    numbers = masked.values(name)
    if not known:
        return np.where(np.isnan(numbers), missing, -1).astype(np.int64)
    distinct = original.cached(("distinct numbers", name), lambda: np.asarray(known))
    places = np.minimum(np.searchsorted(distinct, numbers), len(known) - 1)
    same = distinct[places] == numbers
    return np.where(np.isnan(numbers), missing, np.where(same, places, -1)).astype(np.int64)


def joint_codes(microdata: Microdata, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Level numbers of the values that several variables take together."""
    together = np.column_stack([value_codes(microdata, name)[0] for name in names])
    return numbered(together)


def numbered(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the rows of a table in ascending order; equal rows get equal numbers."""
    widths = cells.max(axis=0, initial=-1) + 2
    if np.prod(widths, dtype=np.float64) < _LARGEST_NUMBER:  # one number a row sorts faster
        steps = np.cumprod(np.concatenate(([1], widths[:0:-1])))[::-1]
        _, numbers = np.unique((cells + 1) @ steps, return_inverse=True)
    else:
        _, numbers = np.unique(cells, axis=0, return_inverse=True)
    result: NDArray[np.int64] = numbers.ravel().astype(np.int64)
    return result


def codes_together(
    original: Microdata, masked: Microdata, names: tuple[str, ...], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values of some variables together as numbers from 0, of an original and some rows."""
    if len(names) == 1:
        codes, values = value_codes(original, names[0])
        columns = _codes_of(values, original, masked, names[0])[rows]
        return codes, np.where(columns <= codes.max(), columns, -1)
    own = np.column_stack([value_codes(original, name)[0] for name in names])
    released = np.column_stack([codes_like(original, masked, name) for name in names])
    codes = numbered(np.concatenate((own, released[rows])))
    present = np.zeros(codes.max() + 1, dtype=bool)
    present[codes[: len(own)]] = True
    number = np.where(present, np.cumsum(present) - 1, -1)
    return number[codes[: len(own)]], number[codes[len(own) :]]
