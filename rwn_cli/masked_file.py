"""The file MASKED of a command: a release, read as its original is described."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rwn_cli.file_option import read_file
from rwn_cli.options import require_openable
from rwn_core.errors import InputError, SchemaError

if TYPE_CHECKING:
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def like(data: Microdata, masked: Path) -> Microdata:
    """Read a masked file as the original is described (is 01 a text?), if it has its columns."""
    from rwn_core.mechanism.donors import released_schema

    require_openable(masked)
    schema = released_schema(data.schema)
    try:
        return _read(masked, schema)
    except SchemaError:
        table = read_file(str(masked), None, hint=False)
        if table.names == schema.names:
            raise
        return table


def _read(masked: Path, schema: Schema) -> Microdata:
    """With the marks of the original's file, as a release is written, or else with the usual."""
    from rwn_core.data.file_layout import FileLayout
    from rwn_core.io import format_of_name
    from rwn_core.io.read import read

    usual, form = replace(schema, file=None), format_of_name(masked.name)
    if schema.file is None or form is None:
        return read(masked, usual)
    marks = {name: v for name, v in schema.file.changed().items() if name in form.marks}
    try:
        return read(masked, replace(schema, file=FileLayout.of(marks)))
    except (InputError, SchemaError) as refusal:
        try:
            return read(masked, usual)
        except (InputError, SchemaError):
            raise refusal from None
