"""The gate: what a table must be, and what a data steward should know about it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.column_warnings import suspicious
from rwn_core.data.identity import Confidence
from rwn_core.data.identity.gate import doubts_of_schema
from rwn_core.data.schema import Schema
from rwn_core.data.variable import NUMBERS, Kind, Role, Variable
from rwn_core.errors import InputError, SchemaError

_GAPS = 12  # variables with missing values that are named
LONGEST_NAME = 1000
REMEDY = " If it identifies people, set its role to identifier."
LARGEST_NUMBER = 1e150  # its square still fits a float64: distances stay finite

FIRST_DATE = pd.Timestamp("0001-01-01", tz="UTC")
LAST_DATE = pd.Timestamp("9999-12-31 23:59:59.999999", tz="UTC")

_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")


def check_shape(frame: pd.DataFrame) -> None:
    """Refuse what is no table, or too small to mask."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError("The table must be a pandas DataFrame.")
    if frame.shape[1] == 0:
        raise InputError("The table has no columns; choose at least one.")
    if len(frame) < 2:
        records = "no records" if len(frame) == 0 else "one record"
        raise InputError(
            f"The table has {records}; masking needs at least two, and more than k of them."
        )


def check_names(columns: pd.Index[Any]) -> None:
    """Refuse duplicate column names, and names that cannot stand in a message or a file."""
    if isinstance(columns, pd.MultiIndex):
        raise InputError("The table has a header of several rows; give each column one name.")
    for position, name in enumerate(columns, start=1):
        _check_name(name, position)
    for name, times in Counter(columns).items():
        if times > 1:
            positions = [str(i) for i, other in enumerate(columns, start=1) if other == name]
            raise InputError(
                f"The column name {name} occurs {times} times (columns {', '.join(positions)}); "
                "rename all but one."
            )


def _check_name(name: object, position: int) -> None:
    if not isinstance(name, str):
        raise InputError(f"The name of column {position} is not a text; rename it.")
    if not name.strip():
        raise InputError(f"Column {position} has no name; give it one.")
    if any(unicodedata.category(letter) in _UNPRINTABLE for letter in name):
        raise InputError(
            f"The name of column {position} has a control character or a line break; rename it."
        )
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"The name of column {position} is longer than {LONGEST_NAME} characters; shorten it."
        )


def check_column(column: pd.Series[Any], variable: Variable) -> None:
    """Refuse a column if its values do not match its variable."""
    name = variable.name
    if column.dtype == object:
        _check_texts(column, name)
    _check_type(column, name)
    if not variable.is_released:
        return
    if column.isna().all():
        raise InputError(f"Column {name} has no values; remove it or set its role to identifier.")
    if variable.kind in NUMBERS:
        _check_numbers(column, variable)
    if variable.kind is Kind.DATE:
        _check_dates(column, name)
    if variable.levels is not None:
        _check_levels(column, variable)


def with_usable_columns(
    frame: pd.DataFrame, schema: Schema, left_out: Mapping[str, str]
) -> tuple[Schema, list[str]]:
    """Return the schema of a file's table without columns that cannot be used, and their notice.

    These columns of the frame are emptied.
    """
    reasons = {name: why for name, why in left_out.items() if schema.variable(name).is_released}
    for variable in schema.variables:
        name = variable.name
        if variable.is_released and name not in reasons and frame[name].isna().all():
            reasons[name] = "no values"
            continue
        try:
            unused = replace(variable, role=Role.IDENTIFIER, group=None)
            check_column(frame[name], unused if name in reasons else variable)
        except InputError as refusal:
            reasons[name] = str(refusal).removeprefix(f"Column {name} has ").rstrip(".")
    if not reasons:
        return schema, []
    frame[list(reasons)] = np.nan
    usable = [variable.name for variable in schema.released if variable.name not in reasons]
    words = ", ".join(f"{name} ({why})" for name, why in reasons.items())
    return schema.releasing(usable), [f"Left out of every release: {words}."]


def _count(wrong: Any) -> str:
    """Return the number of wrong values and the place of the first one, in brackets."""
    return f"({int(wrong.sum())}, first in row {int(np.argmax(wrong)) + 1})"


def _check_texts(column: pd.Series[Any], name: str) -> None:
    odd = ~(column.isna() | column.map(_is_valid_text))
    if odd.any():
        raise InputError(
            f"Column {name} has values that are neither valid text nor missing {_count(odd)}; "
            "convert the whole column to texts, numbers or the type boolean."
        )


def _is_valid_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        return False
    return True


def _check_type(column: pd.Series[Any], name: str) -> None:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if not all(isinstance(level, str | int | float) for level in dtype.categories.tolist()):
            raise InputError(
                f"Column {name} has categories other than texts and numbers; convert them."
            )
        return
    fine = not isinstance(dtype, pd.SparseDtype) and (
        pd.api.types.is_bool_dtype(dtype)
        or pd.api.types.is_integer_dtype(dtype)
        or pd.api.types.is_float_dtype(dtype)
        or pd.api.types.is_string_dtype(dtype)
        or pd.api.types.is_datetime64_any_dtype(dtype)
    )
    if not fine:
        raise InputError(
            f"Column {name} has the type {dtype}; convert it to numbers, texts or dates."
        )


