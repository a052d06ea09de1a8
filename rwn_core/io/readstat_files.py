"""Files of Stata, SPSS and SAS in and out: values, labels and codes for missing."""

from __future__ import annotations

import io
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Code, Variable
from rwn_core.errors import ReleaseError
from rwn_core.io.limits import (
    ENCRYPTED,
    check_size,
    check_unpacked,
    chosen_columns,
    damaged,
    refuse_large_wholes,
)
from rwn_core.io.sas_letters import with_letters
from rwn_core.io.text_types.column import are_days
from rwn_core.io.time_formats import time_format
from rwn_core.io.value_labels import LabelledColumn, coded, labelled_table, plain_code

# formats of SAS that show a number or a text as it is
_PLAIN = re.compile(
    r"\$?(F|BEST[DX]?|COMMAX?|DOLLARX?|PERCENTN?|NEGPAREN|NUMX|Z|D|E|CHAR|ASCII|UPCASE|HEX|ROMAN|IB"
    r"|PIB|PD|PVALUE|WORDS|FRACT)?\d*(\.\d*)?"
)
_LARGEST_SHORT = 2**31 - 1000  # Stata keeps the largest of its whole numbers for missing


def read_labelled(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None, kind: str
) -> Microdata:
    """Read a file of one of these programs."""
    # The description comes first: sizes are judged before any record is unpacked.
    _, meta = _parsed(file, content, kind, metadataonly=True)
    chosen, wide = chosen_columns(file, meta.column_names, schema, layout)
    _check_sizes(file, meta, len(chosen))
    options: dict[str, Any] = {} if kind in ("por", "xport") else {"user_missing": True}
    if wide:
        options["usecols"] = [meta.column_names[place] for place in chosen]
    frame, meta = _parsed(file, content, kind, disable_datetime_conversion=True, **options)
    _check_sizes(file, meta, len(chosen))
    if kind == "xport" and not wide:
        frame = with_letters(content, frame)
    if meta.number_rows not in (None, len(frame)):
        raise damaged(file, ENCRYPTED)
    pairs = enumerate(meta.column_names)
    columns = [_column(name, frame.iloc[:, place], meta, kind) for place, name in pairs]
    return labelled_table(file, columns, schema, [*wide, *_lacking_labels(meta, kind)])


def _lacking_labels(meta: pyreadstat.metadata_container, kind: str) -> list[str]:
    """Name the variables whose labels are announced and do not come."""
    lacking = [n for n in meta.variable_to_label if n not in meta.variable_value_labels]
    words = "it may be cut off, or they are kept in another file."
    if kind in ("sas7bdat", "xport"):  # SAS keeps labels in a catalogue, under the format's name
        plain = (n for n in lacking if not _PLAIN.fullmatch(meta.variable_to_label[n].upper()))
        lacking = [n for n in plain if time_format(kind, meta.variable_to_label[n]) is None]
        words = "they are kept in a catalogue of formats, which is not read."
    if not lacking:
        return []
    names = ", ".join(lacking)
    return [f"The file names value labels for {names} and does not hold them: {words}"]


