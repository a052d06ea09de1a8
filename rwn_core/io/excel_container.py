"""A workbook is a zip archive of XML: its sizes are judged before anything is read from it."""

from __future__ import annotations

import copy
import io
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

from xlsxwriter.utility import xl_col_to_name

from rwn_core.errors import InputError
from rwn_core.io.limits import PROTECTED, check_size, check_unpacked, damaged

_STEP = 1 << 20
_OVERLAP = 200  # letters of a tag that two pieces of a part may share
# Each pattern reads a letter a bounded number of times: a look ahead is tried once for a tag, and
# what is possessive gives nothing back. `tests/rules/test_patterns_are_linear.py` tries them.
_TAG = rb"<(?:\w{1,40}+:)?"
_CELL = re.compile(_TAG + rb"""(?:c|row)\s[^<>]*?\br=["']([A-Z]{0,4})(\d{1,9})["']""")
_NO_RESULT = re.compile(
    _TAG + rb"""c\s(?=[^<>]*?\br=["'][A-Z]{0,4}(\d{1,9})["'])[^<>]*+>\s*+"""
    rb"<(?:\w{1,40}+:)?f\b[^<>]*+>(?:(?<=/>)|[^<]*+</(?:\w{1,40}+:)?f>)\s*+"
    rb"(?:</(?:\w{1,40}+:)?c>|<(?:\w{1,40}+:)?v\s*+/>|<(?:\w{1,40}+:)?v></)"
)
_SHEETS = "xl/worksheets/"

_ROW = re.compile(_TAG + rb"""row\s(?=[^<>]*?\bhidden=["'](?:1|true)["'])[^<>]*+>""")
_COLUMN = re.compile(_TAG + rb"""col\s(?=[^<>]*?\bhidden=["'](?:1|true)["'])[^<>]*+>""")
_ERROR = re.compile(_TAG + rb"""c\s(?=[^<>]*?\bt=["']e["'])[^<>]*+>""")
_VALUE = re.compile(_TAG + rb"(?:v|is)[\s>]")
_PLACE = re.compile(rb"""\br=["']([A-Z]{0,4}\d{1,9})["']""")
_FIRST, _LAST = (re.compile(rb"""\b%b=["'](\d{1,5})["']""" % name) for name in (b"min", b"max"))
_NAMED = 3  # places that a notice names
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STYLES = 8 * _STEP  # bytes of the styles that are looked at
_PART = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[[^\]]*\]|(.)', re.DOTALL)
_STYLED = re.compile(
    _TAG + rb"""c\s(?=[^<>]*?\br=["']([A-Z]{1,3})\d)(?=[^<>]*?\bs=["'](\d{1,6})["'])"""
)
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def check_workbook(file: str, content: bytes) -> dict[str, Marks]:
    """Refuse a workbook that takes too much memory or is no plain XML; return its sheets' marks."""
    # Every part is unpacked once and counted, because the sizes that an archive declares may be
    # wrong. An OpenDocument sheet has no marks.
    marks = dict[str, Marks]()
    size = 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            codes = _code_styles(archive)
            for part in archive.infolist():
                for piece, new in _pieces(archive, part):
                    size += new
                    check_unpacked(file, size)
                    entities = b"<!DOCTYPE" in piece or b"<!ENTITY" in piece
                    if entities and part.filename.endswith((".xml", ".rels")):
                        raise InputError(
                            f"{file} has XML entities, which no office program writes; save it "
                            "again."
                        )
                    if part.filename.startswith(_SHEETS):
                        check_size(file, *_reach_of_cells(piece))
                        own = marks.setdefault(part.filename, Marks(codes=codes))
                        own.look_at(piece, len(piece) - new)
            named = sheet_marks(archive, marks)
    except InputError:
        raise
    # a broken archive breaks zipfile in many ways; none of its words is shown
    except Exception:
        raise damaged(file, PROTECTED) from None
    if marks and not any(each.values for each in marks.values()):
        raise InputError(f"{file} holds no visible sheet with values; choose another file.")
    return named


def _reach_of_cells(piece: bytes) -> tuple[int, int]:
    """Return the last row and the last column that the cells of a piece of a sheet are in."""
    cells = _CELL.findall(piece)
    heights = [int(digits) for _, digits in cells]
    different = {letters for letters, _ in cells}
    widths = [reduce(lambda number, letter: number * 26 + letter - 64, x, 0) for x in different]
    return max(heights, default=0), max(widths, default=1) or 1


