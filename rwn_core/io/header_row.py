"""Whether the cells of a row are names: one rule for texts and sheets.

A number or a date is a name where it differs from the column below it: by kind, as a year above
other numbers, or as one of several numbers in order that no record has so.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from rwn_core.io.text_types.column import NOTHING, Form, text_forms

_STEP = 10  # years between two names of columns, at most
_FEWEST = 3  # numbers in order that may be names, where the last is beyond all values
_SURE = 6  # numbers in order that are names whatever the values are
_NUMBERS = {Form.EXPONENT, Form.NUMBER, Form.CODE, Form.DECIMAL_COMMA, Form.THOUSANDS, Form.UNIT}
_KINDS = dict.fromkeys(_NUMBERS, "number") | {
    Form.INFINITE: "number",
    Form.DATE: "date",
    Form.OTHER_DATE: "date",
    Form.CLOCK: "clock",
    Form.WORD: "word",
}
NO_NAMES = {Form.DATE: "date", Form.OTHER_DATE: "date"}
NO_NAMES |= dict.fromkeys(_NUMBERS, "number")
"""Forms of a text that is no name by itself, and what each is called."""
NUMBER = re.compile(r"[+-]?[\d.,]*\d")


def values_among_names(
    doubted: Mapping[int, object], columns: Mapping[int, Sequence[object]]
) -> list[int]:
    """Return the places of numbers and dates in a row of names that may be values of a record.

    `doubted`: the numbers and dates by their places; `columns`: the cells below each of them, as
    long as each other.
    """
    unclear = [place for place in doubted if not _differs(doubted[place], columns[place])]
    found = [number_of(doubted[place]) for place in unclear]
    numbers = [number for number in found if number is not None]
    if not unclear or len(numbers) < len(found):
        return unclear
    below = [columns[place] for place in unclear]
    return [] if _are_years(numbers, below) or _are_in_order(numbers, below) else unclear


def _differs(name: object, cells: Sequence[object]) -> bool:
    """True if no cell of a column is of its name's kind."""
    kinds = _kinds(cells)
    return bool(kinds) and _kinds([name]).isdisjoint(kinds)


def _are_years(names: Sequence[float], columns: Sequence[Sequence[object]]) -> bool:
    """True if names are years, their columns have other numbers, and none or all are in order."""
    inside = 0
    for name, cells in zip(names, columns, strict=True):
        numbers = [number for number in map(number_of, cells) if number is not None]
        if not is_year(name) or not numbers or all(map(is_year, numbers)):
            return False
        inside += min(numbers) <= name <= max(numbers)
    steps = np.diff(names)
    ordered = len(steps) > 0 and ((steps > 0).all() or (steps < 0).all())
    return not inside or bool(ordered and (len(steps) > 1 or abs(steps[0]) <= _STEP))


def _are_in_order(names: Sequence[float], columns: Sequence[Sequence[object]]) -> bool:
    """True if names are whole numbers of equal steps, and no record has such numbers there."""
    if len(names) < _FEWEST or not _has_equal_steps(names):
        return False
    numbers = list(map(number_of, chain.from_iterable(columns)))
    largest = max((number for number in numbers if number is not None), default=0.0)
    if len(names) < _SURE and max(names) <= largest:
        return False
    records = zip(*columns, strict=True)
    return not any(_has_equal_steps(list(map(number_of, record))) for record in records)


def _has_equal_steps(numbers: Sequence[float | None]) -> bool:
    known = [number for number in numbers if number is not None and number % 1 == 0]
    if len(known) < len(numbers):
        return False
    steps = np.diff(known)
    return bool(steps[0] != 0 and (steps == steps[0]).all())


def _kinds(cells: Sequence[object]) -> set[str]:
    """Return the kinds of cells, typed ones or texts; none for missing ones."""
    texts = {cell for cell in cells if isinstance(cell, str)}
    forms = text_forms(pa.array(sorted(texts), pa.large_string()))
    found = {_KINDS[form] for form in map(Form, set(forms.tolist()) - NOTHING)}
    for cell in cells:
        if isinstance(cell, datetime.date):
            found.add("date")
        elif isinstance(cell, bool | datetime.time | datetime.timedelta):
            found.add(type(cell).__name__)
        elif isinstance(cell, int | float):
            found.add("number")
    return found


def number_of(cell: object) -> float | None:
    """Return the number of a cell or of its text, with a point or a comma; None of another one."""
    text = str(cell).strip()
    if isinstance(cell, bool) or not NUMBER.fullmatch(text) or text.count(",") > 1:
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def is_year(cell: object) -> bool:
    """True if a cell is the number of a year."""
    return isinstance(cell, int | float) and 1800 <= cell <= 2100 and cell == int(cell)
