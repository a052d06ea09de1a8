"""Which table it is: a hash of names, types and values, the same for the same content."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of names, types and values, in hex."""
    digest = hashlib.sha256()
    for name in frame.columns:
        column = frame[name]
        kind = "category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
        digest.update(f"{len(name)}:{name}:{kind}:{len(column)};".encode())
        for part in _content(column):
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _content(column: pd.Series[Any]) -> list[NDArray[Any]]:
    """Return arrays with equal bytes for equal values only."""
    dtype = column.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        days = pd.to_datetime(column, utc=True)
        return [np.array([str(days.dt.unit)], dtype="S8"), days.astype("int64").to_numpy()]
    if pd.api.types.is_numeric_dtype(dtype):
        numpy_dtype: Any = getattr(dtype, "numpy_dtype", dtype)
        values = column.to_numpy(dtype=numpy_dtype, na_value=0)
        missing = column.isna().to_numpy()
        # a missing number has many bit patterns; -0.0 and 0.0 differ, as they do in a file
        return [missing, np.where(missing, numpy_dtype.type(0), values)]
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
    numbers, different = factorized(column)
    texts = [value if isinstance(value, str) else repr(value) for value in different]
    letters = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(letter) for letter in letters], dtype=np.int64)
    return [numbers, lengths, np.frombuffer(b"".join(letters), dtype=np.uint8)]


def factorized(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """A number for each record, -1 where missing, and the different values by number."""
    # the numbers have shape (n,)
    if isinstance(column.dtype, pd.CategoricalDtype):
        numbers = column.cat.codes.to_numpy()
        levels: list[Any] = column.cat.categories.tolist()
        return np.asarray(numbers, dtype=np.int64), levels
    numbers, different = pd.factorize(column)
    return np.asarray(numbers, dtype=np.int64), different.tolist()