def _pieces(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[tuple[bytes, int]]:
    """A part piece by piece, each with the end of the one before; and how many bytes are new."""
    end = b""
    size = 0
    full = copy.copy(part)
    # zipfile would stop at the declared size; other programs unpack whatever is there
    full.file_size = sys.maxsize
    with archive.open(full) as stream:
        while piece := stream.read(_STEP):
            size += len(piece)
            yield end + piece, len(piece)
            end = piece[-_OVERLAP:]
    if size != part.file_size:
        raise zipfile.BadZipFile("a part has another size than declared")


def _hidden_columns(piece: bytes, seen: int) -> Iterator[tuple[int, int]]:
    """Yield first and last of the runs of hidden columns that end after a number of bytes."""
    for found in _COLUMN.finditer(piece):
        first = _FIRST.search(found[0])
        last = _LAST.search(found[0])
        if found.end() > seen and first is not None and last is not None:
            yield int(first[1]), int(last[1])


@dataclass(slots=True)
class Marks:
    """The hidden rows and columns of a sheet, its cells with an error, and its open formulas."""

    # places of the hidden rows, and of the cells with an error
    rows: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # first and last of each run of hidden columns, from 1
    columns: list[tuple[int, int]] = field(default_factory=list)
    # rows of the formulas without a stored result, from 1
    open_rows: list[int] = field(default_factory=list)
    values: bool = False  # whether any cell has a value
    # cell styles that show whole numbers as codes, and the styled cells of each column
    codes: Mapping[bytes, str] = field(default_factory=dict)
    styled: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)

    def look_at(self, piece: bytes, seen: int) -> None:
        """Count the marks of a piece of the sheet that end after a number of bytes."""
        self.values = self.values or _VALUE.search(piece) is not None
        if self.codes:
            self.styled.update(_STYLED.findall(piece))
        for pattern, places in ((_ROW, self.rows), (_ERROR, self.errors)):
            tags = (tag[0] for tag in pattern.finditer(piece) if tag.end() > seen)
            named = (_PLACE.search(tag) for tag in tags)
            places += ["?" if place is None else place[1].decode("ascii") for place in named]
        ends = ((found.end(), int(found[1])) for found in _NO_RESULT.finditer(piece))
        self.open_rows += [row for end, row in ends if end > seen]
        self.columns += _hidden_columns(piece, seen)

    def code_of(self, column: int, records: int) -> str:
        """Return how most cells of a column show whole numbers as codes; empty if they do not."""
        name = xl_col_to_name(column).encode()
        usual = max(self.codes, key=lambda style: self.styled[name, style], default=b"")
        return self.codes[usual] if 2 * self.styled[name, usual] >= records else ""

    def notices(self, width: int) -> list[str]:
        """Return notices about a sheet of this width: places and counts, never a value."""
        columns: list[int] = []
        for low, high in self.columns:
            columns += range(low, min(high, width) + 1)
        letters = [xl_col_to_name(number - 1) for number in columns]
        said = []
        for what, places in (("row", self.rows), ("column", letters)):
            hidden = f"{what}s, and they are" if len(places) > 1 else f"{what}, and it is"
            if places:
                counted = f"The sheet has {len(places):,} hidden {hidden} read"
                said.append(f"{counted} ({what} {_listed(places)}).")
        if self.errors:
            hold = f"{len(self.errors):,} cells of the sheet hold"
            hold = "1 cell of the sheet holds" if len(self.errors) == 1 else hold
            error = "an error such as #N/A, and no value"
            said.append(f"{hold} {error} (cell {_listed(self.errors)}).")
        return said


def _listed(places: list[str]) -> str:
    return ", ".join(places[:_NAMED]) + (", ..." if len(places) > _NAMED else "")


def sheet_marks(archive: zipfile.ZipFile, marks: Mapping[str, Marks]) -> dict[str, Marks]:
    """The marks by the names of the sheets, as the workbook gives them; empty where it does not."""
    try:
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        targets = ((e.get("Id"), PurePosixPath("/xl", str(e.get("Target")))) for e in links)
        parts = {name: str(target).lstrip("/") for name, target in targets}
        sheets = [(str(e.get("name")), parts[e.get(_LINK)]) for e in book.iter(f"{_MAIN}sheet")]
    except (KeyError, ElementTree.ParseError):
        return {}
    return {name: marks[part] for name, part in sheets if part in marks}


def _code_styles(archive: zipfile.ZipFile) -> dict[bytes, str]:
    """Styles of cells that show whole numbers as codes, each with a NUL for every digit."""
    try:
        with archive.open("xl/styles.xml") as stream:
            text = stream.read(_STYLES)
        root = ElementTree.fromstring(b"<no/>" if b"<!" in text else text)
    except (KeyError, ElementTree.ParseError):
        return {}
    written = {e.get("numFmtId"): e.get("formatCode", "") for e in root.findall("{*}numFmts/")}
    formats = [written.get(each.get("numFmtId"), "") for each in root.findall("{*}cellXfs/")]
    codes = {str(number).encode(): _code_digits(each) for number, each in enumerate(formats)}
    return {style: code for style, code in codes.items() if code}


def _code_digits(written: str) -> str:
    """A number format with a NUL for every digit; empty for one that shows a quantity.

    >>> _code_digits('000-00-0000').replace(chr(0), "9"), _code_digits("0.00"), _code_digits("0")
    ('999-99-9999', '', '')
    """
    found = ""
    for quoted, escaped, plain in _PART.findall(written.partition(";")[0]):
        if plain not in "0-/ ():+" or re.search(r"\[[<>=]", written):
            return ""
        found += quoted + escaped + ("\0" if plain == "0" else plain)
    return found if found.count("\0") > 1 else ""


def shown_as_codes(values: list[Any], code: str) -> list[Any]:
    """Whole numbers of a column as texts with their zeros, where that differs from the numbers.

    >>> shown_as_codes([1067.0, 99999.0, ""], chr(0) * 5)
    ['01067', '99999', '']
    >>> shown_as_codes([2019.0, 2020.0], chr(0) * 4)
    [2019.0, 2020.0]
    """
    if not code or any(isinstance(v, int | float) and (v < 0 or v % 1) for v in values):
        return values
    count = code.count("\0")
    texts = []
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            digits = f"{int(value):0{count}d}"
            places = iter([digits[: len(digits) - count + 1], *digits[len(digits) - count + 1 :]])
            value = "".join(next(places) if each == "\0" else each for each in code)
        texts.append(value)
    plain = [str(int(v)) if isinstance(v, int | float) else v for v in values]
    return values if texts == plain else texts
