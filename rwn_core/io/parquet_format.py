"""Parquet: the format of columns that keeps every type."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called

FORMAT = Format(
    key="parquet",
    title="Parquet",
    noun="a Parquet file",
    suffixes=(".parquet", ".pq"),
    media_type="application/vnd.apache.parquet",
    read=when_called("rwn_core.io.arrow_files.read_parquet"),
    write=when_called("rwn_core.io.arrow_files.parquet_bytes"),
    keeps=frozenset({Feature.TRUTHS, Feature.DATES, Feature.TIME_ZONES, Feature.LEVEL_ORDER}),
    detects=lambda content: content.startswith(b"PAR1"),
    again=when_called("rwn_core.io.other_readers.arrow_again"),
    again_by="Arrow's Rust library",
)
