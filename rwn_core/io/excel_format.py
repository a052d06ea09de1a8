"""Excel: the sheet of a workbook with most rows."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called

FORMAT = Format(
    key="excel",
    title="Excel",
    noun="an Excel workbook",
    suffixes=(".xlsx",),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    read=when_called("rwn_core.io.excel_reader.read_excel"),
    write=when_called("rwn_core.io.excel_writer.excel_bytes"),
    layout=frozenset(
        {"sheet", "header", "above", "below", "decimal", "dates", "missing", "fill", "grouped"}
    ),
    sees=when_called("rwn_core.io.excel_reader.seen_in_workbook"),
    keeps=frozenset({Feature.DATES, Feature.TRUTHS}),
    # a zip archive that names parts of a workbook
    detects=lambda content: content.startswith(b"PK\x03\x04") and b"xl/" in content,
    again=when_called("rwn_core.io.other_readers.workbook_again"),
    again_by="openpyxl",
)
