"""The pages without a browser: widgets and session, two users, a class, links, descriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_cli.main import USAGE, run
from rwn_core.io.write import table_bytes
from rwn_ui.data.describe import describe_anew
from rwn_ui.features.scenario_trial import save
from rwn_ui.server.environment import CLASSROOM_VARIABLE
from rwn_ui.state import address
from rwn_ui.state.results import PreparedTable, prepared
from rwn_ui.state.session import DESCRIBED_ANEW, Session
from tests.tables import table as a_table
from tests.ui.large_table import csv
from tests.ui.small_file import table

PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
SECRET = "SENTINEL7731"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_by_its_address(open_page, page: str) -> None:
    screen = open_page(page, demo="bodyfat_raw", epsilon="1.5", k="7", q="0.5")
    assert screen.errors == []
    assert screen.session.name == "bodyfat_raw"
    assert screen.session.words == "ε = 1.5 · k = 7 · q = 0.5"


def test_sliders_write_the_session_and_the_session_the_sliders(open_page) -> None:
    screen = open_page("tune")
    for what, value in (("epsilon", 3.1), ("k", 11), ("q", 0.35)):
        screen.slider(what).set_value(value).run()
        assert screen.session.levers[what] == value
    assert screen.panel["stamp"].startswith("ε = 3.1 · k = 11 · q = 0.35")
    screen.session.move(k=12)  # as from a link
    screen.test.run()
    assert screen.slider("k").value == screen.session.levers["k"] == 12
    screen.slider("k").set_value(11).run()
    screen.visit("data").visit("tune")
    assert [screen.slider(what).value for what in ("epsilon", "k", "q")] == [3.1, 11, 0.35]


def test_a_preset_moves_every_slider_as_often_as_it_is_pressed(open_page) -> None:
    screen = open_page("tune")
    presets = prepared(screen.session).prepared.presets
    assert list(presets) == ["Light", "Standard", "Strong"]
    for preset, wanted in [*presets.items(), *presets.items()]:
        screen.slider("k").set_value(33).run()
        assert screen.preset is None
        screen.move("levers", {}, preset=preset)
        assert screen.preset == preset
        assert {what: screen.slider(what).value for what in wanted} == wanted
        assert screen.session.words in screen.panel["stamp"]


def test_a_quote_in_the_name_of_a_file_is_a_quote(a_process_reads, open_page) -> None:
    screen = open_page("data").upload("the %22new%22.csv", b"")  # as browsers send it
    (sentence,) = screen.errors
    assert sentence.startswith('the "new".csv is empty')
    screen.upload("the %22new%22.csv", table())
    assert screen.session.name == 'the "new".csv'


def test_a_file_and_a_demo_that_are_both_chosen_do_not_take_turns(open_page) -> None:
    screen = open_page("data")
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    screen.upload("mine.csv", table())
    loaded = screen.session.table_version
    screen.test.run()
    assert (screen.session.name, screen.session.table_version) == ("mine.csv", loaded)
    screen.test.selectbox(key="data.demo").set_value("bodyfat").run()
    assert screen.session.name == "bodyfat"


def test_all_weights_zero_is_a_sentence_and_the_last_good_panel_stays(open_page) -> None:
    screen = open_page("tune")
    good = screen.panel
    screen.weigh(**dict.fromkeys(screen.session.data.names, 0.0))
    assert screen.errors == [
        "The weights are 0 for every variable; give at least one a positive weight."
    ]
    assert screen.panel["cards"] == good["cards"]
    assert screen.test.button(key="tune.0.keep")  # the controls below are still there
    screen.weigh(age=2.0)
    assert screen.errors == []
    assert screen.panel["cards"] != good["cards"]


def test_other_weights_move_the_end_of_the_slider_and_not_the_setting(open_page) -> None:
    screen = open_page("tune")
    screen.weigh(**dict.fromkeys(screen.session.data.names, 2.0))
    assert screen.slider("epsilon").max > 10
    assert screen.session.words == "ε = 2 · k = 5 · q = 1 · own weights of 15 variables"
    screen.weigh(**dict.fromkeys(screen.session.data.names, 0.1))
    assert screen.slider("epsilon").max == screen.session.levers["epsilon"] == 0.82
    assert screen.errors == []


def apply(screen, monkeypatch: pytest.MonkeyPatch, **columns: object) -> list[str]:
    """Change whole columns of the Data page's table; the sentences in red."""
    editor = st.data_editor

    def edited(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
        shown = editor(frame, **options)
        return shown.assign(**columns) if "role" in shown else shown

    with monkeypatch.context() as patch:
        patch.setattr(st, "data_editor", edited)
        screen.visit("data")
        return screen.errors


def test_a_description_that_masks_nothing_or_half_a_group_is_a_sentence(open_page, monkeypatch):
    screen = open_page("tune")
    nothing = "No variable is chosen for masking; choose at least one."
    half = "Group all has masked and unmasked variables; mask all of them or none."
    every_other = [i % 2 == 0 for i in range(screen.session.data.p)]
    assert apply(screen, monkeypatch, masked=False) == [nothing]
    assert apply(screen, monkeypatch, role="identifier") == [nothing]
    assert apply(screen, monkeypatch, group="all", masked=every_other) == [half]
    assert screen.session.table_version == 0
    assert len(screen.visit("tune").panel["cards"]) == 9


def test_half_a_regression_is_a_sentence_and_a_whole_one_is_drawn(open_page) -> None:
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


def test_half_of_a_new_regression_waits_for_the_other_half(open_page) -> None:
    screen = open_page("data").upload("long.csv", table(300))
    field = screen.find("selectbox", "Regression: response")
    field.set_value(field.options[0]).run()
    waits = "The regression counts as soon as it has at least one predictor."
    assert waits in [each.value for each in screen.test.caption]
    assert screen.errors == []
    # the preview holds at most a hundred records, numbered from one
    shown = next(each.value for each in screen.test.dataframe if each.value.index.name == "record")
    assert len(shown) == 100
    np.testing.assert_array_equal(shown.index, np.arange(1, 101))


def test_two_users_never_see_each_other(open_page) -> None:
    mine, theirs = open_page("data"), open_page("data")
    mine.upload("same.csv", table(mark="MINE7731"))
    theirs.upload("same.csv", table(mark="THEIRS42"))
    mine.visit("tune")
    theirs.visit("tune")
    for screen in (mine, theirs):
        screen.test.selectbox(key=f"tune.{screen.session.table_version}.variable").set_value(
            "g"
        ).run()
    assert "MINE7731" in mine.everything()
    assert "THEIRS42" in theirs.everything()
    assert "THEIRS42" not in mine.everything()
    assert "MINE7731" not in theirs.everything()
    mine.slider("k").set_value(9).run()
    theirs.test.run()
    assert theirs.session.levers["k"] == 5


@pytest.mark.parametrize("in_class", [True, False])
def test_a_class_sees_large_type_and_can_open_no_file(open_page, monkeypatch, in_class) -> None:
    if in_class:
        monkeypatch.setenv(CLASSROOM_VARIABLE, "1")
    screen = open_page("data")
    choosers = len(screen.test.get("file_uploader"))
    for page in ("compare", "tune"):
        choosers += len(screen.visit(page).test.get("file_uploader"))
    assert screen.errors == []
    assert screen.session.projector == in_class
    assert (choosers == 0) == in_class
    words = " ".join(each.value for each in screen.visit("data").test.markdown)
    assert ("Open your table" in words) != in_class
    assert screen.test.selectbox(key="data.demo").options
    first = open_page("tune").test  # the page of an address without a name
    assert [each.label for each in first.radio][:1] == (["Lesson"] if in_class else [])


def test_a_file_of_the_command_line_is_refused(tmp_path, capsys) -> None:
    assert run(["app", str(tmp_path / "t.csv"), "--classroom", "--no-browser"]) == USAGE
    assert "leave the file out" in capsys.readouterr().err


def described(session: Session, name: str, *, by_grid: bool = True, **fields: object) -> None:
    """Change one variable, as the Data page does, without the page itself."""
    schema = session.data.schema.replace_variable(name, **fields)
    describe_anew(session, session.data.with_schema(schema), by_grid=by_grid)


@pytest.fixture
def session(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr("rwn_ui.data.describe.st.rerun", lambda: None)
    session: Session = open_page("tune").session
    session.move(epsilon=1.5, k=7)
    session.setting = replace(session.setting, precision=(("age", 5.0),))
    session.scenarios["A"] = save(session, "A", "")
    session.record_undo()
    session.move(k=9)
    session.record_undo()
    return session


def test_another_role_keeps_the_setting_and_reads_no_limit_as_before(session: Session) -> None:
    grid, undo, before = session.grid_version, session.history, session.scenarios["A"]
    described(session, "age", role=rwn.Role.CONFIDENTIAL)
    assert session.data.schema.variable("age").role is rwn.Role.CONFIDENTIAL
    assert session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert session.precision == (("age", 5.0),)
    assert session.history is undo
    assert session.grid_version == grid  # the grid keeps its place
    kept = session.scenarios["A"]
    assert before.readings.keys() >= {*session.policy.measures}
    assert kept.readings == {
        key: each for key, each in before.readings.items() if key not in session.policy.measures
    }
    assert kept.readings
    assert kept.unread == before.unread | dict.fromkeys(session.policy.measures, DESCRIBED_ANEW)


def test_what_names_a_variable_that_is_gone_goes_with_it(session: Session) -> None:
    session.variable = "age"
    described(session, "age", role=rwn.Role.IDENTIFIER)
    assert session.precision == ()
    assert session.variable != "age"
    assert session.levers["k"] == 9
    assert session.history.settings == []
    assert "A" in session.scenarios


def test_one_click_gives_all_roles(open_page) -> None:
    data = a_table("survey")
    screen = open_page("data").upload("s.csv", table_bytes(data.frame, "csv", data.schema))
    assert screen.errors == []
    asked = [each.label for each in screen.test.multiselect]
    assert any(label.startswith("Who could be recognized?") for label in asked)
    assert any("is masked as other variables are" in each.value for each in screen.test.markdown)
    (use,) = (each for each in screen.test.button if each.label == "Use these answers")
    use.click().run()
    roles = {v.name: str(v.role) for v in screen.session.data.schema.variables}
    assert roles == {
        "hid": "household",
        "design_weight": "sampling weight",
        "Geschlecht": "key",
        "age": "key",
        "hhIncome": "confidential",
        "Krankheit": "confidential",
        "opinion3": "other",
    }
    assert all(each.label != "Use these answers" for each in screen.test.button)
    assert not screen.session.data.schema.variable("design_weight").masked


def test_questions_of_the_last_table_are_not_shown_below_a_file_that_fails(open_page) -> None:
    screen = open_page("data").upload("t.csv", b"a;b\n1;2\n")
    assert len(screen.errors) == 1
    assert not screen.test.multiselect
    assert any("show bodyfat still" in each.value for each in screen.test.caption)


@pytest.fixture(scope="module")
def bodyfat() -> Session:
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    session.clamp(PreparedTable.prepare(session.data).prepared)
    return session


BAD = {
    "epsilon of the link must be a number from 0 to 8.2": ("-1", "nan", "inf", "5 km", "1e999"),
    "k of the link must be a whole number from 1 to 100": ("0", "241", "2.5", "9" * 5000),
    "q of the link must be a number from 0 to 1": ("-0.1", "1.01", "half", "-" + "9" * 4000),
}
"""What is said of values that a link cannot bring."""


def test_a_bad_value_of_a_link_is_a_sentence_and_changes_nothing(bodyfat: Session) -> None:
    for sentence, values in BAD.items():
        for value in values:
            (message,) = address._take_levers(bodyfat, {sentence.split()[0]: value})
            assert message.startswith(sentence + ";")
    assert bodyfat.words == "ε = 2 · k = 5 · q = 1"


def test_bad_values_of_a_link_are_said_on_a_page_that_lives(open_page) -> None:
    screen = open_page("tune", epsilon="nan", k="241", q="0.5")
    assert [warning.value.split(" of ")[0] for warning in screen.test.warning] == ["epsilon", "k"]
    assert screen.errors == []
    assert screen.session.words == "ε = 2 · k = 5 · q = 0.5"
    assert screen.panel is not None


def test_a_link_of_too_many_letters_opens_the_page_without_it(open_page) -> None:
    screen = open_page("tune", epsilon="1.5", slices="1-2_" * 6_000)
    (warning,) = screen.test.warning
    assert warning.value == "The link is too long; the page opens without its settings."
    assert screen.session.words == "ε = 2 · k = 5 · q = 1"


def test_an_unknown_demo_of_a_link_is_said_and_bodyfat_is_shown(open_page) -> None:
    screen = open_page("tune", demo="atlantis")
    assert screen.test.error[0].value.startswith("There is no demo of that name")  # until closed
    assert screen.session.name == "bodyfat"


def test_a_link_to_a_large_table_brings_its_method_its_weights_and_its_sliders(open_page) -> None:
    """Each waits for the table that the one before has prepared."""
    link = {"own": "1", "method": "nbrs2015", "weight": "0-2", "epsilon": "0.25", "q": "0.5"}
    screen = open_page("tune", **link)
    screen.visit("data").upload("mine.csv", csv()).wait().visit("tune").wait()
    session = screen.session
    assert (session.name, session.method) == ("mine.csv", "nbrs2015")
    assert session.levers["epsilon"] == 0.25
    assert session.levers["q"] == 0.5
    assert [v.weight for v in session.data.schema.released] == [2.0, 1.0, 1.0, 1.0]
    assert screen.errors == []
    assert [w.value for w in screen.test.warning] == []
    screen.slider("epsilon").set_value(0.3).run()
    screen.visit("risk").visit("tune")
    assert screen.session.levers["epsilon"] == pytest.approx(0.3)  # a link is taken once


def test_the_link_holds_the_setting_and_never_a_seed_or_a_file(open_page) -> None:
    screen = open_page("tune")
    screen.test.session_state["tune.0.command.box"] = True
    screen.test.run()
    screen.test.number_input(key="tune.0.seed").set_value(987654).run()
    assert screen.session.seed == 987654
    link = screen.panel["address"]
    assert link == {"setting": "epsilon*2*k*5*q*1", "demo": "bodyfat"}
    screen.visit("data").upload("private-name.csv", table()).visit("tune")
    assert screen.session.name == "private-name.csv"
    link = screen.panel["address"]
    assert set(link) == {"setting", "own"}
    assert "987654" not in str(link)


@pytest.mark.parametrize("own", ["1", "start"])
def test_the_address_of_an_own_table_waits_for_it_and_is_not_of_the_demo(open_page, own) -> None:
    screen = open_page("tune", own=own, epsilon="0.7", k="3", q="0.25")
    (warning,) = screen.test.warning
    assert warning.value.startswith("This address belongs to a table that is not here: bodyfat")
    assert screen.session.words == "ε = 2 · k = 5 · q = 1"
    assert screen.panel["address"] == {"own": own, "epsilon": "0.7", "k": "3", "q": "0.25"}
    screen.visit("data").upload("mine.csv", table()).visit("tune")
    assert screen.session.words == "ε = 0.7 · k = 3 · q = 0.25"
    assert not screen.test.warning
    screen.visit("data").upload("other.csv", table()[:-8]).visit("tune")
    assert screen.session.name == "other.csv"
    assert screen.session.words != "ε = 0.7 · k = 3 · q = 0.25"


def test_an_address_serves_the_file_that_the_app_was_started_with(open_page, tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    path.write_bytes(table())
    monkeypatch.setenv("RWN_FILE", str(path))
    first = open_page("tune")
    link = first.panel["address"]
    assert link["own"] == "start"
    again = open_page("tune", **(link | {"k": "3"}))
    assert again.session.name == "mine.csv"
    assert again.session.levers["k"] == 3
    assert [w.value for w in again.test.warning] == []
    first.visit("data").upload("loaded.csv", table()[:-8]).visit("tune")
    link = first.panel["address"]
    assert link["own"] == "1"  # a reload opens mine.csv, not this one
    again = open_page("tune", **(link | {"k": "3"}))
    assert again.session.name == "mine.csv"
    assert again.session.levers["k"] == 5
    assert len(again.test.warning) == 1


def test_weights_and_steps_travel_in_a_link_by_numbers_and_not_by_names(open_page) -> None:
    screen = open_page("tune")
    session = screen.session
    weights, steps = (("age", 2.5), ("neck", 0.0)), (("age", 5.0), ("bmi", 0.1))
    session.set(replace(session.setting, weights=weights, precision=steps))
    link = address.address(session)
    assert link["setting"].endswith("*weight*1-2.5_4-0*rounding*1-5_14-0.1")
    of_an_earlier_version = {"epsilon": "2", "weight": "1-2.5_4-0", "rounding": "1-5_14-0.1"}
    for each in (link, of_an_earlier_version):
        again = open_page("tune", **each)
        assert again.errors == []
        assert [w.value for w in again.test.warning] == []
        assert again.session.setting == session.setting
        assert again.panel["address"] == link


UNUSED = {
    "weight": ("99-2", "1-101", "1-nan", "_".join(f"{i}-0" for i in range(15))),
    "rounding": ("1-0", "age-5"),
}


def test_weights_and_steps_that_cannot_be_used_are_a_sentence(bodyfat: Session) -> None:
    for what, values in UNUSED.items():
        for value in values:
            (message,) = address.take_setting(bodyfat, {what: value})
            assert message.startswith(f"{what} of the link must be numbers of")
    assert bodyfat.words == "ε = 2 · k = 5 · q = 1"
