"""Parquet: the format of columns that keeps every type."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rwn_core.io.format import Format

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def read(file: str, content: bytes, schema: Schema | None) -> Microdata:
    """Read a Parquet file, see `read_parquet`."""
    from rwn_core.io.parquet_reader import read_parquet

    return read_parquet(file, content, schema)


def write(frame: pd.DataFrame) -> bytes:
    """Write values alone: no unused levels, no metadata, no statistics."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()
        columns[name] = pa.Array.from_pandas(column)
    table = pa.table(columns).replace_schema_metadata(None)
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        write_statistics=False,
        store_schema=False,
        write_page_checksum=True,
    )
    return buffer.getvalue()


def detects(content: bytes) -> bool:
    """Recognize the sign at the beginning."""
    return content.startswith(b"PAR1")


FORMAT = Format(
    key="parquet",
    title="Parquet",
    noun="a Parquet file",
    suffixes=(".parquet", ".pq"),
    media_type="application/vnd.apache.parquet",
    read=read,
    write=write,
    detects=detects,
)
