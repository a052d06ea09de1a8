"""Marks of a sheet: hidden rows and columns, and cells with an error."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from xml.etree import ElementTree

_TAG = rb"<(?:\w+:)?"
_ROW = re.compile(_TAG + rb"""row\s[^<>]*?\bhidden=["'](?:1|true)["'][^<>]*>""")
_COLUMN = re.compile(_TAG + rb"""col\s[^<>]*?\bhidden=["'](?:1|true)["'][^<>]*>""")
_ERROR = re.compile(_TAG + rb"""c\s[^<>]*?\bt=["']e["'][^<>]*>""")
_VALUE = re.compile(_TAG + rb"(?:v|is)[\s>]")
_PLACE = re.compile(rb"""\br=["']([A-Z]{0,4}\d{1,9})["']""")
_FIRST, _LAST = (re.compile(rb"""\b%b=["'](\d{1,5})["']""" % name) for name in (b"min", b"max"))
_NAMED = 3  # places that a notice names
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@dataclass(slots=True)
class Marks:
    """Hidden rows and columns of a sheet, and its cells with an error.

    Attributes
    ----------
    rows, errors : int
        Hidden rows, and cells with an error.
    row_places, error_places : list of str
        The first of them.
    columns : list of tuple of int
        First and last of each run of hidden columns, from 1.
    values : bool
        Whether any cell has a value.
    """

    rows: int = 0
    errors: int = 0
    row_places: list[str] = field(default_factory=list)
    error_places: list[str] = field(default_factory=list)
    columns: list[tuple[int, int]] = field(default_factory=list)
    values: bool = False

    def look_at(self, piece: bytes, seen: int) -> None:
        """Count the marks of a piece of the sheet that end after so many bytes."""
        self.values = self.values or _VALUE.search(piece) is not None
        for found in _ROW.finditer(piece):
            if found.end() > seen:
                self.rows += 1
                _note(self.row_places, found[0])
        for found in _ERROR.finditer(piece):
            if found.end() > seen:
                self.errors += 1
                _note(self.error_places, found[0])
        for found in _COLUMN.finditer(piece):
            first, last = _FIRST.search(found[0]), _LAST.search(found[0])
            if found.end() > seen and first is not None and last is not None:
                self.columns.append((int(first[1]), int(last[1])))

    def notices(self, width: int) -> list[str]:
        """Return notices about a sheet of this width: places and counts, never a value."""
        said = []
        if self.rows:
            hidden = "1 hidden row, and it is" if self.rows == 1 else f"{self.rows:,} hidden rows"
            verb = "" if self.rows == 1 else ", and they are"
            said.append(
                f"The sheet has {hidden}{verb} read (row {_listed(self.row_places, self.rows)})."
            )
        columns = [n for low, high in self.columns for n in range(low, min(high, width) + 1)]
        if columns:
            count = len(columns)
            hidden = "1 hidden column, and it is" if count == 1 else f"{count:,} hidden columns"
            verb = "" if count == 1 else ", and they are"
            places = [_letters(number) for number in columns[:_NAMED]]
            said.append(f"The sheet has {hidden}{verb} read (column {_listed(places, count)}).")
        if self.errors:
            cells = "1 cell" if self.errors == 1 else f"{self.errors:,} cells"
            said.append(
                f"{cells} of the sheet hold{'s' * (self.errors == 1)} an error such as #N/A, and "
                f"no value (cell {_listed(self.error_places, self.errors)})."
            )
        return said


def _note(places: list[str], tag: bytes) -> None:
    place = _PLACE.search(tag)
    if place is not None and len(places) < _NAMED:
        places.append(place[1].decode("ascii"))


def _listed(places: list[str], count: int) -> str:
    return ", ".join(places) + (", ..." if count > len(places) else "")


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def sheet_marks(archive: zipfile.ZipFile, marks: Mapping[str, Marks]) -> dict[str, Marks]:
    """The marks by the names of the sheets, as the workbook gives them; empty where it does not."""
    try:
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        parts = {str(each.get("Id")): str(each.get("Target")) for each in links}
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        named = {}
        for sheet in book.iter(f"{_MAIN}sheet"):
            target = PurePosixPath("/xl", parts[str(sheet.get(_LINK))])
            part = str(target).lstrip("/")
            if part in marks:
                named[str(sheet.get("name"))] = marks[part]
    except (KeyError, ElementTree.ParseError):
        return {}
    return named
