"""OpenDocument: sheets of LibreOffice and others, read as a workbook is."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called

_SIGN = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_BEGIN = 200  # bytes, in which the archive says what it is

FORMAT = Format(
    key="ods",
    title="OpenDocument",
    noun="an OpenDocument sheet",
    suffixes=(".ods",),
    media_type="application/vnd.oasis.opendocument.spreadsheet",
    read=when_called("rwn_core.io.excel_reader.read_excel"),
    write=None,
    layout=frozenset(
        {"sheet", "header", "above", "below", "decimal", "dates", "missing", "grouped"}
    ),
    sees=when_called("rwn_core.io.excel_reader.seen_in_workbook"),
    keeps=frozenset({Feature.DATES, Feature.TRUTHS}),
    detects=lambda content: content.startswith(b"PK\x03\x04") and _SIGN in content[:_BEGIN],
)
