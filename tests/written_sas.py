"""A SAS table of numbers, written page by page: with rows that are deleted, and packed ones."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

SIGN = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
PAGE = 4096
_PACKED = b"SASYZCRL"


@dataclass(frozen=True, kw_only=True)
class SasTable:
    """Columns of numbers, the rows that are deleted, and how the bytes lie."""

    names: Sequence[str]
    rows: Sequence[Sequence[float | bytes]]  # eight bytes stand for themselves
    deleted: frozenset[int] = field(default_factory=frozenset)
    wide: bool = False  # numbers of eight bytes
    packed: bool = False
    stated: bool = True  # the first subheader says how many rows are deleted

    @property
    def word(self) -> int:
        """Return the bytes of a number."""
        return 8 if self.wide else 4

    def whole(self, *numbers: int) -> bytes:
        """Write whole numbers as words."""
        return b"".join(number.to_bytes(self.word, "little", signed=True) for number in numbers)

    def to_bytes(self) -> bytes:
        """Return the file: a head, a page of subheaders and rows, and one of rows."""
        half = len(self.rows) // 2
        first = self._page(0, half, with_subheaders=True)
        second = self._page(half, len(self.rows), with_subheaders=False)
        return self._head(2) + first + second

    def _head(self, pages: int) -> bytes:
        size = 8192 if self.wide else 1024
        head = bytearray(size)
        head[:32] = SIGN
        head[32] = 0x33 if self.wide else 0x22
        head[35] = 0x33 if self.wide else 0x32
        head[37] = 1
        head[39] = ord("2")
        head[70] = 20  # UTF-8
        head[84:92] = b"SAS FILE"
        head[92:156] = b"TABLE".ljust(64)
        head[156:164] = b"DATA    "
        shift = 4 if self.wide else 0
        struct.pack_into("<dd", head, 164 + shift, 1e9, 1e9)
        struct.pack_into("<ii", head, 196 + shift, size, PAGE)
        head[204 + shift : 204 + shift + self.word] = self.whole(pages)
        release = 216 + shift + (4 if self.wide else 0)
        head[release : release + 8] = b"9.0401M7"
        return bytes(head)

    def _row(self, row: int) -> bytes:
        cells = self.rows[row]
        return b"".join(
            cell if isinstance(cell, bytes) else struct.pack("<d", cell) for cell in cells
        )

    def _packed_row(self, row: int) -> bytes:
        """Return a row as runs of zeros and runs that are copied."""
        content = b""
        for cell in re.findall(rb"(?s).{8}", self._row(row)):
            zeros = len(cell) - len(cell.lstrip(b"\x00"))
            kept = cell[zeros:] if zeros > 1 else cell
            content += bytes([0xF0 + zeros - 2] if zeros > 1 else [])
            content += bytes([0x80 + len(kept) - 1]) + kept
        return content

    def _page(self, begin: int, end: int, *, with_subheaders: bool) -> bytes:
        rows = range(begin, end)
        # subheaders with the kind of their pointer
        subheaders = [(part, 0) for part in self._subheaders()] if with_subheaders else []
        if self.packed:
            subheaders += [(self._packed_row(row), 5 if row in self.deleted else 4) for row in rows]
            subheaders.append((b"", 1))
            kind = 0
            rows = range(0)
        else:
            kind = 512 if with_subheaders else 256
        if self.deleted.intersection(rows):
            kind |= 0x80
        page = bytearray(PAGE)
        blocks = len(subheaders) + len(rows)
        struct.pack_into("<HHH", page, 4 * self.word, kind, blocks, len(subheaders))
        place = PAGE
        pointers = b""
        for part, pointer in subheaders:
            place -= len(part) + -len(part) % 8
            page[place : place + len(part)] = part
            pointers += self.whole(place, len(part)) + bytes([pointer, int(self.packed)])
            pointers += bytes(self.word - 2)
        self._write_rows(page, place, pointers, rows)
        return bytes(page)

    def _write_rows(self, page: bytearray, place: int, pointers: bytes, rows: range) -> None:
        """Write pointers, rows, and before the first subheader a bit for each row."""
        begin = 8 + 4 * self.word
        page[begin : begin + len(pointers)] = pointers
        begin += len(pointers)
        begin += -begin % 8
        content = b"".join(map(self._row, rows))
        page[begin : begin + len(content)] = content
        bits = "".join(str(int(row in self.deleted)) for row in rows)
        marks = bytes(int(byte.ljust(8, "0"), 2) for byte in re.findall(".{1,8}", bits))
        page[place - len(marks) : place] = marks
        unused = place - len(marks) - begin - len(content)
        page[3 * self.word : 4 * self.word] = self.whole(unused)

    def _subheaders(self) -> list[bytes]:
        word = self.word
        columns = len(self.names)
        sizes = bytearray(808 if self.wide else 480)
        sizes[:4] = b"\xf7" * 4
        stated = len(self.deleted) if self.stated else 0
        on_first = 0 if self.packed else len(self.rows) // 2
        numbers = {5: 8 * columns, 6: len(self.rows), 7: stated, 9: columns, 13: PAGE, 15: on_first}
        for at, number in numbers.items():
            sizes[at * word : (at + 1) * word] = self.whole(number)
        struct.pack_into("<H", sizes, 748 if self.wide else 420, 1)
        # texts, from the end of the sign: the kind of packing, and names at multiples of four
        texts = bytearray(12) + (_PACKED if self.packed else b" " * 8) + bytes(8)
        places = []
        for name in self.names:
            places.append((len(texts), len(name)))
            texts += name.encode() + bytes(-len(name) % 4)
        struct.pack_into("<H", texts, 0, len(texts) - self.word - 4)
        rest = 12 if self.wide else 8
        names = b"".join(struct.pack("<HHHH", 0, at, size, 0) for at, size in places)
        kinds = b"".join(
            self.whole(8 * n) + struct.pack("<iHBB", 8, 4, 1, 0) for n in range(columns)
        )
        plain = bytearray(64 if self.wide else 52)
        plain[:word] = self.whole(-1026)
        return [
            bytes(sizes),
            b"\xf6" * 4 + bytes(word - 4) + self.whole(columns, 0),
            self.whole(-3) + bytes(texts),
            self.whole(-1) + struct.pack("<HHHH", len(names) + 8, 0, 0, 0) + names + bytes(rest),
            self.whole(-4) + struct.pack("<HHHH", len(kinds) + 8, 0, 0, 0) + kinds + bytes(rest),
            *([bytes(plain)] * columns),
        ]
