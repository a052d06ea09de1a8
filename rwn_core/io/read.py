"""Reads files: nowhere else does a file become microdata; what is not understood is refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.text_budget import LONGEST_DOCUMENT
from rwn_core.errors import SchemaError
from rwn_core.io.file_name import in_file, shown
from rwn_core.io.open_file import file_content
from rwn_core.io.reading import FileToRead, Reading


def read(
    path: str | os.PathLike[str],
    schema: Schema | str | os.PathLike[str] | None = None,
    layout: FileLayout | None = None,
) -> Microdata:
    """Read a table from a file, in a process of its own with limits on memory and time.

    Parameters
    ----------
    path : path
        Its ending says the format: .csv (UTF-8, separated by commas, one header line), .parquet,
        or that of another one in `rwn_core.io.FORMATS`.
    schema : Schema or path of a TOML file, optional
        What each column is; guessed from the values when left out. Python never picks up a file
        by itself; the command line and the browser find survey.csv.toml of survey.csv.
    layout : FileLayout, optional
        How the table lies in the file: its encoding, separator, decimal mark, sheet, the lines
        around it. The schema's own when left out, and else the usual one of the format.

    Returns
    -------
    Microdata
        Its `notices` say what was decided about doubtful values.

    Raises
    ------
    InputError
        The file cannot be read without guessing; the message is one sentence with the position
        and the remedy, and never holds a cell's value.
    SchemaError
        The schema does not describe this table.

    Examples
    --------
    >>> from rwn_core.io.demo import demo_path
    >>> read(demo_path("pima"))
    Microdata(768 records x 9 variables)
    """
    return _ended(begin(path, schema_from(schema), layout))


def read_bytes(
    name: str,
    content: bytes,
    schema: Schema | str | os.PathLike[str] | None = None,
    layout: FileLayout | None = None,
) -> Microdata:
    """Read a table from an upload, in a process of its own.

    Parameters
    ----------
    name : str
        The file's name; only its ending decides anything.
    content : bytes
        The whole file.
    schema : Schema or path of a TOML file, optional
    layout : FileLayout, optional

    Returns
    -------
    Microdata

    Raises
    ------
    InputError
        As `read` does.
    SchemaError
        As `read` does.
    """
    return _ended(begin_bytes(name, content, schema_from(schema), layout))


def begin(
    path: str | os.PathLike[str], schema: Schema | None = None, layout: FileLayout | None = None
) -> Reading:
    """Begin to read a file as `read` does, without waiting for it."""
    file = Path(path)
    return _begin(FileToRead(name=file.name, path=file.absolute()), schema, layout)


def begin_bytes(
    name: str, content: bytes, schema: Schema | str | None = None, layout: FileLayout | None = None
) -> Reading:
    """Begin to read an upload as `read_bytes` does; a schema's TOML text is parsed over there."""
    return _begin(FileToRead(name=name, content=content), schema, layout)


def _begin(file: FileToRead, schema: Schema | str | None, layout: FileLayout | None) -> Reading:
    described = schema.to_toml() if isinstance(schema, Schema) else schema or ""
    given = None if layout is None else layout.changed()
    return Reading(replace(file, schema=described, layout=given))


def _ended(reading: Reading) -> Microdata:
    try:
        reading.wait()
        return reading.result()
    finally:
        reading.cancel()  # also where Ctrl-C ended the waiting


def saved_schema(path: str | os.PathLike[str]) -> Path:
    """The place of a description that is saved with a file: survey.csv has survey.csv.toml."""
    return Path(f"{os.fspath(path)}.toml")


def schema_from(schema: Schema | str | os.PathLike[str] | None) -> Schema | None:
    """The schema of a TOML file, or the one that is given."""
    if schema is None or isinstance(schema, Schema):
        return schema
    path = Path(schema)
    try:
        text = file_content(path, LONGEST_DOCUMENT).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(f"{shown(path.name)} is not UTF-8 text; save it as UTF-8.") from None
    with in_file(shown(path.name)):
        return Schema.from_toml(text)
