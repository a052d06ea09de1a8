"""Files of Stata, SPSS and SAS in: values, labels of variables and values, codes for missing."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from rwn_core.data.codebook import Code
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.limits import LARGEST_UNPACKED, MOST_CELLS, check_size, check_unpacked
from rwn_core.io.value_labels import LabelledColumn, MissingCodes, labelled_table

_TIMES = ("TIME", "DTIME", "HHMM", "MMSS", "TOD")
_DAYS = ("%TD", "%D", "DATE1", "DATE9", "DATE8", "ADATE", "EDATE", "SDATE", "JDATE", "YYMMDD")
_PERIODS = {"%tw": "weeks", "%tm": "months", "%tq": "quarters", "%th": "half years"}
_DATES = (*_DAYS, "%TC", "DATETIME", "YMDHMS")


def read_labelled(
    file: str,
    content: bytes,
    schema: Schema | None,
    *,
    kind: str,
    has_missing: bool,
) -> Microdata:
    """Read a file of one of these programs."""
    # The description comes first: sizes are judged before any record is unpacked.
    meta, table = _parsed(file, content, kind, has_missing)
    records = meta.records or 0
    check_size(file, records, max(len(meta.names), 1))
    check_unpacked(file, records * sum(meta.widths.values()))
    if table is None or meta.read != (meta.read if meta.records is None else meta.records):
        raise _damaged(file)
    columns = [_column(file, name, _series(table, i), meta) for i, name in enumerate(meta.names)]
    return labelled_table(file, columns, schema, [*_without_labels(meta), *_periods(meta)])


def _periods(meta: Meta) -> list[str]:
    """Say so where Stata counts weeks, months, quarters or half years since 1960."""
    said = []
    for name, written in meta.formats.items():
        unit = _PERIODS.get((written or "").lower()[:3])
        if unit is not None and meta.types.get(name) != "string":
            said.append(f"{name} counts {unit} since 1960 ({written}): it is a number here.")
    return said


def _without_labels(meta: Meta) -> list[str]:
    """Say so where labels are announced and do not come: perhaps the end of the file is missing."""
    if not meta.unlabelled:
        return []
    return [
        f"The file names value labels for {', '.join(meta.unlabelled)} and does not hold them: it "
        "may be cut off, or they are kept in another file."
    ]


def _damaged(file: str) -> InputError:
    return InputError(f"{file} is damaged, cut off or encrypted; get or save the file again.")


def _parsed(
    file: str, content: bytes, kind: str, has_missing: bool
) -> tuple[Meta, pa.Table | None]:
    """Call the library; hide its errors: their texts may hold a value."""
    limits = {"cells": MOST_CELLS, "size": LARGEST_UNPACKED}
    try:
        return parsed(content, kind=kind, has_missing=has_missing, **limits)
    except MemoryError:
        raise
    except Exception:
        raise _damaged(file) from None


def _series(table: pa.Table, position: int) -> pd.Series[Any]:
    """A column, with letters for missing among its numbers."""
    values: pd.Series[Any] = table.column(str(position)).to_pandas()
    letters = f"{position} letters"
    if letters not in table.column_names:
        return values
    texts = table.column(letters).to_pandas().astype(object)
    return values.astype(object).where(texts.isna(), texts)


def _column(file: str, name: str, values: pd.Series[Any], meta: Meta) -> LabelledColumn:
    kind = meta.types.get(name, "double")
    written = meta.formats.get(name, "") or ""
    if kind != "string" and written.upper().startswith(_TIMES):
        raise InputError(
            f"{file}, column {name}: the column holds times of the day; write them as numbers of "
            "one unit."
        )
    labels: dict[Code, str] = {
        _code(code): label for code, label in meta.value_labels.get(name, [])
    }
    return LabelledColumn(
        name=name,
        values=_values(values.reset_index(drop=True), kind, written, meta, name),
        label=meta.labels.get(name),
        value_labels=labels,
        missing_codes=_missing_codes(meta, name, labels, kind),
        ordered=meta.measures.get(name) == "ordinal",
        narrow=True,
    )


def _code(code: Any) -> Code:
    """A code as a schema has it: a whole number without a point."""
    if isinstance(code, str):
        return code
    return int(code) if float(code).is_integer() else float(code)


def _missing_codes(meta: Meta, name: str, labels: dict[Code, str], kind: str) -> MissingCodes:
    """Codes that the file declares as missing, and the letters of Stata and SAS."""
    codes: list[Code | tuple[float, float]] = []
    for part in meta.missing_ranges.get(name, []):
        low, high = _code(part[0]), _code(part[1])
        if isinstance(low, str) or low == high:
            codes.append(low)
        else:
            codes.append((float(low), float(high)))
    codes += meta.missing_letters.get(name, [])
    if kind != "string":
        codes += [code for code in labels if isinstance(code, str) and code not in codes]
    return tuple(codes)


def _values(
    values: pd.Series[Any], kind: str, written: str, meta: Meta, name: str
) -> pd.Series[Any]:
    """The values in the type that the file has, letters for missing still among them."""
    if kind == "string":
        # these programs have no other missing text than an empty one
        texts = values.astype(object).where(values.notna() & (values != ""), None)
        return pd.Series(pd.array(texts.to_list(), dtype="str"))
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or written.upper().startswith(_DATES):
        days = written.upper().startswith(_DAYS)
        moments = pd.to_datetime(values, errors="coerce")
        return moments.astype("datetime64[s]") if days else moments
    if values.dtype == object:
        return values.map(_number)
    if kind == "float":
        return values.astype("float32")
    return values


def _number(value: Any) -> Any:
    """A number among letters for missing; a whole one as such."""
    if isinstance(value, str) or value is None or value != value:
        return value
    return _code(value)


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