def _check_numbers(column: pd.Series[Any], variable: Variable) -> None:
    name = variable.name
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise SchemaError(
            f"Column {name} holds texts and cannot be {variable.kind}; make it categorical."
        )
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    for what, wrong in (
        ("infinite values", np.isinf(values)),
        (f"numbers beyond {LARGEST_NUMBER:g}", np.abs(values) > LARGEST_NUMBER),
    ):
        if wrong.any():
            raise InputError(f"Column {name} has {what} {_count(wrong)}; replace or remove them.")


def _check_dates(column: pd.Series[Any], name: str) -> None:
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise SchemaError(f"Column {name} holds no dates; give it another kind.")
    moments = pd.to_datetime(column, utc=True)
    outside = (moments < FIRST_DATE) | (moments > LAST_DATE)
    if outside.any():
        raise InputError(
            f"Column {name} has dates outside the years 1 to 9999 {_count(outside)}; replace or "
            "remove them."
        )


def level_text(value: Any) -> str:
    """A value as a schema names it: whole numbers without a decimal point."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def typed_levels(values: Sequence[Any], levels: Sequence[str]) -> list[Any]:
    """The levels of a schema, which are texts, as the values that a column has."""
    by_text = {level_text(value): value for value in values}
    return [by_text.get(level, level) for level in levels]


def _check_levels(column: pd.Series[Any], variable: Variable) -> None:
    known = typed_levels(column.dropna().unique().tolist(), variable.levels or ())
    strange = ~(column.isna() | column.isin(known))
    if strange.any():
        raise SchemaError(
            f"Column {variable.name} has values outside the levels of the schema "
            f"{_count(strange)}; add the levels."
        )


MOST_NAMED = 8  # identifiers with a notice each


def table_notices(frame: pd.DataFrame, schema: Schema) -> tuple[str, ...]:
    """Return notices about the table for a data steward, a sentence each."""
    notices = _name_notices(schema.names)
    for doubt in doubts_of_schema(frame, schema):
        remedy = "" if doubt.confidence is Confidence.LOW else REMEDY
        notices.append(f"{doubt.sentence}{remedy}")
    left_out = sum(variable.role is Role.IDENTIFIER for variable in schema.variables)
    if left_out > MOST_NAMED:
        notices.append(f"{left_out} variables are left out of every release.")
    for variable in schema.variables:
        if variable.role is Role.IDENTIFIER and left_out > MOST_NAMED:
            continue
        notices += _column_notices(frame[variable.name], variable, schema.population)
    return (*notices, *_missing_notice(frame, schema), *_rule_notices(frame, schema))


def _rule_notices(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """One sentence about each edit rule that records break already."""
    counts = [(rule.text, int(rule.broken(frame).sum())) for rule in schema.edit_rules]
    return [
        f"{count:,} record{'s break' if count > 1 else ' breaks'} the edit rule {text}."
        for text, count in counts
        if count
    ]


def _missing_notice(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """One sentence about all variables that miss values."""
    counts = {v.name: int(frame[v.name].isna().sum()) for v in schema.released}
    gaps = [f"{name} has {count:,}" for name, count in counts.items() if count]
    if not gaps:
        return []
    if len(gaps) == 1:
        return [f"{gaps[0]} missing value{'s' * (not gaps[0].endswith(' 1'))}."]
    dots = f", and {len(gaps) - _GAPS:,} more variables some" if len(gaps) > _GAPS else ""
    return [f"Missing values: {', '.join(gaps[:_GAPS])}{dots}."]


def _name_notices(names: tuple[str, ...]) -> list[str]:
    notices = []
    spelled = Counter(name.strip().casefold() for name in names)
    similar = [name for name in names if spelled[name.strip().casefold()] > 1]
    if similar:
        notices.append(f"The names {', '.join(similar)} differ only in case or blanks.")
    for position, name in enumerate(names, start=1):
        if any(unicodedata.category(letter) == "Cf" for letter in name):
            notices.append(f"The name of column {position} has invisible characters.")
    return notices


def _column_notices(
    column: pd.Series[Any], variable: Variable, population: int | None
) -> list[str]:
    name = variable.name
    if variable.role is Role.IDENTIFIER:
        return (
            []
            if column.isna().all()
            else [f"{name} is a direct identifier: it is left out of every release."]
        )
    if not variable.is_released:
        return [f"{name} says who belongs together: it is left out of every release."]
    notices = []
    missing = int(column.isna().sum())
    known = column.dropna() if missing else column
    if missing == 0 and (known == known.iloc[0]).all():
        notices.append(f"{name} is constant: it does not count in the distance.")
    notices += suspicious(column, variable)
    weighs = variable.role is Role.SAMPLING_WEIGHT and not stands_for_people(column, variable)
    if weighs and population is None:
        notices.append(
            f"{name} is a sampling weight, but not a number of at least 1 in every record: "
            "measures of risk take the file for the whole population."
        )
    levels = list(variable.levels or ())  # those that the gate wrote down say the same as none
    if variable.kind is Kind.ORDERED and levels == sorted(levels) and _is_text(column.dtype):
        notices.append(f"{name} is ordered by the alphabet; give its levels for another order.")
    return notices


def stands_for_people(column: pd.Series[Any], variable: Variable) -> bool:
    """Return True if a variable can be a sampling weight: numbers of at least 1."""
    if variable.kind not in NUMBERS:
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(np.isfinite(values).all() and values.min() >= 1)


def _is_text(dtype: Any) -> bool:
    return not isinstance(dtype, pd.CategoricalDtype) and pd.api.types.is_string_dtype(dtype)
