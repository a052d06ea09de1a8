"""Stata: variables with labels, codes with labels, and missing values with letters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rwn_core.errors import InputError
from rwn_core.io.format import Feature, Format, when_called

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema

_BEGIN, _END = b"<stata_dta>", b"</stata_dta>"
_TIME = b"<timestamp>\x11"  # and 17 letters
_OLD = range(104, 116)  # the number of a release before 13 is the first byte


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read a Stata file, see `read_labelled`."""
    from rwn_core.io.readstat_files import read_labelled

    # the labels of values stand at the end: without it, codes would come in for their labels
    if content.startswith(_BEGIN) and not content.rstrip(b"\0\r\n ").endswith(_END):
        raise InputError(f"{file} is cut off; get or save the file again.")
    return read_labelled(file, content, schema, layout, "dta")


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write a file for Stata 14 or later."""
    import pyreadstat

    from rwn_core.io.readstat_files import coded_table, made_the_same, written_bytes

    table, column_labels, value_labels = coded_table(frame, schema)
    letters = {
        name: [code for code in labels if isinstance(code, str)]
        for name, labels in value_labels.items()
    }
    content = written_bytes(
        pyreadstat.write_dta,
        table,
        "Stata",
        ".dta",
        version=14,
        column_labels=column_labels,
        variable_value_labels=value_labels,
        missing_user_values={name: codes for name, codes in letters.items() if codes},
    )
    return made_the_same(content, content.index(_TIME) + len(_TIME), b"01 Jan 1960 00:00")


def detects(content: bytes) -> bool:
    """True if a content has the sign of Stata 13 and later, or the first bytes of older files."""
    if content.startswith(_BEGIN):
        return True
    return len(content) > 4 and content[0] in _OLD and content[1] in (1, 2) and content[2] == 1


FORMAT = Format(
    key="stata",
    title="Stata",
    noun="a Stata file",
    suffixes=(".dta",),
    media_type="application/x-stata-dta",
    read=read,
    write=write,
    keeps=frozenset({Feature.DATES, Feature.LABELS, Feature.VALUE_LABELS, Feature.MISSING_LETTERS}),
    detects=detects,
    again=partial(when_called("rwn_core.io.other_readers.labelled_again"), program="dta"),
    again_by="pandas",
)
