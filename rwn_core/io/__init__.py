"""List the file formats: every file dialog, message and help text reads FORMATS.

A format is one file with its `Format` record, and a line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from rwn_core.errors import ParameterError, each_once
from rwn_core.io import (
    csv_format,
    excel_format,
    feather_format,
    fixed_width_format,
    json_format,
    ods_format,
    parquet_format,
    r_format,
    sas_format,
    spss_format,
    stata_format,
    tsv_format,
)
from rwn_core.io.format import Format as Format

_FILES = (
    csv_format,
    parquet_format,
    excel_format,
    tsv_format,
    feather_format,
    stata_format,
    spss_format,
    sas_format,
    r_format,
    ods_format,
    json_format,
    fixed_width_format,
)
FORMATS: tuple[Format, ...] = tuple(
    each_once("format", ((each.FORMAT.key, each.FORMAT) for each in _FILES)).values()
)
"""Every format, in the order on screen; the first is the usual one."""


def either(words: Sequence[str]) -> str:
    """Join words that are alternatives.

    >>> either(["CSV"]), either(["CSV", "Parquet", "Excel"])
    ('CSV', 'CSV, Parquet or Excel')
    """
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def titles() -> str:
    """Name the formats, such as "CSV or Parquet"."""
    return either([each.title for each in FORMATS])


def kinds() -> str:
    """Name the formats of one file with what is demanded of it, for a dialog or a remedy."""
    return either([each.words for each in FORMATS if not each.companion])


def endings(besides: str | None = None) -> str:
    """Name the endings of files that are written, such as ".csv or .parquet"."""
    return either([each.suffixes[0] for each in writable() if each.key != besides])


def writable() -> list[Format]:
    """List the formats in which files are written; the others are only read."""
    return [each for each in FORMATS if each.write is not None]


def format_of_name(name: str) -> Format | None:
    """Find the format that a file's name asks for by its ending; None for any other ending."""
    suffix = PurePath(name).suffix.lower()
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def format_of_key(key: str) -> Format:
    """Find a format by its key."""
    known = {each.key: each for each in FORMATS}
    if key not in known:
        raise ParameterError(f"format must be one of: {', '.join(known)}.")
    return known[key]


def detected(content: bytes) -> Format | None:
    """Find the format that a file's bytes are certainly of; None if they show none."""
    return next((each for each in FORMATS if each.detects(content)), None)
