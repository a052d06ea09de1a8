"""The layout of a table in its file, as far as a steward stated it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from rwn_core.errors import SchemaError

USUAL_DATES = "YYYY-MM-DD"
_YEAR_FIRST = ("YYYY.MM.DD", "YYYY.M.D")
_YEAR_LAST = ("DD.MM.YYYY", "MM.DD.YYYY", "D.M.YYYY", "M.D.YYYY")
NOTATIONS = (
    *(notation.replace(".", mark) for mark, notation in product("./-", _YEAR_LAST)),
    *(notation.replace(".", mark) for mark, notation in product("./", _YEAR_FIRST)),
)
"""All but the usual one; DD is a day of two digits, D one without a zero before it."""
_KNOWN = (USUAL_DATES, *NOTATIONS)
ALL_NOTATIONS = ", ".join(_KNOWN)  # for a sentence

_PART = re.compile(r"YYYY|MM?|DD?")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", ":": "colons"}
FOR_MISSING = re.compile(  # words that stand for a missing value
    r"(?i)n/?a|n\.a\.|#n/a|k\. ?a\.?|keine angabe|missing|not known|unknown|not available"
    r"|no answer|refused|null|none|nan|\.+|\?+|-+|–|—|\*+"
)
MOST_HEADER = 9  # lines
MOST_LINES = 1_000  # above the header line, or below the last record


def filled_in(notation: str, parts: Mapping[str, str]) -> str:
    """A notation with something for each of its parts.

    >>> filled_in("DD.MM.YYYY", {"DD": "03", "MM": "05", "YYYY": "2008"})
    '03.05.2008'
    """
    return _PART.sub(lambda found: parts[found.group()], notation)


def as_notation(value: object) -> str | None:
    """The known notation that a text names, in small letters or large; None for no other text."""
    wanted = value.upper() if isinstance(value, str) else ""
    return wanted if wanted in _KNOWN else None


def _is_one_mark(value: object) -> bool:
    """True if a value is one character that neither quotes nor ends a line."""
    return isinstance(value, str) and len(value) == 1 and value not in '"\n\r'


def _is_number_of_lines(value: object) -> bool:
    """True if a value is a whole number up to the most lines, not a truth value."""
    return type(value) is int and 0 <= value <= MOST_LINES


def _is_list_of_texts(value: object) -> bool:
    """True if a value is a list or tuple of texts that are more than blanks."""
    if not isinstance(value, tuple | list):
        return False
    return all(isinstance(each, str) and each.strip() for each in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """The place of the records in a file, and the form in which they are written.

    Parameters
    ----------
    encoding : str
        Of a text file, such as "utf-8" or "cp1252".
    separator : str, optional
        One character between the fields of a text file; the usual one of its format if left out.
    decimal : {".", ","}
        Before the decimals of a number in a text file, or of one that a sheet has as a text.
    header : bool or int
        Whether a line with the names stands above the records of a text file. Without one the
        variables are V1, V2, ... Of a text file or a sheet also the number of lines with the names,
        up to 9: what stands above each other is joined, a heading over several columns with each.
    above, below : int
        Lines of a text file, or rows of a sheet, above the header line and below the last record
        that are no records; from 0 to 1,000.
    dates : str
        How a text file writes dates, or a sheet that has them as texts: "DD.MM.YYYY", say, or
        "M/D/YYYY" where days and months have no zero before them. A column may have them as
        YYYY-MM-DD all the same.
    missing : tuple of str
        Texts that count as missing values in every column, such as "n/a" or "k.A.".
    sheet : str, optional
        Of a workbook; its first one with values if left out.
    grouped : bool
        Whether numbers may have their digits in groups of three (1 234, 1'234), stand in brackets
        for a minus, or have a D before the exponent (1.5D+03).
    join : bool
        Whether texts of a column that look the same are one level: those that differ only in case,
        blanks, and letters that are invisible or composed.
    fill : bool
        Whether every cell of a merged area of a sheet has the area's value.
    only, drop : tuple of str
        Columns of a table with more than 2,000: those that are read, or that are not.

    Raises
    ------
    SchemaError
    """

    encoding: str = "utf-8"
    separator: str | None = None
    decimal: str = "."
    header: int = True
    above: int = 0
    below: int = 0
    dates: str = USUAL_DATES
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    fill: bool = False
    grouped: bool = False
    join: bool = False
    only: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check each field by itself."""
        for what, must, fine in self._rules():
            if not fine:
                raise SchemaError(f"The {what} must be {must}.")
        # in one form each, however they were given
        stated = {
            "encoding": known_encoding(self.encoding),
            "dates": as_notation(self.dates),
            "header": bool(self.header) if self.header in (0, 1) else self.header,
            "missing": tuple(each.strip() for each in self.missing),
            "only": tuple(self.only),
            "drop": tuple(self.drop),
        }
        for name, value in stated.items():
            object.__setattr__(self, name, value)

    def _rules(self) -> Iterator[tuple[str, str, bool]]:
        """Yield each field in words, what it must be, and whether it is."""
        python_knows = known_encoding(self.encoding) is not None
        yield "encoding of a file", "one that Python knows, such as utf-8 or cp1252", python_knows
        is_mark = self.separator is None or _is_one_mark(self.separator)
        yield "separator of a file", "one character, such as a semicolon", is_mark
        yield "decimal mark of a file", "a point or a comma", self.decimal in (".", ",")
        for name in ("fill", "grouped", "join"):
            yield f"{name} of a file", "true or false", isinstance(getattr(self, name), bool)
        is_header = isinstance(self.header, int) and 0 <= self.header <= MOST_HEADER
        yield "header of a file", f"true, false or a number of lines to {MOST_HEADER}", is_header
        is_notation = as_notation(self.dates) is not None
        yield "dates of a file", f"one of: {ALL_NOTATIONS}", is_notation
        yield "sheet of a workbook", "its name", isinstance(self.sheet, str | None)
        for name in ("above", "below"):
            must = f"a whole number from 0 to {MOST_LINES:,}"
            yield f"lines {name} the table", must, _is_number_of_lines(getattr(self, name))
        for name in ("missing", "only", "drop"):
            what = "missing values" if name == "missing" else f"columns of {name}"
            must = 'a list of texts, as ["n/a"]'
            yield f"{what} of a file", must, _is_list_of_texts(getattr(self, name))

    def changed(self) -> dict[str, Any]:
        """The fields that are not the usual ones, as plain data."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        usual = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in mine.items() if value != usual[name]}
        return {name: [*v] if isinstance(v, tuple) else v for name, v in given.items()}

    @classmethod
    def from_dict(cls, table: object) -> FileLayout:
        """Read the plain data that `changed` gives."""
        known = [field.name for field in fields(cls)]
        if not isinstance(table, dict) or not set(table) <= set(known):
            raise SchemaError(f"The table [file] of a schema may have: {', '.join(known)}.")
        return cls(**table)


def known_encoding(name: object) -> str | None:
    """The name of an encoding of texts, as Python writes it; None for any other word."""
    try:
        found = codecs.lookup(str(name))
    except LookupError:
        return None
    # some codecs are no encodings of text, but compress or rotate
    return found.name if getattr(found, "_is_text_encoding", True) else None


def layout_options(layout: FileLayout) -> list[str]:
    """A layout as it is typed on a command line.

    >>> layout_options(FileLayout(separator=";", above=2, header=False))
    ['separator=";"', 'header=false', 'above=2']
    """
    options = []
    for name, value in layout.changed().items():
        text = "|".join(value) if isinstance(value, list) else str(value)
        if isinstance(value, bool):
            text = text.lower()
        elif value == "\t":
            text = "tab"
        options.append(f"{name}={text}" if text.isalnum() else f'{name}="{text}"')
    return options
