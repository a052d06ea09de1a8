"""Reads a released file as its original is described."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError, SchemaError
from rwn_core.io import format_of_name
from rwn_core.io.read import read, read_bytes


def read_released(source: Path | tuple[str, bytes], schema: Schema | None) -> Microdata:
    """Read a release with the marks of the original's file, or else with the usual ones."""
    name = source.name if isinstance(source, Path) else source[0]

    def as_described(by: Schema | None) -> Microdata:
        return read(source, by) if isinstance(source, Path) else read_bytes(*source, by)

    form = format_of_name(name)
    usual = None if schema is None else replace(schema, file=None)
    if schema is None or schema.file is None or form is None:
        return as_described(usual)
    marks = {name: v for name, v in schema.file.changed().items() if name in form.marks}
    try:
        return as_described(replace(schema, file=FileLayout.from_dict(marks)))
    except (InputError, SchemaError) as refusal:
        try:
            return as_described(usual)
        except (InputError, SchemaError):
            raise refusal from None
