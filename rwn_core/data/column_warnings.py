"""Name what looks like something else: codes for missing, formulas, double levels, row names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.fingerprint import factorized
from rwn_core.data.variable import Kind, Variable

_ROW_NAMES = re.compile(r"__index_level_\d+__|Unnamed: 0")
_MOST = 10_000  # different texts of a column that are looked at
_FORMULA = re.compile(r"[=@+-].*[A-Za-z(|!].*", re.DOTALL)
# as surveys write missing: -9, -8, -7, 99, 98, 97, 999 ...
_NINES = [10**digits - rest for digits in range(1, 13) for rest in (1, 2, 3)]
_CODES = np.array([*(-number for number in _NINES), *(n for n in _NINES if n > 9)], dtype=float)
_NAMED = 3  # codes that a notice lists


def suspicious(column: pd.Series[Any], variable: Variable) -> list[str]:
    """Say what a variable may hold that its type does not show.

    Parameters
    ----------
    column : pandas.Series, length n
    variable : Variable
        Not an identifier.

    Returns
    -------
    list of str
    """
    notices = []
    if _ROW_NAMES.fullmatch(variable.name):
        notices.append(
            f"{variable.name} holds the row names of a table: if they identify people, set its "
            "role to identifier."
        )
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        return notices + _codes_for_missing(column, variable)
    if variable.kind is Kind.CATEGORICAL and variable.is_released:
        texts = [text for text in factorized(column)[1] if isinstance(text, str)]
        notices += _texts(texts[:_MOST], variable.name)
    return notices


def _codes_for_missing(column: pd.Series[Any], variable: Variable) -> list[str]:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    far = far_codes(values)
    if not far:
        return []
    words = ", ".join(
        f"{value:g} ({count:,} times)" for value, count in sorted(far.items())[:_NAMED]
    )
    dots = ", ..." if len(far) > _NAMED else ""
    return [
        f"{variable.name} has {words}{dots}: if they mean missing, name them as missing_codes in a "
        "schema."
    ]


def far_codes(values: NDArray[np.float64]) -> dict[float, int]:
    """Count numbers of nines, or below 0 among none such, that lie far from all others.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        NaN where missing.

    Returns
    -------
    dict of float to int
        How often each occurs.
    """
    coded = np.isin(values, _CODES)
    rest = values[~coded & ~np.isnan(values)]
    if not coded.any() or not len(rest):
        return {}
    low, high = float(rest.min()), float(rest.max())
    odd, times = np.unique(values[coded], return_counts=True)
    return {
        value: count
        for value, count in zip(odd.tolist(), times.tolist(), strict=True)
        # one record with a large value is an outlier; a code comes again
        if (value < 0 <= low) or (count > 1 and value > max(1.5 * high, 1.0))
    }


def _texts(texts: list[str], name: str) -> list[str]:
    notices = []
    formulas = sum(_FORMULA.fullmatch(text) is not None for text in texts)
    if formulas:
        notices.append(
            f"{name} has {formulas:,} different texts that a spreadsheet takes for formulas."
        )
    same = len(texts) - len({" ".join(text.split()).casefold() for text in texts})
    if same:
        notices.append(
            f"{name} has {same:,} levels that differ from another only in case or blanks: each "
            "counts as its own."
        )
    return notices
