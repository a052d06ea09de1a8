"""The pages without a browser: widgets and session, two users, a class, descriptions, messages."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_cli.main import USAGE, run
from rwn_ui.data.describe import describe_anew
from rwn_ui.features.scenario_trial import save
from rwn_ui.server.environment import CLASSROOM_VARIABLE
from rwn_ui.server.messages import escaped
from rwn_ui.state.results import prepared
from rwn_ui.state.session import DESCRIBED_ANEW, Session
from tests.ui.small_file import table

PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
SECRET = "SENTINEL7731"


def test_every_page_opens_by_its_address_and_shows_one_setting(open_page) -> None:
    for first in ("risk", "tune"):
        screen = open_page(first, demo="bodyfat_raw", epsilon="1.5", k="7", q="0.5")
        assert screen.session.name == "bodyfat_raw"
        assert screen.session.words == "ε = 1.5 · k = 7 · q = 0.5"
    for page in PAGES:
        assert screen.visit(page).errors == []


def test_sliders_presets_and_the_session_follow_each_other(open_page) -> None:
    screen = open_page("tune")
    for what, value in (("epsilon", 3.1), ("k", 11), ("q", 0.35)):
        screen.move(**{what: value})
        assert screen.session.levers[what] == value
    assert screen.panel["stamp"].startswith("ε = 3.1 · k = 11 · q = 0.35")
    screen.session.move(k=12)  # as from a link
    screen.test.run()
    assert screen.sliders["k"]["value"] == screen.session.levers["k"] == 12
    screen.visit("data").visit("tune")
    assert [screen.sliders[what]["value"] for what in ("epsilon", "k", "q")] == [3.1, 12, 0.35]
    presets = prepared(screen.session).prepared.presets
    assert list(presets) == ["Light", "Standard", "Strong"]
    for preset in ("Strong", "Light", "Strong"):  # as often as it is pressed
        screen.move(k=33)
        assert screen.preset is None
        screen.edit({"preset": preset})
        assert screen.preset == preset
        assert {what: screen.sliders[what]["value"] for what in presets[preset]} == presets[preset]
        assert screen.session.words in screen.panel["stamp"]


def test_weights_of_0_are_a_sentence_and_others_move_the_end_of_the_slider(open_page) -> None:
    screen = open_page("tune")
    good, names = screen.panel, screen.session.data.names
    screen.weigh(**dict.fromkeys(names, 0.0))
    assert screen.errors == [
        "The weights are 0 for every variable; give at least one a positive weight."
    ]
    assert screen.panel["cards"] == good["cards"], "the last good panel stays"
    assert screen.test.button(key="tune.0.keep"), "and so do the controls below"
    screen.weigh(**dict.fromkeys(names, 2.0))
    assert screen.errors == []
    assert screen.panel["cards"] != good["cards"]
    assert screen.sliders["epsilon"]["high"] > 10
    assert screen.session.words == "ε = 2 · k = 5 · q = 1 · own weights of 15 variables"
    screen.weigh(**dict.fromkeys(names, 0.1))
    assert screen.sliders["epsilon"]["high"] == screen.session.levers["epsilon"] == 0.82
    assert screen.errors == []


def test_a_description_that_masks_nothing_or_half_a_group_is_a_sentence(open_page, monkeypatch):
    editor, screen = st.data_editor, open_page("tune")
    every_other = [i % 2 == 0 for i in range(screen.session.data.p)]
    nothing = "No variable is chosen for masking; choose at least one."
    half = "Group all has masked and unmasked variables; mask all of them or none."
    for columns, sentence in (
        ({"masked": False}, nothing),
        ({"role": "identifier"}, nothing),
        ({"group": "all", "masked": every_other}, half),
    ):

        def edited(frame: pd.DataFrame, columns: Any = columns, **options: Any) -> pd.DataFrame:
            shown = editor(frame, **options)
            return shown.assign(**columns) if "role" in shown else shown

        with monkeypatch.context() as patch:
            patch.setattr(st, "data_editor", edited)
            assert screen.visit("data").errors == [sentence]
    assert screen.session.table_version == 0
    assert len(screen.visit("tune").panel["cards"]) == 9


def test_half_a_regression_waits_and_a_whole_one_is_drawn(open_page) -> None:
    screen = open_page("data")
    screen.test.multiselect(key="data.0.predictors").set_value([]).run()
    assert screen.errors == [
        "The regression needs at least one predictor; choose it, or clear both sides to keep none."
    ]
    screen.test.selectbox(key="data.0.response").set_value("weight")
    screen.test.multiselect(key="data.0.predictors").set_value(["height", "age"]).run()
    screen.visit("tune")
    assert "Regression of weight" in str(screen.panel["tables"])
    screen.visit("utility")
    assert screen.test.button(key="prediction.run").label.startswith("Predict weight")
    # a table of one's own has none, and half of one is no fault
    screen.visit("data").upload("long.csv", table(300))
    field = screen.find("selectbox", "Regression: response")
    field.set_value(field.options[0]).run()
    assert "counts as soon as it has at least one predictor." in screen.words("caption")
    assert screen.errors == []
    # the preview holds at most a hundred records, numbered from one
    shown = next(each.value for each in screen.test.dataframe if each.value.index.name == "record")
    np.testing.assert_array_equal(shown.index, np.arange(1, 101))


def test_two_users_never_see_each_other(open_page) -> None:
    mine, theirs = open_page("data"), open_page("data")
    words = {"MINE7731": mine, "THEIRS42": theirs}
    for word, screen in words.items():
        screen.upload("same.csv", table(mark=word)).visit("tune")
        variable = f"tune.{screen.session.table_version}.variable"
        screen.test.selectbox(key=variable).set_value("g").run()
    for screen in words.values():
        assert [word for word in words if word in screen.everything()] == [
            word for word, each in words.items() if each is screen
        ]
    mine.move(k=9)
    theirs.test.run()
    assert theirs.session.levers["k"] == 5


def test_a_class_sees_large_type_and_can_open_no_file(open_page, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(CLASSROOM_VARIABLE, "1")
    screen = open_page("data")
    for page in ("compare", "tune", "data"):
        assert not screen.visit(page).test.get("file_uploader")
    assert screen.errors == []
    assert screen.session.projector
    assert "Open your table" not in screen.words("markdown")
    assert screen.test.selectbox(key="data.demo").options
    first = open_page("tune").test  # the page of an address without a name
    assert next(each.label for each in first.radio) == "Lesson"
    monkeypatch.delenv(CLASSROOM_VARIABLE)
    others = open_page("data")
    assert others.test.get("file_uploader")
    assert not others.session.projector
    assert run(["app", str(tmp_path / "t.csv"), "--classroom", "--no-browser"]) == USAGE
    assert "leave the file out" in capsys.readouterr().err


def test_another_role_keeps_the_setting_and_what_names_a_variable_that_is_gone_goes(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rwn_ui.data.describe.st.rerun", lambda: None)
    session.move(epsilon=1.5, k=7)
    session.setting = replace(session.setting, precision=(("age", 5.0),))
    before = session.scenarios["A"] = save(session, "A", "")
    session.record_undo()
    session.move(k=9)
    session.record_undo()
    grid, undo = session.grid_version, session.history

    def described(role: rwn.Role) -> None:
        schema = session.data.schema.replace_variable("age", role=role)
        describe_anew(session, session.data.with_schema(schema), by_grid=True)

    described(rwn.Role.CONFIDENTIAL)
    assert session.data.schema.variable("age").role is rwn.Role.CONFIDENTIAL
    assert session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert session.precision == (("age", 5.0),)
    assert session.history is undo
    assert session.grid_version == grid, "the grid keeps its place"
    kept, limits = session.scenarios["A"], session.policy.measures
    assert {*limits} <= before.readings.keys()
    assert kept.readings == {k: each for k, each in before.readings.items() if k not in limits}
    assert kept.readings
    assert kept.unread == before.unread | dict.fromkeys(limits, DESCRIBED_ANEW)
    session.variable = "age"
    described(rwn.Role.IDENTIFIER)
    assert (session.precision, session.history.settings) == ((), [])
    assert session.variable != "age"
    assert session.levers["k"] == 9
    assert "A" in session.scenarios


def test_no_name_becomes_a_link_or_a_formula() -> None:
    for text, shown in (
        ("pay [a](b) $x$ *y*", r"pay \[a\](b) \$x\$ \*y\*"),
        ("see http://a.example/x", "see http:\u2060//a.example/x"),
        ("WWW.a.example", "WWW\u2060.a.example"),
        ("who@a.example", "who\u2060@a.example"),
        ("ε = 2 · k = 5", "ε = 2 · k = 5"),
    ):
        assert escaped(text) == shown


def failing(kind: str) -> AppTest:
    """A page of which one part fails, before a part that does not."""

    def script(kind: str) -> None:
        import streamlit as st

        from rwn_core.errors import NotApplicable, ParameterError
        from rwn_ui.server.messages import guarded

        with guarded():
            if kind == "refusal":
                raise ParameterError("q must be a number from 0 to 1.")
            if kind == "reason":
                raise NotApplicable("There is no holdout.")
            float("SENTINEL7731")
        st.text("and the page lives on")

    page = AppTest.from_function(script, args=(kind,)).run()
    assert not page.exception
    assert page.text[0].value == "and the page lives on"
    return page


def test_a_refusal_and_a_missing_answer_are_shown_as_they_are(caplog) -> None:
    assert [error.value for error in failing("refusal").error] == [
        "q must be a number from 0 to 1."
    ]
    page = failing("reason")
    assert not page.error
    assert [info.value for info in page.info] == ["There is no holdout."]
    assert not [record for record in caplog.records if record.name == "rwn"]


def test_a_failure_shows_a_number_and_logs_type_and_lines_but_no_value(caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        page = failing("failure")
    (shown,) = [error.value for error in page.error]
    (number,) = re.findall(r"\berror ([0-9a-f]{8})\b", shown)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "rwn"]
    assert all(part in line for part in (number, "ValueError", "script:"))
    everything = shown + caplog.text + json.dumps([r.__dict__ for r in caplog.records], default=str)
    assert SECRET not in everything
