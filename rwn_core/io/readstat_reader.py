"""Files of Stata, SPSS and SAS in: values, labels of variables and values, codes for missing."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pandas as pd
import pyreadstat

from rwn_core.data.codebook import Code
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.limits import check_size, check_unpacked
from rwn_core.io.value_labels import LabelledColumn, MissingCodes, labelled_table, plain_code

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
    _, meta = _parsed(file, content, kind, metadataonly=True)
    _check_sizes(file, meta)
    options = {"user_missing": True} if has_missing else {}
    frame, meta = _parsed(file, content, kind, dates_as_pandas_datetime=True, **options)
    _check_sizes(file, meta)
    if meta.number_rows not in (None, len(frame)):
        raise _damaged(file)
    columns = [
        _column(file, name, frame.iloc[:, place], meta)
        for place, name in enumerate(meta.column_names)
    ]
    return labelled_table(file, columns, schema, [*_without_labels(meta), *_periods(meta)])


def _parsed(file: str, content: bytes, kind: str, **options: Any) -> Any:
    """Call the library; hide its errors: their texts may hold a value."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(pyreadstat, f"read_{kind}")(io.BytesIO(content), **options)
    except MemoryError:
        raise
    except Exception:
        raise _damaged(file) from None


def _check_sizes(file: str, meta: Any) -> None:
    records = meta.number_rows or 0
    check_size(file, records, max(len(meta.column_names), 1))
    check_unpacked(file, records * sum(meta.variable_storage_width.values()))


def _periods(meta: Any) -> list[str]:
    """Say so where Stata counts weeks, months, quarters or half years since 1960."""
    said = []
    for name, written in meta.original_variable_types.items():
        unit = _PERIODS.get((written or "").lower()[:3])
        if unit is not None and meta.readstat_variable_types.get(name) != "string":
            said.append(f"{name} counts {unit} since 1960 ({written}): it is a number here.")
    return said


def _without_labels(meta: Any) -> list[str]:
    """Say so where labels are announced and do not come: perhaps the end of the file is missing."""
    unlabelled = [n for n in meta.variable_to_label if n not in meta.variable_value_labels]
    if not unlabelled:
        return []
    return [
        f"The file names value labels for {', '.join(unlabelled)} and does not hold them: it "
        "may be cut off, or they are kept in another file."
    ]


def _damaged(file: str) -> InputError:
    return InputError(f"{file} is damaged, cut off or encrypted; get or save the file again.")


def _column(file: str, name: str, values: pd.Series[Any], meta: Any) -> LabelledColumn:
    kind = meta.readstat_variable_types.get(name, "double")
    written = (meta.original_variable_types.get(name) or "").upper()
    if kind != "string" and written.startswith(_TIMES):
        raise InputError(
            f"{file}, column {name}: the column holds times of the day; write them as numbers of "
            "one unit."
        )
    labels = {
        plain_code(code): str(label)
        for code, label in meta.variable_value_labels.get(name, {}).items()
    }
    return LabelledColumn(
        name=name,
        values=_values(values, kind, written),
        label=meta.column_names_to_labels.get(name),
        value_labels=labels,
        missing_codes=_missing_codes(meta, name, labels, kind),
        ordered=meta.variable_measure.get(name) == "ordinal",
        narrow=True,
    )


def _missing_codes(meta: Any, name: str, labels: dict[Code, str], kind: str) -> MissingCodes:
    """Codes that the file declares as missing, and the letters of Stata and SAS."""
    codes: list[Code | tuple[float, float]] = []
    for part in meta.missing_ranges.get(name, []):
        low, high = plain_code(part["lo"]), plain_code(part["hi"])
        if isinstance(low, str) or low == high:
            codes.append(low)
        else:
            codes.append((float(low), float(high)))
    codes += meta.missing_user_values.get(name, [])
    if kind != "string":
        codes += [code for code in labels if isinstance(code, str) and code not in codes]
    return tuple(codes)


def _values(values: pd.Series[Any], kind: str, written: str) -> pd.Series[Any]:
    """The values in the type that the file has, letters for missing still among them."""
    if kind == "string":
        # these programs have no other missing text than an empty one
        texts = [value if isinstance(value, str) and value else None for value in values]
        return pd.Series(pd.array(texts, dtype="str"))
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or written.startswith(_DATES):
        moments = pd.to_datetime(values, errors="coerce")
        return moments.astype("datetime64[s]") if written.startswith(_DAYS) else moments
    if values.dtype == object:
        return values.map(_number)
    return values.astype("float32") if kind == "float" else values


def _number(value: Any) -> Any:
    """A number among letters for missing; a whole one as such."""
    return value if value is None or value != value else plain_code(value)
