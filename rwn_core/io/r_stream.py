"""A file of R is parsed while it is unpacked, and refused by the lengths that it declares.

A packed file of half a megabyte may declare 150 million numbers: what they would take is counted
before they are read, so that no memory is taken for a file that is refused.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from numpy.typing import DTypeLike, NDArray
from rdata.parser import RData, RObject, parse_data
from rdata.parser._parser import parse_r_object_info
from rdata.parser._xdr import ParserXDR

from rwn_core.errors import InputError
from rwn_core.io.limits import MOST_MEMORY, check_unpacked, unpacked, unpacking

_FRAMES = (b"RDX2\n", b"RDX3\n")  # what `save` writes, before the objects
_XDR = b"X\n"
_RAW = bytes([24])  # the type of a vector of bytes
_STEP = 1 << 20  # bytes that are unpacked at once
# bytes that a table takes of each value while it is read, about: a number, and a text or object
NUMBER_BYTES = 40
OBJECT_BYTES = 300
LARGEST_DECLARED = MOST_MEMORY / 2


def parse_r(file: str, content: bytes, short_forms: Mapping[bytes, Any]) -> RData:
    """Parse a file of R, packed or not; short forms of vectors are written out by `short_forms`."""
    stream = io.BufferedReader(_Counted(file, content), _STEP)
    head = stream.peek(7)
    named = head.startswith(_FRAMES)
    start = len(_FRAMES[0]) if named else 0
    if not head[start:].startswith(_XDR):  # large files do not have this form
        plain = unpacked(file, content)
        ending = ".rda" if plain.startswith(b"RD") else ".rds"
        return parse_data(plain, altrep_constructor_dict=short_forms, extension=ending)
    stream.read(start + len(_XDR))
    parser = _Bounded(file, stream, short_forms)
    parsed = parser.parse_all()
    rest = 0
    while part := stream.read(_STEP):  # counted, and not held
        rest += len(part)
    if rest:
        raise ValueError("something follows the object")
    return parsed


class _Counted(io.RawIOBase):
    """A stream of what a file unpacks to, up to its limit."""

    def __init__(self, file: str, content: bytes) -> None:
        self._name = file
        self._unpacking = unpacking(content)
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._unpacking.read(len(buffer))
        self._size += len(part)
        check_unpacked(self._name, self._size)
        buffer[: len(part)] = part
        return len(part)


class _Bounded(ParserXDR):
    """The library's parser, which asks whether declared values fit before it reads them."""

    file: Any  # what it reads, in the library bytes that are in memory

    def __init__(
        self, name: str, stream: io.BufferedReader[Any], short_forms: Mapping[bytes, Any]
    ) -> None:
        super().__init__(memoryview(b""), expand_altrep=True, altrep_constructor_dict=short_forms)
        self.file = stream
        self._name = name
        self._declared = 0.0

    def _take(self, length: int, each: int) -> int:
        """Return a declared length, or refuse the file where its values would not fit."""
        if length == -1:  # of a vector of 2^31 values or more
            length = 2**31
        if length < 0:
            raise ValueError("no length")
        self._declared += length * each
        if self._declared > LARGEST_DECLARED:
            raise InputError(
                f"{self._name} declares values that take more than {LARGEST_DECLARED / 1e9:g} GB "
                "of memory; read fewer columns or records, or use the commands for large tables."
            )
        return length

    def _parse_array(self, dtype: DTypeLike) -> NDArray[Any]:
        return self._parse_array_values(dtype, self._take(self.parse_int(), NUMBER_BYTES))

    def parse_R_object(self, *given: Any, **named: Any) -> RObject:  # the library's
        """Parse an object; of bytes, which the library does not know, the length alone."""
        if self.file.peek(4)[3:4] != _RAW or named.get("info_int") is not None:
            made: RObject = super().parse_R_object(*given, **named)
            return made
        info = parse_r_object_info(self.parse_int())
        self.file.read(self._take(self.parse_int(), 1))
        attributes = super().parse_R_object(*given, **named) if info.attributes else None
        return RObject(
            info=info, tag=None, attributes=attributes, value=None, referenced_object=None
        )

    def _parse_vector_value(
        self,
        reference_list: list[RObject] | None,
        bytecode_rep_list: list[RObject | None] | None = None,
    ) -> list[RObject]:
        length = self._take(self.parse_int(), OBJECT_BYTES)
        return [self.parse_R_object(reference_list, bytecode_rep_list) for _ in range(length)]

    def parse_string(self, length: int) -> bytes:
        text: bytes = super().parse_string(self._take(length, 1))
        return text
