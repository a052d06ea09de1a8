"""The pages without a browser: widgets, two users, descriptions, addresses, messages."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
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
from rwn_core.masking import RWN, SoftRWN
from rwn_core.reporting.project import Project
from rwn_ui.data.describe import describe_anew
from rwn_ui.features.project import current_project
from rwn_ui.features.scenario_trial import measured, scenario_draft
from rwn_ui.server.environment import CLASSROOM_VARIABLE
from rwn_ui.server.messages import escaped
from rwn_ui.state import address, startup
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.results import prepared
from rwn_ui.state.session import DESCRIBED_ANEW, Session
from rwn_ui.widgets import live_sliders, slices
from tests.ui.following import CARDS_OF_TUNE, large_csv, small_csv

pytestmark = pytest.mark.usefixtures("few_people")

START = "ε = 2 · k = 5 · q = 1"


def take(session: Session, link: dict[str, str]) -> list[str]:
    parts = address._parts(link)
    return [*address.take_setting(session, parts), *address._take_levers(session, parts)]


def fresh() -> Session:
    made = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    made.clamp(prepared(made).prepared)
    return made


WRONG: list[tuple[str, str, tuple[str, ...]]] = [
    # parameter, the sentence, values that a link cannot bring
    ("epsilon", "epsilon of the link must be a number from 0 to 82;",
     ("-1", "nan", "inf", "5 km", "1e999")),
    ("k", "k of the link must be a whole number from 1 to 240;", ("0", "241", "2.5", "9" * 5000)),
    ("q", "q of the link must be a number from 0 to 1;", ("-0.1", "1.01", "half")),
    ("weight", "weight of the link must be numbers of variables with weights from 0 to 100, ",
     ("99-2", "1-101", "1-nan", "_".join(f"{i}-0" for i in range(15)))),
    ("rounding", "rounding of the link must be numbers of numeric variables", ("1-0", "age-5")),
    ("slices", "slices of the link must be numbers of variables;",
     ("1-99", "a-b", "1-1", "1", "1-2_2-3")),
    ("method", "method of the link must be one of: rwn, soft", ("swap",)),
    ("scale", "Options of the link are left as they were: scale must be one of", ("odd",)),
    ("radius_variable", "radius_variable of the link cannot be read; all options are", ("99",)),
]  # fmt: skip


@pytest.mark.usefixtures("whole_demos")
def test_a_value_that_a_link_cannot_bring_is_a_sentence_and_changes_nothing(session) -> None:
    for name, sentence, values in WRONG:
        for value in values:
            (message,) = take(session, {name: value})
            assert message.startswith(sentence), value
    assert session.words == START


SOFT = SoftRWN(balance=1.0, cap=0.2, own=True, width=0.65, q=0.9)
OF_SOFT = {"kernel": "gaussian", "balance": "1", "cap": "0.2", "width": "0.65", "q": "0.9"}
WEIGHED = rwn.Setting(
    params=RWN(epsilon=2.0, k=5),
    weights=(("age", 2.5), ("neck", 0.0)),
    precision=(("age", 5.0), ("bmi", 0.1)),
)
BY_NUMBER = {"weight": "1-2.5_4-0", "rounding": "1-5_14-0.1"}
CARRIED: list[tuple[rwn.Setting, str, dict[str, str]]] = [
    # a setting, its text in a link, and the link as an earlier version wrote it
    (WEIGHED, "epsilon*2*k*5*q*1*weight*1-2.5_4-0*rounding*1-5_14-0.1",
     {"epsilon": "2", **BY_NUMBER}),
    (rwn.Setting(params=RWN(epsilon=2.0, k=5), slices=(("age", "hip"), ("knee", "weight"))),
     "epsilon*2*k*5*q*1*slices*1-7_9-2", {"slices": "1-7_2-9"}),
    (rwn.Setting(params=RWN(epsilon=0.05, k=5, radius_variable="age")),
     "epsilon*0.05*k*5*q*1*radius_variable*1", {"epsilon": "0.05", "radius_variable": "1"}),
    (rwn.Setting(params=rwn.NBRS2015(epsilon=2.5, q=0.5)),
     "epsilon*2.5*q*0.5*method*nbrs2015", {"method": "nbrs2015", "epsilon": "2.5", "q": "0.5"}),
    (rwn.Setting(params=SOFT), "width*0.65*balance*1*q*0.9*method*soft_rwn*cap*0.2*own_donors*1",
     OF_SOFT | {"own_donors": "1"}),
    (rwn.Setting(params=rwn.AdditiveNoise(size=0.3, shape="laplace", reflected=True)),
     "size*0.3*method*additive_noise*shape*laplace*reflected*1",
     {"method": "additive_noise", "shape": "laplace", "reflected": "1", "size": "0.3"}),
    (rwn.Setting(params=rwn.METHODS["record_swapping"](variables=("chest", "hip"))),
     "share*0.5*method*record_swapping*variables*5-7",
     {"method": "record_swapping", "variables": "5-7"}),
]  # fmt: skip


@pytest.mark.usefixtures("whole_demos")
@pytest.mark.parametrize(("setting", "text", "earlier"), CARRIED)
def test_a_link_brings_a_setting_back_and_names_no_variable(session, setting, text, earlier):
    set_setting(session, setting.resolved(session.data))
    link = address.address(session)
    assert link == {"demo": "bodyfat", "setting": text}
    for each in (link, earlier):
        other = fresh()
        assert take(other, each) == []
        assert other.setting == session.setting


def test_a_weight_without_use_is_in_no_link_and_a_project_brings_a_soft_setting_back(session):
    set_setting(session, replace(WEIGHED, params=rwn.METHODS["pram"]()).resolved(session.data))
    assert "weight" not in address._parts(address.address(session))
    set_setting(session, rwn.Setting(params=SOFT).resolved(session.data))
    again = Project.from_toml(current_project(session).to_toml())
    assert again.present.setting == session.setting
    # an even kernel is RWN as published, however a link writes it
    assert take(session, {"method": "rwn", "kernel": "even", "k": "7"}) == []
    assert (session.method, session.levers["k"]) == ("rwn", 7)


@pytest.mark.usefixtures("whole_demos")
def test_a_table_with_groups_keeps_its_own_as_a_choice() -> None:
    grouped = rwn.load_demo("randhie").take(np.arange(200))
    session = Session(name="some", demo="some", data=grouped)
    (health,) = grouped.schema.slices
    assert slices.choices(session)[slices.TABLE] == (health,)
    assert "slices" not in address.address(session)["setting"]
    set_setting(session, replace(session.setting, slices=()))
    assert slices.choices(session)[slices.TABLE] == (health,)
    for link in (address.address(session), {"slices": "_"}):
        other = Session(name="some", demo="some", data=grouped)
        assert take(other, link) == []
        assert other.slices == ()


@pytest.mark.usefixtures("whole_demos")
def test_what_a_page_says_of_a_wrong_link_and_lives_on(open_page: Any) -> None:
    screen = open_page("tune", epsilon="nan", k="241", q="0.5")
    assert [each.partition(" of ")[0] for each in screen.warnings] == ["epsilon", "k"]
    assert screen.session.words == "ε = 2 · k = 5 · q = 0.5"
    assert screen.errors == []
    assert screen.panel is not None
    screen = open_page("tune", setting="method*soft_rwn*chain*1")
    assert "no longer chained near in all" in screen.warnings[0]
    assert screen.session.words == START
    screen = open_page("tune", demo="atlantis", epsilon="1.5", slices="1-2_" * 6_000)
    assert screen.warnings == ["The link is too long; the page opens without its settings."]
    assert screen.errors[0].startswith("There is no demo of that name")  # until closed
    assert (screen.session.name, screen.session.words) == ("bodyfat", START)


def test_a_link_to_a_large_table_brings_its_method_its_weights_and_its_sliders(open_page) -> None:
    """Each waits for the table that the one before has prepared."""
    link = {"own": "1", "method": "nbrs2015", "weight": "0-2", "epsilon": "0.25", "q": "0.5"}
    screen = open_page("tune", **link)
    screen.visit("data").upload("mine.csv", large_csv()).wait().visit("tune").wait()
    session = screen.session
    assert (session.name, session.method) == ("mine.csv", "nbrs2015")
    assert session.levers == {"epsilon": 0.25, "q": 0.5}
    assert [v.weight for v in session.data.schema.released] == [2.0, 1.0, 1.0, 1.0]
    assert (screen.errors, screen.warnings) == ([], [])
    screen.move(epsilon=0.3)
    screen.visit("risk").visit("tune")
    assert screen.session.levers["epsilon"] == pytest.approx(0.3), "a link is taken once"


@pytest.mark.usefixtures("whole_demos")
def test_the_address_of_an_own_table_waits_for_it_and_is_not_of_the_demo(open_page) -> None:
    screen = open_page("tune", own="1", epsilon="0.7", k="3", q="0.25")
    (warning,) = screen.warnings
    assert warning.startswith("This address belongs to a table that is not here: bodyfat")
    assert screen.session.words == START
    assert screen.panel["address"] == {"own": "1", "epsilon": "0.7", "k": "3", "q": "0.25"}
    screen.visit("data").upload("private-name.csv", small_csv()).visit("tune")
    assert screen.session.words == "ε = 0.7 · k = 3 · q = 0.25"
    assert screen.warnings == []
    # its own link has neither a seed nor the name of the file
    screen.test.session_state["tune.1.command.box"] = True
    screen.test.run()
    screen.test.number_input(key="tune.1.seed").set_value(987654).run()
    assert screen.session.seed == 987654
    assert screen.panel["address"] == {"own": "1", "setting": "epsilon*0.7*k*3*q*0.25"}
    screen.visit("data").upload("other.csv", small_csv()[:-8]).visit("tune")
    assert screen.session.name == "other.csv"
    assert screen.session.words != "ε = 0.7 · k = 3 · q = 0.25"


def test_an_address_serves_the_file_that_the_app_was_started_with(open_page, tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    path.write_bytes(small_csv())
    monkeypatch.setenv("RWN_FILE", str(path))
    first = open_page("tune")
    link = first.panel["address"]
    assert link["own"] == "start"
    again = open_page("tune", **(link | {"k": "3"}))
    assert (again.session.name, again.session.levers["k"], again.warnings) == ("mine.csv", 3, [])
    first.visit("data").upload("loaded.csv", small_csv()[:-8]).visit("tune")
    link = first.panel["address"]
    assert link["own"] == "1"  # a reload opens mine.csv, not this one
    again = open_page("tune", **(link | {"k": "3"}))
    assert (again.session.name, again.session.levers["k"]) == ("mine.csv", 5)
    assert len(again.warnings) == 1


PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
SECRET = "SENTINEL7731"


def test_every_page_opens_by_its_address_and_shows_one_setting(open_page) -> None:
    screen = open_page("risk", demo="bodyfat_raw", epsilon="1.5", k="7", q="0.5")
    assert screen.session.name == "bodyfat_raw"
    assert screen.session.words == "ε = 1.5 · k = 7 · q = 0.5"
    for page in PAGES:
        assert screen.visit(page).errors == []


def test_sliders_and_the_session_follow_each_other(open_page) -> None:
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
    offered = live_sliders.controls(screen.session, prepared(screen.session))["levers"]["presets"]
    assert offered == [], "no strength that was not judged is offered"
    before = dict(screen.session.levers)
    screen.edit({"preset": "Strong"})
    assert screen.session.levers == before


def radius(screen) -> dict[str, Any]:
    """The range and the position of the slider of the radius."""
    return {part: screen.sliders["epsilon"][part] for part in ("low", "high", "step", "value")}


@pytest.mark.usefixtures("whole_demos")
def test_weights_of_0_are_a_sentence_and_change_nothing(open_page) -> None:
    screen = open_page("tune")
    good = screen.panel
    screen.weigh(**dict.fromkeys(screen.session.data.names, 0.0))
    assert screen.errors == [
        "The weights are 0 for every variable; give at least one a positive weight."
    ]
    assert screen.panel["cards"] == good["cards"], "the last good panel stays"
    assert screen.test.button(key="tune.0.keep"), "and so do the controls below"


@pytest.mark.usefixtures("whole_demos")
def test_other_weights_leave_the_range_of_a_slider(open_page) -> None:
    """A position that was left can be found again (finding Y7)."""
    screen = open_page("tune")
    good = screen.panel
    before = radius(screen)
    assert (before["value"] / before["step"]).is_integer()
    names = screen.session.data.names
    screen.weigh(**dict.fromkeys(names, 2.0))
    assert screen.errors == []
    assert screen.panel["cards"] != good["cards"]
    assert radius(screen) == before
    assert screen.session.words == "ε = 2 · k = 5 · q = 1 · own weights of 15 variables"
    screen.weigh(**dict.fromkeys(names, 0.1))
    assert radius(screen) == before, "end, step and position"


@pytest.mark.usefixtures("whole_demos")
def test_a_value_beyond_the_end_of_a_slider_can_be_typed_and_stays(open_page) -> None:
    screen = open_page("tune")
    before = radius(screen)
    beyond = 2 * before["high"]
    screen.move(epsilon=beyond, k=200)
    assert radius(screen) == before | {"value": beyond}
    assert (screen.sliders["k"]["high"], screen.sliders["k"]["value"]) == (100, 200)
    assert f"ε = {beyond:g} · k = 200 ·" in screen.session.words
    screen.move(epsilon=1e9, k=10**6)
    most = screen.session.data.n - 1
    assert screen.sliders["k"]["value"] == most
    assert screen.sliders["epsilon"]["value"] == screen.sliders["epsilon"]["most"]
    for page in ("compare", "utility", "paper", "tune"):  # their sliders leave it where it is
        screen.visit(page)
        assert screen.errors == []
        assert screen.session.levers["k"] == most


def test_a_description_that_masks_nothing_or_half_a_group_is_a_sentence(open_page, monkeypatch):
    editor = st.data_editor
    screen = open_page("tune")
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
    assert len(screen.visit("tune").panel["cards"]) == CARDS_OF_TUNE


def test_the_use_is_shown_changed_and_asked_for_on_the_data_page(open_page) -> None:
    screen = open_page("data")
    area = screen.test.text_area(key="data.0.regressions")
    assert area.value == "siri ~ bmi + neck + chest + abdomen + hip"
    assert "the relations of siri" in screen.words("markdown")
    area.set_value("weight").run()
    (refused,) = screen.errors
    assert refused.startswith("The formula has no ")
    screen.test.text_area(key="data.0.regressions").set_value("weight ~ height + square(age)").run()
    assert screen.errors == []
    assert [each.line for each in screen.session.data.schema.use.regressions] == [
        "weight ~ height + square(age)"
    ]
    screen.visit("tune")
    assert "Regression of weight" in str(screen.panel["tables"])
    screen.visit("utility")
    assert screen.test.button(key="prediction.run").label.startswith("Predict weight")
    # a table of which nothing is confidential: the page asks, and the answer is a role
    screen.visit("data").upload("long.csv", small_csv(300))
    screen.press("Leave them open")
    field = screen.test.multiselect(key=f"data.{screen.session.grid_version}.confidential")
    assert "nothing says what the file is for" in screen.words("warning")
    field.set_value(field.options[:1]).run()
    assert screen.errors == []
    roles = {v.role for v in screen.session.data.schema.released}
    assert rwn.Role.CONFIDENTIAL in roles
    # the preview holds at most a hundred records, numbered from one
    shown = next(each.value for each in screen.test.dataframe if each.value.index.name == "record")
    np.testing.assert_array_equal(shown.index, np.arange(1, 101))


def test_two_users_never_see_each_other(open_page) -> None:
    mine, theirs = open_page("data"), open_page("data")
    words = {"MINE7731": mine, "THEIRS42": theirs}
    for word, screen in words.items():
        screen.upload("same.csv", small_csv(mark=word)).visit("tune")
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
    before = session.scenarios["A"] = measured(session.data, scenario_draft(session, "A"))
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
    kept = session.scenarios["A"]
    limits = session.policy.measures
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


def test_a_refusal_and_a_reason_are_shown_as_they_are_and_logged_nowhere(caplog) -> None:
    assert [each.value for each in failing("refusal").error] == ["q must be a number from 0 to 1."]
    page = failing("reason")
    assert not page.error
    assert [info.value for info in page.info] == ["There is no holdout."]
    assert not [record for record in caplog.records if record.name == "rwn"]


def test_a_failure_is_shown_by_its_number_without_a_value(caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        page = failing("failure")
    (shown,) = [error.value for error in page.error]
    (number,) = re.findall(r"\berror ([0-9a-f]{8})\b", shown)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "rwn"]
    assert all(part in line for part in (number, "ValueError", "script:"))
    everything = shown + caplog.text + json.dumps([r.__dict__ for r in caplog.records], default=str)
    assert SECRET not in everything


def test_a_page_that_waits_for_what_another_process_compiles_says_so(monkeypatch) -> None:
    said: list[str] = []

    @contextmanager
    def spinner(words: str) -> Iterator[None]:
        said.append(words)
        yield

    monkeypatch.setattr(startup.st, "spinner", spinner)
    monkeypatch.setattr(startup, "wait_for_others", said.append)
    monkeypatch.setattr(startup, "is_ready", lambda kernels: True)
    startup._wait_for_kernels()
    assert said == []
    monkeypatch.setattr(startup, "is_ready", lambda kernels: False)
    startup._wait_for_kernels()
    assert said == ["The program is compiled for this machine, once", startup.DRAWS]
