"""In which noun a table is spoken of: as its schema states what a record is, or as names say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rwn_core.data.identity.profile import name_words, word_list
from rwn_core.data.record_noun import RecordNoun, spoken_parts
from rwn_core.data.rows import Belong
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role


def noun_of(schema: Schema) -> RecordNoun:
    """Return the noun in which a table is spoken of: the person whose visits are counted, say."""
    noun = schema.record or RecordNoun.PERSON
    by_person = schema.name_with_role(Role.PERSON) is not None
    stated = schema.rows is not None and schema.rows.of is Belong.PERSON
    if noun is RecordNoun.VISIT and (by_person or stated):
        return RecordNoun.PERSON
    return noun


def spoken_for(schema: Schema, shown: object) -> Any:
    """Return what a page shows of a table, spoken of its records."""
    return spoken_parts(shown, noun_of(schema), schema.names)


def guessed_noun(names: Sequence[str]) -> RecordNoun:
    """Guess what a record is by the names of variables; a person where they say nothing else.

    >>> guessed_noun(["firm_id", "nace", "turnover"]), guessed_noun(["age", "employees"])
    (<RecordNoun.FIRM: 'firm'>, <RecordNoun.PERSON: 'person'>)
    """
    # a table of visits or firms may have an age, too; one with sexes is hardly one of firms
    for noun in _LIKELY_FIRST:
        known = word_list("records", noun)
        if sum(not known.isdisjoint(name_words(name).words) for name in names) >= _FEWEST_NAMES:
            return noun
    return RecordNoun.PERSON


_LIKELY_FIRST = (
    RecordNoun.VISIT,
    RecordNoun.PERSON,
    RecordNoun.FIRM,
    RecordNoun.SCHOOL,
    RecordNoun.HOUSEHOLD,
)
_FEWEST_NAMES = 2  # of variables that say what a record is
