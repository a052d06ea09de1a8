"""A workbook is a zip archive of XML: its sizes are judged before anything is read from it."""

from __future__ import annotations

import copy
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from rwn_core.errors import InputError
from rwn_core.io.excel_marks import Marks, sheet_marks
from rwn_core.io.limits import check_size, check_unpacked

_STEP = 1 << 20
_OVERLAP = 200  # letters of a tag that two pieces of a part may share
# a tag that is never closed ends at the next one: no search begins twice over the same letters
_CELL = re.compile(rb"""<(?:\w+:)?(?:c|row)\s[^<>]*?\br=["']([A-Z]{0,4})(\d{1,9})["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_NO_RESULT = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^<>]*/>)\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)"
)
_SHEETS = "xl/worksheets/"


@dataclass(slots=True)
class Contents:
    """The marks, hidden rows and formulas of a workbook.

    Attributes
    ----------
    formulas, without_result : int
        Cells with a formula, and those whose result is not stored.
    macros : bool
    sheets : dict of str to Marks
        By the names of the sheets: what is hidden, and cells with an error.
    """

    formulas: int = 0
    without_result: int = 0
    macros: bool = False
    sheets: dict[str, Marks] = field(default_factory=dict)


def check_workbook(file: str, content: bytes) -> Contents:
    """Refuse a workbook that would take too much memory, or that is no plain XML.

    Every part is unpacked once and counted, because the sizes that an archive declares may be
    wrong.
    """
    found = Contents()
    marks: dict[str, Marks] = {}
    size = 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for part in archive.infolist():
                found.macros |= part.filename.endswith("vbaProject.bin")
                for piece, new in _pieces(archive, part):
                    size += new
                    check_unpacked(file, size)
                    _look_at(file, part.filename, piece, found)
                    if part.filename.startswith(_SHEETS):
                        own = marks.setdefault(part.filename, Marks())
                        own.look_at(piece, len(piece) - new)
            found.sheets = sheet_marks(archive, marks)
    except InputError:
        raise
    # a broken archive breaks zipfile in many ways; none of its words is shown
    except Exception:
        raise InputError(
            f"{file} is damaged, cut off or protected by a password; get or save the file again."
        ) from None
    if marks and not any(each.values for each in marks.values()):
        raise InputError(f"{file} holds no visible sheet with values; choose another file.")
    return found


def _pieces(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[tuple[bytes, int]]:
    """A part piece by piece, each with the end of the one before; and how many bytes are new."""
    end = b""
    size = 0
    whole = copy.copy(part)
    # zipfile would stop at the declared size; other programs unpack whatever is there
    whole.file_size = sys.maxsize
    with archive.open(whole) as stream:
        while piece := stream.read(_STEP):
            size += len(piece)
            yield end + piece, len(piece)
            end = piece[-_OVERLAP:]
    if size != part.file_size:
        raise zipfile.BadZipFile("a part has another size than declared")


def _look_at(file: str, name: str, piece: bytes, found: Contents) -> None:
    if not name.endswith((".xml", ".rels")):
        return
    if b"<!DOCTYPE" in piece or b"<!ENTITY" in piece:
        raise InputError(f"{file} has XML entities, which no office program writes; save it again.")
    if not name.startswith(_SHEETS):
        return
    found.formulas += len(_FORMULA.findall(piece))
    found.without_result += len(_NO_RESULT.findall(piece))
    cells = _CELL.findall(piece)
    if cells:
        width = max(map(_column_number, {letters for letters, _ in cells}))
        height = max(int(digits) for _, digits in cells)
        check_size(file, height, max(width, 1))


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
