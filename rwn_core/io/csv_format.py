"""CSV: the format of text that every program reads."""

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
    """Read a CSV file, see `read_text_table`."""
    from rwn_core.io.text_reader import read_text_table

    return read_text_table(file, content, schema, layout=layout)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write UTF-8 with commas, or the original's separator, one header line and line feeds."""
    from rwn_core.io.text_writer import text_table

    own = None if schema is None or schema.file is None else schema.file.separator
    return text_table(frame, own or ",", schema)


def sees(content: bytes) -> GuessedLayout | None:
    """Look for the layout, see `guess_text_layout`."""
    from rwn_core.io.guessed_layout import guess_text_layout

    return guess_text_layout(content, ",")


def again(content: bytes, wanted: Wanted) -> Found:
    """Read a file a second time, see `text_again`."""
    from rwn_core.io.other_readers import text_again

    return text_again(content, wanted, ",")


FORMAT = Format(
    key="csv",
    title="CSV",
    noun="a CSV file",
    suffixes=(".csv",),
    media_type="text/csv",
    read=read,
    write=write,
    layout=frozenset({"encoding", "separator", "decimal", "header", "above", "below", "dates"}),
    marks=frozenset({"separator", "decimal", "dates"}),
    sees=sees,
    keeps=frozenset({Feature.DATES, Feature.TIME_ZONES}),
    demand="UTF-8, separated by commas, one header line",
    again=again,
    again_by="pandas",
)
