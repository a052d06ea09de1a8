"""Links: good values are taken, bad ones are a sentence, and no address holds a seed or a file."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_ui.state import address
from rwn_ui.state.results import PreparedTable
from rwn_ui.state.session import Session
from tests.ui.large_table import csv
from tests.ui.small_file import table


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
    assert screen.test.toast[0].value.startswith("There is no demo of that name")
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
    screen.test.number_input(key="tune.0.seed").set_value(987654).run()
    assert screen.session.seed == 987654
    link = screen.panel["address"]
    assert set(link) == {"epsilon", "k", "q", "demo"}
    screen.visit("data").upload("private-name.csv", table()).visit("tune")
    assert screen.session.name == "private-name.csv"
    link = screen.panel["address"]
    assert set(link) == {"epsilon", "k", "q", "own"}
    assert "987654" not in str(link)


@pytest.mark.parametrize("own", ["1", "start"])
def test_the_address_of_an_own_table_waits_for_it_and_is_not_of_the_demo(
    open_page, own: str
) -> None:
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


def test_an_address_serves_the_file_that_the_app_was_started_with(
    open_page, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    session.data = session.data.with_weights({"age": 2.5, "neck": 0.0})
    session.precision = (("age", 5.0), ("bmi", 0.1))
    link = address.address(session)
    assert (link["weight"], link["rounding"]) == ("1-2.5_4-0", "1-5_14-0.1")
    again = open_page("tune", **link)
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
            (message,) = address.take_numbers(bodyfat, {what: value})
            assert message.startswith(f"{what} of the link must be numbers of")
    assert bodyfat.words == "ε = 2 · k = 5 · q = 1"
