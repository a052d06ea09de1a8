"""A second reading: another library reads a written release; its values must be the original's.

Every released value of an unrounded variable that the method copies must occur in the original's
column. What a faulty reader changes, it changes in the original and in the release; only
another library sees it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ReleaseError
from rwn_core.io import Format, format_of_key, format_of_name
from rwn_core.io.compared_values import Keys, distinct_values
from rwn_core.io.open_file import file_content
from rwn_core.io.other_readers import Found, Wanted
from rwn_core.io.parse import parse

_NAMED = 3  # columns that a refusal names


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """Hold the file that an original was read of."""

    name: str  # its ending says the format
    content: bytes = field(repr=False)

    @classmethod
    def at(cls, path: Path) -> SourceFile:
        """Read a file's bytes."""
        return cls(name=path.name, content=file_content(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReading:
    """State what a second reading found."""

    # variables of which every released value occurs in the original's column
    checked: tuple[str, ...]
    unchecked: Mapping[str, str]  # why the others were not looked at
    # release, original: what the release and the original were read with
    release: str
    original: str

    @property
    def words(self) -> str:
        """Return one sentence about the checks, without numbers: public files show it, too."""
        if not self.checked:
            return "No variable is released with values of the original, so none was looked up."
        return (
            "Every copied and unrounded value occurs in its original column: release read by "
            f"{self.release}, original by {self.original}."
        )

    def plain(self) -> dict[str, Any]:
        """As plain data, for a record."""
        return {
            "words": self.words,
            "checked": list(self.checked),
            "unchecked": dict(self.unchecked),
        }


def second_reading(
    release: Any,  # of `rwn_core.masking`, which imports this file
    content: bytes,
    format: str,
    original: SourceFile | None = None,
    dropped: Sequence[str] = (),
) -> SecondReading:
    """Read a written release by another library, and look its values up in the original."""
    microdata = release.original
    names = [name for name in release.masked.names if name not in dropped]
    unchecked = _unchecked(microdata, release, names)
    wanted = [name for name in names if name not in unchecked]
    written, by = _of_release(release, content, format, names)
    known, reader = _of_original(microdata, original, wanted)
    source = None if original is None or reader == _AS_READ else format_of_name(original.name)
    coarse = "excel" in (format, source and source.key)
    wrong: dict[str, int] = {}
    for name in wanted:
        missing = Keys.from_variable(microdata, name, coarse).absent(written[name], known[name])
        if missing:
            wrong[name] = missing
    refuse_strange(wrong)
    found = SecondReading(checked=tuple(wanted), unchecked=unchecked, release=by, original=reader)
    release.second_readings[hashlib.sha256(content).hexdigest()] = found
    return found


def refuse_strange(wrong: Mapping[str, int]) -> None:
    """Refuse a release with values that occur nowhere in the original; counts by variable."""
    if wrong:
        columns = ", ".join(f"{name} ({count:,})" for name, count in list(wrong.items())[:_NAMED])
        raise ReleaseError(
            f"Released values occur nowhere in the original's column: {columns}; nothing was "
            f"written: leave it out (--drop {next(iter(wrong))}), or choose another format, and "
            "report this."
        )


NOT_DONE = "The file was not read a second time by another library."
_AS_READ = "the first library alone"


def _library(form: Format, found: Found) -> str:
    """Name a library, and say if it is the one that reads and writes the format anyway."""
    return f"{found.by or form.again_by}{' (no second library)' if found.same else ''}"


def _unchecked(microdata: Microdata, release: Any, names: Iterable[str]) -> dict[str, str]:
    """Why some variables have values that the original need not have."""
    rounded = dict(release.precision)
    found = {}
    for name in names:
        if name in rounded:
            found[name] = "rounded"
        elif release.donors is None and not _observed(microdata, release, name):
            found[name] = "the method makes new values"
    return found


def _observed(microdata: Microdata, release: Any, name: str) -> bool:
    """True if the masked table has no new value of a variable."""
    own = set(distinct_values(release.masked.frame[name]))
    return own <= set(distinct_values(microdata.frame[name]))


def _of_release(
    release: Any, content: bytes, format: str, names: list[str]
) -> tuple[dict[str, list[Any]], str]:
    """The columns of the written file, and what they were read with."""
    form = format_of_key(format)
    schema = release.published("original").schema
    layout = FileLayout() if schema.file is None else schema.file
    given = {mark: value for mark, value in layout.changed().items() if mark in form.marks}
    try:
        if form.again is not None:
            wanted = _wanted(release.masked, names, FileLayout.from_dict(given))
            read = form.again(content, wanted)
        else:
            again = parse(f"release{form.suffixes[0]}", content).frame
            columns = {name: distinct_values(again[name]) for name in names}
            read = Found(columns=columns, records=len(again))
    except Exception:
        raise ReleaseError(
            f"The release, written as {form.title}, cannot be read by another library; choose "
            "another format."
        ) from None
    records = release.published("original").n
    if read.records != records:
        raise ReleaseError(
            f"The release, written as {form.title}, is read as {read.records:,} records of "
            f"{records:,}; choose another format."
        )
    return read.columns, _library(form, read)


def _of_original(
    microdata: Microdata, original: SourceFile | None, names: list[str]
) -> tuple[dict[str, list[Any]], str]:
    """The columns of the original, and what they were read with."""
    form = None if original is None else format_of_name(original.name)
    if form is not None and form.again is not None and original is not None:
        text = form.media_type.startswith("text/")
        asked = list(microdata.names) if text else names
        try:
            found = form.again(
                original.content, _wanted(microdata, asked, microdata.schema.file or FileLayout())
            )
            columns = {name: found.columns[name] for name in names}
            if form.key == "excel":
                dtypes = microdata.frame.dtypes
                columns = {n: _as_first_read(v, dtypes[n]) for n, v in columns.items()}
            return columns, _library(form, found)
        except Exception:  # of any library, on a file that it does not know as well
            pass
    return {name: distinct_values(microdata.frame[name]) for name in names}, _AS_READ


def _as_first_read(cells: list[Any], dtype: Any) -> list[Any]:
    """Values of a sheet, and what clocks among numbers and days among texts are read as."""
    numbers = [cell for cell in cells if isinstance(cell, float)]
    if pd.api.types.is_numeric_dtype(dtype):
        return [*cells, *(round(number * 86_400, 3) for number in numbers)]
    if not pd.api.types.is_string_dtype(dtype):
        return cells
    days = [number for number in numbers if 0 <= number < 2_958_466]
    moments = [datetime(1899, 12, 30) + timedelta(days=number) for number in days]
    return [*cells, *map(str, moments), *(str(each.date()) for each in moments)]


def _wanted(table: Microdata, names: list[str], layout: FileLayout) -> Wanted:
    dtypes = {name: table.frame[name].dtype for name in names}
    return Wanted(
        names=names,
        layout=layout,
        moments={n for n, each in dtypes.items() if pd.api.types.is_datetime64_any_dtype(each)},
        labels={n for n, each in dtypes.items() if isinstance(each, pd.CategoricalDtype)},
    )
