"""Files of R out: one data frame, with factors, dates, labels and codes as R has them."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from rdata.conversion import convert_python_to_r_data
from rdata.missing import R_INT_NA
from rdata.parser import RObject
from rdata.unparser import unparse_data

from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import ReleaseError
from rwn_core.io.limits import LARGEST_WHOLE
from rwn_core.io.value_labels import coded

_LARGEST_INTEGER = 2**31 - 1
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class _Vector:
    """An R vector: values and attributes."""

    values: Any
    attributes: dict[str, Any]


def r_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write what `saveRDS` would write of a data frame."""
    variables = {} if schema is None else {each.name: each for each in schema.variables}
    columns = [_vector(frame[name], variables.get(name)) for name in frame.columns]
    table = _Vector(
        columns,
        {
            "names": np.array(list(frame.columns), dtype=object),
            "class": np.array(["data.frame"], dtype=object),
            "row.names": np.array([R_INT_NA, -len(frame)], dtype=np.int32),
        },
    )
    data = convert_python_to_r_data(table, constructor_dict={_Vector: _converted})
    return gzip.compress(unparse_data(data), mtime=0)


def _converted(vector: _Vector, converter: Any) -> RObject:
    """A vector as the library has it; the attributes come last, as they stand in the file."""
    made: RObject = converter.convert_to_r_object(vector.values)
    if not vector.attributes:
        return made
    attributes = converter.convert_to_r_attributes(vector.attributes)
    info = replace(made.info, object="class" in vector.attributes, attributes=True)
    return replace(made, info=info, attributes=attributes)


def _vector(column: pd.Series[Any], variable: Variable | None) -> _Vector:
    values, attributes = _values(column, variable)
    if variable is not None and variable.label:
        attributes = {"label": np.array([variable.label], dtype=object), **attributes}
    return _Vector(values, attributes)


def _values(column: pd.Series[Any], variable: Variable | None) -> tuple[Any, dict[str, Any]]:
    dtype = column.dtype
    if variable is not None and (variable.value_labels or variable.missing_codes):
        return _labelled(column, variable)
    if isinstance(dtype, pd.CategoricalDtype):
        return _factor(column.cat.remove_unused_categories())
    if pd.api.types.is_datetime64_any_dtype(dtype):
        zone = getattr(column.dt, "tz", None)
        moments = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
        seconds = moments.astype("datetime64[us]").astype("int64").to_numpy() / 1e6
        seconds = np.where(column.isna().to_numpy(), np.nan, seconds)
        if zone is None and column.dt.unit == "s" and not np.nan_to_num(seconds % _DAY).any():
            return seconds / _DAY, {"class": _classes("Date")}
        return seconds, {
            "class": _classes("POSIXct", "POSIXt"),
            "tzone": np.array(["UTC" if zone is None else str(zone)], dtype=object),
        }
    return _plain(column), {}


def _classes(*names: str) -> Any:
    return np.array(names, dtype=object)


def _factor(column: pd.Series[Any]) -> tuple[Any, dict[str, Any]]:
    codes = column.cat.codes.to_numpy().astype(np.int32)
    levels = np.array([str(level) for level in column.cat.categories], dtype=object)
    classes = _classes("ordered", "factor") if column.cat.ordered else _classes("factor")
    return np.where(codes < 0, R_INT_NA, codes + 1).astype(np.int32), {
        "levels": levels,
        "class": classes,
    }


def _plain(column: pd.Series[Any]) -> Any:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype):
        if not column.isna().any():
            return column.to_numpy(dtype=bool)
        return np.ma.array(column.fillna(False).to_numpy(dtype=bool), mask=column.isna().to_numpy())
    if pd.api.types.is_integer_dtype(dtype):
        # integers of R where they fit, else its numbers, which are floating
        missing = column.isna().to_numpy()
        values = column.fillna(0).to_numpy()
        largest = max(abs(int(values.min())), abs(int(values.max())))
        if largest >= LARGEST_WHOLE:
            raise ReleaseError(
                f"Column {column.name} has whole numbers of 2^53 or more, which R would change; "
                "choose another format."
            )
        if largest > _LARGEST_INTEGER:
            return np.where(missing, np.nan, values.astype(np.float64))
        return np.where(missing, R_INT_NA, values.astype(np.int32)).astype(np.int32)
    if pd.api.types.is_numeric_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).to_numpy(dtype=object)


def _labelled(column: pd.Series[Any], variable: Variable) -> tuple[Any, dict[str, Any]]:
    """A vector of codes with labels, as the package haven reads it from SPSS and Stata files."""
    labels: dict[Any, str] = dict(variable.value_labels)
    values: Any = _plain(column) if not isinstance(column.dtype, pd.CategoricalDtype) else None
    if values is None:
        codes, labels = coded(column, variable)
        values = (
            codes.where(codes.notna(), None).to_numpy(dtype=object)
            if codes.dtype == object
            else codes.to_numpy(dtype=np.float64)
        )
    text = values.dtype == object
    chosen = {code: label for code, label in labels.items() if isinstance(code, str) == text}
    if not text:
        # R demands codes of the same type as the values
        values = np.where(values == R_INT_NA, np.nan, values.astype(np.float64))
    attributes: dict[str, Any] = {}
    if chosen:
        numbers = np.array(list(chosen), dtype=object if text else np.float64)
        names = np.array(list(chosen.values()), dtype=object)
        attributes["labels"] = _Vector(numbers, {"names": names})
    attributes |= _missing(variable, text)
    spss = ("haven_labelled_spss",) if {"na_values", "na_range"} & set(attributes) else ()
    kind = "character" if text else "double"
    return values, {**attributes, "class": _classes(*spss, "haven_labelled", "vctrs_vctr", kind)}


def _missing(variable: Variable, text: bool) -> dict[str, Any]:
    """The attributes by which haven keeps the codes for missing of SPSS."""
    singles = [
        code
        for code in variable.missing_codes
        if not isinstance(code, tuple) and isinstance(code, str) == text
    ]
    ranges = [code for code in variable.missing_codes if isinstance(code, tuple) and not text]
    attributes: dict[str, Any] = {}
    if singles:
        attributes["na_values"] = np.array(singles, dtype=object if text else np.float64)
    if ranges:
        attributes["na_range"] = np.array(ranges[0], dtype=np.float64)
    return attributes
