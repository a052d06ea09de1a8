"""Tables that are made ready in the background, and those of which some records are shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.neighbors import find
from rwn_core.parallel.threads import Cancelled
from rwn_ui.background.task import Task
from rwn_ui.features import analysis_plan
from rwn_ui.state import change_table, results
from rwn_ui.state.results import SHOWN, PreparedTable, full_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work
from rwn_ui.utility.results import _is_expected
from tests.ui.following import shown
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


def ended(work: Task) -> None:
    work.wait(10)
    assert not work.running


# ---------------------------------------------------------------- in the background


def test_the_pages_stay_in_use_until_the_table_is_ready(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("large.csv", csv())
    assert screen.session.name == "bodyfat"
    assert "pages show bodyfat until then" in screen.words("caption")
    assert screen.test.button(key="arrival.cancel")
    screen.visit("tune")
    screen.move(k=9)
    assert "k = 9" in screen.panel["stamp"]
    gate.open.set()
    screen.wait()
    assert screen.errors == []
    assert (screen.session.name, screen.session.data.n) == ("large.csv", RECORDS)
    assert len(screen.panel["cards"]) == 9
    assert screen.sliders["k"]["value"] == screen.session.levers["k"] == 5
    # other weights are prepared too
    before = screen.session.data.schema
    gate.open.clear()
    screen.weigh(x=2.0)
    work = screen.work.preparation
    screen.test.run()
    assert screen.work.preparation is work, "it is not begun anew"
    assert screen.session.data.schema == before
    gate.open.set()
    screen.wait()
    assert screen.session.data.schema.variable("x").weight == 2.0
    assert screen.errors == []
    screen.edit({"undo": True})
    assert screen.session.data.schema == before, "its neighbors are still there"


def test_a_preparation_is_cancelled_by_its_button_another_table_or_the_end(open_page, gate: Gate):
    screen = open_page("data").upload("large.csv", csv())
    first = screen.work.preparation
    screen.test.button(key="arrival.cancel").click().run()
    ended(first)
    assert (screen.work.preparation, screen.session.name) == (None, "bodyfat")
    assert screen.errors == []
    assert "the pages show bodyfat" in screen.test.toast[0].value
    for number in (1, 2):
        screen.upload(f"other {number}.csv", csv(seed=number))
        second = screen.work.preparation
        assert second is not first
        first = second
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    ended(second)
    assert (screen.work.preparation, screen.session.name) == (None, "pima")
    assert len(screen.visit("tune").panel["cards"]) == 9
    work = Work(preparation=Task(table(), "large", gate.prepare, lambda result: None))
    work.close()
    ended(work.preparation)
    assert gate.ended == ["cancelled"] * 4


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


def test_the_first_table_of_all_is_waited_for(
    open_page: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(csv())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune", k="7")
    assert screen.panel is None
    assert not screen.sliders
    assert screen.work.preparation is None  # its form comes first
    screen.visit("data").press("Leave them open")
    assert screen.test.selectbox(key="data.demo")
    assert not screen.test.dataframe
    gate.open.set()
    screen.visit("tune").wait()
    assert (screen.session.name, screen.session.levers["k"]) == ("mine.csv", 7)
    assert len(screen.panel["cards"]) == 9


# ---------------------------------------------------------------- some of its records

SOME = 2100
PAGES = ("data", "tune", "utility", "risk", "find", "compare")


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of more than 2,100 records are shown by 2,100 of them."""
    monkeypatch.setattr(results, "LIVE_RECORDS", SOME)


def same_release(current: Any, release: rwn.Release, records: np.ndarray) -> None:
    np.testing.assert_array_equal(current.masked.donors, release.donors[records])
    expected = release.masked.frame.take(records).reset_index(drop=True)
    pd.testing.assert_frame_equal(current.masked.masked.frame, expected)


