"""The address of a page: what it brings, what it never names, and what is said of a wrong one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.masking import RWN, SoftRWN
from rwn_core.reporting.project import Project
from rwn_ui.features.project import current_project
from rwn_ui.state import address
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session
from rwn_ui.widgets import slices
from tests.ui.large_table import csv
from tests.ui.small_file import table

START = "ε = 2 · k = 5 · q = 1"


def take(session: Session, link: dict[str, str]) -> list[str]:
    """Go over to the setting of a link; what is refused."""
    parts = address._parts(link)
    return [*address.take_setting(session, parts), *address._take_levers(session, parts)]


def fresh() -> Session:
    """Another user with the same table."""
    made = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    made.clamp(prepared(made).prepared)
    return made


WRONG: list[tuple[str, str, tuple[str, ...]]] = [
    # parameter, the sentence, values that a link cannot bring
    ("epsilon", "epsilon of the link must be a number from 0 to 8.2;",
     ("-1", "nan", "inf", "5 km", "1e999")),
    ("k", "k of the link must be a whole number from 1 to 100;", ("0", "241", "2.5", "9" * 5000)),
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


@pytest.mark.parametrize(("setting", "text", "earlier"), CARRIED)
def test_a_link_brings_a_setting_back_and_names_no_variable(
    session: Session, setting: rwn.Setting, text: str, earlier: dict[str, str]
) -> None:
    set_setting(session, setting.resolved(session.data))
    link = address.address(session)
    assert link == {"demo": "bodyfat", "setting": text}
    for each in (link, earlier):
        other = fresh()
        assert take(other, each) == []
        assert other.setting == session.setting


def test_a_weight_is_in_no_link_of_a_method_that_has_no_use_for_it(session: Session) -> None:
    set_setting(session, replace(WEIGHED, params=rwn.METHODS["pram"]()).resolved(session.data))
    assert "weight" not in address._parts(address.address(session))


def test_a_project_brings_a_soft_setting_back(session: Session) -> None:
    set_setting(session, rwn.Setting(params=SOFT).resolved(session.data))
    again = Project.from_toml(current_project(session).to_toml())
    assert again.present.setting == session.setting
    # an even kernel is RWN as published, however a link writes it
    assert take(session, {"method": "rwn", "kernel": "even", "k": "7"}) == []
    assert (session.method, session.levers["k"]) == ("rwn", 7)


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


def test_what_a_page_says_of_a_wrong_link_and_lives_on(open_page: Any) -> None:
    screen = open_page("tune", epsilon="nan", k="241", q="0.5")
    assert [each.partition(" of ")[0] for each in screen.warnings] == ["epsilon", "k"]
    assert screen.session.words == "ε = 2 · k = 5 · q = 0.5"
    assert screen.errors == []
    assert screen.panel is not None
    screen = open_page("tune", demo="atlantis", epsilon="1.5", slices="1-2_" * 6_000)
    assert screen.warnings == ["The link is too long; the page opens without its settings."]
    assert screen.errors[0].startswith("There is no demo of that name")  # until closed
    assert (screen.session.name, screen.session.words) == ("bodyfat", START)


def test_a_link_to_a_large_table_brings_its_method_its_weights_and_its_sliders(open_page) -> None:
    """Each waits for the table that the one before has prepared."""
    link = {"own": "1", "method": "nbrs2015", "weight": "0-2", "epsilon": "0.25", "q": "0.5"}
    screen = open_page("tune", **link)
    screen.visit("data").upload("mine.csv", csv()).wait().visit("tune").wait()
    session = screen.session
    assert (session.name, session.method) == ("mine.csv", "nbrs2015")
    assert session.levers == {"epsilon": 0.25, "q": 0.5}
    assert [v.weight for v in session.data.schema.released] == [2.0, 1.0, 1.0, 1.0]
    assert (screen.errors, screen.warnings) == ([], [])
    screen.move(epsilon=0.3)
    screen.visit("risk").visit("tune")
    assert screen.session.levers["epsilon"] == pytest.approx(0.3), "a link is taken once"


def test_the_address_of_an_own_table_waits_for_it_and_is_not_of_the_demo(open_page) -> None:
    screen = open_page("tune", own="1", epsilon="0.7", k="3", q="0.25")
    (warning,) = screen.warnings
    assert warning.startswith("This address belongs to a table that is not here: bodyfat")
    assert screen.session.words == START
    assert screen.panel["address"] == {"own": "1", "epsilon": "0.7", "k": "3", "q": "0.25"}
    screen.visit("data").upload("private-name.csv", table()).visit("tune")
    assert screen.session.words == "ε = 0.7 · k = 3 · q = 0.25"
    assert screen.warnings == []
    # its own link has neither a seed nor the name of the file
    screen.test.session_state["tune.1.command.box"] = True
    screen.test.run()
    screen.test.number_input(key="tune.1.seed").set_value(987654).run()
    assert screen.session.seed == 987654
    assert screen.panel["address"] == {"own": "1", "setting": "epsilon*0.7*k*3*q*0.25"}
    screen.visit("data").upload("other.csv", table()[:-8]).visit("tune")
    assert screen.session.name == "other.csv"
    assert screen.session.words != "ε = 0.7 · k = 3 · q = 0.25"


def test_an_address_serves_the_file_that_the_app_was_started_with(
    open_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(table())
    monkeypatch.setenv("RWN_FILE", str(path))
    first = open_page("tune")
    link = first.panel["address"]
    assert link["own"] == "start"
    again = open_page("tune", **(link | {"k": "3"}))
    assert (again.session.name, again.session.levers["k"], again.warnings) == ("mine.csv", 3, [])
    first.visit("data").upload("loaded.csv", table()[:-8]).visit("tune")
    link = first.panel["address"]
    assert link["own"] == "1"  # a reload opens mine.csv, not this one
    again = open_page("tune", **(link | {"k": "3"}))
    assert (again.session.name, again.session.levers["k"]) == ("mine.csv", 5)
    assert len(again.warnings) == 1
