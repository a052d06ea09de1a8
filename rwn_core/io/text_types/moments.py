"""Texts become dates and moments, with their time zone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.date_texts import refuse_dates, usual_texts
from rwn_core.io.text_types.patterns import Form, fitting

_ZONE = r".*:.*(Z|[+-]\d{2}:?\d{2})"


def dates(column: TextColumn, notation: str | None = None) -> tuple[pd.Series[Any], list[str]]:
    """Give the moments of a column."""
    form, texts = Form.DATE, column.different
    if notation is not None and column.has == {Form.OTHER_DATE}:
        form, texts = Form.OTHER_DATE, usual_texts(column, notation)
    others = column.has - {form}
    if others:
        refuse_dates(column, column.with_forms(others))
    chosen = column.with_forms({form})
    zoned = fitting(texts, _ZONE) & chosen
    if zoned.any() and not zoned[chosen].all():
        remedy = "write it in all or in none"
        column.refuse(chosen & ~zoned, "lacks a time zone", "lack a time zone", remedy)
    moments = pd.Series(np.where(chosen, texts.to_numpy(zero_copy_only=False), None), dtype=object)
    parsed = pd.to_datetime(moments, format="ISO8601", errors="coerce", utc=bool(zoned.any()))
    impossible = chosen & parsed.isna().to_numpy()
    if impossible.any():
        column.refuse(impossible, "is not on the calendar", "are not on the calendar", "correct it")
    notices: list[str] = []
    if zoned.any():
        offsets = {_offset(text) for text in moments[zoned]}
        if len(offsets) > 1:
            notices = [
                f"{column.name} has times of {len(offsets)} time zones: they become universal "
                "time, and days may change."
            ]
        elif offsets != {"+00:00"}:
            # a day of the file stays the same day
            parsed = parsed.dt.tz_convert(f"UTC{offsets.pop()}")
    return parsed.take(column.codes).reset_index(drop=True).rename(column.name), notices


def _offset(text: str) -> str:
    """The time zone at the end of a text, such as +09:00."""
    if text.endswith("Z"):
        return "+00:00"
    digits = text[-6:].replace(":", "")[-5:]
    return f"{digits[:3]}:{digits[3:]}"
