"""A table without a regression asks for one on the card that would show it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rwn_ui.state.change_table import redescribe
from rwn_ui.state.results import preparation_key, prepared
from rwn_ui.tune import question
from rwn_ui.widgets.live_sliders import controls
from tests.ui.large_table import csv


@pytest.fixture
def own_table(open_page) -> Any:
    """Tune with a table of one's own, which names no regression."""
    return open_page("data").upload("small.csv", csv(200)).visit("tune")


def card(screen: Any, key: str) -> dict[str, Any]:
    cards = map(json.loads, screen.panel["cards"])
    return next(each for each in cards if each["key"] == key)


def test_the_card_asks_and_draws_the_regression_that_is_chosen(own_table) -> None:
    session = own_table.session
    form = card(own_table, "regression")["form"]
    assert (form["responses"], form["predictors"]) == (["x", "y", "z", "g"], ["x", "y", "z", "g"])
    assert "form" not in card(own_table, "cooks_distance")
    before = session.levers, preparation_key(session, session.data, session.params)
    question.take(session, form["send"] + '{"response": "y", "predictors": ["x", "z"]}')
    own_table.test.run()
    assert own_table.errors == []
    assert "reason" not in card(own_table, "regression")
    assert "reason" not in card(own_table, "cooks_distance")
    assert card(own_table, "regression")["title"] == "Regression of y"
    again = card(own_table, "regression")["form"]  # of its full view
    assert (again["response"], again["chosen"]) == ("y", ["x", "z"])
    # nothing else starts anew, and no neighbor is ranked again
    assert before == (session.levers, preparation_key(session, session.data, session.params))


def test_a_label_stands_beside_its_name_wherever_variables_are_chosen(own_table) -> None:
    data = own_table.session.data
    schema = data.schema.replace_variable("y", label="Wage per month")
    redescribe(own_table.session, data.with_schema(schema), by_grid=False)
    own_table.test.run()
    assert own_table.panel["labels"] == {"y": "Wage per month"}
    shown = controls(own_table.session, prepared(own_table.session))["weights"]["sliders"]
    assert shown[1]["title"] == "2 · y · Wage per month"
    assert own_table.find("selectbox", "Variable of the dist").options[:2] == [
        "x",
        "y · Wage per month",
    ]


def test_what_is_no_regression_of_the_table_changes_nothing(own_table) -> None:
    before = own_table.session.data.schema
    for sent in (
        "1234",
        "regression:{",
        'regression:{"response": "y", "predictors": []}',
        'regression:{"response": "y", "predictors": ["y"]}',
        'regression:{"response": "y", "predictors": ["nobody"]}',
        'regression:["y"]',
    ):
        question.take(own_table.session, sent)
        assert own_table.session.data.schema == before
