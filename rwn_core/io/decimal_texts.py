"""Exact decimals of Arrow as texts, and whether floating numbers keep them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.data.variable import MOST_DECIMALS

_SURE = 15  # significant digits that every floating number keeps


def decimal_texts(array: pa.Array) -> pa.Array:
    """Write exact decimals with all digits of their scale."""
    texts = array.cast(pa.string())
    powers = pc.fill_null(pc.match_substring(texts, "E"), False)
    if abs(array.type.scale) > MOST_DECIMALS or not pc.any(powers).as_py():
        return texts
    plain = [format(Decimal(text), "f") for text in texts.filter(powers).to_pylist()]
    return pc.replace_with_mask(texts, powers, pa.array(plain, pa.string()))


def comes_back(texts: pa.Array, numbers: pa.Array) -> bool:
    """True if each floating number, written in full, is the decimal that it came from."""
    values = numbers.to_numpy(zero_copy_only=False)
    if np.isinf(values).any():
        return False
    long = pc.greater(pc.utf8_length(texts), _SURE)  # a sign and a point do no harm
    long = pc.fill_null(long, False)
    pairs = zip(texts.filter(long).to_pylist(), numbers.filter(long).to_pylist(), strict=True)
    return all(Decimal(text) == Decimal(repr(number)) for text, number in pairs)
