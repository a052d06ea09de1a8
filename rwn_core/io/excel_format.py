"""Excel: the first sheet of a workbook that holds a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rwn_core.io.format import Feature, Format
from rwn_core.io.other_readers import workbook_again

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema
    from rwn_core.io.guessed_layout import GuessedLayout


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read a workbook, see `read_excel`."""
    from rwn_core.io.excel_reader import read_excel

    return read_excel(file, content, schema, layout=layout)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write one sheet of values, without formulas, links and formats."""
    from rwn_core.io.excel_writer import excel_bytes

    return excel_bytes(frame)


def detects(content: bytes) -> bool:
    """Recognize a zip archive that names parts of a workbook."""
    return content.startswith(b"PK\x03\x04") and b"xl/" in content


def sees(content: bytes) -> GuessedLayout | None:
    """List the sheets, and look for rows around the table, see `seen_in_workbook`."""
    from rwn_core.io.excel_rows import seen_in_workbook

    return seen_in_workbook(content)


FORMAT = Format(
    key="excel",
    title="Excel",
    noun="an Excel workbook",
    suffixes=(".xlsx",),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    read=read,
    write=write,
    layout=frozenset({"sheet", "above", "below", "decimal", "dates", "missing", "fill"}),
    sees=sees,
    keeps=frozenset({Feature.DATES, Feature.TRUTHS}),
    detects=detects,
    again=workbook_again,
    again_by="Python's XML library",
)