def _parsed(file: str, content: bytes, kind: str, **options: object) -> Any:
    """Call the library; hide its errors: their texts may hold a value."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(pyreadstat, f"read_{kind}")(io.BytesIO(content), **options)
    except MemoryError:
        raise
    except Exception:
        raise damaged(file, ENCRYPTED) from None


def _check_sizes(file: str, meta: pyreadstat.metadata_container, columns: int) -> None:
    records = meta.number_rows or 0
    check_size(file, records, max(columns, 1))
    check_unpacked(file, records * sum(meta.variable_storage_width.values()))


def _declared_missing(
    ranges: Iterable[Mapping[str, Any]], singles: Iterable[Code]
) -> list[Code | tuple[float, float]]:
    """Return the codes that a file declares as missing."""
    codes: list[Code | tuple[float, float]] = []
    for part in ranges:
        low, high = plain_code(part["lo"]), plain_code(part["hi"])
        alone = isinstance(low, str) or low == high
        codes.append(low if alone else (float(low), float(high)))
    return [*codes, *singles]


def _letters(values: pd.Series[Any], codes: Sequence[Any], labels: Mapping[Any, str]) -> list[Code]:
    """Return the letters of Stata and SAS for missing numbers, of values and of labels."""
    found: list[Code] = []
    if values.dtype == object:
        used = {value for value in values if isinstance(value, str)}
        found += sorted(used.difference(map(str, codes)))
    known = [*codes, *found]
    return found + [code for code in labels if isinstance(code, str) and code not in known]


def _column(name: str, values: pd.Series[Any], meta: Any, program: str) -> LabelledColumn:
    # the values in the type that the file has, letters for missing still among them
    kind = meta.readstat_variable_types.get(name, "double")
    if kind == "string":
        # these programs have no other missing text than an empty one
        texts = [value if isinstance(value, str) and value else None for value in values]
        values = pd.Series(pd.array(texts, dtype="str"))
    elif values.dtype == object:
        # numbers among letters for missing; whole ones as such
        values = values.map(lambda value: value if pd.isna(value) else plain_code(value))
    elif kind == "float":
        values = values.astype("float32")
    written = meta.original_variable_types.get(name) or ""
    labelled = meta.variable_value_labels.get(name, {})
    labels = {plain_code(code): str(label) for code, label in labelled.items()}
    codes = _declared_missing(
        meta.missing_ranges.get(name, []), meta.missing_user_values.get(name, [])
    )
    if kind != "string":
        codes += _letters(values, codes, labels)
    return LabelledColumn(
        name=name,
        values=values,
        label=meta.column_names_to_labels.get(name),
        value_labels=labels,
        missing_codes=tuple(codes),
        ordered=meta.variable_measure.get(name) == "ordinal",
        narrow=True,
        written=written,
        time=None if kind == "string" else time_format(program, written),
    )


def coded_table(
    frame: pd.DataFrame, schema: Schema | None
) -> tuple[pd.DataFrame, dict[str, str], dict[str, dict[Code, str]]]:
    """Give categories their codes, and every other column a type that these programs have.

    The labels of variables and of their values come with the table.
    """
    variables = {} if schema is None else schema.by_name
    both = {name: _column_out(frame[name], variables.get(name)) for name in frame.columns}
    known = {name: variables[name].label for name in frame.columns if name in variables}
    return (
        pd.DataFrame({name: column for name, (column, _) in both.items()}),
        {name: label for name, label in known.items() if label},
        {name: labels for name, (_, labels) in both.items() if labels},
    )


def _column_out(
    column: pd.Series[Any], variable: Variable | None
) -> tuple[pd.Series[Any], dict[Code, str]]:
    column = column.reset_index(drop=True)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes, labels = coded(column, variable)
        # codes without gaps as whole numbers where they are
        plain = codes.dtype != object and not codes.isna().any()
        if plain and not (codes % 1 != 0).any() and not (codes.abs() >= _LARGEST_SHORT).any():
            codes = codes.astype("int32")
        return _texts_or(codes), labels
    labels = {} if variable is None else dict(variable.value_labels)
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype("Int64").astype("float64"), labels or {0: "false", 1: "true"}
    if isinstance(dtype, pd.DatetimeTZDtype):
        return column.dt.tz_localize(None), labels
    if pd.api.types.is_datetime64_any_dtype(dtype):
        # days that are no moments as dates: a file's dates are read in whole seconds
        if column.dt.unit == "s" and are_days(column):
            return column.dt.date.where(column.notna(), None), labels
        return column, labels
    if pd.api.types.is_numeric_dtype(dtype):
        return _narrowed(column), labels
    return _texts_or(column), labels


def _texts_or(column: pd.Series[Any]) -> pd.Series[Any]:
    """Texts without gaps, which these programs do not know; anything else as it is."""
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return column.astype(object).where(column.notna(), "")
    return column


def written_bytes(
    write: Callable[..., None], table: pd.DataFrame, title: str, ending: str, **options: object
) -> bytes:
    """Let the library write a file, and give its bytes."""
    with tempfile.TemporaryDirectory(prefix="rwn-") as folder:
        path = Path(folder) / f"table{ending}"
        try:
            write(table, str(path), **options)
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
    refuse_large_wholes(values, "this format")
    if values.isna().any():
        return values.astype("float64")
    numbers = values.to_numpy().astype("float64")
    short = np.abs(numbers).max(initial=0) < _LARGEST_SHORT
    return pd.Series(numbers.astype("int32") if short else numbers)


def made_the_same(content: bytes, begin: int, stamp: bytes) -> bytes:
    """A file's bytes without the time at which it was made: the same table, the same bytes."""
    return content[:begin] + stamp + content[begin + len(stamp) :]
