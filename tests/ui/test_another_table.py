"""Scenarios and decisions belong to their table, and show with it only."""

from __future__ import annotations

from typing import Any

import pytest

from rwn_core.reporting.decision import Decision
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

READINGS = {"bayes_linkage": {"median": 0.013, "low": 0.011, "high": 0.017}}
NAME = "Careful"


@pytest.fixture
def screen(open_page) -> Any:
    return open_page("compare")


def other_table(screen: Any, name: str) -> None:
    screen.visit("data").test.selectbox(key="data.demo").set_value(name).run()
    screen.visit("compare")
    assert screen.errors == []


def scenario(table: str) -> Scenario:
    setting = Setting.of("rwn", {"epsilon": 1.0, "k": 9})
    return Scenario(name=NAME, table=table, setting=setting, readings=READINGS)


def upload(screen: Any, name: str, text: str) -> None:
    screen.test.file_uploader[0].set_value((name, text.encode(), "text/plain")).run()
    assert screen.errors == []


def test_a_scenario_and_its_decision_wait_for_their_table(screen) -> None:
    session = screen.session
    own = scenario(session.data.fingerprint)
    session.scenarios[NAME] = own
    session.decisions.append(Decision(scenarios=(own,), chosen=NAME, date="2026-03-31"))
    other_table(screen, "pima")
    assert session.scenarios == {}
    assert session.decisions == []  # none that the release could be said to be made on
    assert not [each for each in screen.test.multiselect if each.label.startswith("Scenarios")]
    session.scenarios[NAME] = scenario(session.data.fingerprint)  # a name of both tables
    other_table(screen, "bodyfat")
    assert session.scenarios == {NAME: own}
    assert [each.chosen for each in session.decisions] == [NAME]


def test_a_file_of_another_table_brings_its_setting_and_no_reading(screen) -> None:
    session = screen.session
    upload(screen, "one.toml", scenario("f" * 64).to_toml())
    assert session.scenarios == {}
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert any("made for another table" in each.value for each in screen.test.info)
    assert session.drafts("f" * 64).scenarios[NAME].readings == READINGS


def test_a_file_for_any_table_has_no_reading_of_this_one(screen) -> None:
    upload(screen, "one.toml", scenario("").to_toml())
    assert screen.session.scenarios[NAME].readings == {}
    assert screen.session.scenarios[NAME].setting is not None


def test_a_decision_of_another_table_is_no_decision_on_this_one(screen) -> None:
    decided = Decision(scenarios=(scenario("f" * 64),), chosen=NAME, date="2026-03-31")
    assert decided.table == "f" * 64
    before = screen.session.words
    upload(screen, "decision.toml", decided.frozen())
    assert screen.session.decisions == []
    assert screen.session.scenarios == {}
    assert screen.session.words == before
    assert any("made on another table" in each.value for each in screen.test.info)
    assert screen.session.drafts("f" * 64).decisions == [decided]


def test_an_empty_page_says_what_it_is_for(screen) -> None:
    text = "\n".join(each.value for each in screen.test.markdown)
    assert "This page is for choosing." in text
