"""TSV: text with tabs between the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rwn_core.io.format import Feature, Format

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema
    from rwn_core.io.guessed_layout import GuessedLayout
    from rwn_core.io.other_readers import Found, Wanted


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read a TSV file, see `read_text_table`."""
    from rwn_core.io.text_reader import read_text_table

    return read_text_table(file, content, schema, layout=layout, separator="\t")


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write UTF-8 with tabs, one header line and line feeds."""
    from rwn_core.io.text_writer import text_table

    return text_table(frame, "\t", schema)


def sees(content: bytes) -> GuessedLayout | None:
    """Look for the layout, see `guess_text_layout`."""
    from rwn_core.io.guessed_layout import guess_text_layout

    return guess_text_layout(content, "\t")


def again(content: bytes, wanted: Wanted) -> Found:
    """Read a file a second time, see `text_again`."""
    from rwn_core.io.other_readers import text_again

    return text_again(content, wanted, "\t")


FORMAT = Format(
    key="tsv",
    title="TSV",
    noun="a TSV file",
    suffixes=(".tsv", ".tab"),
    media_type="text/tab-separated-values",
    read=read,
    write=write,
    layout=frozenset({"encoding", "separator", "decimal", "header", "above", "below", "dates"}),
    marks=frozenset({"decimal", "dates"}),
    sees=sees,
    keeps=frozenset({Feature.DATES, Feature.TIME_ZONES}),
    again=again,
    again_by="pandas",
)
