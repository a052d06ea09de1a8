"""A column of a text file: its different texts, their forms and dates, and how it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.data.file_layout import NOTATIONS, USUAL_DATES, filled_in
from rwn_core.errors import InputError

_BLANKS = "".join(map(chr, (9, 10, 13, 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x3000)))
LINES_NAMED = 3  # in a message
_MANY = {"is": "are", "has": "have", "lacks": "lack"}


class Form(IntEnum):
    """The form of a text; where several fit, the first of them."""

    BLANK = 0
    EXPONENT = 1
    NUMBER = 2
    CODE = 3
    MISSING = 4
    INFINITE = 5
    THOUSANDS = 6
    DECIMAL_COMMA = 7
    UNIT = 8
    DATE = 9
    OTHER_DATE = 10
    CLOCK = 11
    WORD = 12
    SPELLED = 13  # a number in brackets, or with the D of Fortran


NOTHING = {Form.BLANK, Form.MISSING}
_DIGITS = r"((0|[1-9]\d*)(\.\d*)?|\.\d+)"
_UNIT = r"([%$€£¥]|USD|EUR|GBP)"
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MINUTES, _HALF = r":[0-5]\d(:[0-5]\d(\.\d{1,9})?)?", r"[aApP]\.?[mM]\.?"
_CLOCK = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?"

_PATTERNS = {
    Form.BLANK: r"",
    # 12E5 may be the number of a product; a program writes 1.2e6 or 1e+06
    Form.EXPONENT: r"\d+[eE]\d+",
    # a zero before another digit makes a code: 00501;
    # so many digits after a plus are a telephone number
    Form.CODE: r"[+-]?0\d+|\+\d{6,}",
    Form.NUMBER: rf"[+-]?{_DIGITS}([eE][+-]?\d+)?",
    Form.MISSING: r"NA|NaN|nan|null|NULL|None",
    Form.INFINITE: r"(?i)[+-]?inf(inity)?",
    Form.THOUSANDS: (
        r"[+-]?(\d{1,3}([,'’˙· \x{a0}\x{2007}\x{2009}\x{202f}]\d{3})+|\d{1,2}(,\d{2})+,\d{3})"
        r"(\.\d+)?"
        r"|[+-]?\d{1,3}(\.\d{3}){2,}(,\d+)?|\d+([.,]\d+)?k"
    ),
    Form.DECIMAL_COMMA: r"[+-]?\d+,\d+",
    Form.SPELLED: (
        r"\(\s?\d[\d,.'’˙· \x{a0}\x{2007}\x{2009}\x{202f}]*\)"
        r"|[+-]?(\d+\.\d*[dD][+-]?\d{1,3}|\d+[dD][+-]\d{1,3})"
    ),
    Form.UNIT: rf"[+-]?{_UNIT}\s?[+-]?[\d.,]*\d|[+-]?\d[\d.,]*\s?{_UNIT}",
    Form.DATE: rf"\d{{4}}-\d{{2}}-\d{{2}}([T ]{_CLOCK})?",
    Form.OTHER_DATE: (
        rf"(\d{{1,2}}[/.-]\d{{1,2}}[/.-](\d{{4}}|\d{{2}})|\d{{4}}[/.]\d{{1,2}}[/.]\d{{1,2}}"
        rf"|\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}})( {_CLOCK})?"
    ),
    Form.CLOCK: rf"([01]?\d|2[0-3]){_MINUTES}|(0?[1-9]|1[0-2])({_MINUTES})?\s?{_HALF}",
}


def without_blanks(texts: pa.Array) -> pa.Array:
    """Take away the blanks around texts; a control character is none, and stays to be seen."""
    return pc.utf8_trim(texts, characters=_BLANKS)


def text_forms(texts: pa.Array) -> NDArray[np.uint8]:
    """The form of each text, blanks around it apart."""
    forms = np.full(len(texts), Form.WORD, dtype=np.uint8)
    left = np.arange(len(texts))
    trimmed = without_blanks(texts)
    for form, pattern in _PATTERNS.items():
        if not len(left):
            break
        fits = fitting(trimmed, pattern)
        forms[left[fits]] = form
        left = left[~fits]
        trimmed = trimmed.filter(pa.array(~fits))
    return forms


def fitting(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which texts match a regular expression from end to end, shape (m,)."""
    matches = pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")
    return np.asarray(matches.to_numpy(zero_copy_only=False))


