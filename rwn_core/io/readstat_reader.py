"""Files of Stata, SPSS and SAS in: values, labels of variables and values, codes for missing."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import pandas as pd
import pyreadstat

from rwn_core.data.codebook import Code
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import check_names
from rwn_core.errors import InputError
from rwn_core.io.file_name import in_file
from rwn_core.io.limits import check_size, check_unpacked, chosen_columns
from rwn_core.io.time_formats import time_format
from rwn_core.io.value_labels import LabelledColumn, MissingCodes, labelled_table, plain_code

# formats of SAS that show a number or a text as it is
_PLAIN = re.compile(
    r"\$?(F|BEST[DX]?|COMMAX?|DOLLARX?|PERCENTN?|NEGPAREN|NUMX|Z|D|E|CHAR|ASCII|UPCASE|HEX|ROMAN|IB"
    r"|PIB|PD|PVALUE|WORDS|FRACT)?\d*(\.\d*)?"
)


def read_labelled(
    file: str,
    content: bytes,
    schema: Schema | None,
    layout: FileLayout | None = None,
    *,
    kind: str,
    has_missing: bool,
) -> Microdata:
    """Read a file of one of these programs."""
    # The description comes first: sizes are judged before any record is unpacked.
    _, meta = _parsed(file, content, kind, metadataonly=True)
    with in_file(file):
        check_names(pd.Index(meta.column_names, dtype=object))
    chosen, wide = chosen_columns(file, meta.column_names, schema, layout)
    _check_sizes(file, meta, len(chosen))
    options: dict[str, Any] = {"user_missing": True} if has_missing else {}
    if wide:
        options["usecols"] = [meta.column_names[place] for place in chosen]
    frame, meta = _parsed(file, content, kind, disable_datetime_conversion=True, **options)
    _check_sizes(file, meta, len(chosen))
    if meta.number_rows not in (None, len(frame)):
        raise _damaged(file)
    columns = [
        _column(name, frame.iloc[:, place], meta, kind)
        for place, name in enumerate(meta.column_names)
    ]
    return labelled_table(file, columns, schema, [*wide, *_without_labels(meta, kind)])


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


def _check_sizes(file: str, meta: Any, columns: int) -> None:
    records = meta.number_rows or 0
    check_size(file, records, max(columns, 1))
    check_unpacked(file, records * sum(meta.variable_storage_width.values()))


def _without_labels(meta: Any, program: str) -> list[str]:
    """Say so where labels are announced and do not come: perhaps the end of the file is missing."""
    unlabelled = [n for n in meta.variable_to_label if n not in meta.variable_value_labels]
    if program in ("sas7bdat", "xport"):  # SAS keeps labels in a catalogue, under the format's name
        plain = (n for n in unlabelled if not _PLAIN.fullmatch(meta.variable_to_label[n].upper()))
        own = [n for n in plain if time_format(program, meta.variable_to_label[n]) is None]
        words = "they are kept in a catalogue of formats, which is not read."
    else:
        own, words = unlabelled, "it may be cut off, or they are kept in another file."
    if not own:
        return []
    return [f"The file names value labels for {', '.join(own)} and does not hold them: {words}"]


def _damaged(file: str) -> InputError:
    return InputError(f"{file} is damaged, cut off or encrypted; get or save the file again.")


def _column(name: str, values: pd.Series[Any], meta: Any, program: str) -> LabelledColumn:
    kind = meta.readstat_variable_types.get(name, "double")
    written = meta.original_variable_types.get(name) or ""
    labels = {
        plain_code(code): str(label)
        for code, label in meta.variable_value_labels.get(name, {}).items()
    }
    return LabelledColumn(
        name=name,
        values=_values(values, kind),
        label=meta.column_names_to_labels.get(name),
        value_labels=labels,
        missing_codes=_missing_codes(meta, name, labels, kind),
        ordered=meta.variable_measure.get(name) == "ordinal",
        narrow=True,
        written=written,
        time=None if kind == "string" else time_format(program, written),
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


def _values(values: pd.Series[Any], kind: str) -> pd.Series[Any]:
    """The values in the type that the file has, letters for missing still among them."""
    if kind == "string":
        # these programs have no other missing text than an empty one
        texts = [value if isinstance(value, str) and value else None for value in values]
        return pd.Series(pd.array(texts, dtype="str"))
    if values.dtype == object:
        return values.map(_number)
    return values.astype("float32") if kind == "float" else values


def _number(value: Any) -> Any:
    """A number among letters for missing; a whole one as such."""
    return value if value is None or value != value else plain_code(value)
