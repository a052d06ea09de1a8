"""Decimals whose digits a floating number does not hold are refused or named."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.data.variable import MOST_DECIMALS
from rwn_core.io.limits import LARGEST_WHOLE
from rwn_core.io.number_texts import USUAL, least_decimals, number_text
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.patterns import Form

_SURE = 15  # digits that every floating number keeps


def digit_notices(
    column: TextColumn, chosen: NDArray[np.bool_], values: NDArray[np.float64]
) -> list[str]:
    """Say where numbers lose digits; refuse where they become others.

    Parameters
    ----------
    column : TextColumn
    chosen : ndarray of bool, shape (m,)
        Which of the different texts are numbers.
    values : ndarray of float64, shape (m,)
        Their values.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        A whole number of 2^53 or more is changed, or a number becomes 0.
    """
    texts = np.asarray(column.different.to_pylist(), dtype=object)
    long = chosen & (pc.utf8_length(column.different).to_numpy(zero_copy_only=False) > _SURE)
    small = chosen & (values == 0)
    changed = np.zeros(len(texts), dtype=bool)
    for row in np.flatnonzero(long | small):
        changed[row] = Decimal(texts[row]) != Decimal(repr(float(values[row])))
    gone = changed & small
    if gone.any():
        column.refuse(
            gone, "is too close to 0", "are too close to 0", "write the number in another unit"
        )
    large = changed & (np.abs(values) >= LARGEST_WHOLE)
    if large.any():
        column.refuse(
            large,
            "has more digits than a floating number holds",
            "have more digits than a floating number holds",
            "make the column an identifier or categorical in a schema",
        )
    notices = []
    if changed.any():
        notices.append(
            f"{column.name} has {column.count(changed):,} numbers of more digits than a floating "
            "number holds: the last ones are rounded."
        )
    times = Counter(values[chosen].tolist())
    twice = sum(count > 1 for count in times.values())
    if twice:
        notices.append(
            f"{column.name} writes {twice:,} numbers in several ways, as 1.1 and 1.10: each is one "
            "number here; if they are codes, make it categorical in a schema."
        )
    return notices


def written_decimals(column: TextColumn, series: pd.Series[Any]) -> tuple[int | None, list[str]]:
    """Find how many decimals the file writes at least, and say where it writes others.

    Parameters
    ----------
    column : TextColumn
    series : pandas.Series, length n
        What the column became.

    Returns
    -------
    decimals : int or None
        None for the usual number, and for a column that is no decimals.
    notices : list of str
    """
    if not pd.api.types.is_float_dtype(series.dtype) or not column.has <= {
        Form.NUMBER,
        Form.EXPONENT,
    }:
        return None, []
    texts = column.different.filter(pa.array(column.of({Form.NUMBER}))).to_pylist()
    decimals = min(least_decimals(texts), MOST_DECIMALS)
    others = sum(number_text(float(text), decimals) != text for text in texts)
    said = []
    if others:
        said.append(
            f"{column.name} has {others:,} numbers that a release writes in another way, as 2.5 "
            "for 2.50 or +2.5: the values are the same."
        )
    return None if decimals == USUAL else decimals, said
