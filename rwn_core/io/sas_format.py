"""SAS: tables and transport files are read; nothing is written."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from rwn_core.errors import InputError
from rwn_core.io.format import Feature, Format, when_called
from rwn_core.io.limits import damaged

if TYPE_CHECKING:
    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema

_TABLE = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_TRANSPORT = b"HEADER RECORD*******LIB"
_MEMBER = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER  |V8  )HEADER RECORD!{7}")
_RECORD = 80  # bytes; a transport file does not say how many of them it has


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read a SAS table or transport file, see `read_labelled`."""
    from rwn_core.io.readstat_files import read_labelled

    table = content.startswith(_TABLE)
    members = 0 if table else len(_MEMBER.findall(content))
    if members > 1:
        raise InputError(
            f"{file} is a SAS transport file of {members:,} data sets; save the one to mask as a "
            "file of its own."
        )
    if not table and len(content) % _RECORD:
        raise damaged(file)
    if table:
        _refuse_deleted_rows(file, content)
    return read_labelled(file, content, schema, layout, "sas7bdat" if table else "xport")


def _refuse_deleted_rows(file: str, content: bytes) -> None:
    from rwn_core.io.sas_pages import deleted_rows

    count = deleted_rows(content)
    if count:
        rows = "1 deleted row" if count == 1 else f"{count:,} deleted rows"
        raise InputError(
            f"{file} still holds {rows}, which another reader gives back; make a copy in SAS (data "
            "new; set old; run;), which has only the other rows, and give that."
        )


def detects(content: bytes) -> bool:
    """True if a content has the sign of one of both kinds of file."""
    return content.startswith((_TABLE, _TRANSPORT))


FORMAT = Format(
    key="sas",
    title="SAS",
    noun="a SAS file",
    suffixes=(".sas7bdat", ".xpt"),
    media_type="application/x-sas-data",
    read=read,
    write=None,
    keeps=frozenset({Feature.DATES, Feature.LABELS}),
    detects=detects,
    again=partial(when_called("rwn_core.io.other_readers.labelled_again"), program="sas7bdat"),
    again_by="pandas",
)
