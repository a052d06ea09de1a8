"""The published part of a masked table: its values in fresh columns, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Integers
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.io import format_of_key

_FORMULA = re.compile(r"[=+\-@\t\r].", flags=re.DOTALL)
GUARD = "'"
"""What a spreadsheet takes as a sign that text follows; OWASP, "CSV injection"."""


def publishable(masked: Microdata, rows: Integers) -> Microdata:
    """Return some rows of a masked table as a table, with nothing that they do not show."""
    hidden = [v for v in masked.schema.variables if not v.is_released]
    if hidden:
        direct = hidden[0].role is Role.IDENTIFIER
        what = "direct identifier" if direct else str(hidden[0].role)
        raise ReleaseError(
            f"The masked table still holds the {what} {hidden[0].name}; a release cannot have it."
        )
    taken, columns = masked.frame.take(rows), {}
    for name in taken.columns:
        column = taken[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()
        columns[name] = column.reset_index(drop=True)
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), copy=True)
    variables, about = list(masked.schema.variables), masked.schema
    for place, variable in enumerate(variables):
        if variable.levels is not None:  # those that occur
            present = {str(value) for value in frame[variable.name].dropna().unique()}
            levels = tuple(level for level in variable.levels if level in present)
            variables[place] = replace(variable, levels=levels or None)
    schema = Schema(variables=tuple(variables), question=about.question, file=about.file)
    return Microdata(frame, schema)


def without(table: Microdata, names: Sequence[str]) -> Microdata:
    """Leave variables out of a table that is published."""
    if not names:
        return table
    about = table.schema
    variables = tuple(v for v in about.variables if v.name not in names)
    if not variables:
        raise ParameterError("drop names every variable of the release; leave one in.")
    question = about.question
    if question is not None and {question.response, *question.predictors} & set(names):
        question = None
    frame = table.frame[[variable.name for variable in variables]]
    return Microdata(frame, Schema(variables=variables, question=question, file=about.file))


def formula_cells(frame: pd.DataFrame, format: str) -> dict[str, Booleans]:
    """Find the texts that a spreadsheet would run as formulas when it opens the file."""
    if not format_of_key(format).media_type.startswith("text/"):
        return {}
    found = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            continue
        cells = np.array([_runs(value) for value in column.tolist()], dtype=bool)
        if cells.any():
            found[str(name)] = cells
    return found


def _runs(value: object) -> bool:
    if not isinstance(value, str) or not _FORMULA.match(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return value[0] in "\t\r"  # any other number stays as it is: a spreadsheet shows it


def without_formulas(frame: pd.DataFrame, format: str) -> pd.DataFrame:
    """Put an apostrophe before each text that a spreadsheet would run; see `formula_cells`."""
    for name, cells in formula_cells(frame, format).items():
        texts = frame[name].astype(object)
        frame = frame.assign(**{name: texts.where(~cells, GUARD + texts.astype(str))})
    names = formula_names(frame.columns, format)
    return frame.rename(columns={name: GUARD + name for name in names}) if names else frame


def guarded_schema(schema: Schema, format: str) -> Schema:
    """The schema of a file of a format: its marks, and guarded names, see `formula_names`."""
    names, layout = formula_names(schema.names, format), schema.file or FileLayout()
    repeated = format_of_key(format).marks
    marks = {mark: value for mark, value in layout.changed().items() if mark in repeated}
    variables = (
        replace(each, name=GUARD + each.name) if each.name in names else each
        for each in schema.variables
    )
    return Schema(variables=tuple(variables), file=FileLayout.from_dict(marks))


def formula_names(names: Iterable[str], format: str) -> list[str]:
    """The names of columns that a spreadsheet would run as formulas, as `formula_cells`."""
    if not format_of_key(format).media_type.startswith("text/"):
        return []
    return [str(name) for name in names if _runs(name)]
