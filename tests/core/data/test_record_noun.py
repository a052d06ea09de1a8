"""What a record is: asked once, and every sentence takes its noun."""

from __future__ import annotations

import re

import pytest

from rwn_core import Microdata, Role, Rows, Schema
from rwn_core.data.noun_of_table import guessed_noun, noun_of
from rwn_core.data.record_noun import RecordNoun, spoken_of, spoken_parts
from rwn_core.errors import SchemaError
from rwn_core.reporting.public_words import vocabulary
from tests import tables

PERSONS = r"\b(?:person|persons|people|nobody|everybody)\b"
SPOKEN = [
    ("People who are alone: a person's own row.", "Firms that are alone: a firm's own row."),
    ("Nobody has a value that no other person has.", "No firm has a value that no other firm has."),
    ("About {later} people for whom it holds.", "About {later} firms for which it holds."),
    ("It knows everybody's keys.", "It knows every firm's keys."),
    ("A row is no person.", "A row is no firm."),
    ("several rows of one person or household", "several rows of one firm or household"),
]
SAME = [
    "A person who knows all links 3 %.",  # the intruder
    "One value for all people of a household.",
    "person_id and personal are names of variables.",
]


@pytest.mark.parametrize(("text", "said"), SPOKEN)
def test_a_sentence_is_spoken_of_firms(text: str, said: str) -> None:
    assert spoken_of(text, RecordNoun.FIRM) == said
    assert spoken_of(text, RecordNoun.PERSON) == text


@pytest.mark.parametrize("text", SAME)
def test_people_who_are_no_records_stay_people(text: str) -> None:
    assert spoken_of(text, RecordNoun.SCHOOL) == text


def test_names_of_variables_and_words_of_the_steward_stay() -> None:
    text = "People of this file: people, people employed."
    assert spoken_of(text, RecordNoun.FIRM, ["people employed"]) == (
        "Firms of this file: firms, people employed."
    )
    # planted: without the name it is lost
    assert spoken_of(text, RecordNoun.FIRM).endswith("firms employed.")


def test_a_household_is_no_household_or_household() -> None:
    said = spoken_of("several rows of one person or household were found", RecordNoun.HOUSEHOLD)
    assert said == "several rows of one household were found"


def test_every_public_sentence_has_another_noun() -> None:
    """No person is left but those of a household, or an intruder."""
    spoken = [spoken_of(text, RecordNoun.FIRM) for text in vocabulary()]
    left = [said for said in spoken if re.search(PERSONS, said) and "of a household" not in said]
    assert left == []


def test_words_of_a_page_change_and_its_data_do_not() -> None:
    page = {
        "title": "People found",
        "data": [{"x": ["one person", "two persons"], "text": ["people"]}],
        "labels": {"title": "people"},
        "tables": [
            {"columns": ["person"], "rows": [["person", "It is a person."], ["the row's person"]]}
        ],
    }
    assert spoken_parts(page, RecordNoun.VISIT) == {
        "title": "Visits found",
        "data": page["data"],
        "labels": page["labels"],
        "tables": [
            {"columns": ["visit"], "rows": [["person", "It is a visit."], ["the row's visit"]]}
        ],
    }
    assert spoken_parts(page, RecordNoun.PERSON) is page


@pytest.mark.parametrize("noun", list(RecordNoun))
def test_a_schema_says_what_a_record_is(noun: RecordNoun) -> None:
    schema = Schema(variables=tables.table("mixed").schema.variables, record=noun)
    again = Schema.from_toml(schema.to_toml())
    assert again.record is noun
    assert noun_of(again) is noun
    assert schema.to_toml().startswith(f'record = "{noun}"')


def test_another_record_is_refused() -> None:
    with pytest.raises(SchemaError, match="must be one of: person, household, firm, school, visit"):
        Schema(variables=(), record="cow")  # type: ignore[arg-type]


def test_visits_of_people_are_spoken_of_as_people() -> None:
    """Risk is counted in people where a number says whose visit it is."""
    data: Microdata = tables.table("mixed")
    first = data.names[0]
    visits = Schema(variables=data.schema.variables, record=RecordNoun.VISIT)
    assert noun_of(visits) is RecordNoun.VISIT
    assert noun_of(visits.replace_variable(first, role=Role.PERSON)) is RecordNoun.PERSON
    assert noun_of(visits.with_rows(Rows(of="person", by=(first,)))) is RecordNoun.PERSON  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "noun"),
    [
        ("firm_id nace region turnover", "firm"),
        ("company sales age", "firm"),
        ("school_id pupils teachers lunch", "school"),
        ("hhid rooms hhsize", "household"),
        ("patient admission_date discharge los age sex", "visit"),
        ("age sex income nace employees turnover", "person"),
        ("x1 x2 y", "person"),
        ("age weight height", "person"),
        ("region nace", "person"),
    ],
)
def test_names_say_what_a_record_is(names: str, noun: str) -> None:
    assert guessed_noun(names.split()) == noun
