"""Find columns that count time, and series in their order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core.data.belonging.columns import Column, Columns
from rwn_core.data.belonging.finding import Finding, some_names
from rwn_core.data.belonging.order import next_rows
from rwn_core.data.identity.panel import TIMES
from rwn_core.data.identity.profile import PROFILE_ROWS, Subject, name_words, word_list
from rwn_core.data.rows import Belong

EVEN_STEPS = 0.9  # of the steps of a time that are equal
WORKDAYS = 0.7  # the same where all others are multiples of it
ABOUT = 0.16  # by which months differ in length
UNIQUE = 0.98  # of the rows that have a time of their own
FEWEST_TIMES = 10
YEARS = (1500, 2100)  # first and last
_NO_TIME = {"age", "alter", "rank", "rang"}
_TIME = {"date", "datum", "t", "hour", "minute", "zeit", "tag", "woche", "quartal", "semester"}


def found_series(columns: Columns, numbering: Columns) -> Finding | None:
    """Find a column that counts time, or one that puts similar rows next to each other.

    `numbering`: the columns that may.
    """
    counters = [column for column in numbering.columns if _counts(column)]
    named = [column for column in counters if _is_time(column)]
    if named:
        reason = f"{named[0].name} numbers them by time in equal steps"
        return Finding(of=Belong.SERIES, by=(named[0].name,), reason=reason)
    pair = _time_of_two(numbering)
    if pair:
        reason = f"{' and '.join(pair)} number them by time in equal steps"
        return Finding(of=Belong.SERIES, by=pair, reason=reason)
    for column in counters:
        rows = np.argsort(column.codes, kind="stable")[:PROFILE_ROWS]
        similar = next_rows(columns, rows)
        if similar.is_many:
            names = tuple(columns.columns[int(place)].name for place in similar.found)
            reason = f"rows that follow one another by {column.name} are similar in"
            return Finding(
                of=Belong.SERIES, by=(column.name,), reason=f"{reason} {some_names(names)}"
            )
    return None


def _counts(column: Column) -> bool:
    """True if a column has another whole number or day in each row, in equal steps."""
    different = len(column.values)
    if not column.ordered or different < max(FEWEST_TIMES, UNIQUE * len(column.codes)):
        return False
    values = column.whole_numbers()
    if values is None or different < UNIQUE * column.known:
        return False
    gaps = np.diff(values)
    middle = float(np.median(gaps))
    equal = float((np.abs(gaps - middle) <= ABOUT * middle).mean())
    multiples = np.abs(gaps / middle - np.round(gaps / middle)) < 1e-6
    return equal >= EVEN_STEPS or (equal >= WORKDAYS and bool(multiples.all()))


def called_time(column: Column) -> bool:
    """True if the name of a column is that of a time."""
    words = name_words(column.name)
    times = (word_list("series") | TIMES | _TIME) - _NO_TIME
    return bool({*words.words} & times) and Subject.BIRTH not in words.subjects


def _is_time(column: Column) -> bool:
    """True if a counter counts time: dates, years, or a name that says so."""
    if pd.api.types.is_datetime64_any_dtype(column.values.dtype) or called_time(column):
        return True
    numbers = column.whole_numbers()
    low, high = YEARS
    return numbers is not None and low <= numbers[0] and numbers[-1] <= high


def _time_of_two(columns: Columns) -> tuple[str, str] | tuple[()]:
    """Return two times that number the rows together, such as year and quarter; or none."""
    times = [
        column
        for column in columns.columns
        if column.ordered and called_time(column) and column.whole_numbers() is not None
    ]
    for one in times:
        for two in times:
            if one is two or two.levels > one.levels or two.levels < 2:
                continue
            joint = one.codes.astype(np.int64) * two.levels + two.codes
            different = len(np.unique(joint))
            span = int(joint.max() - joint.min()) + 1
            if different >= UNIQUE * len(joint) and different >= EVEN_STEPS * span:
                return one.name, two.name
    return ()
