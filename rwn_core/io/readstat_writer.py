"""Files of Stata and SPSS out: categories as codes with value labels."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

from rwn_core.data.codebook import Code
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import ReleaseError
from rwn_core.io.limits import LARGEST_WHOLE
from rwn_core.io.value_labels import coded

_LARGEST_SHORT = 2**31 - 1000  # Stata keeps the largest of its whole numbers for missing


@dataclass(slots=True, kw_only=True)
class Coded:
    """A table as these programs hold it."""

    frame: pd.DataFrame  # numbers, texts and dates
    column_labels: dict[str, str] = field(default_factory=dict)
    value_labels: dict[str, dict[Code, str]] = field(default_factory=dict)
    # what the schema says of the columns it knows
    variables: dict[str, Variable] = field(default_factory=dict)
    ordered: set[str] = field(default_factory=set)  # columns of ordered levels


def coded_table(frame: pd.DataFrame, schema: Schema | None) -> Coded:
    """Give categories their codes, and every other column a type that these programs have."""
    variables = {} if schema is None else {each.name: each for each in schema.variables}
    made = Coded(frame=pd.DataFrame(index=pd.RangeIndex(len(frame))), variables=variables)
    columns = {}
    for name in frame.columns:
        variable = variables.get(name)
        columns[name], labels = _column(frame[name], variable)
        if labels:
            made.value_labels[name] = labels
        if variable is not None and variable.label:
            made.column_labels[name] = variable.label
        dtype = frame[name].dtype
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            made.ordered.add(name)
    made.frame = pd.DataFrame(columns)
    return made


def _column(
    column: pd.Series[Any], variable: Variable | None
) -> tuple[pd.Series[Any], dict[Code, str]]:
    column = column.reset_index(drop=True)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes, labels = coded(column, variable)
        return _texts_or(codes if codes.isna().any() else _integers(codes)), labels
    labels = {} if variable is None else dict(variable.value_labels)
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype("Int64").astype("float64"), labels or {0: "false", 1: "true"}
    if isinstance(dtype, pd.DatetimeTZDtype):
        return column.dt.tz_localize(None), labels
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _days_or(column), labels
    if pd.api.types.is_numeric_dtype(dtype):
        return _narrowed(column), labels
    return _texts_or(column), labels


def _integers(codes: pd.Series[Any]) -> pd.Series[Any]:
    """Codes without gaps as whole numbers where they are."""
    if codes.dtype == object or (codes % 1 != 0).any() or (codes.abs() >= _LARGEST_SHORT).any():
        return codes
    return codes.astype("int32")


def _days_or(column: pd.Series[Any]) -> pd.Series[Any]:
    """Days that are no moments as dates: a file's dates are read in whole seconds."""
    days = column.dropna()
    if column.dt.unit == "s" and (days == days.dt.normalize()).all():
        dates: pd.Series[Any] = column.dt.date.where(column.notna(), None)
        return dates
    return column


def _texts_or(column: pd.Series[Any]) -> pd.Series[Any]:
    """Texts without gaps, which these programs do not know; anything else as it is."""
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return column.astype(object).where(column.notna(), "")
    return column


def written_bytes(
    write: Callable[..., None], made: Coded, title: str, ending: str, **options: Any
) -> bytes:
    """Let the library write a file, and give its bytes."""
    with tempfile.TemporaryDirectory(prefix="rwn-") as folder:
        path = Path(folder) / f"table{ending}"
        try:
            write(made.frame, str(path), **options)
        except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError):
            raise ReleaseError(
                f"{title} cannot hold this table: its names may have letters, digits and _ only, "
                "beginning with a letter, and its texts and numbers are limited; rename the "
                "columns, or choose another format."
            ) from None
        return path.read_bytes()


def _narrowed(values: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers as these programs have them: of four bytes where they fit without gaps, or eight."""
    if pd.api.types.is_float_dtype(values.dtype):
        return values
    if values.isna().any():
        return values.astype("float64")
    numbers = values.to_numpy()
    if (np.abs(numbers.astype("float64")) >= LARGEST_WHOLE).any():
        raise ReleaseError(
            f"Column {values.name} has whole numbers of 2^53 or more, which this format would "
            "change; choose another format."
        )
    small = (np.abs(numbers.astype("float64")) < _LARGEST_SHORT).all()
    return pd.Series(numbers.astype("int32" if small else "float64"))


def made_the_same(content: bytes, begin: int, stamp: bytes) -> bytes:
    """A file's bytes without the time at which it was made: the same table, the same bytes."""
    return content[:begin] + stamp + content[begin + len(stamp) :]
