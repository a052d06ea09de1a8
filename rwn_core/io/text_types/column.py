"""A column of a text file: its different texts, their forms, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.errors import InputError

_BLANKS = "".join(map(chr, (9, 10, 13, 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x3000)))
LINES_NAMED = 3  # in a message


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
        r"[+-]?(\d{1,3}([,' \x{a0}\x{202f}]\d{3})+|\d{1,2}(,\d{2})+,\d{3})(\.\d+)?"
        r"|[+-]?\d{1,3}(\.\d{3}){2,}(,\d+)?|\d+([.,]\d+)?k"
    ),
    Form.DECIMAL_COMMA: r"[+-]?\d+,\d+",
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
    matches: NDArray[np.bool_] = pc.match_substring_regex(texts, rf"\A(?:{pattern})\z").to_numpy(
        zero_copy_only=False
    )
    return matches


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
        *,
        file: str,
        name: str,
        texts: pa.DictionaryArray,
        lines: Callable[[Sequence[int]], list[int]],
        place: str = "line",
    ) -> None:
        self.file = file
        self.name = name
        self.texts = texts
        self._lines, self._place = lines, place

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Which of the different texts each record has, shape (n,)."""
        codes: NDArray[np.int32] = self.texts.indices.to_numpy()
        return codes

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

    def with_forms(self, forms: set[Form]) -> NDArray[np.bool_]:
        """Which of the different texts have one of these forms."""
        # shape (m,), m different texts
        return np.isin(self.forms, list(forms))

    def padded(self) -> NDArray[np.bool_]:
        """Which of the different texts begin or end with a blank."""
        # shape (m,), m different texts
        same: NDArray[np.bool_] = pc.equal(self.texts.dictionary, self.different).to_numpy(
            zero_copy_only=False
        )
        return ~same

    def count(self, different: NDArray[np.bool_]) -> int:
        """Count the records that have one of these different texts."""
        # different: shape (m,), m different texts
        return int(np.count_nonzero(different[self.codes]))

    def reason(self, refusal: InputError) -> str:
        """Return what a refusal says, without the names of file and column."""
        return str(refusal).removeprefix(f"{self.file}, column {self.name}, ").rstrip(".")

    def refuse(self, different: NDArray[np.bool_], one: str, many: str, remedy: str) -> NoReturn:
        """Raise an InputError that names file, column, lines and count, and no value."""
        # different: shape (m,), m different texts
        rows = np.flatnonzero(different[self.codes])
        lines = [f"{line:,}" for line in self._lines(rows[:LINES_NAMED].tolist())]
        dots = ", ..." if len(rows) > LINES_NAMED else ""
        one_row = len(rows) == 1
        word, have = (
            self._place + "s" * (not one_row),
            f"value {one}" if one_row else f"values {many}",
        )
        raise InputError(
            f"{self.file}, column {self.name}, {word} {', '.join(lines)}{dots}: "
            f"{len(rows):,} {have}; {remedy}."
        )
