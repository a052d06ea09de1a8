"""Common keys of equal values in any file and notation, for a second reading."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.codebook import level_names
from rwn_core.data.date_notation import USUAL_DATES
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.validation import level_text

_GUARD = "'"


def distinct_values(column: pd.Series[Any]) -> list[Any]:
    """The different values of a column, missing ones apart."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.cat.remove_unused_categories().cat.categories)
    values: list[Any] = column.dropna().unique().tolist()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return [pd.Timestamp(value).to_pydatetime() for value in column.dropna().unique()]
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Compare values of one column, whatever file they come from."""

    make: Callable[[Any], Any]  # of a value; what equal values have in common
    # whether values are floating numbers with decimal points, which are compared all at once
    floating: bool = False

    def absent(self, written: list[Any], known: list[Any]) -> int:
        """Count the written values that occur nowhere among the known ones."""
        # A written text may have the apostrophe that keeps a spreadsheet from running it.
        if self.floating:
            with suppress(ValueError, TypeError):
                return int(np.count_nonzero(~np.isin(_floats(written), _floats(known))))
        there = {self.key(value) for value in known}
        texts = ((v, v.removeprefix(_GUARD) if isinstance(v, str) else v) for v in written)
        own = (set(map(self.key, pair)) for pair in texts)
        return sum(not keys & there for keys in own if keys != {None})

    @classmethod
    def from_variable(cls, microdata: Microdata, name: str, coarse: bool) -> Keys:
        """Choose by the column's type; `coarse` where a workbook rounds moments."""
        dtype = microdata.frame[name].dtype
        layout = microdata.schema.file or FileLayout()
        if isinstance(dtype, pd.CategoricalDtype):
            dtype = dtype.categories.dtype
            labels = level_names(microdata.schema.variable(name).value_labels)
            if labels:
                return cls(make=lambda value: _text(labels.get(value, value), False))
        comma = layout.decimal == ","
        if pd.api.types.is_bool_dtype(dtype):
            return cls(make=_truth)
        if pd.api.types.is_datetime64_any_dtype(dtype):
            notation = microdata.schema.variable(name).notation or layout.dates
            return cls(make=lambda value: _moment(value, notation, coarse))
        if pd.api.types.is_numeric_dtype(dtype):
            narrow = dtype == np.float32
            wide = bool(dtype == np.float64) and not comma
            return cls(make=lambda value: _number(value, comma, narrow), floating=wide)
        return cls(make=lambda value: _text(value, comma))

    def key(self, value: Any) -> Any:
        """Return the common key of equal values; None for no value."""
        if value is None or value is pd.NA or value != value or value == "":
            return None
        try:
            return self.make(value)
        except (ValueError, TypeError, OverflowError):
            return ("text", str(value))  # an answer of another type occurs nowhere else


def _floats(values: list[Any]) -> NDArray[np.float64]:
    """Numbers or texts of numbers, missing ones apart; Python's own reading of a text."""
    known = [value for value in values if value is not None and value is not pd.NA and value != ""]
    numbers = np.array(known).astype(np.float64)
    return numbers[~np.isnan(numbers)]


def _number(value: Any, comma: bool, narrow: bool) -> Any:
    if isinstance(value, str):
        text = value.strip().replace(",", ".") if comma else value.strip()
        if ":" in text or text[-1:] in "mM.":  # a time of the day
            return pd.Timedelta(str(pd.Timestamp(f"2000-01-01 {text}").time())).total_seconds()
        value = int(text) if text.lstrip("+-").isdigit() else float(text)
    return float(np.float32(value)) if narrow else value


def _truth(value: Any) -> str:
    text = str(value).strip().lower()
    return {"1": "true", "0": "false", "1.0": "true", "0.0": "false"}.get(text, text)


def _text(value: Any, comma: bool) -> str:
    text = level_text(value).strip()
    return text.replace(",", ".") if comma else text


def _moment(value: Any, notation: str, coarse: bool) -> int:
    """Microseconds since 1970, or milliseconds where a workbook takes part."""
    if isinstance(value, str):
        value = _parsed(value.strip(), notation)
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    micro = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return round(micro / 1000) if coarse else int(micro)


def _parsed(text: str, notation: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        if notation == USUAL_DATES:
            raise
    pattern = notation.replace("YYYY", "%Y").replace("MM", "M").replace("DD", "D")
    return datetime.strptime(text, pattern.replace("M", "%m").replace("D", "%d"))
