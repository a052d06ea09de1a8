"""A second, slow reading of a text table, that shares no code with the program's."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd

_GONE = {"", "na", "n/a", "nan", "null", "none", ".", "-", "?", "missing", "-9", "99", "999"}


def records_of(text: str, separator: str) -> list[list[str]]:
    """Split a text into records, letter by letter."""
    records: list[list[str]] = []
    fields, field, quoted, at = [""][:0], "", False, 0
    text = text.replace("\r\n", "\n") if '"' not in text else text
    while at < len(text):
        letter, following = text[at], text[at + 1 : at + 2]
        if quoted:
            if letter == '"' and following == '"':
                field, at = field + '"', at + 1
            elif letter == '"':
                quoted = False
            else:
                field += letter
        elif letter == '"' and not field:
            quoted = True
        elif letter == separator:
            fields, field = [*fields, field], ""
        elif letter in "\r\n":
            at += letter == "\r" and following == "\n"
            records, fields, field = [*records, [*fields, field]], [], ""
        else:
            field += letter
        at += 1
    return [*records, [*fields, field]] if field or fields else records


def misread_text(content: bytes, name: str, data: Any) -> str:
    """Say where a table is not what the text says; empty where it is."""
    text = content.decode("utf-8-sig").rstrip("\r\n")
    separator = "\t" if name.endswith(".tsv") else ","
    header, *records = records_of(text, separator)
    if list(data.frame.columns) != header:
        return "other names"
    if len(data.frame) != len(records):
        return f"{len(data.frame)} records of {len(records)}"
    for position, column in enumerate(data.frame.columns):
        values = data.frame[column].astype(object).tolist()
        for row, value in enumerate(values):
            if not _says(records[row][position], value):
                return f"column {position + 1}, record {row + 1}"
    return ""


def _says(text: str, value: Any) -> bool:
    """Whether a value is what a field says."""
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return text.strip().lower() in _GONE
    if isinstance(value, bool):
        return text.strip().lower() in (
            {"true", "t", "yes", "1"} if value else {"false", "f", "no", "0"}
        )
    if isinstance(value, pd.Timestamp):
        return re.sub(r"\D", "", value.isoformat()).startswith(re.sub(r"\D", "", text))
    if isinstance(value, int | float):
        return _number(text, value)
    return value == text


def _number(text: str, value: float) -> bool:
    try:
        return float(text) == value or math.isclose(float(text), value, rel_tol=1e-15)
    except ValueError:
        return False
