"""Parquet: the format of columns that keeps every type."""

from __future__ import annotations

from rwn_core.io.format import arrow_format, when_called

FORMAT = arrow_format(
    "parquet",
    b"PAR1",
    read=when_called("rwn_core.io.arrow_files.read_parquet"),
    write=when_called("rwn_core.io.arrow_files.parquet_bytes"),
    title="Parquet",
    noun="a Parquet file",
    suffixes=(".parquet", ".pq"),
    media_type="application/vnd.apache.parquet",
)
