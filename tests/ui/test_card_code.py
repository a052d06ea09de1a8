"""The code of a card, run on its own, gives the number of the card, digit for digit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.marginals import one_marginal
from rwn_ui.features import limit_queue
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.tune import card_code, view


def session_of(demo: str, variable: str) -> Session:
    data = rwn.load_demo(demo)
    made = Session(name=demo, demo=demo, data=data, seed=3, variable=variable)
    made.levers = {"epsilon": 1.0, "k": 4, "q": 0.7}
    return made


def changed() -> Session:
    """Other weights, slices, rounding, limits and another regression."""
    made = session_of("bodyfat", "age")
    question = rwn.Question(response="weight", predictors=("height", "age"))
    schema = replace(made.data.schema, question=question)
    schema = schema.with_weights({"age": 2.5}).with_slices([["age", "height"]])
    made.data = made.data.with_schema(schema)
    made.precision = (("weight", 5.0),)
    made.policy = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.02),))
    return made


@pytest.mark.parametrize("make", [lambda: session_of("bodyfat", "siri"), changed])
def test_the_code_of_every_card_gives_its_number(make: Any) -> None:
    session = make()
    release = current_release(session)
    readings = limit_queue.readings(session, release)
    listed = card_code.cards(session)
    assert {card_code.MAP, *view.CARDS} - {"correlation"} <= set(listed)
    for card in listed:
        names: dict[str, Any] = {}
        lines = card_code.code(session, card)
        exec(compile(lines, card, "exec"), names)  # the lines that the user sees
        shown = (
            readings[UTILITY if card == card_code.MAP else card]
            if card != "distribution"
            else (one_marginal(release.comparison, session.variable))
        )
        assert isinstance(shown, Reading), card
        assert names["value"] == shown.value, card
        if card == card_code.MAP:
            assert names["risk"] == session.policy.judge_readings(readings).largest


def test_the_code_names_the_file_and_no_folder() -> None:
    session = session_of("bodyfat", "age")
    session.name, session.demo = "/home/ada/secret folder/people.csv", None
    lines = card_code.code(session, "correlation")
    assert "rwn.read('people.csv', schema=\"schema.toml\")" in lines
    assert "secret" not in lines
    session.name = "C:\\ada\\people.csv"
    assert "ada" not in card_code.code(session, "correlation")
