"""Parquet and Feather out: values and types alone, without unused levels and metadata."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.schema import Schema


def parquet_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write a Parquet file, without statistics."""
    stream, table = io.BytesIO(), arrow_table(frame)
    pq.write_table(
        table,
        stream,
        compression="zstd",
        write_statistics=False,
        # the types alone: without them categories come back as texts, without their order
        store_schema=any(pa.types.is_dictionary(field.type) for field in table.schema),
        write_page_checksum=True,
    )
    return stream.getvalue()


def feather_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write an Arrow file."""
    stream, table = io.BytesIO(), arrow_table(frame)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table)
    return stream.getvalue()


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
