"""A first line that is a record would become the names, and be released as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rwn_core.errors import InputError
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.patterns import Form, text_form

_LOOKED_AT = 10_000  # different texts of a column; a pattern shows in a few


def refuse_values_as_names(file: str, columns: Sequence[TextColumn]) -> None:
    """Refuse a header if names look like values of their own columns."""
    if any(_is_headed(column) for column in columns):
        return
    odd = [position for position, column in enumerate(columns, 1) if _is_value(column)]
    if odd:
        places = ", ".join(map(str, odd[:3])) + (", ..." if len(odd) > 3 else "")
        raise InputError(
            f"{file}, line 1, column {places}: the name looks like a value of the column, as if "
            "the header line were left out; add a line with the names, or give a schema with them."
        )


def header_notices(columns: Sequence[TextColumn]) -> list[str]:
    """Say that the first line was taken for names where nothing shows that it is no record."""
    words = {Form.WORD, Form.MISSING}
    if all(column.has and column.has <= words for column in columns):
        return [
            "All columns hold texts, and the first line is read as their names: if it is a record, "
            "add a line with the names."
        ]
    return []


def _is_headed(column: TextColumn) -> bool:
    """Return True if a word is above numbers or dates."""
    values = {Form.NUMBER, Form.EXPONENT, Form.CODE, Form.DATE, Form.OTHER_DATE}
    return bool(column.has) and column.has <= values and text_form(column.name) is Form.WORD


def _is_value(column: TextColumn) -> bool:
    name = column.name.strip()
    texts = column.different.slice(0, _LOOKED_AT).to_pylist()
    if Form.WORD in column.has and name in texts:
        return True
    pattern = _pattern(name)
    known = [text for text in texts if text]
    return "9" in pattern and len(known) > 1 and all(_pattern(text) == pattern for text in known)


def _pattern(text: str) -> str:
    """Return the pattern of a text: letters as a, digits as 9."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))
