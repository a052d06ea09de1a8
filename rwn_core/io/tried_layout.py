"""A layout that a file seems to have is tried on the spot, and not proposed if it loses data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

from rwn_core.data.file_layout import FileLayout, layout_options
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind
from rwn_core.errors import InputError, SchemaError
from rwn_core.io import format_of_name
from rwn_core.io.guessed_layout import GuessedLayout, filled
from rwn_core.io.parse import parse

_TYPED = (Kind.CONTINUOUS, Kind.COUNT, Kind.DATE)
_AS_READ = ("below", "missing", "grouped", "decimal", "dates")
"""Fields that may be proposed for a file that opens without them."""


def tried(name: str, content: bytes, schema: Schema | None, seen: GuessedLayout) -> GuessedLayout:
    """Return the layout of a refused file, with whether the file opens so without a loss."""
    data = _read(name, content, schema, seen.layout)
    return replace(seen, opens=data is not None and not _loses(name, content, data, seen))


def proposal(
    name: str, content: bytes, schema: Schema | None, seen: GuessedLayout, data: Microdata
) -> FileLayout | None:
    """Return a layout in which a file that opened reads better; None where there is none."""
    base = data.schema.file or FileLayout()
    given = base.changed()
    changes = {field: getattr(seen.layout, field) for field in _AS_READ if field not in given}
    layout = replace(base, **changes)
    if layout == base:
        return None
    better = _read(name, content, schema, layout)
    if better is None or better.names != data.names:
        return None
    lines = better.n == data.n - (layout.below - base.below)
    gained = _typed(better) - _typed(data)
    rows_go = layout.below > base.below
    return layout if lines and gained >= 0 and (gained or rows_go) else None


def proposal_words(data: Microdata, better: FileLayout) -> list[str]:
    """Say in which layout a file that opened reads better, and how to state it."""
    usual = data.schema.file or FileLayout()
    said = []
    below = better.below
    if below > usual.below:
        rows = f"{below:,} rows seem to be no records"
        them = "them"
        if below == 1:
            rows = "row seems to be no record"
            them = "it"
        said.append(
            f"The last {rows} (a total, a note or a source):"
            f" leave {them} out by below = {below} in the layout of the file (--file "
            f"below={below})."
        )
    options = [f"--file {option}" for option in layout_options(replace(better, below=usual.below))]
    if replace(better, below=usual.below) != usual:
        said.append(f"More columns are numbers or dates if you give {' '.join(options)}.")
    return said


def _read(name: str, content: bytes, schema: Schema | None, layout: FileLayout) -> Microdata | None:
    try:
        return parse(name, content, schema, layout)
    except (InputError, SchemaError):
        return None


def _typed(data: Microdata) -> int:
    """Count the variables of numbers and dates that a release may hold."""
    return sum(variable.kind in _TYPED for variable in data.schema.released)


def _loses(name: str, content: bytes, data: Microdata, seen: GuessedLayout) -> bool:
    """True if a line of the file is no record, no name and none around the table; or names are."""
    form = format_of_name(name)
    layout = seen.layout
    width = len(data.names)
    if form is not None and "separator" in form.layout:
        lines = _lines(content, layout, form.separator)
        above: Sequence[Sequence[object]] = lines[: layout.above]
        # empty lines hold nothing, above the table and before a note below it
        around = sum(map(bool, above)) + layout.below
        if sum(map(bool, lines)) != data.n + int(layout.header) + around:
            return True
    else:
        above = [cells for row, cells in seen.rows if row < layout.above]
        width = min(width, max((len(cells) for _, cells in seen.rows), default=width))
    return any(_may_be_names(cells, width) for cells in above)


def _lines(content: bytes, layout: FileLayout, usual: str) -> list[list[str]]:
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    text = content.decode(encoding, "replace").rstrip("\r\n")
    try:
        return list(csv.reader(io.StringIO(text), delimiter=layout.separator or usual))
    except csv.Error:
        return []


def _may_be_names(cells: Sequence[object], width: int) -> bool:
    """True if a line above the table has a cell for each column, or for each but one."""
    return width > 2 and sum(map(filled, cells)) >= width - 1
