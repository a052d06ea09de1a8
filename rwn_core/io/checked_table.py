"""The last step of every reader: what a file holds besides data is taken out, and said."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from rwn_core.data.codes import codes_of
from rwn_core.data.guess_schema import completed, guess_schema
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import check_shape
from rwn_core.data.variable import NUMBERS, Kind, Role
from rwn_core.io.row_names import named_counter, unnamed_counters


def checked_table(
    frame: pd.DataFrame,
    schema: Schema | None,
    stated: Schema | None,
    notices: Sequence[str],
    left_out: Mapping[str, str],
    index: str | None = None,
) -> Microdata:
    """Make microdata of a new frame that a file holds.

    `schema` describes it, as far as file and user do, and `stated` as far as the user did; `index`
    is the column that may be an index with a name, the first one where nothing is said.
    """
    known = () if stated is None else stated.names
    said = list(notices)
    counters = unnamed_counters(frame, known, index)
    frame = frame.drop(columns=counters)
    for name in counters:
        said.append(f"{name} only numbers the records: it is left out.")
    check_shape(frame)
    said += _without_infinity(frame)
    described = (
        guess_schema(frame) if schema is None else completed(_without(schema, counters), frame)
    )
    described, notes = _with_codes(frame, described, known)
    said += notes
    first = str(frame.columns[0]) if index is None or index not in frame else index
    counter = named_counter(frame, first, known)
    others = (name for name in frame.columns if name != counter and name not in left_out)
    if counter is not None and any(frame[name].notna().any() for name in others):
        described = described.replace_variable(counter, role=Role.IDENTIFIER)
    reasons = {name: why for name, why in left_out.items() if name in frame}
    return Microdata.from_own_frame(frame, described, notices=tuple(said), left_out=reasons)


def _with_codes(
    frame: pd.DataFrame, schema: Schema, stated: Collection[str]
) -> tuple[Schema, list[str]]:
    """Make numbers that are codes of an official list categories, and say so."""
    said = []
    for variable in schema.released:
        name = variable.name
        if name in stated or variable.kind not in NUMBERS or variable.value_labels:
            continue
        what = codes_of(frame[name])
        if what:
            schema = schema.replace_variable(name, kind=Kind.CATEGORICAL)
            said.append(
                f"{name} has codes of {what} by its name: it is categorical; give it the kind "
                "count in a schema if it counts something."
            )
    return schema, said


def _without(schema: Schema, gone: Sequence[str]) -> Schema:
    """Return the schema without variables of columns that were taken out."""
    if not gone:
        return schema
    left = tuple(variable for variable in schema.variables if variable.name not in gone)
    return replace(schema, variables=left)


def _without_infinity(frame: pd.DataFrame) -> list[str]:
    """Make infinite numbers missing, in every format; say how many."""
    said = []
    for name in frame.select_dtypes("float").columns:
        infinite = np.isinf(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))
        count = int(infinite.sum())
        if count:
            frame[name] = frame[name].mask(infinite)
            said.append(infinite_notice(name, count))
    return said


def infinite_notice(name: str, count: int) -> str:
    """Say that infinite numbers count as missing."""
    values = "value, which counts" if count == 1 else "values, which count"
    return f"{name} has {count:,} infinite {values} as missing."
