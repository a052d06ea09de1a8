"""Tables that are made ready in the background, and those of which some records are shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

import rwn_core as rwn
from rwn_core.parallel.threads import Cancelled
from rwn_ui.background.task import Task
from rwn_ui.state import change_table
from rwn_ui.state.results import PreparedTable
from rwn_ui.state.work import Work
from tests.ui.large_table import RECORDS, csv, table

SECRET = "SENTINEL7731"


class Gate:
    """Holds preparations until it is opened; says how they ended."""

    def __init__(self) -> None:
        self.open, self.ended = threading.Event(), []

    def prepare(self, data, progress=None, cancel=None, **more) -> PreparedTable:
        if progress is None:  # at once, in the page
            return PreparedTable.prepare(data, **more)
        progress(0.25)
        while not self.open.wait(0.005):
            if cancel.is_set():
                self.ended.append("cancelled")
                raise Cancelled("The work was cancelled.")
        return PreparedTable.prepare(data, progress, cancel, **more)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr(change_table, "PreparedTable", made)
    yield made
    made.open.set()


def preparing(data: rwn.Microdata) -> Task:
    prepare = change_table.PreparedTable.prepare
    return Task(data, "large", prepare, lambda result: None)


def ended(work: Task) -> None:
    work.wait(10)
    assert not work.running


# ---------------------------------------------------------------- in the background


def test_the_pages_stay_in_use_until_the_table_is_ready(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("large.csv", csv())
    assert screen.session.name == "bodyfat"
    assert any("pages show bodyfat until then" in each.value for each in screen.test.caption)
    assert screen.test.button(key="arrival.cancel")
    screen.visit("tune")
    screen.slider("k").set_value(9).run()
    assert "k = 9" in screen.panel["stamp"]
    gate.open.set()
    screen.wait()
    assert screen.errors == []
    assert (screen.session.name, screen.session.data.n) == ("large.csv", RECORDS)
    assert len(screen.panel["cards"]) == 9
    assert screen.slider("k").value == screen.session.levers["k"] == 5


def test_cancel_leaves_the_old_table_and_no_thread(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("large.csv", csv())
    work = screen.work.preparation
    screen.test.button(key="arrival.cancel").click().run()
    ended(work)
    assert gate.ended == ["cancelled"]
    assert (screen.work.preparation, screen.session.name) == (None, "bodyfat")
    assert screen.errors == []
    assert "the pages show bodyfat" in screen.test.toast[0].value
    assert len(screen.visit("tune").panel["cards"]) == 9


def test_another_table_takes_the_place_of_the_one_that_is_prepared(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("large.csv", csv())
    first = screen.work.preparation
    screen.upload("other.csv", csv(seed=1))
    ended(first)
    second = screen.work.preparation
    assert second is not first
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    ended(second)
    assert (screen.work.preparation, screen.session.name) == (None, "pima")
    assert gate.ended == ["cancelled"] * 2


@pytest.mark.parametrize("kind", ["refusal", "failure"])
def test_a_table_that_cannot_be_made_ready_is_a_sentence(open_page, monkeypatch, caplog, kind):
    def prepare(data, progress=None, cancel=None, **method):
        if kind == "refusal":
            raise rwn.ParameterError("Searching this table needs about 3 GB of memory.")
        raise MemoryError(f"{SECRET} of record 3")

    broken = type("Broken", (), {"prepare": staticmethod(prepare)})
    monkeypatch.setattr(change_table, "PreparedTable", broken)
    with caplog.at_level(logging.DEBUG):
        screen = open_page("data").upload("large.csv", csv()).wait()
    (sentence,) = screen.errors
    assert sentence.startswith("large.csv: ")
    assert ("needs about 3 GB" in sentence) is (kind == "refusal")
    assert ("(error " in sentence) is (kind == "failure")
    assert SECRET not in screen.everything() + caplog.text
    assert screen.session.name == "bodyfat"
    assert len(screen.visit("tune").panel["cards"]) == 9
    assert screen.errors == [sentence]
    screen.test.button(key="arrival.close").click().run()
    assert screen.errors == []


def test_the_first_table_of_all_is_waited_for(open_page, gate: Gate, monkeypatch, tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(csv())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune", k="7")
    assert screen.panel is None
    assert not screen.live_sliders()
    assert screen.work.preparation is None  # its form comes first
    screen.visit("data").press("Leave them open")
    assert screen.test.selectbox(key="data.demo")
    assert not screen.test.dataframe
    gate.open.set()
    screen.visit("tune").wait()
    assert screen.session.name == "mine.csv"
    assert screen.session.levers["k"] == 7
    assert len(screen.panel["cards"]) == 9


def test_other_weights_of_a_large_table_are_prepared_too(open_page, gate: Gate) -> None:
    gate.open.set()
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    before = screen.session.data.schema
    gate.open.clear()
    screen.weigh(x=2.0)
    work = screen.work.preparation
    screen.test.run()
    assert screen.work.preparation is work  # it is not begun anew
    assert screen.session.data.schema == before
    gate.open.set()
    screen.wait()
    assert screen.session.data.schema.variable("x").weight == 2.0
    assert screen.errors == []
    screen.edit({"undo": True})
    assert screen.session.data.schema == before  # its neighbors are still there


def test_a_preparation_ends_with_the_session(gate: Gate) -> None:
    work = Work(preparation=preparing(table()))
    work.close()
    ended(work.preparation)
    assert gate.ended == ["cancelled"]
