"""A confidential value that counts as learned: the same category, or a number that comes near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.measures.aligned import codes, numbers

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
    """Largest distance between a named value and a person's own that counts as learned.

    Attributes
    ----------
    absolute : float
        In the variable's unit; 0 for a category, which must be the same.
    relative : float or None
        As a share of the person's own value; None where 0 is no natural origin.
    """

    absolute: float
    relative: float | None = None

    def around(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reach of each value, of the same shape; the least is the rounding of a number."""
        size = np.abs(values)
        reach = np.full(size.shape, self.absolute)
        if self.relative is not None:
            reach = np.minimum(reach, self.relative * size)
        return np.asarray(np.maximum(reach, SAME * size) * _EDGE)

    def right(self, named: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.bool_]:
        """True where a named value is within reach of the true one; False where one is missing."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(named - truth) <= self.around(truth), dtype=bool)


EXACT = Tolerance(0.0)
"""The value itself."""


def is_category(original: Microdata, name: str) -> bool:
    """True if a variable has levels, which are equal or not."""
    return original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED)


def secret_values(original: Microdata, table: Microdata, name: str) -> NDArray[np.float64]:
    """A confidential variable of either table as numbers, shape (n,), NaN where missing."""
    if is_category(original, name):
        code = codes(original, table, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64))
    return numbers(original, table, name)


def named_values(original: Microdata, table: Microdata, name: str) -> NDArray[np.float64]:
    """The same as an intruder names them: the nearest level of a number of few values."""
    values, levels = secret_values(original, table, name), _few_values(original, name)
    if levels is None:
        return values
    place = np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
    return np.where(np.isnan(values), np.nan, place.astype(np.float64))


def level_names(original: Microdata, table: Microdata, name: str) -> list[str] | None:
    """The levels that `named_values` numbers; None of a number of many values."""
    if is_category(original, name):
        return [str(level) for level in codes(original, table, name)[1]]
    few = _few_values(original, name)
    return None if few is None else [f"{level:g}" for level in few]


def _few_values(original: Microdata, name: str) -> NDArray[np.float64] | None:
    """The different values of a number, such as 0 and 1, where each is a level."""
    if is_category(original, name):
        return None

    def find() -> NDArray[np.float64] | None:
        values = original.values(name)
        known = np.unique(values[~np.isnan(values)])
        return known if 0 < len(known) <= min(MOST_VALUES, len(values) // 2) else None

    return original.cached(("few values", name), find)


def tolerance(original: Microdata, name: str) -> Tolerance:
    """Return the distance within which a number counts as learned; a category must be equal.

    Notes
    -----
    The least of a share of the standard deviation, of the interquartile range and of the person's
    own value, so that one person far from all others does not widen it. The own value counts only
    where 0 is the variable's origin: not of dates, nor where the middle half of the people lie on
    both sides of 0.
    """
    if is_category(original, name) or _few_values(original, name) is not None:
        return EXACT
    dated = original.schema.variable(name).kind is Kind.DATE
    return original.cached(("tolerance", name), lambda: _tolerance(original.values(name), dated))


def _tolerance(values: NDArray[np.float64], dated: bool) -> Tolerance:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return EXACT
    low, high = np.quantile(known, (0.25, 0.75))
    absolute = NEAR * min(float(known.std(ddof=1)), float(high - low))
    return Tolerance(absolute, None if dated or low < 0 < high else OF_VALUE)


def most_within_reach(values: NDArray[np.float64], near: Tolerance) -> float:
    """Largest share of the known values of which one named value is right."""
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return 0.0
    reach = near.around(known)
    # a value is right for everybody whose reach it lies in: most intervals over one point
    begins, ends = np.sort(known - reach), np.sort(known + reach)
    over = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, "left")
    return float(over.max() / len(known))
