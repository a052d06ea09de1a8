"""The ways in which a text file may write its dates."""

from __future__ import annotations

import re
from collections.abc import Mapping

USUAL_DATES = "YYYY-MM-DD"
NOTATIONS = (
    *(
        notation.replace(".", mark)
        for mark in "./-"
        for notation in ("DD.MM.YYYY", "MM.DD.YYYY", "D.M.YYYY", "M.D.YYYY")
    ),
    *(notation.replace(".", mark) for mark in "./" for notation in ("YYYY.MM.DD", "YYYY.M.D")),
)
"""All but the usual one; DD is a day of two digits, D one without a zero before it."""

_PART = re.compile(r"YYYY|MM?|DD?")


def filled_in(notation: str, parts: Mapping[str, str]) -> str:
    """A notation with something for each of its parts.

    >>> filled_in("DD.MM.YYYY", {"DD": "03", "MM": "05", "YYYY": "2008"})
    '03.05.2008'
    """
    return _PART.sub(lambda found: parts[found.group()], notation)


def as_notation(value: object) -> str | None:
    """The known notation that a text names, in small letters or large; None for no other text."""
    wanted = value.upper() if isinstance(value, str) else ""
    return wanted if wanted in (USUAL_DATES, *NOTATIONS) else None


def known_notations() -> str:
    """All notations, for a sentence."""
    return ", ".join((USUAL_DATES, *NOTATIONS))
