"""Tables out: the bytes of a file that holds the values and nothing else, written whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

from rwn_core.data.schema import Schema
from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.io import endings, format_of_key, format_of_name


def file_format(path: Path) -> str:
    """Find the key of the format that a file name asks for.

    Raises
    ------
    ParameterError
        The name ends in something else.
    """
    asked = format_of_name(path.name)
    if asked is None or asked.write is None:
        raise ParameterError(f"The output file name must end in {endings()}.")
    return asked.key


def table_bytes(frame: pd.DataFrame, format: str, schema: Schema | None = None) -> bytes:
    """Give a file's bytes: no index, no unused levels, no foreign metadata, no statistics.

    Parameters
    ----------
    frame : pandas.DataFrame
    format : str
        Key of a format in `rwn_core.io.FORMATS`, such as "csv".
    schema : Schema, optional
        Its labels, codes and codes for missing are written where the format keeps them.

    Returns
    -------
    bytes
        The same for the same values and types.

    Raises
    ------
    ParameterError
        There is no such format, or its files are only read.
    ReleaseError
        The format cannot hold this table.
    """
    form = format_of_key(format)
    if form.write is None:
        raise ParameterError(f"{form.title} files are only read; choose {endings()}.")
    return form.write(frame, schema)


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file so that it is there whole or not at all.

    Parameters
    ----------
    path : Path
    content : bytes

    Returns
    -------
    Path

    Raises
    ------
    ReleaseError
        Nothing was written, and an older file of that name is untouched.
    """
    if not path.parent.is_dir():
        raise ReleaseError(f"The folder {path.parent} does not exist; create it first.")
    unfinished = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as stream:
            unfinished = Path(stream.name)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException as error:  # an interrupt, too, must not leave masked data behind
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise ReleaseError(
            f"The file {path.name} could not be written ({error.strerror}); "
            "choose another folder or free some space."
        ) from None
    return path
