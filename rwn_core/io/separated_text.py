"""Formats of separated text: reader, writer, guess and second reading."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rwn_core.io.format import Feature, Format, when_called

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema

MARKS = frozenset({"separator", "decimal", "dates"})


def text_format(separator: str, *, marks: frozenset[str], **fields: Any) -> Format:
    """Return a format of separated text; released files repeat these marks of the original."""

    def read(
        file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
    ) -> Microdata:
        from rwn_core.io.text_reader import read_text_table

        return read_text_table(file, content, schema, layout=layout, separator=separator)

    def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
        from rwn_core.io.text_writer import text_table

        given = schema.file if schema is not None and "separator" in marks else None
        return text_table(frame, (given and given.separator) or separator, schema)

    return Format(
        read=read,
        write=write,
        layout=MARKS | {"encoding", "header", "above", "below", "missing"},
        marks=marks,
        sees=partial(when_called("rwn_core.io.guessed_layout.guess_text_layout"), usual=separator),
        keeps=frozenset({Feature.DATES, Feature.TIME_ZONES}),
        again=partial(when_called("rwn_core.io.other_readers.text_again"), usual=separator),
        again_by="pandas",
        **fields,
    )
