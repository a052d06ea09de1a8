"""Release precision on every page: one choice of the session, undone, shared, swept and kept."""

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
from rwn_ui.features.scenario_trial import as_scenario
from rwn_ui.risk import view as risk_view
from rwn_ui.state.change_table import load
from rwn_ui.state.results import current_release, prepared, setting_key, user_results
from rwn_ui.state.session import Session
from rwn_ui.widgets import precision

pytestmark = pytest.mark.usefixtures("sweeps_folder")


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
    slider = next(s for s in screen.test.select_slider if s.label == "Steps for all numbers")
    slider.set_value(words).run()
    assert screen.errors == []


def worst(session: Session) -> float:
    """What the first tile says of the worst case."""
    return float(user_results().last["tune"]["verdict"]["nearest"].partition(" %")[0].split()[-1])


def test_nothing_is_rounded_and_nothing_drawn_at_first(open_page) -> None:
    screen = open_page("tune")
    assert screen.session.precision == ()
    assert not screen.test.select_slider
    current = current_release(screen.session)
    assert current.masked is current.exact
    assert current.params is not None
    assert current.masked.law.original is screen.session.data


def test_one_choice_for_all_numbers_reaches_every_page(tune) -> None:
    session, exact = tune.session, worst(tune.session)
    cards = user_results().last["tune"]["cards"]
    choose(tune, "0.5 SD")
    data = session.data
    assert session.precision == steps_by_name(given_steps(data, 0.5))
    assert worst(session) < exact - 5
    assert session.words == "ε = 2 · k = 5 · q = 1 · numbers rounded to about 0.5 SD"
    assert session.words in user_results().last["tune"]["summary"]["text"]
    assert (
        sum(a != b for a, b in zip(cards, user_results().last["tune"]["cards"], strict=True)) >= 6
    )
    release = rwn.mask(data, session.params, precision=dict(session.precision), seed=session.seed)
    assert current_release(session).masked.masked.frame.equals(release.masked.frame)
    for page in ("utility", "risk", "sweep", "compare", "data"):
        assert tune.visit(page).errors == []
    assert tune.visit("tune").session.precision == release.precision
    assert worst(session) < exact - 5


def test_every_choice_can_be_reached_where_two_have_the_same_steps(open_page) -> None:
    rows = "\n".join(f"{i % 4},{i * 7 % 5}" for i in range(60))
    screen = open_page("data").upload("few.csv", f"x,y\n{rows}\n".encode()).visit("tune")
    screen.test.session_state[f"tune.{screen.session.table_version}.precision.box"] = True
    screen.test.run()
    for words in precision.CHOICES:
        choose(screen, words)
        (slider,) = screen.test.select_slider
        assert slider.value == words


def test_steps_that_are_typed_in_are_the_release_and_survive_other_pages(tune, type_steps) -> None:
    type_steps |= {"age": 5.0, "weight": 10.0}
    tune.test.run()
    assert tune.errors == []
    session = tune.session
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    assert (
        "age in steps of 5, weight in steps of 10" in user_results().last["tune"]["summary"]["text"]
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


def test_a_step_that_cannot_be_used_is_a_sentence_and_the_last_good_panel_stays(
    tune, type_steps
) -> None:
    good = tune.panel
    type_steps["age"] = -5.0
    tune.test.run()
    (sentence,) = tune.errors
    assert sentence.startswith("The release precision of age must be a number above 0")
    assert tune.session.precision == ()
    assert tune.panel["cards"] == good["cards"]
    assert tune.test.button(key="tune.0.pin.A")  # the controls below are still there


def test_undo_redo_and_pins_know_the_precision(tune) -> None:
    session, exact = tune.session, worst(tune.session)
    choose(tune, "1 SD")
    coarse = session.precision
    tune.test.button(key="tune.0.pin.A").click().run()
    assert "numbers rounded to about 1 SD" in session.pins["A"].text
    tune.edit({"undo": True})
    assert session.precision == ()
    assert worst(session) == exact
    tune.edit({"redo": True})
    assert (tune.errors, session.precision) == ([], coarse)


def test_measures_that_are_read_later_are_of_the_present_precision(tune) -> None:
    session = tune.session
    tune.test.selectbox(key="tune.0.risk").set_value("membership").run()
    exact = worst(session)
    choose(tune, "1 SD")
    assert worst(session) < exact - 10


def test_draws_and_jobs_belong_to_the_precision_and_another_table_has_none() -> None:
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    session.clamp(prepared(session).prepared)
    before = setting_key(session)
    assert session.masking == session.params
    session.precision = steps_by_name(given_steps(session.data, 0.1))
    assert setting_key(session) != before
    assert (session.masking.params, session.masking.precision) == (
        session.params,
        session.precision,
    )
    load(session, rwn.load_demo("pima"), name="pima", demo="pima")
    assert session.precision == ()


def test_the_risk_page_attacks_the_rounded_release(tune, monkeypatch) -> None:
    payloads: list[dict[str, Any]] = []
    monkeypatch.setattr(risk_view, "panel", lambda payload, key: payloads.append(payload))
    choose(tune, "0.5 SD")
    linked = worst(tune.session)
    tune.visit("risk")
    assert tune.errors == []
    assert float(payloads[-1]["verdict"]["nearest"].partition(" %")[0].split()[-1]) == linked
    warnings = str([t for t in payloads[-1]["tables"] if t["title"].startswith("What to bear")])
    assert "Values are released with all their digits" not in warnings
    choose(tune, "as is")
    assert tune.session.precision == ()
    assert float(payloads[-1]["verdict"]["nearest"].partition(" %")[0].split()[-1]) > linked + 5


def test_a_scenario_keeps_the_precision_and_brings_it_back(tune) -> None:
    session = tune.session
    choose(tune, "1 SD")
    coarse = session.precision
    scenario = as_scenario(session, "Coarse", "")
    again = Scenario.from_toml(scenario.to_toml())
    assert again.setting == session.setting
    assert dict(again.setting.precision) == dict(coarse)
    exact = as_scenario(session, "Exact", "", sweep_point(session, Setting(params=session.params)))
    risk = "bayes_linkage"
    assert scenario.readings[risk]["median"] < exact.readings[risk]["median"]
    choose(tune, "as is")
    take(session, again)
    assert session.precision == coarse
    other = Setting.of("rwn", {"k": 5}, precision={"nowhere": 1.0})
    take(session, Scenario(setting=other))  # of another table: a toast, and all stays
    assert session.precision == coarse


def sweep_point(session: Session, setting: Setting) -> Any:
    from rwn_core.tuning import USUAL, Plan, Trials

    plan, setting = Plan(measures=USUAL, releases=2), setting.resolved(session.data)
    return Trials(session.data, [setting], plan).run(setting)
