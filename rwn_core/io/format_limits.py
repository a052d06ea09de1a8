"""Say what a format does not keep of a table, before or after it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Variable
from rwn_core.io.format import Feature, Format

_NAMED = 3
_LAID = {
    "encoding": "the encoding of the file",
    "separator": "its separator",
    "header": "that no line has the names",
    "above": "the lines above the table",
    "below": "the lines below the table",
}


def losses(microdata: Microdata, form: Format) -> list[str]:
    """Name what the table has and a file of the format does not keep."""
    frame = microdata.frame
    said = []
    for feature, has in _HAS.items():
        names = [v.name for v in microdata.schema.released if has(frame[v.name], v)]
        some = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        if names and feature not in form.keeps:
            said.append(f"{form.title} does not keep {feature} ({some}).")
    given = {} if microdata.schema.file is None else microdata.schema.file.changed()
    if given.get("separator") == "\t":  # a format that has no other separator has tabs
        del given["separator"]
    gone = (given.keys() & form.layout) - form.marks
    lost = [words for name, words in _LAID.items() if name in gone]
    return [*said, *([f"{form.title} does not keep {', '.join(lost)}."] if lost else [])]


def _is_text(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_string_dtype(column.dtype)) and not isinstance(
        column.dtype, pd.CategoricalDtype
    )


def _has_missing_codes(column: pd.Series[Any], variable: Variable) -> bool:
    codes = (*(code for code, _ in variable.value_labels), *variable.missing_codes)
    texts = all(isinstance(code, str) for code in codes) and _is_text(column)
    return any(texts or not isinstance(code, str) for code in variable.missing_codes)


_HAS: dict[Feature, Callable[[pd.Series[Any], Variable], bool]] = {
    Feature.TRUTHS: lambda column, variable: pd.api.types.is_bool_dtype(column.dtype),
    Feature.TIME_ZONES: lambda column, variable: isinstance(column.dtype, pd.DatetimeTZDtype),
    Feature.LEVEL_ORDER: lambda column, variable: bool(getattr(column.dtype, "ordered", False)),
    Feature.LABELS: lambda column, variable: variable.label is not None,
    Feature.VALUE_LABELS: lambda column, variable: bool(variable.value_labels),
    Feature.MISSING_CODES: _has_missing_codes,
    Feature.MISSING_LETTERS: lambda column, variable: (
        not _is_text(column) and any(isinstance(code, str) for code in variable.missing_codes)
    ),
}
