"""The pages without a browser: widgets and session, two users, a class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from rwn_cli.main import USAGE, run
from rwn_ui.server.environment import CLASSROOM_VARIABLE
from rwn_ui.state.results import prepared
from tests.ui.small_file import table

PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
SECRET = "SENTINEL7731"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_by_its_address(open_page, page: str) -> None:
    screen = open_page(page, demo="bodyfat_raw", epsilon="1.5", k="7", q="0.5")
    assert screen.errors == []
    assert screen.session.name == "bodyfat_raw"
    assert screen.session.words == "ε = 1.5 · k = 7 · q = 0.5"


@pytest.mark.slow
def test_a_large_demo_runs(open_page) -> None:
    screen = open_page("tune", demo="randhie").wait()
    assert screen.errors == []
    assert len(screen.panel["cards"]) == 9
    assert screen.visit("data").errors == []


def test_sliders_write_the_session_and_the_session_the_sliders(open_page) -> None:
    screen = open_page("tune")
    for what, value in (("epsilon", 3.1), ("k", 11), ("q", 0.35)):
        screen.slider(what).set_value(value).run()
        assert screen.session.levers[what] == value
    assert screen.panel["stamp"].startswith("ε = 3.1 · k = 11 · q = 0.35")
    screen.session.levers["k"] = 12  # as from a link
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


def test_all_weights_zero_is_a_sentence_and_the_last_good_panel_stays(
    open_page,
) -> None:
    screen = open_page("tune")
    good = screen.panel
    screen.weigh(**dict.fromkeys(screen.session.data.names, 0.0))
    assert screen.errors == [
        "The weights are 0 for every variable; give at least one a positive weight."
    ]
    assert screen.panel["cards"] == good["cards"]
    assert screen.test.button(key="tune.0.pin.A")  # the controls below are still there
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


def test_a_description_that_masks_nothing_or_half_a_group_is_a_sentence(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert screen.test.button(key="prediction.run").label.startswith("Predict weight")


def test_the_preview_holds_at_most_a_hundred_records_numbered_from_one(open_page) -> None:
    screen = open_page("data").upload("long.csv", table(300))
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
def test_a_class_sees_large_type_and_can_open_no_file(
    open_page, monkeypatch: pytest.MonkeyPatch, in_class: bool
) -> None:
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


def test_a_file_of_the_command_line_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["app", str(tmp_path / "t.csv"), "--classroom", "--no-browser"]) == USAGE
    assert "leave the file out" in capsys.readouterr().err
