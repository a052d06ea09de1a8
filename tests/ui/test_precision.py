"""Release precision on the pages: chosen, undone, swept, and brought back."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_core.data.rounding import given_steps, steps_by_name
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from rwn_ui.compare.view import take
from rwn_ui.features.scenario_trial import save
from rwn_ui.features.setting_sentences import differences
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session


@pytest.fixture
def type_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, float | None]:
    """Steps that somebody types into the table; empty at first."""
    typed: dict[str, float | None] = {}
    editor = st.data_editor

    def edited(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
        shown = editor(frame, **options)
        if "step" not in shown:
            return shown
        steps = [typed.get(n, s) for n, s in zip(shown["variable"], shown["step"], strict=True)]
        return shown.assign(step=pd.Series(steps, dtype="float64"))

    monkeypatch.setattr(st, "data_editor", edited)
    return typed


@pytest.fixture
def tune(open_page) -> Any:
    """The Tune page with the precision unfolded."""
    screen = open_page("tune")
    screen.test.session_state["tune.0.precision.box"] = True
    screen.test.run()
    assert screen.errors == []
    return screen


def choose(screen: Any, words: str) -> None:
    slider = screen.find("select_slider", "Steps for all numbers")
    slider.set_value(words).run()
    assert screen.errors == []


def worst(session: Session) -> float:
    """What the first tile says of the worst case."""
    return float(
        session.user.results.last["tune"]["verdict"]["nearest"].partition(" %")[0].split()[-1]
    )


def test_one_choice_for_all_numbers_reaches_every_page(tune) -> None:
    session, exact = tune.session, worst(tune.session)
    cards = tune.results.last["tune"]["cards"]
    choose(tune, "0.5 SD")
    data = session.data
    assert session.precision == steps_by_name(given_steps(data, 0.5))
    assert worst(session) < exact - 5
    assert session.words == "ε = 2 · k = 5 · q = 1 · numbers rounded to about 0.5 SD"
    assert session.words in tune.results.last["tune"]["summary"]["text"]
    assert sum(a != b for a, b in zip(cards, tune.results.last["tune"]["cards"], strict=True)) >= 6
    release = rwn.mask(data, session.params, precision=dict(session.precision), seed=session.seed)
    assert current_release(session).masked.masked.frame.equals(release.masked.frame)
    for page in ("utility", "risk", "find", "compare", "data"):
        assert tune.visit(page).errors == []
    assert tune.visit("tune").session.precision == release.precision
    assert worst(session) < exact - 5


def test_steps_that_are_typed_in_are_the_release_and_survive_other_pages(tune, type_steps) -> None:
    type_steps |= {"age": 5.0, "weight": 10.0}
    tune.test.run()
    assert tune.errors == []
    session = tune.session
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    assert (
        "age in steps of 5, weight in steps of 10" in tune.results.last["tune"]["summary"]["text"]
    )
    (slider,) = tune.test.select_slider
    assert slider.value == "own steps"
    type_steps.clear()
    tune.visit("data").visit("tune")
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    type_steps["age"] = None  # emptied: as is
    tune.test.session_state["tune.0.precision.box"] = True
    tune.test.run()
    assert session.precision == (("weight", 10.0),)
    type_steps |= {"age": None, "weight": 0.0}
    tune.test.run()
    assert session.precision == ()


def test_a_step_that_cannot_be_used_is_a_sentence_and_the_last_good_panel_stays(tune, type_steps):
    good = tune.panel
    type_steps["age"] = -5.0
    tune.test.run()
    (sentence,) = tune.errors
    assert sentence.startswith("The release precision of age must be a number above 0")
    assert tune.session.precision == ()
    assert tune.panel["cards"] == good["cards"]
    assert tune.test.button(key="tune.0.keep")  # the controls below are still there


def test_a_scenario_keeps_the_precision_and_brings_it_back(tune) -> None:
    session = tune.session
    choose(tune, "1 SD")
    coarse = session.precision
    scenario = save(session, "Coarse", "")
    again = Scenario.from_toml(scenario.to_toml())
    assert again.setting == session.setting
    assert dict(again.setting.precision) == dict(coarse)
    exact = save(session, "Exact", "", Setting(params=session.params))
    risk = "bayes_linkage"
    assert scenario.readings[risk]["median"] < exact.readings[risk]["median"]
    choose(tune, "as is")
    take(session, again)
    assert session.precision == coarse
    other = Setting.of("rwn", {"k": 5}, precision={"nowhere": 1.0})
    take(session, Scenario(setting=other))  # of another table: a toast, and all stays
    assert session.precision == coarse


def test_differences_of_precision_are_told_in_words() -> None:
    def rounded_to(**steps: float) -> Scenario:
        return Scenario(setting=Setting.of("rwn", {"k": 5}, precision=steps))

    assert differences(rounded_to(), rounded_to(age=5)) == [
        "age is released in steps of 5 instead of as it is."
    ]
    assert differences(rounded_to(age=5, hip=1), rounded_to(age=10)) == [
        "age is released in steps of 10 instead of in steps of 5.",
        "hip is released as it is instead of in steps of 1.",
    ]
    assert differences(rounded_to(age=5), rounded_to(age=5)) == ["Both have the same setting."]
    many = differences(rounded_to(), rounded_to(**dict.fromkeys("abcdef", 1.0)))
    assert many[-1] == "3 more variables are released in other steps."
    assert len(many) == 4
