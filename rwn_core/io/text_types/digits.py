"""Refuse or report decimals that a floating number cannot represent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.data.variable import MOST_DECIMALS
from rwn_core.io.limits import LARGEST_WHOLE
from rwn_core.io.number_texts import USUAL, number_text
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.patterns import Form

_SURE = 15  # digits that every floating number keeps


def digit_notices(
    column: TextColumn, chosen: NDArray[np.bool_], values: NDArray[np.float64]
) -> list[str]:
    """Say where numbers lose digits; refuse where they become others."""
    long = chosen & (pc.utf8_length(column.different).to_numpy(zero_copy_only=False) > _SURE)
    small = chosen & (values == 0)
    changed = np.zeros(len(values), dtype=bool)
    for row in np.flatnonzero((long | small) & ~_comes_back(column.different, values)):
        text = column.different[int(row)].as_py()
        changed[row] = Decimal(text) != Decimal(repr(float(values[row])))
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
            f"{column.name} has {_numbers(column.count(changed))} of more digits than a floating "
            "number holds: the last ones are rounded."
        )
    _, times = np.unique(values[chosen], return_counts=True)
    twice = int(np.count_nonzero(times > 1))
    if twice:
        notices.append(
            f"{column.name} writes {_numbers(twice)} in several ways, as 1.1 and 1.10: each is one "
            "number here; if they are codes, make it categorical in a schema."
        )
    return notices


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count:,} numbers"


def _comes_back(texts: pa.Array, values: Any) -> NDArray[np.bool_]:
    """Which texts are surely the shortest of their numbers."""
    shortest = pc.cast(pa.array(values, pa.float64()), pa.large_string())
    same: NDArray[np.bool_] = pc.equal(shortest, texts).to_numpy(zero_copy_only=False)
    return same


def _least_decimals(texts: pa.Array) -> int:
    """Return the fewest decimals of the texts of numbers, exponents left out."""
    plain = texts.filter(pc.invert(pc.match_substring_regex(texts, "[eE]")))
    if not len(plain):
        return USUAL
    point = pc.find_substring(plain, ".")
    length = pc.utf8_length(plain)
    digits = pc.if_else(pc.less(point, 0), 0, pc.subtract(pc.subtract(length, point), 1))
    return int(pc.min(digits).as_py())


def written_decimals(column: TextColumn, series: pd.Series[Any]) -> tuple[int | None, list[str]]:
    """Find how many decimals the file writes at least, and say where it writes others."""
    if not pd.api.types.is_float_dtype(series.dtype) or not column.has <= {
        Form.NUMBER,
        Form.EXPONENT,
    }:
        return None, []
    texts = column.different.filter(pa.array(column.with_forms({Form.NUMBER})))
    decimals = min(_least_decimals(texts), MOST_DECIMALS)
    # most come back as they are, which Arrow tells at once; the few others are looked at
    same = pa.array(_comes_back(texts, pc.cast(texts, pa.float64())))
    # a program may write 1e-7 as 1e-07
    left = texts.filter(pc.or_(pc.invert(same), pc.match_substring_regex(texts, "[eE]")))
    odd = left.to_pylist()
    if decimals > USUAL and all(number_text(float(text), USUAL) == text for text in odd):
        decimals = USUAL  # long numbers and no zeros at their ends: nothing was filled up
    others = sum(number_text(float(text), decimals) != text for text in odd)
    said = []
    if others:
        said.append(
            f"{column.name} has {_numbers(others)} that a release writes in another way, as 2.5 "
            "for 2.50 or +2.5: the values are the same."
        )
    return None if decimals == USUAL else decimals, said
