"""The form asks what rows are that seem to belong together; it chooses nothing by itself."""

from __future__ import annotations

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core.data.units import unit_of
from rwn_ui.release.steps import is_checked, still_asked
from tests import rows_together
from tests.ui.conftest import Open

BLOCKS = rows_together.blocks()
ASKED = "Which column says whose they are?"


def content(name: str) -> bytes:
    return BLOCKS[name].to_csv(index=False).encode()


def test_the_form_asks_and_waits_for_an_answer(open_page: Open) -> None:
    screen = open_page("data").upload("panel.csv", content("panel"), asked=True)
    assert f"similar in weight, systolic (intraclass correlation up to 0.52). {ASKED}" in (
        screen.words("markdown")
    )
    assert screen.find("radio", "What are the rows?").value is None
    assert screen.find("multiselect", "Columns that are equal").value == ["height"]
    screen.press("Use these answers")
    assert "It is not said yet what the rows are" in screen.words("warning")
    screen.find("radio", "What are the rows?").set_value("person")
    screen.press("Use these answers")
    assert screen.errors == []
    data = screen.session.data
    assert data.schema.rows.text == "person=height"
    assert data.schema.variable("height").is_released
    assert unit_of(data).size == BLOCKS["panel"]["height"].nunique()
    assert ASKED not in screen.words("markdown")


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        ("classes", "cluster", "cluster=class"),
        ("years", "series", "series=year"),
        ("years", "separate", "separate"),
    ],
)
def test_other_answers(open_page: Open, name: str, answer: str, text: str) -> None:
    screen = open_page("data").upload("t.csv", content(name), asked=True)
    screen.find("radio", "What are the rows?").set_value(answer)
    screen.press("Use these answers")
    assert (screen.session.data.schema.rows.text, screen.errors) == (text, [])


def test_a_category_that_numbers_people_is_left_out(open_page: Open) -> None:
    screen = open_page("data").upload("visits.csv", content("visits, shuffled"), asked=True)
    assert "code says nothing else, and is left out of every release" in screen.words("markdown")
    screen.find("radio", "What are the rows?").set_value("person")
    screen.press("Use these answers")
    schema = screen.session.data.schema
    assert (schema.rows.text, str(schema.variable("code").role)) == ("person=code", "person")


def test_what_is_left_open_stops_the_release_and_can_be_stated_later(open_page: Open) -> None:
    screen = open_page("data").upload("panel.csv", content("panel"))
    screen.press("Leave them open")
    assert ASKED not in screen.words("markdown")
    assert "asks what the rows are" in still_asked(screen.session)
    assert not is_checked(screen.session)
    assert "similar in weight, systolic" in screen.words("warning")  # above what states it later
    screen.find("radio", "What are the rows?").set_value("separate")
    screen.press("State this")
    screen.wait()
    assert (screen.session.data.schema.rows.text, screen.errors) == ("separate", [])
    assert still_asked(screen.session) == ""


def test_a_table_of_separate_people_is_asked_nothing_of_rows(open_page: Open) -> None:
    people = rows_together.harmless()["survey"].to_csv(index=False).encode()
    screen = open_page("data").upload("survey.csv", people, asked=True)
    assert ASKED not in screen.words("markdown")
    assert still_asked(screen.session) == ""


def firms() -> bytes:
    """Sixty firms, by names that say so."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "nace": rng.choice([10, 25, 62], 60),
            "employees": rng.poisson(40, 60),
            "turnover": rng.lognormal(9, 1, 60).round(),
        }
    )
    return frame.to_csv(index=False).encode()


def test_what_a_record_is_is_asked_once_and_pages_speak_of_it(open_page: Open) -> None:
    screen = open_page("data").upload("firms.csv", firms(), asked=True)
    assert screen.find("radio", "What is a record?").value == "firm"
    screen.press("Use these answers")
    assert screen.session.data.schema.record == "firm"
    screen.visit("tune")
    shown = orjson.dumps(screen.panel).decode()
    assert "firms" in shown
    assert "people" not in shown


def test_levels_that_look_the_same_are_shown_as_pairs(open_page: Open, caplog) -> None:
    towns = ["Ulm", "Bonn", "Ulm", "Ulm\u200b", "bonn", "Ulm"] * 8
    rows = "".join(f"{town},{n * 7 % 31}\n" for n, town in enumerate(towns))
    screen = open_page("data").upload("t.csv", f"town,pay\n{rows}".encode(), asked=True)
    shown = next(each.value for each in screen.test.dataframe if "looks like" in each.value)
    assert shown.to_numpy().tolist() == [
        ["Ulm⟨200B⟩", "Ulm", 8, "invisible letters"],
        ["bonn", "Bonn", 8, "case"],
    ]
    assert "Bonn" not in caplog.text
