"""The one budget of all text from outside: letters, marks, depth and terms, counted before use.

Formulas, edit rules, scenarios, projects, schemas and links are written by anybody. What a text
would become is counted while it is still a text, so that a refusal takes neither time nor memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sized
from typing import Any

from rwn_core.errors import InputError, RWNError

LONGEST_DOCUMENT = 5_000_000  # letters of a TOML file
MOST_MARKS = 500_000  # its brackets, commas, points, quotes and signs of equality
DEEPEST = 20  # tables within tables
LARGEST_WHOLE_BITS = 256  # of a whole number
LONGEST_FORMULA = 5_000  # letters
MOST_TERMS = 500  # of a formula once its crossings are written out
MOST_FACTORS = 10  # variables of one product, or of one table of counts
MOST_TABLE_CELLS = 1_000_000  # of a registered table of counts
LONGEST_RULE = 500  # letters of an edit rule
MOST_RULES = 200
MOST_ANALYSES = 100
MOST_WATCHED = 200
LONGEST_LINK = 20_000  # letters of all parts of a page's address

_MARK = re.compile(r'"""|\'\'\'|["\'#\[\]{}=,.]|\n+')
_REST: Mapping[str, re.Pattern[str]] = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']|'(?!''))*+'{3,5}"),
    '"': re.compile(r'(?:[^"\\\n]|\\.)*+"'),
    "'": re.compile(r"[^'\n]*+'"),
    "#": re.compile(r"[^\n]*+"),
}


def check_letters(text: str, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a text of too many letters.

    Parameters
    ----------
    text : str
    most : int
    what : str
        The text, as the subject of the sentence.
    refusal : type
        The error to raise.

    Raises
    ------
    RWNError
    """
    if len(text) > most:
        raise refusal(f"{what} has more than {most:,} letters; shorten it.")


def check_number(items: Sized, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a list of too many entries; `what` names the list and its entries.

    Raises
    ------
    RWNError
    """
    if len(items) > most:
        raise refusal(f"{what} are more than {most:,}; take some out.")


def check_document(text: str, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a TOML text that would take much time or memory, before it is parsed.

    One pass, in time proportional to the letters. A text that is broken passes: the parser says
    where.

    Parameters
    ----------
    text : str
    what : str
        What it should be, for the message.
    refusal : type
        The error to raise.

    Raises
    ------
    RWNError
    """
    check_letters(text, LONGEST_DOCUMENT, f"The {what}", refusal)
    marks = depth = points = place = 0
    while (found := _MARK.search(text, place)) is not None:
        mark, place = found[0], found.end()
        marks += 1
        rest = _REST.get(mark)
        if rest is not None:
            end = rest.match(text, place)
            if end is None:
                return  # never closed: the parser stops here
            place = end.end()
        elif mark == ".":
            points += 1
        else:
            depth += (mark in "[{") - (mark in "]}")
            points = 0
        if marks > MOST_MARKS:
            raise refusal(f"The {what} has more than {MOST_MARKS:,} names and values; shorten it.")
        if max(depth, points) > DEEPEST:
            raise _too_deep(what, refusal)


def check_parsed(
    document: Mapping[str, Any], what: str, refusal: type[RWNError] = InputError
) -> None:
    """Refuse parsed TOML with tables too deep, or with whole numbers beyond any use.

    Raises
    ------
    RWNError
    """
    left: list[tuple[int, Any]] = [(0, document)]
    while left:
        depth, value = left.pop()
        if depth > DEEPEST:
            raise _too_deep(what, refusal)
        if isinstance(value, Mapping):
            left += [(depth + 1, each) for each in value.values()]
        elif isinstance(value, list):
            left += [(depth + 1, each) for each in value]
        elif isinstance(value, int) and value.bit_length() > LARGEST_WHOLE_BITS:
            raise refusal(f"The {what} has a whole number of too many digits; shorten it.")


def _too_deep(what: str, refusal: type[RWNError]) -> RWNError:
    return refusal(f"The {what} has tables more than {DEEPEST} deep; write them flatter.")
