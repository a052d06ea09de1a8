"""A column of texts becomes numbers, dates or categories, or is refused; never half of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import LARGEST_NUMBER
from rwn_core.data.variable import MOST_DECIMALS, Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.checked_table import checked_table, infinite_notice
from rwn_core.io.limits import LARGEST_WHOLE, in_file
from rwn_core.io.text_types.column import (
    NOTHING,
    Form,
    TextColumn,
    dates,
    notations_of,
    refuse_dates,
)

Typed = tuple["pd.Series[Any]", list[str]]
_TEXT_KINDS = (None, Kind.CATEGORICAL)  # that a column of texts may have

_ALL_NUMBERS = {Form.NUMBER, Form.EXPONENT, Form.INFINITE}
_NUMBERS = {Form.NUMBER, Form.EXPONENT, Form.CODE}
GROUPED = "say grouped = true of the file"
_REMEDIES = {
    Form.THOUSANDS: ("marks of thousands", f"{GROUPED}, or write the digits alone"),
    Form.DECIMAL_COMMA: ("a decimal comma", 'say decimal = "," of the file, or write points'),
    Form.SPELLED: ("brackets or a D", f"{GROUPED}, or write it with a minus or an e"),
    Form.UNIT: ("a percent or currency sign", "write the number alone"),
}
_TIME = re.compile(r"(\d+)(?::(\d+))?(?::([\d.]+))?\s?([ap]\.?m\.?)?", re.I)
_SURE = 15  # digits that every floating number keeps
USUAL = 1  # decimals that a floating number has at least, where nothing else is said


def typed_or_texts(
    column: TextColumn, variable: Variable | None, notation: str | None, as_texts: dict[str, str]
) -> tuple[pd.Series[Any], list[str], str | None]:
    """The column with its type and notation; as texts, with a reason, where it has no type."""
    if notation is None and variable is None:
        fits = notations_of(column)
        notation = fits[0] if len(fits) == 1 else None
    if column.name in as_texts:
        return _texts(column), [], notation
    try:
        return *typed(column, variable, notation), notation
    except InputError as refusal:
        as_texts[column.name] = str(refusal)
        return _texts(column), [], notation


def table_of_columns(
    file: str,
    series: Mapping[str, pd.Series[Any]],
    schema: Schema | None,
    notices: Sequence[str],
    as_texts: Mapping[str, str],
) -> Microdata:
    """Make microdata; `as_texts` says why columns stay texts, whatever a schema says."""
    kinds = {} if schema is None else {v.name: v.kind for v in schema.variables if v.is_released}
    left_out = {n: why for n, why in as_texts.items() if kinds.get(n) not in _TEXT_KINDS}
    words = "; ".join(f"{n} ({why})" for n, why in as_texts.items() if n not in left_out)
    said = (*notices, *([f"Read as categories of texts: {words}."] if words else []))
    with in_file(file):
        frame = pd.DataFrame(series, copy=False)
        return checked_table(frame, schema, schema, said, left_out)


def typed(column: TextColumn, variable: Variable | None, notation: str | None = None) -> Typed:
    """The column with the type that its texts have, or that its variable asks for."""
    if variable is not None and _stays_text(variable):
        return _texts(column), []
    if not column.has:  # it is left out of every release
        return pd.Series(np.full(len(column.texts), np.nan), name=column.name), []
    kind = None if variable is None else variable.kind
    noted = kind is None and notation is not None and column.has == {Form.OTHER_DATE}
    if kind is Kind.DATE or column.has == {Form.DATE} or noted:
        moments, said = dates(column, notation)
        return moments, [*said, *_missing_notice(column, "count as missing")]
    if column.has == {Form.CLOCK}:
        return _clocks(column)
    if kind in (Kind.CONTINUOUS, Kind.COUNT) or column.has <= _ALL_NUMBERS:
        return _numbers(column, declared=kind is not None)
    _refuse_mixed(column)
    notices = _missing_notice(column, "stay texts; leave the field empty for a missing value")
    if Form.CODE in column.has and column.has <= _NUMBERS:
        notices.append(
            f"{column.name} has digits with a plus or zeros before them, as in codes: it is "
            "categorical."
        )
    return _texts(column), notices


def _stays_text(variable: Variable) -> bool:
    """True if nothing but texts is asked for."""
    categorical = variable.kind is Kind.CATEGORICAL or variable.levels is not None
    return categorical or not variable.is_released


def _clocks(column: TextColumn) -> Typed:
    """Return times of the day as numbers of seconds."""
    seconds = np.full(len(column.different), np.nan)
    for place, text in enumerate(column.different.to_pylist()):
        found = _TIME.fullmatch(text)
        if found is not None:
            hour, minute, second, half = found.groups()
            hours = int(hour) if half is None else int(hour) % 12 + 12 * (half[0] in "pP")
            seconds[place] = 3600 * hours + 60 * int(minute or 0) + float(second or 0)
    said = [
        f"{column.name} has times of the day: they are numbers of seconds; if they are none, "
        "make it categorical in a schema.",
        *_missing_notice(column, "count as missing"),
    ]
    if (seconds % 1 > 0).any():
        return pd.Series(seconds[column.codes], name=column.name, copy=False), said
    return _integers(column, seconds), said


def _refuse_mixed(column: TextColumn) -> None:
    """Refuse texts of which some are numbers, dates or times, and others are not."""
    _refuse_half_numbers(column)
    if Form.DATE in column.has or column.has == {Form.OTHER_DATE}:
        refuse_dates(column, column.with_forms(set(Form) - NOTHING - {Form.DATE}))
    if Form.CLOCK in column.has:
        column.refuse(
            column.with_forms(column.has - {Form.CLOCK}),
            "is not a time of the day, and others are",
            "leave the field empty where a time is missing",
            many="are not times of the day, and others are",
        )


def _refuse_half_numbers(column: TextColumn) -> None:
    marked = column.has & set(_REMEDIES)
    if Form.NUMBER not in column.has and not marked:
        return
    column.refuse(
        column.with_forms(column.has - _NUMBERS - marked),
        "is not a number, and others are",
        "leave the field empty where a number is missing",
        many="are not numbers, and others are",
    )
    for form in sorted(marked):
        what, remedy = _REMEDIES[form]
        column.refuse(column.with_forms({form}), f"has {what}", remedy)


def _numbers(column: TextColumn, *, declared: bool) -> Typed:
    """Whole numbers or decimals; ``declared`` says that the schema does."""
    column.refuse(
        column.with_forms(column.has - _NUMBERS - {Form.INFINITE}),
        "is not a number as the schema says",
        "write numbers with digits and a point, leave the field empty where one is missing, or "
        "make the variable categorical",
        many="are not numbers as the schema says",
    )
    # the numbers of the different texts
    chosen = column.with_forms(_NUMBERS)
    texts = column.texts_of(_NUMBERS)
    values = np.full(len(chosen), np.nan)
    values[chosen] = pc.cast(texts, pa.float64()).to_numpy()
    large = np.abs(values) > LARGEST_NUMBER
    remedy = "write the number in another unit"
    column.refuse(large, f"is beyond {LARGEST_NUMBER:g}", remedy)
    if not declared:
        column.refuse(
            column.with_forms({Form.EXPONENT}),
            "may be a code or a number with an exponent",
            "write numbers without an exponent, or give the column a kind in a schema",
            many="may be codes or numbers with an exponent",
        )
    notices = [*_missing_notice(column, "count as missing"), *_infinite_notice(column)]
    if pc.any(pc.match_substring_regex(texts, "[.eE]")).as_py():
        notices += digit_notices(column, chosen, values)
        return pd.Series(values[column.codes], name=column.name, copy=False), notices
    return _integers(column, values), notices


def _integers(column: TextColumn, values: NDArray[np.float64]) -> pd.Series[Any]:
    # values: shape (m,), m different texts
    column.refuse(
        np.abs(values) >= LARGEST_WHOLE,
        "is a whole number of 2^53 or more, too large for exact distances",
        "make the column an identifier in a schema if it identifies people",
        many="are whole numbers of 2^53 or more, too large for exact distances",
    )
    numbers = pd.Series(values[column.codes], name=column.name, copy=False)
    return numbers.astype("Int64" if numbers.hasnans else "int64")


def _texts(column: TextColumn) -> pd.Series[Any]:
    different = column.texts.dictionary
    known = pc.if_else(pc.equal(different, ""), pa.scalar(None, pa.large_string()), different)
    filled = pd.array(known.take(column.texts.indices), dtype="str")
    return pd.Series(filled, name=column.name, copy=False)


def _missing_notice(column: TextColumn, what: str) -> list[str]:
    words = ", ".join(sorted(column.texts_of({Form.MISSING}).to_pylist()))
    count = column.count(column.with_forms({Form.MISSING})) if words else 0
    return [f"{column.name} has {count:,} times {words}: they {what}."] if words else []


def _infinite_notice(column: TextColumn) -> list[str]:
    if Form.INFINITE not in column.has:
        return []
    count = column.count(column.with_forms({Form.INFINITE}))
    return [infinite_notice(column.name, count)] if count else []


def digit_notices(
    column: TextColumn, chosen: NDArray[np.bool_], values: NDArray[np.float64]
) -> list[str]:
    """Say where numbers lose digits; refuse where they become others."""
    # chosen and values: shape (m,), m different texts
    # which texts are another number than the float they become
    long = chosen & (pc.utf8_length(column.different).to_numpy(zero_copy_only=False) > _SURE)
    small = chosen & (values == 0)
    changed = np.zeros(len(values), dtype=bool)
    doubted = long | small
    if doubted.any():
        doubted &= ~column.comes_back
    for row in np.flatnonzero(doubted):
        text = column.different[int(row)].as_py()
        changed[row] = Decimal(text) != Decimal(repr(float(values[row])))
    column.refuse(changed & small, "is too close to 0", "write the number in another unit")
    large = np.abs(values) >= LARGEST_WHOLE
    remedy = "make the column an identifier or categorical"
    fault = "has more digits than a floating number holds"
    column.refuse(changed & large, fault, f"{remedy} in a schema")
    # notices of smaller losses, and of numbers written in several ways
    notices = []
    if changed.any():
        notices.append(
            f"{column.name} has {_n_numbers(column.count(changed))} of more digits than a floating "
            "number holds: the last ones are rounded."
        )
    _, times = np.unique(values[chosen], return_counts=True)
    twice = int(np.count_nonzero(times > 1))
    if twice:
        notices.append(
            f"{column.name} writes {_n_numbers(twice)} in several ways, as 1.1 and 1.10: each is "
            "one number here; if they are codes, make it categorical in a schema."
        )
    return notices


def _n_numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count:,} numbers"


def written_decimals(column: TextColumn, series: pd.Series[Any]) -> int | None:
    """Find how many decimals the file writes at least; None for the usual number."""
    are_numbers = column.has <= {Form.NUMBER, Form.EXPONENT}
    if not pd.api.types.is_float_dtype(series.dtype) or not are_numbers:
        return None
    texts = column.texts_of({Form.NUMBER})
    # the fewest decimals of the texts, exponents left out
    plain = texts.filter(pc.invert(pc.match_substring_regex(texts, "[eE]")))
    decimals = USUAL
    if len(plain):
        after = pc.subtract(pc.subtract(pc.utf8_length(plain), pc.find_substring(plain, ".")), 1)
        digits = pc.if_else(pc.less(pc.find_substring(plain, "."), 0), 0, after)
        decimals = min(int(pc.min(digits).as_py()), MOST_DECIMALS)
    if decimals > USUAL:
        # most come back as they are, which Arrow tells at once; the few others are looked at
        same = pa.array(column.comes_back[column.with_forms({Form.NUMBER})])
        # a program may write 1e-7 as 1e-07
        left = texts.filter(pc.or_(pc.invert(same), pc.match_substring_regex(texts, "[eE]")))
        if all(number_text(float(text), USUAL) == text for text in left.to_pylist()):
            decimals = USUAL  # long numbers and no zeros at their ends: nothing was filled up
    return None if decimals == USUAL else decimals


def number_text(value: float, decimals: int) -> str:
    """Write a number with all its digits and at least a number of decimals.

    >>> number_text(2.5, 2), number_text(2.0, 0), number_text(2.125, 1), number_text(1e-7, 2)
    ('2.50', '2', '2.125', '1e-07')
    >>> number_text(1e-05, 5), number_text(1e16, 2)
    ('0.00001', '10000000000000000.00')
    """
    text = str(value)
    if "e" in text and decimals > USUAL:
        plain = format(Decimal(text), "f")
        if len(plain.partition(".")[2]) <= decimals and len(plain) <= MOST_DECIMALS:
            text = plain if "." in plain else f"{plain}.0"
    if "e" in text or "." not in text:
        return text
    integer, _, digits = text.partition(".")
    digits = (digits if digits != "0" else "").ljust(decimals, "0")
    return f"{integer}.{digits}" if digits else integer
