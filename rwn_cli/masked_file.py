"""The file MASKED of a command: a release, read as its original is described."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rwn_cli.file_option import read_file
from rwn_cli.options import require_openable
from rwn_core.errors import SchemaError

if TYPE_CHECKING:
    from rwn_core.data.microdata import Microdata


def like(data: Microdata, masked: Path) -> Microdata:
    """Read a masked file as the original is described (is 01 a text?), if it has its columns."""
    from rwn_core.io.read_released import read_released
    from rwn_core.laws.donors import released_schema

    require_openable(masked)
    schema = released_schema(data.schema)
    try:
        return read_released(masked, schema)
    except SchemaError:
        table = read_file(str(masked), None, hint=False)
        if table.names == schema.names:
            raise
        return table
