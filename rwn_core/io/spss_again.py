"""Read an SPSS system file (.sav, .zsav) without ReadStat, for a second look at its values.

The layout is that of PSPP's "System File Format": records with a description, then the cases in
units of eight bytes, packed by one code byte for each unit.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.io.other_readers import Found, Wanted

_SEGMENT, _SEGMENT_STEP = 255, 252  # bytes of a long text that a segment holds, and counts for
_TIMES = (21, 25)  # formats TIME and DTIME, which are no moments
_SYSTEM_MISSING = -np.finfo(np.float64).max
_BLANK = b" " * 8


@dataclass(slots=True)
class _Column:
    """A variable of the file: where its units begin, how wide it is, and its labels."""

    short: str
    name: str
    unit: int
    width: int
    format: int
    coded: dict[bytes, bytes] = field(default_factory=dict)
    labels: dict[Any, str] = field(default_factory=dict)


class _Description:
    """The records before the cases."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 176
        order = "<" if struct.unpack_from("<i", content, 64)[0] in (2, 3) else ">"
        self.order = order
        _, _, self.packing, _, self.cases = struct.unpack_from(f"{order}5i", content, 64)
        (self.bias,) = struct.unpack_from(f"{order}d", content, 84)
        self.columns: list[_Column] = []
        self.units = 0
        self._extensions: dict[int, bytes] = {}
        readers = {2: self._variable, 3: self._value_labels, 6: self._document, 7: self._extension}
        while (kind := self._integer()) != 999:
            readers[kind]()
        self._integer()
        self._finish()

    def _integer(self) -> int:
        return int(struct.unpack(f"{self.order}i", self._take(4))[0])

    def _take(self, count: int) -> bytes:
        part = self.content[self.at : self.at + count]
        if len(part) < count:
            raise ValueError("the file is cut off")
        self.at += count
        return part

    def _variable(self) -> None:
        width, has_label, missing, form, _ = (self._integer() for _ in range(5))
        short = self._take(8).decode("latin-1").rstrip()
        if has_label:
            self._take((self._integer() + 3) // 4 * 4)
        self._take(8 * abs(missing))
        if width >= 0:
            self.columns.append(_Column(short, short, self.units, width, form >> 16 & 255))
        self.units += 1

    def _value_labels(self) -> None:
        labels = []
        for _ in range(self._integer()):
            code, length = self._take(8), self._take(1)[0]
            labels.append((code, self._take((length + 8) // 8 * 8 - 1)[:length]))
        if self._integer() != 4:
            raise ValueError("labels of no variable")
        places = [self._integer() - 1 for _ in range(self._integer())]
        for column in self.columns:
            if column.unit in places:
                column.coded = dict(labels)

    def _document(self) -> None:
        self._take(80 * self._integer())

    def _extension(self) -> None:
        subtype, size, count = (self._integer() for _ in range(3))
        self._extensions[subtype] = self._take(size * count)

    def _finish(self) -> None:
        """Decode names and labels, and join the segments of long texts."""
        self.encoding = self._extensions.get(20, b"cp1252").decode("ascii").strip("\0 ")
        longer, long_texts = self._pairs(13), self._pairs(14)
        widths = {name: int(width.strip("\0")) for name, width in long_texts.items()}
        parts = 0
        joined = []
        for column in self.columns:
            if parts > 0:  # a further segment of the long text before it
                parts -= 1
                continue
            if column.short in widths:
                column.width = widths[column.short]
                parts = (column.width + _SEGMENT_STEP - 1) // _SEGMENT_STEP - 1
            column.name = longer.get(column.short, column.short)
            column.labels = {
                self._code(column, code): self._text(label) for code, label in column.coded.items()
            }
            joined.append(column)
        self.columns = joined

    def _pairs(self, subtype: int) -> dict[str, str]:
        """Split NAME=VALUE pairs, which tabulators part."""
        text = self._text(self._extensions.get(subtype, b""))
        pairs = (pair.partition("=") for pair in text.split("\t"))
        return {name.strip("\0"): value for name, _, value in pairs if value}

    def _text(self, part: bytes) -> str:
        return part.decode(self.encoding)

    def _code(self, column: _Column, code: bytes) -> Any:
        if column.width:
            return self._text(code).rstrip()
        return struct.unpack(f"{self.order}d", code)[0]

    def unpacked(self) -> NDArray[np.bytes_]:
        """Return the cases, one row each, in units of eight bytes."""
        data = self.content[self.at :]
        if self.packing == 2:
            data = self._inflated()
        if self.packing == 0:
            units = np.frombuffer(data[: len(data) // 8 * 8], "V8")
        else:
            units = self._decoded(data)
        return units[: len(units) // self.units * self.units].reshape(-1, self.units)

    def _inflated(self) -> bytes:
        _, trailer, _ = struct.unpack(f"{self.order}3q", self._take(24))
        blocks = struct.unpack_from(f"{self.order}i", self.content, trailer + 20)[0]
        parts = []
        for number in range(blocks):
            place, _, size = struct.unpack_from(
                f"{self.order}qii", self.content, trailer + 24 + 24 * number + 8
            )
            parts.append(zlib.decompress(self.content[place : place + size]))
        return b"".join(parts)

    def _decoded(self, data: bytes) -> NDArray[np.bytes_]:
        """Write out the units of code bytes: small numbers, blanks, missing ones, and raw units."""
        blocks, place = [], 0
        while place + 8 <= len(data):
            blocks.append(place)
            place += 8 + 8 * data.count(b"\xfd", place, place + 8)
        raw = np.frombuffer(data + b"\0" * (-len(data) % 8), "V8")
        starts = np.array(blocks, np.int64) // 8
        codes = raw[starts].view(np.uint8).reshape(-1, 8)
        source = (starts[:, None] + np.cumsum(codes == 253, axis=1)).ravel()
        ends = np.flatnonzero(codes.ravel() == 252)
        stop = int(ends[0]) if len(ends) else codes.size
        code = codes.ravel()[:stop]
        units = (code - self.bias).astype(f"{self.order}f8").view("V8")
        units[code == 254] = np.void(_BLANK)
        units[code == 255] = np.void(struct.pack(f"{self.order}d", _SYSTEM_MISSING))
        units[code == 253] = raw[source[:stop][code == 253]]
        written: NDArray[np.bytes_] = units[code != 0]
        return written

    def values(self, cases: NDArray[np.bytes_], column: _Column) -> list[Any]:
        """Return the different values of a column, missing ones as None."""
        if column.width == 0:
            numbers = np.ascontiguousarray(cases[:, column.unit]).view(f"{self.order}f8")
            return [None if v == _SYSTEM_MISSING else v for v in np.unique(numbers).tolist()]
        parts = []
        unit, left = column.unit, column.width
        wide = column.width > _SEGMENT
        while left > 0:
            used = min(left, _SEGMENT)
            held = (used + 7) // 8
            part = np.ascontiguousarray(cases[:, unit : unit + held]).view(np.uint8)
            parts.append(part.reshape(len(cases), -1)[:, :used])
            unit, left = unit + (32 if wide else held), left - used
        texts = np.ascontiguousarray(np.concatenate(parts, axis=1)).view(f"V{column.width}")
        return [self._text(text.tobytes()).rstrip() or None for text in np.unique(texts)]


def spss_again(content: bytes, wanted: Wanted) -> Found:
    """Read a file of SPSS by this module alone."""
    if not content.startswith((b"$FL2", b"$FL3")):
        raise ValueError("only system files are read")
    description = _Description(content)
    cases = description.unpacked()
    if description.cases not in (-1, len(cases)):
        raise ValueError("the file is cut off")
    columns = {column.name: column for column in description.columns}
    found = {}
    for name in wanted.names:
        column = columns[name]
        if column.format in _TIMES:
            raise ValueError("times without a day")
        values = description.values(cases, column)
        if name in wanted.moments:
            values = [None if v is None else _moment(v) for v in values]
        elif name in wanted.labels:
            values = [column.labels.get(value, value) for value in values]
        found[name] = values
    return Found(columns=found, records=len(cases))


def _moment(seconds: float) -> datetime:
    """Count seconds from the first day of the Gregorian calendar."""
    return datetime(1582, 10, 14) + timedelta(seconds=seconds)
