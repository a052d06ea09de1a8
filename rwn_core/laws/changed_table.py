"""Write changed numbers back into a table of the same types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.laws.donors import released_schema


def is_discrete(microdata: Microdata, name: str) -> bool:
    """True if a variable holds integers only, by its kind or by its type."""
    if microdata.schema.variable(name).kind is Kind.COUNT:
        return True
    return bool(pd.api.types.is_integer_dtype(microdata.frame[name].dtype))


def with_numbers(microdata: Microdata, columns: Mapping[str, NDArray[np.float64]]) -> Microdata:
    """The released table with other numbers in some variables."""
    frame = {}
    for variable in microdata.schema.released:
        own = microdata.frame[variable.name]
        if variable.name in columns:
            discrete = is_discrete(microdata, variable.name)
            frame[variable.name] = _written(own, columns[variable.name], discrete=discrete)
        else:
            frame[variable.name] = own
    return Microdata(pd.DataFrame(frame), released_schema(microdata.schema))


def _written(own: Any, numbers: NDArray[np.float64], *, discrete: bool) -> Any:
    missing = own.isna().to_numpy()
    values = np.where(missing, np.nan, np.rint(numbers) if discrete else numbers)
    if not pd.api.types.is_integer_dtype(own.dtype):
        return pd.Series(values, index=own.index).astype(own.dtype)
    plain = getattr(own.dtype, "numpy_dtype", own.dtype)
    ends, known = np.iinfo(plain), values[~missing]
    fits = not known.size or (ends.min <= known.min() and known.max() <= ends.max)
    nullable = not isinstance(own.dtype, np.dtype)
    if nullable or missing.any():
        result = pd.array(np.where(missing, 0, values).astype(np.int64), dtype="Int64")
        result[missing] = pd.NA
        return pd.Series(result, index=own.index).astype(own.dtype if fits else "Int64")
    return pd.Series(values.astype(plain if fits else np.int64), index=own.index)
