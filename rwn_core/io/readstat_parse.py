"""Parses a file of Stata, SPSS or SAS: its description, and its columns as Arrow arrays.

The library is written in C, and a broken file can end the process that reads it: `reading` sees
to it that this process is no other's.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Metadata of a file's variables, by name.

    `unlabelled` are those that say that they have value labels, of which the file holds none.
    """

    names: list[str]
    records: int | None
    read: int | None
    labels: dict[str, str | None]
    value_labels: dict[str, list[tuple[Any, str]]]
    unlabelled: list[str]
    missing_ranges: dict[str, list[tuple[Any, Any]]]
    missing_letters: dict[str, list[str]]
    measures: dict[str, str]
    types: dict[str, str]
    formats: dict[str, str | None]
    widths: dict[str, int]


def parsed(
    content: bytes, *, kind: str, has_missing: bool, cells: int, size: int
) -> tuple[Meta, pa.Table | None]:
    """Parse a file, its description first."""
    import pyreadstat

    parse = getattr(pyreadstat, f"read_{kind}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, meta = parse(io.BytesIO(content), metadataonly=True)
        rows = meta.number_rows or 0
        width = sum(meta.variable_storage_width.values())
        if rows * max(len(meta.column_names), 1) > cells or rows * width > size:
            return _described(meta, None), None
        options = {"user_missing": True} if has_missing else {}
        frame, meta = parse(io.BytesIO(content), dates_as_pandas_datetime=True, **options)
        return _described(meta, len(frame)), _columns(meta, frame)


def _described(meta: Any, read: int | None) -> Meta:
    return Meta(
        names=list(meta.column_names),
        records=meta.number_rows,
        read=read,
        labels=meta.column_names_to_labels,
        value_labels={
            name: [(_plain(code), str(label)) for code, label in pairs.items()]
            for name, pairs in meta.variable_value_labels.items()
        },
        unlabelled=[n for n in meta.variable_to_label if n not in meta.variable_value_labels],
        missing_ranges={
            name: [(_plain(part["lo"]), _plain(part["hi"])) for part in parts]
            for name, parts in meta.missing_ranges.items()
        },
        missing_letters={name: list(letters) for name, letters in meta.missing_user_values.items()},
        measures=meta.variable_measure,
        types=meta.readstat_variable_types,
        formats=meta.original_variable_types,
        widths=meta.variable_storage_width,
    )


def _columns(meta: Any, frame: Any) -> pa.Table:
    arrays: dict[str, Any] = {}
    for position, name in enumerate(meta.column_names):
        values = frame.iloc[:, position]
        text = meta.readstat_variable_types.get(name) == "string"
        if text:
            texts = [value if isinstance(value, str) else None for value in values]
            arrays[str(position)] = pa.array(texts, pa.large_string())
        elif values.dtype == object and name in meta.missing_user_values:
            letters = [value if isinstance(value, str) else None for value in values]
            arrays[f"{position} letters"] = pa.array(letters, pa.string())
            values = [None if isinstance(v, str) or v is None else float(v) for v in values]
            arrays[str(position)] = pa.array(values, pa.float64(), from_pandas=True)
        elif values.dtype == object:
            days = [None if value != value else value for value in values]
            arrays[str(position)] = pa.array(days, from_pandas=True)
        else:
            arrays[str(position)] = pa.Array.from_pandas(values)
    return pa.table(arrays)


def _plain(code: Any) -> Any:
    return code if isinstance(code, str | int) else float(code)
