"""Files of Stata, SPSS and SAS in: values, labels of variables and values, codes for missing."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Protocol

import pandas as pd
import pyreadstat

from rwn_core.data.codebook import Code
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.labelled import LabelledColumn, MissingCodes, labelled_table
from rwn_core.io.limits import check_size, check_unpacked

_TIMES = ("TIME", "DTIME", "HHMM", "MMSS", "TOD")
_DAYS = ("%TD", "%D", "DATE1", "DATE9", "DATE8", "ADATE", "EDATE", "SDATE", "JDATE", "YYMMDD")
_DATES = (*_DAYS, "%TC", "DATETIME", "YMDHMS")


class _Meta(Protocol):
    """What is used of the description that the library gives of a file."""

    number_rows: int | None
    column_names: list[str]
    column_names_to_labels: dict[str, str | None]
    variable_value_labels: dict[str, dict[Any, str]]
    missing_ranges: dict[str, list[dict[str, Any]]]
    missing_user_values: dict[str, list[str]]
    variable_measure: dict[str, str]
    readstat_variable_types: dict[str, str]
    original_variable_types: dict[str, str]
    variable_storage_width: dict[str, int]


def read_labelled(
    file: str,
    content: bytes,
    schema: Schema | None,
    *,
    parse: Callable[..., tuple[pd.DataFrame, Any]],
    has_missing: bool,
) -> Microdata:
    """Read a file of one of these programs.

    The description comes first: sizes are judged before any record is unpacked.

    Parameters
    ----------
    file : str
        The name to use in messages.
    content : bytes
    schema : Schema or None
    parse : callable
        The library's function for this kind of file.
    has_missing : bool
        Whether it can keep the codes that users declared as missing.

    Returns
    -------
    Microdata

    Raises
    ------
    InputError
        Names file, column and the remedy.
    SchemaError
    """
    _, meta = _parsed(file, content, parse, {"metadataonly": True})
    names = list(meta.column_names)
    records = meta.number_rows or 0
    check_size(file, records, max(len(names), 1))
    check_unpacked(file, records * sum(meta.variable_storage_width.values()))
    options: dict[str, Any] = {"dates_as_pandas_datetime": True}
    if has_missing:
        options["user_missing"] = True
    frame, meta = _parsed(file, content, parse, options)
    if meta.number_rows is not None and len(frame) != meta.number_rows:
        raise _damaged(file)
    columns = [_column(file, name, frame.iloc[:, i], meta) for i, name in enumerate(names)]
    return labelled_table(file, columns, schema)


def _damaged(file: str) -> InputError:
    return InputError(f"{file} is damaged, cut off or encrypted; get or save the file again.")


def _parsed(
    file: str,
    content: bytes,
    parse: Callable[..., tuple[pd.DataFrame, Any]],
    options: dict[str, Any],
) -> tuple[pd.DataFrame, _Meta]:
    try:
        frame, meta = parse(io.BytesIO(content), **options)
    except pyreadstat.PyreadstatError:
        raise _damaged(file) from None
    # a broken file may break the library's own conversions; none of their words is shown
    except Exception:  # whatever it raises, the file is what is wrong
        raise _damaged(file) from None
    return frame, meta


def _column(file: str, name: str, values: pd.Series[Any], meta: _Meta) -> LabelledColumn:
    kind = meta.readstat_variable_types.get(name, "double")
    written = meta.original_variable_types.get(name, "") or ""
    if kind != "string" and written.upper().startswith(_TIMES):
        raise InputError(
            f"{file}, column {name}: the column holds times of the day; write them as numbers of "
            "one unit."
        )
    labels: dict[Code, str] = {
        _code(code): label for code, label in meta.variable_value_labels.get(name, {}).items()
    }
    return LabelledColumn(
        name=name,
        values=_values(values.reset_index(drop=True), kind, written, meta, name),
        label=meta.column_names_to_labels.get(name),
        value_labels=labels,
        missing_codes=_missing_codes(meta, name, labels, kind),
        ordered=meta.variable_measure.get(name) == "ordinal",
        narrow=True,
    )


def _code(code: Any) -> Code:
    """A code as a schema has it: a whole number without a point."""
    if isinstance(code, str):
        return code
    return int(code) if float(code).is_integer() else float(code)


def _missing_codes(meta: _Meta, name: str, labels: dict[Code, str], kind: str) -> MissingCodes:
    """Codes that the file declares as missing, and the letters of Stata and SAS."""
    codes: list[Code | tuple[float, float]] = []
    for part in meta.missing_ranges.get(name, []):
        low, high = _code(part["lo"]), _code(part["hi"])
        if isinstance(low, str) or low == high:
            codes.append(low)
        else:
            codes.append((float(low), float(high)))
    codes += meta.missing_user_values.get(name, [])
    if kind != "string":
        codes += [code for code in labels if isinstance(code, str) and code not in codes]
    return tuple(codes)


def _values(
    values: pd.Series[Any], kind: str, written: str, meta: _Meta, name: str
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
