"""Columns of codes with labels become categories, and categories become codes again.

What Stata, SPSS, SAS and R files have in common: a variable has a label, its codes have labels,
and some codes mean that the answer is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.guess_schema import completed, guess_schema
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import (
    LEVELS,
    NUMBERS,
    Code,
    Kind,
    Variable,
    is_missing,
    level_names,
    missing_words,
)
from rwn_core.io.checked_table import checked_table
from rwn_core.io.limits import in_file
from rwn_core.io.time_formats import TimeFormat, as_times

MissingCodes = tuple[Code | tuple[float, float], ...]


def plain_code(code: str | float | np.number[Any]) -> Code:
    """A code as a schema has it: a whole number without a point."""
    if isinstance(code, str):
        return code
    return int(code) if float(code).is_integer() else float(code)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledColumn:
    """One column as its file has it."""

    name: str
    values: pd.Series[Any]  # length n: codes, numbers, texts or dates
    label: str | None = None
    value_labels: Mapping[Code, str] | None = None
    missing_codes: MissingCodes = ()  # as in `Variable`; they may occur among the values
    ordered: bool = False  # whether the file says that the codes have an order
    # whether whole numbers are to be found among the values, because the format has none
    narrow: bool = False
    written: str = ""  # the format that the file shows the values in
    time: TimeFormat | None = None  # what the numbers count in that format

    @property
    def own_labels(self) -> dict[Code, str]:
        """The labels of codes that are not declared as missing."""
        given = self.value_labels or {}
        absent = self.missing_codes
        return {code: label for code, label in given.items() if not is_missing(code, absent)}


def labelled_table(
    file: str,
    columns: Sequence[LabelledColumn],
    schema: Schema | None,
    notices: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
) -> Microdata:
    """Make microdata of labelled columns; `left_out` says why some of them hold nothing."""
    with in_file(file):
        series: dict[str, pd.Series[Any]] = {}
        said = list(notices)
        for column in columns:
            variable = None if schema is None else schema.by_name.get(column.name)
            series[column.name], noticed = _typed(column, variable)
            said += noticed
        frame = pd.DataFrame(series)
        described = guess_schema(frame) if schema is None else completed(schema, frame)
        # A variable with what the file says of it and the schema does not.
        with_codes = tuple(
            replace(
                variable,
                label=variable.label or column.label or None,
                value_labels=variable.value_labels or tuple((column.value_labels or {}).items()),
                missing_codes=variable.missing_codes or column.missing_codes,
            )
            for variable, column in zip(described.variables, columns, strict=True)
        )
        described = replace(described, variables=with_codes)
        return checked_table(frame, described, schema, said, left_out or {})


def _typed(column: LabelledColumn, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
    """Return a column with its type and its labels, and notices; as it is where it stays inside."""
    if variable is not None and not variable.is_released:
        return column.values, []
    values = column.values
    notices = list[str]()
    if column.missing_codes:  # they are taken out and counted
        values, notices = _without_missing(column)
    if column.time is not None and (variable is None or variable.kind not in NUMBERS):
        values, said = as_times(values, column.time, column.name, column.written)
        notices += said
    labels = column.own_labels if variable is None or variable.kind in LEVELS else {}
    codes = set(values.dropna().unique().tolist())
    if labels and codes <= set(labels) and codes:
        ordered = column.ordered if variable is None else variable.kind is Kind.ORDERED
        if len(set(labels.values())) < len(labels):
            notices.append(f"{column.name} has codes that share a label: they stay apart.")
        return _category(values, labels, codes, ordered=ordered), notices
    if labels and codes:
        notices.append(f"{column.name} has labels for some of its values only: no categories.")
    if column.narrow or column.missing_codes:
        values = _narrowed(values)
    return values, notices


def _without_missing(column: LabelledColumn) -> tuple[pd.Series[Any], list[str]]:
    """Take out what a file declares as missing, and say how many values these were."""
    values = column.values
    gone = values.map(lambda value: is_missing(value, column.missing_codes)).to_numpy(bool)
    values = values.mask(gone)
    count = int(np.count_nonzero(gone))
    if values.dtype == object and column.narrow:
        values = pd.to_numeric(values)
    if not count:
        return values, []
    said = "value" if count == 1 else "values"
    return values, [
        f"{column.name} has {count:,} {said} declared as missing "
        f"({missing_words(column.missing_codes)}): they are missing here, without their codes."
    ]


def _category(
    values: pd.Series[Any], labels: Mapping[Code, str], known: set[Any], *, ordered: bool
) -> pd.Series[Any]:
    """Return a category of labels; numbers by size, texts as they are listed."""
    names = level_names(tuple(labels.items()))
    listed = list(labels)
    numeric = not any(isinstance(code, str) for code in labels)
    levels = [names[code] for code in sorted(known, key=None if numeric else listed.index)]
    texts = values.map(names).astype(object)
    return pd.Series(pd.Categorical(texts.where(values.notna(), None), levels, ordered=ordered))


def _narrowed(values: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers without decimals as whole numbers, which their file cannot tell apart."""
    if not pd.api.types.is_float_dtype(values.dtype):
        return values
    known = values.dropna()
    if not len(known) or (known % 1 != 0).any() or (known.abs() >= 2**53).any():
        return values
    return values.astype("int64" if len(known) == len(values) else "Int64")


def _codes_of_levels(variable: Variable) -> dict[str, Any]:
    """Return the code of each labelled level; those for missing values are no levels."""
    pairs = [
        pair for pair in variable.value_labels if not is_missing(pair[0], variable.missing_codes)
    ]
    return {name: code for code, name in level_names(tuple(pairs)).items()}


def coded(
    column: pd.Series[Any], variable: Variable | None
) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Codes of a category and their labels, for a file that holds codes."""
    labels: dict[Any, str] = {} if variable is None else dict(variable.value_labels)
    code_of = {} if variable is None else _codes_of_levels(variable)
    texts = bool(code_of) and all(isinstance(code, str) for code in code_of.values())
    numbers = [int(code) for code in labels if not isinstance(code, str)]
    following = max(numbers, default=0) + 1
    levels = column.cat.remove_unused_categories().cat.categories
    for number, level in enumerate((e for e in levels if e not in code_of), following):
        code_of[level] = str(level) if texts else number
        labels[code_of[level]] = str(level)
    codes: pd.Series[Any] = column.astype(object).map(code_of)
    return codes if texts else codes.astype("float64"), labels
