"""What a record is: a person, or a household, firm, school or visit; sentences take its noun.

Sentences of measures, notices and reports are written of persons. Where the schema says that a
record is something else, `spoken_of` puts its noun in their place, once, where a text leaves for
the screen or a file. Names of variables and words of the steward stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from rwn_core.errors import SchemaError


class RecordNoun(StrEnum):
    """The nouns of a record."""

    PERSON = "person"
    HOUSEHOLD = "household"
    FIRM = "firm"
    SCHOOL = "school"
    VISIT = "visit"


def as_record_noun(stated: object) -> RecordNoun | None:
    """Return a noun that a schema states; None where it states none."""
    if stated is None:
        return None
    if stated not in list(RecordNoun):
        raise SchemaError(
            f"The record of a schema must be one of: {', '.join(RecordNoun)}; say what a record is."
        )
    return RecordNoun(str(stated))


_KEPT = (
    # an intruder, and the members of a household, are people in every table
    r"such a person",
    r"person who knows",
    r"(?:all |of )?people of (?:a|one) household",
    r"person by person",
    r"[Pp]erson responsible",
)
_RULES: tuple[tuple[str, str], ...] = (
    (r"person or household", "{one} or household"),
    (r"household, a person or", "household, a {one} or"),
    (r"[Pp]erson, with all of their", "{one}, with all of its"),
    (r"(?:[Pp]eople|[Pp]ersons) (?:who|whom)", "{many} that"),
    (r"[Pp]eople for whom", "{many} for which"),
    (r"[Pp]erson (?:who|whom)", "{one} that"),
    (r"[Nn]obody(?= (?:is alone|has a value|who is attacked|else has))", "no {one}"),
    (r"everybody(?='s)|(?<=of )everybody", "every {one}"),
    (r"[Pp]eople|[Pp]ersons", "{many}"),
    (r"[Pp]erson", "{one}"),
)
_SPOKEN = ("title", "caption", "help", "label", "columns", "text", "words", "reason", "alt")
"""The parts of a page's payload that are words of the program, and those that are data."""


_OF_PROGRAM = re.compile(
    "row's person|a person's own key|with a person by|to people by|nearest person"
)
_DATA = ("data", "labels", "names")


def spoken_of(text: str, noun: RecordNoun, names: Iterable[str] = ()) -> str:
    """Return a sentence about persons as one about another kind of records.

    >>> spoken_of("People who are alone: a person's own row.", RecordNoun.FIRM)
    "Firms that are alone: a firm's own row."
    """
    if noun is RecordNoun.PERSON:
        return text
    words = {"one": str(noun), "many": f"{noun}s"}
    given = sorted({name for name in names if name}, key=len, reverse=True)
    kept = [re.escape(name) for name in given] + list(_KEPT)
    pattern = rf"(?<!\w)(?:(?P<kept>{'|'.join(kept)})|{_ALTERNATIVES})(?!\w)"

    def put(found: re.Match[str]) -> str:
        if found["kept"] is not None:
            return found[0]
        place = next(n for n in range(len(_RULES)) if found[f"rule{n}"] is not None)
        said = _RULES[place][1].format(**words)
        if noun is RecordNoun.HOUSEHOLD:
            said = said.replace("household or household", "household")
        return said[:1].upper() + said[1:] if found[0][:1].isupper() else said

    return re.sub(pattern, put, text)


_ALTERNATIVES = "|".join(f"(?P<rule{n}>{rule})" for n, (rule, _) in enumerate(_RULES))


def spoken_parts(shown: object, noun: RecordNoun, names: Sequence[str] = ()) -> Any:
    """Return what a page shows with its words spoken of the records; data stay as they are."""
    if noun is RecordNoun.PERSON:
        return shown
    if isinstance(shown, Mapping):
        return {key: _spoken_part(key, part, noun, names) for key, part in shown.items()}
    if isinstance(shown, list | tuple):
        return [spoken_parts(each, noun, names) for each in shown]
    return shown


def _spoken_part(key: str, part: object, noun: RecordNoun, names: Sequence[str]) -> Any:
    if key in _DATA:
        return part
    if key == "rows" and isinstance(part, list | tuple):
        # a cell is data, a sentence is not
        return [_spoken_row(row, noun, names) for row in part]
    if key not in _SPOKEN:
        return spoken_parts(part, noun, names)
    if isinstance(part, str):
        return spoken_of(part, noun, names)
    if isinstance(part, list | tuple) and all(isinstance(each, str) for each in part):
        return [spoken_of(each, noun, names) for each in part]
    return spoken_parts(part, noun, names)


def _spoken_row(row: Sequence[object], noun: RecordNoun, names: Sequence[str]) -> list[Any]:
    return [_spoken_cell(cell, noun, names) for cell in row]


def _spoken_cell(cell: object, noun: RecordNoun, names: Sequence[str]) -> Any:
    if not isinstance(cell, str):
        return cell
    is_sentence = cell.endswith(".") and " " in cell
    return spoken_of(cell, noun, names) if is_sentence or _OF_PROGRAM.search(cell) else cell