@pytest.mark.parametrize("beyond", [0.5, 1.0, 1.3])
def test_a_look_is_the_release_of_its_seed_wherever_the_neighbors_come_from(monkeypatch, beyond):
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    data = table()
    ready = PreparedTable.prepare(data)
    params = rwn.RWN(epsilon=beyond * ready.prepared.about.stored, k=5, q=0.7)
    assert ready.prepared.with_levers(k=5, epsilon=params.epsilon).is_quick is (beyond <= 1)
    current = ready.release(params, 3)
    same_release(current, rwn.mask(data, params, seed=3), np.arange(data.n))
    assert isinstance(current.readings["neighborhood_size"], rwn.Reading)


@pytest.mark.parametrize("beyond", [0.5, 1.3])
def test_some_records_look_as_in_the_release_of_all(some, beyond: float) -> None:
    data = table()
    ready = PreparedTable.prepare(data)
    records = ready.prepared.records
    assert (len(records), ready.prepared.masks_all_records) == (SOME, False)
    params = rwn.RWN(epsilon=beyond * ready.prepared.about.epsilon, k=5, q=0.7)
    release = rwn.mask(data, params, seed=3)
    current = ready.release(params, 3)
    same_release(current, release, records)
    plain = rwn.Comparison(original=data.take(records), masked=current.masked.masked)
    for key in SHOWN:
        reading = current.readings[key]
        if rwn.MEASURES[key].side == "utility":  # the same records, before and after
            assert reading.value == rwn.MEASURES[key].read(plain).value
    sizes = current.readings["neighborhood_size"].detail.sizes
    np.testing.assert_array_equal(sizes, release.law.neighborhoods.sizes[records])
    # they keep their numbers in the file
    for key in ("cooks_distance", "mahalanobis"):
        detail = current.readings[key].detail
        np.testing.assert_array_equal(detail.records_original, records)
        assert detail.argmax_original == records[int(np.argmax(detail.original))]
    # an intruder holds all records, whichever are shown
    shown = current.readings["distance_linkage"]
    full = rwn.audit(data, release, measures=["distance_linkage"])["distance_linkage"]
    np.testing.assert_allclose(shown.detail.score, full.detail.score[records])
    assert (shown.baseline, shown.detail.of, shown.detail.sampled) == (1 / data.n, data.n, True)


def test_what_needs_every_record_says_so_and_nothing_fails(some) -> None:
    comparison = PreparedTable.prepare(table()).release(rwn.RWN(epsilon=0.1, k=5), 3).comparison
    found = {key: each.read(comparison) for key, each in rwn.MEASURES.items()}
    risks = {key for key, each in rwn.MEASURES.items() if each.side == "risk"}
    read = {key for key in risks if isinstance(found[key], rwn.Reading)}
    assert read == {
        *("cells_changed", "neighborhood_size", "distance_linkage"),
        *("cooks_distance", "mahalanobis"),
    }
    for key in risks - read - {"certified_linkage"}:  # which wants a soft kernel
        assert "these are 2,100 random ones of 2,600" in str(found[key])


def test_a_page_says_that_some_records_are_shown_and_no_page_fails(some, open_page) -> None:
    screen = open_page("data").upload("large.csv", csv()).wait()
    for page in PAGES:
        screen.visit(page)
        assert screen.errors == [], page
        noted = "random sample of 2,100 of 2,600 records" in screen.words("caption")
        assert noted is (page == "tune"), page
    session: Session = screen.session
    assert _is_expected(session)
    assert full_release(session).masked.masked.n == session.data.n
    assert len(screen.panel["cards"]) == 9


def test_what_some_records_show_is_not_held_against_policy_or_plan(some) -> None:
    """Analyses are not judged there; “0 of 0, all within tolerance” would say that they pass."""
    session = Session(name="large", demo=None, data=table())
    session.clamp(prepared(session).prepared)
    session.analysis_plan = analysis_plan.suggested(session.data)
    tiles = {tile["label"]: tile for tile in shown(session)["tiles"]}
    assert "Analysis plan" not in tiles
    slope = tiles["Largest |Δ slope| / SE"]
    assert (slope["state"], slope["limit"]) == (None, "SE of the shown records")
    assert "full table has smaller standard errors" in slope["help"]
