"""TSV: text with tabs between the fields."""

from __future__ import annotations

from rwn_core.io.format import MARKS, text_format

FORMAT = text_format(
    "\t",
    marks=MARKS - {"separator"},
    key="tsv",
    title="TSV",
    noun="a TSV file",
    suffixes=(".tsv", ".tab"),
    media_type="text/tab-separated-values",
)
