"""Row names: the counter or the texts that R and pandas write as a column of no name, or an index.

One idea of every format. A counter is left out with a notice, texts are asked about as what
identifies people is, and anything else, such as a year, is a column called row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.identity.of_numbers import FEW, YEARS, find_integers
from rwn_core.data.identity.profile import Profile, name_words
from rwn_core.data.schema import Schema

ROW = "row"
_GIVEN = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__")  # by pandas, where none was
_INDEX = re.compile(r"__index_level_\d+__")  # stands anywhere in a Parquet file
_GAPS = 10  # times as many rows as are left, at most, of a table that some were taken from


def named(names: Sequence[str], schema: Schema | None = None) -> list[str]:
    """Give the names of columns in which row names have one.

    Names that a schema has stay.

    >>> named(["", "age", "pay"]), named(["Unnamed: 0", "row", "pay"])
    (['row', 'age', 'pay'], ['row_2', 'row', 'pay'])
    """
    found = list(names)
    stated = () if schema is None else schema.names
    if not any(name.strip() for name in found):
        return found
    leading = True
    for place, name in enumerate(found):
        unnamed = not name.strip() or _GIVEN.fullmatch(name) is not None
        leading = leading and unnamed
        if (leading or _INDEX.fullmatch(name)) and name not in stated:
            found[place] = _free_name(found)
    return found


def _free_name(names: Sequence[str]) -> str:
    """Return a name for row names that no column has."""
    name = ROW
    number = 1
    while name in names:
        number += 1
        name = f"{ROW}_{number}"
    return name


def unnamed_counters(
    frame: pd.DataFrame, stated: Collection[str], index: str | None = None
) -> list[str]:
    """Name the first columns, and the index of pandas, that only number the records."""
    found = []
    leading = True
    for name in frame.columns:
        called = name not in stated and name_words(name).is_row_name
        leading = leading and called
        if called and (leading or name == index) and is_counter(frame[name]):
            found.append(name)
    return found if len(found) < frame.shape[1] else []


def named_counter(frame: pd.DataFrame, index: str, stated: Collection[str]) -> str | None:
    """Find an index with a name of its own that numbers the records one by one, in their order."""
    if index in stated or len(frame) <= FEW:
        return None
    column = frame[index]
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        return None
    numbers = column.to_numpy()
    in_order = numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())
    if not in_order:
        return None
    return None if find_integers(Profile(column)) is None else index


def is_counter(column: pd.Series[Any]) -> bool:
    """True if a column without a name of its own holds numbers of rows, in any order."""
    numbers = _whole_numbers(column)
    if numbers is None or len(np.unique(numbers)) < len(numbers):
        return False
    low = int(numbers.min())
    high = int(numbers.max())
    if low in (0, 1) and high - low == len(numbers) - 1:
        return True
    are_years = YEARS[0] <= low and high <= YEARS[1]
    return low >= 0 and high < _GAPS * len(numbers) and not are_years


def _whole_numbers(column: pd.Series[Any]) -> Any:
    """Return the values as whole numbers; None where one is none, or is missing."""
    if not len(column) or column.isna().any():
        return None
    if pd.api.types.is_bool_dtype(column.dtype):
        return None
    if not pd.api.types.is_numeric_dtype(column.dtype):
        digits = column.astype(str).str.fullmatch(r"\d{1,15}")
        return column.astype("int64").to_numpy() if digits.all() else None
    numbers = column.to_numpy(dtype=np.float64)
    integral = np.isfinite(numbers).all() and (numbers % 1 == 0).all()
    return numbers if integral else None
