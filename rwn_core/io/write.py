"""Tables out: the bytes of a file that holds the values and nothing else, written whole."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.errors import ParameterError, ReleaseError

FORMATS = ("csv", "parquet")


def file_format(path: Path) -> str:
    """The format that a file name asks for.

    Raises
    ------
    ParameterError
        The name ends in something else.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise ParameterError("The output file name must end in .csv or .parquet.")
    return suffix


def table_bytes(frame: pd.DataFrame, format: str) -> bytes:
    """A file's bytes: no index, no unused levels, no metadata, no statistics.

    Parameters
    ----------
    frame : pandas.DataFrame
    format : {"csv", "parquet"}

    Returns
    -------
    bytes
        The same for the same values and types.
    """
    if format == "csv":
        return _csv(frame)
    if format == "parquet":
        return _parquet(frame)
    raise ParameterError(f"format must be one of: {', '.join(FORMATS)}.")


def _csv(frame: pd.DataFrame) -> bytes:
    written = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in written:
        # a carriage return ends a line for a reader, unless its text is quoted
        written = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return written.encode("utf-8")


def _parquet(frame: pd.DataFrame) -> bytes:
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()
        columns[name] = pa.Array.from_pandas(column)
    table = pa.table(columns).replace_schema_metadata(None)
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        write_statistics=False,
        store_schema=False,
        write_page_checksum=True,
    )
    return buffer.getvalue()


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