def text_form(text: str) -> Form:
    """The form of one text."""
    return Form(int(text_forms(pa.array([text], pa.large_string()))[0]))


class TextColumn:
    """One column as the file has it.

    `texts` has length n: an empty text is an empty field, and two entries of its dictionary may be
    the same text. `lines` gives the physical lines of some record numbers; it is slow, for refusals
    only. `place` is what a record stands in: a line, or a row of a sheet.
    """

    def __init__(
        self,
        name: str,
        texts: pa.DictionaryArray,
        lines: Callable[[Sequence[int]], list[int]],
        place: str = "line",
    ) -> None:
        self.name = name
        self.texts = texts
        self._lines, self._place = lines, place

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Which of the different texts each record has, shape (n,)."""
        return np.asarray(self.texts.indices)

    @cached_property
    def different(self) -> pa.Array:
        """The different texts, without the blanks around them."""
        return without_blanks(self.texts.dictionary)

    @cached_property
    def forms(self) -> NDArray[np.uint8]:
        """The form of each of the different texts."""
        # shape (m,), m different texts
        return text_forms(self.different)

    @cached_property
    def has(self) -> set[Form]:
        """The forms that occur, apart from those of a missing value."""
        return {Form(int(form)) for form in np.unique(self.forms)} - NOTHING

    @cached_property
    def comes_back(self) -> NDArray[np.bool_]:
        """Which of the different texts are surely the shortest of their numbers."""
        # shape (m,), m different texts
        chosen = self.with_forms({Form.NUMBER})
        texts = self.different.filter(pa.array(chosen))
        shortest = pc.cast(pc.cast(texts, pa.float64()), pa.large_string())
        found = np.zeros(len(chosen), dtype=bool)
        found[chosen] = pc.equal(shortest, texts).to_numpy(zero_copy_only=False)
        return found

    def texts_of(self, forms: set[Form]) -> pa.Array:
        """The different texts that have one of these forms."""
        return self.different.filter(pa.array(self.with_forms(forms)))

    def with_forms(self, forms: set[Form]) -> NDArray[np.bool_]:
        """Which of the different texts have one of these forms."""
        # shape (m,), m different texts
        return np.isin(self.forms, list(forms))

    def count(self, different: NDArray[np.bool_]) -> int:
        """Count the records that have one of these different texts."""
        # different: shape (m,), m different texts
        return int(np.count_nonzero(different[self.codes]))

    def refuse(
        self, different: NDArray[np.bool_], one: str, remedy: str, *, many: str = ""
    ) -> None:
        """Raise an InputError that names lines and count, and no value, if any record has these."""
        # different: shape (m,), m different texts
        rows = np.flatnonzero(different[self.codes]) if different.any() else np.empty(0, np.int64)
        if len(rows):
            lines = [f"{line:,}" for line in self._lines(rows[:LINES_NAMED].tolist())]
            dots = ", ..." if len(rows) > LINES_NAMED else ""
            verb, _, fault = one.partition(" ")
            word, have = f"{self._place}s", f"values {many or f'{_MANY[verb]} {fault}'}"
            if len(rows) == 1:
                word = self._place
                have = f"value {one}"
            raise InputError(f"{word} {', '.join(lines)}{dots}: {len(rows):,} {have}; {remedy}")


_PARTS = {
    "YYYY": r"(?P<year>\d{4})",
    "MM": r"(?P<month>0[1-9]|1[0-2])",
    "DD": r"(?P<day>0[1-9]|[12]\d|3[01])",
    "M": r"(?P<month>[1-9]|1[0-2])",
    "D": r"(?P<day>[1-9]|[12]\d|3[01])",
}
_SHORT_YEAR = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2}( .*)?"


_ZONE = r".*:.*(Z|[+-]\d{2}:?\d{2})"


def fitting_notations(texts: pa.Array) -> list[str]:
    """Which notations all of some texts have."""
    found = [each for each in NOTATIONS if fitting(texts, _pattern(each)).all()]
    longer = {"YYYY": "YYYY", "MM": "MM", "DD": "DD", "M": "MM", "D": "DD"}
    return [e for e in found if len(e) == 10 or filled_in(e, longer) not in found]


def notations_of(column: TextColumn) -> list[str]:
    """Which notations all dates of a column have; none where it has anything else."""
    if column.has != {Form.OTHER_DATE}:
        return []
    return fitting_notations(column.texts_of({Form.OTHER_DATE}))


def refuse_dates(column: TextColumn, wrong: NDArray[np.bool_], notation: str = USUAL_DATES) -> None:
    """Raise an InputError about dates in another notation; it names those that fit all of them."""
    # wrong: shape (m,), m different texts
    if column.has == {Form.OTHER_DATE} and wrong.any():
        short = fitting(column.different, _SHORT_YEAR)
        column.refuse(short, "has a year of two digits", "write all four")
    fits = notations_of(column) if wrong.any() else []
    options = " or ".join(f"--file dates={each}" for each in fits)
    remedy = "write every date in this form"
    if len(fits) == 1:
        remedy = f"all fit {fits[0]}: give that as the dates of the file ({options})"
    elif fits:
        remedy = (
            f"all fit {' and '.join(fits)}, and no value tells which: give one as the dates of the "
            f"file ({options})"
        )
    many = f"are not dates of the form {notation}"
    column.refuse(wrong, f"is not a date of the form {notation}", remedy, many=many)


def are_days(column: pd.Series[pd.Timestamp]) -> bool:
    """True if these are dates without time of day and time zone."""
    if not pd.api.types.is_datetime64_dtype(column.dtype):
        return False
    known = column.dropna()
    return bool((known == known.dt.normalize()).all())


def _pattern(notation: str) -> str:
    return filled_in(re.escape(notation), _PARTS)


def dates(column: TextColumn, notation: str | None = None) -> tuple[pd.Series[Any], list[str]]:
    """Give the moments of a column."""
    form = Form.DATE
    texts = column.different
    if notation is not None and column.has == {Form.OTHER_DATE}:
        # dates are rewritten as YYYY-MM-DD; other texts stay as they are
        fits = fitting(texts, _pattern(notation))
        refuse_dates(column, column.with_forms({Form.OTHER_DATE}) & ~fits, notation)
        parts = pc.extract_regex(texts, rf"\A(?:{_pattern(notation)})\z")
        year, month, day = (
            pc.utf8_lpad(pc.struct_field(parts, name), width, "0")
            for name, width in (("year", 4), ("month", 2), ("day", 2))
        )
        usual = pc.binary_join_element_wise(year, month, day, pa.scalar("-", year.type))
        form = Form.OTHER_DATE
        texts = pc.if_else(pa.array(fits), pc.cast(usual, texts.type), texts)
    refuse_dates(column, column.with_forms(column.has - {form}))
    chosen = column.with_forms({form})
    zoned = fitting(texts, _ZONE) & chosen
    if zoned.any():
        column.refuse(chosen & ~zoned, "lacks a time zone", "write it in all or in none")
    moments = pd.Series(np.where(chosen, texts.to_numpy(zero_copy_only=False), None), dtype=object)
    parsed = pd.to_datetime(moments, format="ISO8601", errors="coerce", utc=bool(zoned.any()))
    column.refuse(chosen & parsed.isna().to_numpy(), "is not on the calendar", "correct it")
    notices: list[str] = []
    if zoned.any():
        # the time zone at the end of each text, such as +09:00
        ends = (text[-6:].replace(":", "")[-5:] for text in moments[zoned])
        offsets = {"+00:00" if e.endswith("Z") else f"{e[:3]}:{e[3:]}" for e in ends}
        if len(offsets) > 1:
            notices = [
                f"{column.name} has times of {len(offsets)} time zones: they become universal "
                "time, and days may change."
            ]
        elif offsets != {"+00:00"}:
            # a day of the file stays the same day
            parsed = parsed.dt.tz_convert(f"UTC{offsets.pop()}")
    return parsed.take(column.codes).reset_index(drop=True).rename(column.name), notices
