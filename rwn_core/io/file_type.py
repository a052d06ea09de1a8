"""Recognize a file by its content."""

from __future__ import annotations

from rwn_core.io import detected

_SIGNS = (
    (b"PARE", "an encrypted Parquet file"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"RDX", "an R data file"),
    (b"\x80\x02", "a pickle, which is never opened"),
    (b"\x80\x03", "a pickle, which is never opened"),
    (b"\x80\x04", "a pickle, which is never opened"),
    (b"\x80\x05", "a pickle, which is never opened"),
)
_TEXT_SIGNS = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML file"),
    (b"{", "a JSON file"),
    (b"[", "a JSON file"),
)


def describe(content: bytes) -> str | None:
    """Name the type that the first bytes show, such as ``a PNG image``; None if unknown."""
    own = detected(content)
    if own is not None:
        return own.noun
    for sign, what in _SIGNS:
        if content.startswith(sign):
            return what
    start = content[:200].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for sign, what in _TEXT_SIGNS:
        if start.startswith(sign):
            return what
    return None
