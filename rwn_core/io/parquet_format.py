"""Parquet: the format of columns that keeps every type."""

from __future__ import annotations

from rwn_core.io.format import arrow_format

FORMAT = arrow_format(
    "parquet",
    b"PAR1",
    title="Parquet",
    noun="a Parquet file",
    suffixes=(".parquet", ".pq"),
    media_type="application/vnd.apache.parquet",
)
