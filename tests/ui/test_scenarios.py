"""Scenarios and decisions: kept, compared in words, frozen, taken up, of another table."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rwn_core.reporting.decision import Decision
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from rwn_ui.features.setting_sentences import differences
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Choice, History
from tests.ui.one_page import PAGES, field, session_of

pytestmark = pytest.mark.usefixtures("sweeps_folder")


def test_scenarios_are_kept_compared_and_frozen() -> None:
    page = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=60).run()
    session = session_of(page)
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.use_preset(preset, prepared(session).prepared)
        field(page, "text_input", "Name").set_value(name)
        field(page, "button", "Save scenario").click().run()
    assert list(session.scenarios) == ["One", "Two"]
    assert {"median", "low", "high"} <= set(session.scenarios["One"].readings["correlation"])
    field(page, "toggle", "Meeting").set_value(True).run()
    assert field(page, "selectbox", "Decision").value is None
    field(page, "button", "Freeze").click().run()
    assert page.error[0].value == (
        "Nothing is frozen. Missing: a decision; a reason; at least one participant."
    )
    assert session.decisions == []
    field(page, "selectbox", "Decision").set_value("One")
    field(page, "text_area", "Reason").set_value("It serves the analysts best.")
    field(page, "text_area", "Participants, a line each").set_value("A\nB")
    field(page, "button", "Freeze").click().run()
    (refused,) = (message.value for message in page.error)
    assert refused.startswith("Nothing is frozen. Missing: who accepts this: ")
    accepts = "Who accepts limits that the scenario does not keep"
    field(page, "text_input", accepts).set_value("C")
    field(page, "selectbox", "Decision").set_value("Two")
    field(page, "button", "Freeze").click().run()
    (record,) = session.decisions
    assert record.verdict == session.policy.judge_stated(session.scenarios["Two"].readings).sentence
    assert record.accepted_by == "C"
    assert record.verdict.encode() in decision_html(record)
    assert record.chosen == "Two"
    assert record.participants == ("A", "B")
    assert any(record.hash in message.value for message in page.success)
    assert Decision.thaw(record.frozen()).hash == record.hash
    assert not page.error


def test_a_decision_of_another_day_is_taken_up_again() -> None:
    chosen = Scenario(name="Careful", setting=Setting.of("rwn", {"epsilon": 1.0, "k": 9}))
    decided = Decision(scenarios=(chosen,), chosen="Careful", date="2026-03-31")
    page = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=60).run()
    page.file_uploader[0].set_value(
        ("decision.toml", decided.frozen().encode(), "text/plain")
    ).run()
    session = session_of(page)
    assert [each.hash for each in session.decisions] == [decided.hash]
    assert session.scenarios["Careful"].setting == chosen.setting
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert any("2026-03-31" in message.value for message in page.info)
    forged = decided.frozen().replace("2026-03-31", "2026-04-01")
    page.file_uploader[0].set_value(("decision.toml", forged.encode(), "text/plain")).run()
    assert any("changed after it was frozen" in error.value for error in page.error)
    assert len(session.decisions) == 1


def test_undo_and_redo_without_limit() -> None:
    history = History()
    levers = [(("epsilon", n / 10), ("k", 5), ("q", 1.0)) for n in range(500)]
    choices = [Choice(levers=each, weights=()) for each in levers]
    for choice in choices:
        history.note(choice)
        history.note(choice)
    back = [history.undo() for _ in range(499)]
    assert back == choices[-2::-1]
    assert not history.can_undo
    assert history.redo() == choices[1]
    history.note(choices[7])
    assert not history.can_redo
    assert history.undo() == choices[1]


def scenario(name: str, value: float, **parameters: float) -> Scenario:
    reading = {"median": value, "low": value - 0.01, "high": value + 0.01}
    return Scenario(
        name=name,
        setting=Setting.of("rwn", parameters),
        readings={"distance_linkage": reading, "cells_changed": {"median": 0.5}},
    )


def test_differences_are_told_in_words() -> None:
    sentences = differences(scenario("A", 0.1, epsilon=2, k=5), scenario("B", 0.03, epsilon=3, k=5))
    assert sentences == [
        "ε is 3 instead of 2.",
        "Distance linkage: better, 3.0\N{NO-BREAK SPACE}% against 10.0\N{NO-BREAK SPACE}%.",
        "No clear difference: Cells changed (both 50.0\N{NO-BREAK SPACE}%).",
    ]
    near = differences(scenario("A", 0.1, k=5), scenario("B", 0.105, k=5))
    assert near[0] == "Both have the same setting."
    assert near[1] == (
        "No clear difference: Distance linkage (10.5\N{NO-BREAK SPACE}% against "
        "10.0\N{NO-BREAK SPACE}%); Cells changed (both 50.0\N{NO-BREAK SPACE}%)."
    )
    assert len(near) == 2


READINGS = {"bayes_linkage": {"median": 0.013, "low": 0.011, "high": 0.017}}
NAME = "Careful"


@pytest.fixture
def screen(open_page) -> Any:
    return open_page("compare")


def other_table(screen: Any, name: str) -> None:
    screen.visit("data").test.selectbox(key="data.demo").set_value(name).run()
    screen.visit("compare")
    assert screen.errors == []


def of_table(table: str) -> Scenario:
    setting = Setting.of("rwn", {"epsilon": 1.0, "k": 9})
    return Scenario(name=NAME, table=table, setting=setting, readings=READINGS)


def upload(screen: Any, name: str, text: str) -> None:
    screen.test.file_uploader[0].set_value((name, text.encode(), "text/plain")).run()
    assert screen.errors == []


def test_a_scenario_and_its_decision_wait_for_their_table(screen) -> None:
    session = screen.session
    own = of_table(session.data.fingerprint)
    session.scenarios[NAME] = own
    session.decisions.append(Decision(scenarios=(own,), chosen=NAME, date="2026-03-31"))
    other_table(screen, "pima")
    assert session.scenarios == {}
    assert session.decisions == []  # none that the release could be said to be made on
    assert not [each for each in screen.test.multiselect if each.label.startswith("Scenarios")]
    session.scenarios[NAME] = of_table(session.data.fingerprint)  # a name of both tables
    other_table(screen, "bodyfat")
    assert session.scenarios == {NAME: own}
    assert [each.chosen for each in session.decisions] == [NAME]


def test_a_file_of_another_table_brings_its_setting_and_no_reading(screen) -> None:
    session = screen.session
    upload(screen, "one.toml", of_table("f" * 64).to_toml())
    assert session.scenarios == {}
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert any("made for another table" in each.value for each in screen.test.info)
    assert session.drafts("f" * 64).scenarios[NAME].readings == READINGS


def test_a_file_for_any_table_has_no_reading_of_this_one(screen) -> None:
    upload(screen, "one.toml", of_table("").to_toml())
    assert screen.session.scenarios[NAME].readings == {}
    assert screen.session.scenarios[NAME].setting is not None


def test_a_decision_of_another_table_is_no_decision_on_this_one(screen) -> None:
    decided = Decision(scenarios=(of_table("f" * 64),), chosen=NAME, date="2026-03-31")
    assert decided.table == "f" * 64
    before = screen.session.words
    upload(screen, "decision.toml", decided.frozen())
    assert screen.session.decisions == []
    assert screen.session.scenarios == {}
    assert screen.session.words == before
    assert any("made on another table" in each.value for each in screen.test.info)
    assert screen.session.drafts("f" * 64).decisions == [decided]
