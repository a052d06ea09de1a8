"""Confidential values that count as learned: the same category, or a number within tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.measures.aligned import codes, columns, numbers

NEAR = 0.1  # of the standard deviation, and of the distance of the quartiles
OF_VALUE = 0.05  # of a person's own value
SAME = 1e-9  # relative difference of two numbers that are the same one, written twice
MOST_VALUES = 10  # different values of a number up to which each is a level
_EDGE = 1 + 1e-12  # a number at the very edge lies within it

WORDS = (
    "a number within 0.1 standard deviations, 0.1 interquartile ranges and 5 % of the value, "
    "whichever is least"
)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest distance from the true value at which a named value is right.

    Attributes
    ----------
    absolute : float
        In the variable's unit; 0 for a category.
    relative : float or None
        As a share of the true value; None if 0 is no natural origin.
    """

    absolute: float
    relative: float | None = None

    def around(self, values: Floats) -> Floats:
        """Return the tolerance around each value; at least a number's rounding."""
        size = np.abs(values)
        reach = np.full(size.shape, self.absolute)
        if self.relative is not None:
            reach = np.minimum(reach, self.relative * size)
        return np.asarray(np.maximum(reach, SAME * size) * _EDGE)

    def right(self, named: Floats, truth: Floats) -> Booleans:
        """True where a named value is within tolerance of the true one; False where missing."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(named - truth) <= self.around(truth), dtype=bool)


EXACT = Tolerance(0.0)
"""The value itself."""


def is_category(original: Microdata, name: str) -> bool:
    """True if a variable has levels, which are equal or not."""
    return original.schema.by_name[name].kind in (Kind.CATEGORICAL, Kind.ORDERED)


def secret_values(original: Microdata, table: Microdata, name: str) -> Floats:
    """Return a confidential variable of either table as numbers, shape (n,), NaN where missing."""
    if original.schema.by_name[name].kind in (Kind.CATEGORICAL, Kind.ORDERED):
        code = codes(original, table, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64))
    return numbers(original, table, name)


def secret_columns(original: Microdata, table: Microdata, names: Sequence[str]) -> list[Floats]:
    """Return several variables of either table as `secret_values`."""
    if set(names) <= set(original.schema.numeric_names):
        return columns(original, table, names)
    return [secret_values(original, table, name) for name in names]


def named_values(original: Microdata, table: Microdata, name: str) -> Floats:
    """Return the same with numbers of few values as level numbers."""
    values, levels = secret_values(original, table, name), _few_values(original, name)
    if levels is None:
        return values
    place = np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
    return np.where(np.isnan(values), np.nan, place.astype(np.float64))


def level_names(original: Microdata, table: Microdata, name: str) -> list[str] | None:
    """Return the levels that `named_values` numbers; None for a number of many values."""
    if is_category(original, name):
        return [str(level) for level in codes(original, table, name)[1]]
    few = _few_values(original, name)
    return None if few is None else [f"{level:g}" for level in few]


def _few_values(original: Microdata, name: str) -> Floats | None:
    """Return the distinct values of a number with few of them, each a level; else None."""
    if is_category(original, name):
        return None

    def find() -> Floats | None:
        values = original.values(name)
        known = np.unique(values[~np.isnan(values)])
        return known if 0 < len(known) <= min(MOST_VALUES, len(values) // 2) else None

    return original.cached(("few values", name), find)


def tolerance(original: Microdata, name: str) -> Tolerance:
    """Return the distance within which a number counts as learned; EXACT for levels."""
    # the least of shares of the standard deviation, of the interquartile range and of the own
    # value, so that one far person does not widen it; the own value counts only if 0 is an origin:
    # not for dates, nor if the middle half of the people lies on both sides of 0
    if is_category(original, name) or _few_values(original, name) is not None:
        return EXACT
    dated = original.schema.variable(name).kind is Kind.DATE
    return original.cached(("tolerance", name), lambda: _tolerance(original.values(name), dated))


def _tolerance(values: Floats, dated: bool) -> Tolerance:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return EXACT
    low, high = np.quantile(known, (0.25, 0.75))
    absolute = NEAR * min(float(known.std(ddof=1)), float(high - low))
    return Tolerance(absolute, None if dated or low < 0 < high else OF_VALUE)


def most_within_reach(values: Floats, near: Tolerance) -> float:
    """Return the largest share of the known values that one single value names correctly."""
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return 0.0
    reach = near.around(known)
    # a value is right for all people with it within their tolerance: most intervals over a point
    begins, ends = np.sort(known - reach), np.sort(known + reach)
    over = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, "left")
    return float(over.max() / len(known))
