"""Reads files: nowhere else does a file become microdata; what is not understood is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError, SchemaError
from rwn_core.io import Format, detected, either, endings, format_of_name, kinds
from rwn_core.io.file_name import in_file, shown
from rwn_core.io.file_type import describe
from rwn_core.io.limits import LARGEST_FILE
from rwn_core.io.missing_codes import without_missing_codes

__all__ = ["read", "read_bytes"]


def read(
    path: str | os.PathLike[str], schema: Schema | str | os.PathLike[str] | None = None
) -> Microdata:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        Its ending says the format: .csv (UTF-8, separated by commas, one header line), .parquet,
        or that of another one in `rwn_core.io.FORMATS`.
    schema : Schema or path of a TOML file, optional
        What each column is; guessed from the values when left out. A file beside the table is
        never picked up by itself.

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
    file = Path(path)
    return read_bytes(file.name, _bytes_of(file), schema)


def read_bytes(
    name: str, content: bytes, schema: Schema | str | os.PathLike[str] | None = None
) -> Microdata:
    """Read a table from an upload.

    Parameters
    ----------
    name : str
        The file's name; only its ending decides anything.
    content : bytes
        The whole file.
    schema : Schema or path of a TOML file, optional

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
    form = _format_of(name, content)
    file = shown(name)
    if len(content) > LARGEST_FILE:
        raise InputError(_too_large(file))
    if not content:
        raise InputError(f"{file} is empty (0 bytes); choose a file that holds a table.")
    _check_content(form, file, content)
    described = read_schema(schema)
    return without_missing_codes(form.read(file, content, described), described)


def _check_content(form: Format, file: str, content: bytes) -> None:
    """Refuse a file whose bytes are of another format than its name says."""
    if form.detects(content):
        return
    what = describe(content)
    fault = f"is not {form.noun}" if what is None else f"is {what} and not {form.title}"
    if form.has_signature:
        raise InputError(
            f"{file} {fault}; save the table as {form.title}, or give a file of another format "
            f"the ending {endings(besides=form.key)}."
        )
    if what is not None:
        raise InputError(f"{file} {fault}; save the table as {kinds()}.")


def _format_of(name: str, content: bytes) -> Format:
    form = format_of_name(name)
    if form is not None:
        return form
    own = detected(content)
    if own is not None:
        raise InputError(
            f"{shown(name)} is {own.noun}; give it the ending {either(own.suffixes)}, or save the "
            f"table as {kinds()}."
        )
    what = describe(content)
    fault = f"does not end in {endings()}" if what is None else f"is {what}"
    raise InputError(f"{shown(name)} {fault}; save the table as {kinds()}.")


def _bytes_of(path: Path) -> bytes:
    try:
        about = path.stat()
        # a device may give bytes without end, and a pipe may never give one
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
            raise InputError(f"{shown(path.name)} is no ordinary file; copy the table into one.")
        if about.st_size <= LARGEST_FILE:
            with path.open("rb") as stream:
                content = stream.read(LARGEST_FILE + 1)
            if len(content) <= LARGEST_FILE:
                return content
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a ValueError for a path with a NUL
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise InputError(
            f"{shown(path.name)} cannot be opened ({reason}); check its path and your rights."
        ) from None
    raise InputError(_too_large(shown(path.name)))


def _too_large(file: str) -> str:
    return (
        f"{file} is larger than {LARGEST_FILE // 1_000_000:,} MB; "
        "read fewer columns or records, or use the commands for large tables."
    )


def read_schema(schema: Schema | str | os.PathLike[str] | None) -> Schema | None:
    """A schema, which may be given as the path of a TOML file.

    Raises
    ------
    SchemaError
    """
    if schema is None or isinstance(schema, Schema):
        return schema
    path = Path(schema)
    try:
        text = _bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(f"{shown(path.name)} is not UTF-8 text; save it as UTF-8.") from None
    with in_file(shown(path.name)):
        return Schema.from_toml(text)
