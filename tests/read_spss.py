"""A second reader of SPSS files: the dictionary and the first cells, from the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_SYSTEM_MISSING = -1.7976931348623157e308  # the least number that there is
_WORD = 8


@dataclass(kw_only=True)
class SpssVariable:
    """A variable of the dictionary."""

    name: str
    width: int  # letters of a text, 0 of a number
    label: str
    missing: tuple[float, ...]  # codes; of a range its ends after the sign "range"
    is_range: bool
    value_labels: dict[float, str] = field(default_factory=dict)
    words: int = 1  # of eight bytes, in a record


class SpssBytes:
    """The bytes of a file (.sav), little-endian, read one after the other."""

    def __init__(self, content: bytes) -> None:
        assert content[:4] == b"$FL2"
        self.content = content
        self.place = 176
        self.packed = self._at("<i", 72) == 1
        self.bias = self._at("<d", 84)
        self.variables: list[SpssVariable] = []
        self._by_word: list[SpssVariable] = []  # the variable of each word of a record
        while (kind := self.whole()) != 999:
            {2: self._variable, 3: self._labels, 6: self._notes, 7: self._more}[kind]()
        self.place += 4

    def _at(self, form: str, place: int) -> Any:
        return struct.unpack_from(form, self.content, place)[0]

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self.place += count
        return self.content[self.place - count : self.place]

    def whole(self) -> int:
        """Return the next whole number."""
        return int(struct.unpack("<i", self.take(4))[0])

    def _variable(self) -> None:
        width, labelled, missing, *_ = struct.unpack("<5i", self.take(20))
        name = self.take(_WORD).decode().rstrip()
        label = ""
        if labelled:
            size = self.whole()
            label = self.take(size + -size % 4)[:size].decode()
        codes = struct.unpack(f"<{abs(missing)}d", self.take(_WORD * abs(missing)))
        if width < 0:  # a further word of the text before it
            self.variables[-1].words += 1
        else:
            is_range = missing < 0
            self.variables.append(
                SpssVariable(name=name, width=width, label=label, missing=codes, is_range=is_range)
            )
        self._by_word.append(self.variables[-1])

    def _labels(self) -> None:
        labels = {}
        for _ in range(self.whole()):
            (code,) = struct.unpack("<d", self.take(_WORD))
            size = self.take(1)[0]
            labels[code] = self.take(size + -(size + 1) % _WORD)[:size].decode()
        assert self.whole() == 4
        for _ in range(self.whole()):
            self._by_word[self.whole() - 1].value_labels = labels

    def _notes(self) -> None:
        self.take(80 * self.whole())

    def _more(self) -> None:
        kind, size, count = struct.unpack("<3i", self.take(12))
        content = self.take(size * count)
        if kind == 13:  # the whole names
            names = dict(pair.split("=") for pair in content.decode().rstrip("\t").split("\t"))
            for variable in self.variables:
                variable.name = names.get(variable.name, variable.name)

    def _words(self) -> Iterator[bytes]:
        """Yield the words of the records; packed ones follow a byte for each of eight words."""
        while not self.packed:
            yield self.take(_WORD)
        spaces = b" " * _WORD
        missing = struct.pack("<d", _SYSTEM_MISSING)
        while True:
            for code in self.take(_WORD):
                if code in (253, 254, 255):
                    yield {254: spaces, 255: missing}.get(code) or self.take(_WORD)
                elif code:
                    yield struct.pack("<d", code - self.bias)

    def records(self, count: int) -> list[list[float | str | None]]:
        """Return the cells of the first records; None where missing."""
        words = self._words()
        return [self._record(words) for _ in range(count)]

    def _record(self, words: Iterator[bytes]) -> list[float | str | None]:
        return [self._cell(variable, words) for variable in self.variables]

    def _cell(self, variable: SpssVariable, words: Iterator[bytes]) -> float | str | None:
        content = b"".join(next(words) for _ in range(variable.words))
        if variable.width:
            return content.decode().rstrip() or None
        number = float(struct.unpack("<d", content)[0])
        return None if number == _SYSTEM_MISSING else number
