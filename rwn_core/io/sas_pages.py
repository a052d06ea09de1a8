"""Rows that were deleted in a SAS table and stand in its bytes all the same.

A table has a head and pages of one size. A page begins with its kind, the number of its blocks and
of its subheaders; pointers to these follow, and rows that are not packed. A deleted row keeps its
bytes: a bit after the rows marks it, or the kind of its pointer where rows are packed. The first
subheader states how many rows are deleted. See Shotwell and Cummins, "SAS7BDAT Database Binary
Format" (2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_WIDE_WORDS = 32  # where the head says that its numbers have eight bytes
_SHIFTED = 35  # where the head says that it is shifted by four bytes
_YES = 0x33
_LITTLE_ENDIAN = 37
_HEAD_SIZE = 196
_PAGE_SIZE = 200
_SMALLEST_PAGE = 1024
_ROW_SIZES = b"\xf7\xf7\xf7\xf7"  # the sign of the subheader of the rows, in either byte order
_ROW_LENGTH = 5  # words of this subheader
_STATED = 7
_HAS_MARKS = 0x80  # bit of a page's kind
_HAS_ROWS = 0x300  # bits of pages with rows that are not packed
_DELETED_POINTER = 0x05  # bits of the kind of a pointer to a packed row


def deleted_rows(content: bytes) -> int:
    """Return how many rows of a SAS table are deleted: as stated, or as marked if these are more.

    Of a table that is cut off or damaged only what can be read counts; its reader refuses it.
    """
    table = _Table.of(content)
    if table is None:
        return 0
    stated = 0
    marked = 0
    row_length = 0
    for page in table.pages():
        if not row_length:
            row_length, stated = page.row_sizes()
        marked += page.deleted_pointers() + page.marks(row_length)
    return max(stated, marked)


@dataclass(frozen=True, slots=True)
class _Table:
    content: bytes
    word: int  # bytes of a number
    order: Literal["little", "big"]
    head: int  # bytes
    page: int  # bytes

    @classmethod
    def of(cls, content: bytes) -> _Table | None:
        """Read the head; None where it holds no pages."""
        word = 8 if content[_WIDE_WORDS : _WIDE_WORDS + 1] == bytes([_YES]) else 4
        shift = 4 if content[_SHIFTED : _SHIFTED + 1] == bytes([_YES]) else 0
        order: Literal["little", "big"] = "little"
        if content[_LITTLE_ENDIAN : _LITTLE_ENDIAN + 1] != b"\x01":
            order = "big"
        head = int.from_bytes(content[shift + _HEAD_SIZE : shift + _HEAD_SIZE + 4], order)
        page = int.from_bytes(content[shift + _PAGE_SIZE : shift + _PAGE_SIZE + 4], order)
        return cls(content, word, order, head, page) if head and page >= _SMALLEST_PAGE else None

    def pages(self) -> Iterator[_Page]:
        """Give each whole page."""
        for start in range(self.head, len(self.content) - self.page + 1, self.page):
            yield _Page(self, self.content[start : start + self.page])


@dataclass(frozen=True, slots=True)
class _Page:
    table: _Table
    content: bytes

    def row_sizes(self) -> tuple[int, int]:
        """Return the bytes of a row and the stated number of deleted rows; 0 where not here."""
        word = self.table.word
        for pointer in self._pointers():
            place = int.from_bytes(pointer[:word].tobytes(), self.table.order)
            if self.content[place : place + word].strip(b"\x00") == _ROW_SIZES:
                length = self._number(place + _ROW_LENGTH * word, word)
                return length, self._number(place + _STATED * word, word)
        return 0, 0

    def deleted_pointers(self) -> int:
        """Return how many packed rows are deleted."""
        kinds = self._pointers()[:, 2 * self.table.word]
        return int((kinds & _DELETED_POINTER == _DELETED_POINTER).sum())

    def marks(self, row_length: int) -> int:
        """Return how many rows that are not packed are marked as deleted."""
        kind = self._short(0)
        if not (kind & _HAS_MARKS and kind & _HAS_ROWS):
            return 0
        rows = self._short(2) - self._short(4)
        begin = self._after_head + self._pointers().size
        begin += -begin % 8
        unused = self._number(3 * self.table.word, self.table.word)
        place = begin + rows * row_length + unused
        marks = np.frombuffer(self.content[place : place + (rows + 7) // 8], np.uint8)
        return int(np.unpackbits(marks)[:rows].sum())

    @property
    def _after_head(self) -> int:
        return 8 + 4 * self.table.word

    def _pointers(self) -> NDArray[np.uint8]:
        """Return the bytes of each pointer, shape (pointers, bytes)."""
        size = 3 * self.table.word
        fit = (len(self.content) - self._after_head) // size
        count = min(self._short(4), fit)
        pointers = np.frombuffer(self.content, np.uint8, count * size, self._after_head)
        return pointers.reshape(count, size)

    def _short(self, place: int) -> int:
        return self._number(4 * self.table.word + place, 2)

    def _number(self, place: int, size: int) -> int:
        return int.from_bytes(self.content[place : place + size], self.table.order)
