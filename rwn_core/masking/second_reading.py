"""A second reading: another library reads each file, and every cell must be the same.

A written release is compared with the masked table, and the original's file with the table that
was masked. What a faulty reader changes, only another library sees.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import ReleaseError
from rwn_core.io import Format, format_of_key, format_of_name
from rwn_core.io.other_readers import differing
from rwn_core.io.packed import unpacked_file
from rwn_core.io.parse import parse, table_content

NOT_DONE = "The file was not read a second time by another library."
ALONE = "the first library alone"
_NAMED = 3  # columns that a refusal names


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The file that an original was read from."""

    name: str  # its ending says the format
    content: bytes = field(repr=False)

    @classmethod
    def at(cls, path: Path) -> SourceFile:
        """Read a file's bytes, with those of its codebook."""
        name, content = unpacked_file(path.name, table_content(path))
        return cls(name=name, content=content)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReading:
    """The result of a second reading of a file."""

    checked: tuple[str, ...]  # variables of which every cell is the same
    # what the release and the original were read with
    release: str
    original: str = ALONE

    def plain(self) -> dict[str, Any]:
        """As plain data, for a record; public files show the words, too."""
        return {"words": self.words, "checked": list(self.checked)}

    @property
    def words(self) -> str:
        """Return one sentence about the checks, without numbers."""
        by = f"release read by {self.release}, original by {self.original}"
        return f"Every cell is the same in a second reading: {by}."


class Written(Protocol):
    """A release that is written to a file; `rwn_core.masking`, which has it, imports this file."""

    @property
    def second_readings(self) -> dict[str, SecondReading]:
        """The checks of its files, by their SHA-256."""

    @property
    def original(self) -> Microdata:
        """The table that was masked."""

    @property
    def masked(self) -> Microdata:
        """The masked table, row by row that of the original."""

    def as_written(
        self, format: str, order: Literal["shuffled", "original"], drop: Sequence[str]
    ) -> tuple[pd.DataFrame, Schema]:
        """Return the columns of a file of this format, and their description."""


def second_reading(
    release: Written,
    content: bytes,
    format: str,
    original: SourceFile | None = None,
    dropped: Sequence[str] = (),
    order: Literal["shuffled", "original"] = "shuffled",
) -> SecondReading:
    """Read a written release, and the file of its original, by other libraries; or refuse it."""
    form = format_of_key(format)
    table = release.original
    frame, schema = release.as_written(format, order, dropped)
    names = [name for name in release.masked.names if name not in dropped]
    again = _read_again(form, content, frame, schema)
    refuse_difference(f"The release, written as {form.title},", frame, again, schema)
    source = None if original is None else format_of_name(original.name)
    by = ALONE
    if source is not None and source.again is None:
        by = f"{ALONE} ({source.title} has no second one)"
    elif source is not None and original is not None:
        again = _read_again(source, original.content, table.frame, table.schema)
        if again is not None:
            by = source.again_by
            refuse_difference("The original", table.frame[names], again, table.schema, gaps=False)
    found = SecondReading(checked=tuple(names), release=form.again_by, original=by)
    release.second_readings[hashlib.sha256(content).hexdigest()] = found
    return found


def _read_again(
    form: Format, content: bytes, frame: pd.DataFrame, schema: Schema
) -> pd.DataFrame | None:
    """Read a file by the other library of its format; None if that library cannot."""
    try:
        if form.again is None:
            return parse(f"release{form.suffixes[0]}", content).frame
        return form.again(content, frame, schema)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # of any library; a panic of Rust is no Exception
        return None


def refuse_difference(
    what: str, frame: pd.DataFrame, again: pd.DataFrame | None, schema: Schema, *, gaps: bool = True
) -> None:
    """Refuse a table that another library reads differently, by the names of its columns."""
    if again is None or len(again) != len(frame):
        read = "cannot be read" if again is None else f"is read as {len(again):,} records"
        raise ReleaseError(f"{what} {read} by another library; choose another format.")
    wrong = differing(frame, again, schema, gaps=gaps)
    if wrong:
        columns = ", ".join(f"{name} ({count:,})" for name, count in list(wrong.items())[:_NAMED])
        raise ReleaseError(
            f"{what} has other values for another library, in column: {columns}; nothing was "
            f"written: leave it out (--drop {next(iter(wrong))}), or choose another format, and "
            "report this."
        )
