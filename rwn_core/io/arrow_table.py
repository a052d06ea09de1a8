"""Tables become Arrow tables of the same values and types, without anything else."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    """Make an Arrow table of the values alone."""
    arrays = {name: _array(frame[name]) for name in frame.columns}
    return pa.table(arrays).replace_schema_metadata(None)


def _array(column: pd.Series[Any]) -> pa.Array:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pa.Array.from_pandas(column.cat.remove_unused_categories())
    array = pa.Array.from_pandas(column)
    if pa.types.is_large_string(array.type):
        return array
    # whole seconds come from a file's dates: no file of Parquet has moments of whole seconds
    if pa.types.is_timestamp(array.type) and array.type.unit == "s" and array.type.tz is None:
        days = column.dropna()
        if (days == days.dt.normalize()).all():
            return array.cast(pa.date32())
    return array
