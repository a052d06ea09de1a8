"""Parquet: the format of columns that keeps every type."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rwn_core.io.format import Feature, Format
from rwn_core.io.other_readers import arrow_again

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def read(file: str, content: bytes, schema: Schema | None) -> Microdata:
    """Read a Parquet file, see `read_parquet`."""
    from rwn_core.io.parquet_reader import read_parquet

    return read_parquet(file, content, schema)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write values and types alone: no unused levels, no statistics, no metadata of pandas."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from rwn_core.io.arrow_table import arrow_table

    buffer = io.BytesIO()
    table = arrow_table(frame)
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        write_statistics=False,
        # the types alone: without them categories come back as texts, without their order
        store_schema=any(pa.types.is_dictionary(field.type) for field in table.schema),
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
    keeps=frozenset({Feature.TRUTHS, Feature.DATES, Feature.TIME_ZONES, Feature.LEVEL_ORDER}),
    detects=detects,
    again=arrow_again,
    again_by="Arrow",
)
