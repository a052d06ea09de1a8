"""CSV: the format of text that every program reads."""

from __future__ import annotations

from rwn_core.io.format import MARKS, text_format

FORMAT = text_format(
    ",",
    marks=MARKS,
    key="csv",
    title="CSV",
    noun="a CSV file",
    suffixes=(".csv",),
    media_type="text/csv",
    demand="UTF-8, separated by commas, one header line",
)
