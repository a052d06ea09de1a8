"""Tables that are made ready in the background, and those of which some records are shown."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.masking import Rounded
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import preview
from rwn_core.neighbors.metric import coordinates
from rwn_core.parallel.threads import Cancelled
from rwn_ui.background import end_with_session, preparation
from rwn_ui.background.preparation import Preparation
from rwn_ui.features import analysis_plan
from rwn_ui.state import change_table
from rwn_ui.state.prepared_table import SHOWN, PreparedTable
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view
from rwn_ui.utility.results import _not_expected

SECRET = "SENTINEL7731"
RECORDS = 2600
PAGES = ("data", "tune", "utility", "risk", "sweep", "compare")


def frame(n: int = RECORDS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n), "g": np.arange(n) % 3}
    )


def table(n: int = RECORDS, seed: int = 0) -> rwn.Microdata:
    question = rwn.Question(response="y", predictors=("x", "z"))
    data = rwn.Microdata.from_frame(frame(n, seed))
    return data.with_schema(rwn.Schema(variables=data.schema.variables, question=question))


def csv(n: int = RECORDS, seed: int = 0) -> bytes:
    return frame(n, seed).to_csv(index=False).encode()


class Gate:
    """Holds preparations until it is opened; says how they ended."""

    def __init__(self) -> None:
        self.open, self.ended = threading.Event(), []

    def of(self, data, progress=None, cancel=None) -> PreparedTable:
        if progress is None:  # at once, in the page
            return PreparedTable.of(data)
        progress(0.25)
        while not self.open.wait(0.005):
            if cancel.is_set():
                self.ended.append("cancelled")
                raise Cancelled("The work was cancelled.")
        return PreparedTable.of(data, progress, cancel)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr(change_table, "PreparedTable", made)
    yield made
    made.open.set()


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of more than 2,300 records are shown by 2,100 of them."""
    monkeypatch.setattr(preview, "LARGEST_WHOLE", 2300)
    monkeypatch.setattr(preview, "SHOWN", 2100)


def preparing(data: rwn.Microdata) -> Preparation:
    prepare = change_table.PreparedTable.of
    return Preparation.start(data, "large", prepare=prepare, then=lambda result: None)


def ended(work: Preparation) -> None:
    work._thread.join(timeout=10)
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


def test_a_small_table_is_there_at_once(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("small.csv", csv(2000))
    assert screen.work.preparation is None
    assert screen.session.name == "small.csv"


def test_a_small_table_needs_no_compiler() -> None:
    """It would cost seconds at the first visit."""
    program = (
        "import sys, rwn_core as rwn; from rwn_ui.state.change_table import load;"
        "from rwn_ui.state.results import current_release, prepared;"
        "from rwn_ui.state.session import Session; from rwn_ui.state.work import own_work;"
        "s = Session(name='a', demo=None, data=rwn.load_demo('bodyfat'));"
        "s.settle(prepared(s).prepared); current_release(s);"
        "load(s, rwn.load_demo('pima'), name='b', demo=None); current_release(s);"
        "assert s.name == 'b' and own_work().preparation is None; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stderr=subprocess.DEVNULL)


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
def test_a_table_that_cannot_be_made_ready_is_a_sentence(
    open_page, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    def of(data, progress, cancel):
        if kind == "refusal":
            raise rwn.ParameterError("Searching this table needs about 3 GB of memory.")
        raise MemoryError(f"{SECRET} of record 3")

    monkeypatch.setattr(change_table, "PreparedTable", type("Broken", (), {"of": staticmethod(of)}))
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
    open_page, gate: Gate, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(csv())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune", k="7")
    assert screen.panel is None
    assert not screen.test.slider
    assert screen.visit("data").test.selectbox(key="data.demo")
    assert not screen.test.dataframe
    gate.open.set()
    screen.visit("tune").wait()
    assert screen.session.name == "mine.csv"
    assert screen.session.levers["k"] == 7
    assert len(screen.panel["cards"]) == 9


def test_the_first_table_of_all_can_be_cancelled(
    open_page, gate: Gate, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(csv())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune")
    screen.test.button(key="arrival.cancel").click().run()
    assert screen.errors == []
    assert screen.session.name == "bodyfat"
    assert len(screen.panel["cards"]) == 9


def test_other_weights_of_a_large_table_are_prepared_too(
    open_page, gate: Gate, edit_weights: dict[str, float]
) -> None:
    gate.open.set()
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    before = screen.session.data.schema
    gate.open.clear()
    edit_weights["x"] = 2.0
    screen.test.run()
    work = screen.work.preparation
    screen.test.run()
    assert screen.work.preparation is work  # it is not begun anew
    assert screen.session.data.schema == before
    gate.open.set()
    screen.wait()
    assert screen.session.data.schema.variable("x").weight == 2.0
    assert screen.errors == []
    edit_weights.clear()
    screen.test.button(key=f"tune.{screen.session.generation}.undo").click().run()
    assert screen.session.data.schema == before  # its neighbors are still there


def test_a_cancelled_weight_is_not_asked_for_again(
    open_page, gate: Gate, edit_weights: dict[str, float]
) -> None:
    gate.open.set()
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    gate.open.clear()
    edit_weights["x"] = 2.0
    screen.test.run()
    rewound = screen.session.rewound
    edit_weights.clear()  # as the fresh editor shows the weights in use
    screen.test.button(key="arrival.cancel").click().run()
    assert screen.session.rewound == rewound + 1
    assert screen.work.preparation is None
    assert screen.session.data.schema.variable("x").weight == 1.0


def test_a_preparation_ends_when_it_is_told_to() -> None:
    work = preparing(table(60_000))
    work.cancel()
    ended(work)
    assert (work.result, work.refusal) == (None, preparation.CANCELLED)


def test_a_preparation_ends_with_the_session(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful:
        """A server to which nobody is connected."""

        def is_active_session(self, session_id: str) -> bool:
            return False

    monkeypatch.setattr(end_with_session, "GRACE", 0.0)
    monkeypatch.setattr(end_with_session, "_EVERY", 0.01)
    work = preparing(table())
    end_with_session._watch(weakref.ref(work), Forgetful(), "gone")
    ended(work)
    assert gate.ended == ["cancelled"]


# ---------------------------------------------------------------- beyond the table, and in part


def same_release(current, release, records: np.ndarray) -> None:
    np.testing.assert_array_equal(current.masked.donors, release.donors[records])
    expected = release.masked.frame.take(records).reset_index(drop=True)
    pd.testing.assert_frame_equal(current.masked.masked.frame, expected)


@pytest.mark.parametrize("beyond", [0.5, 1.0, 1.3])
def test_a_look_is_the_release_of_its_seed_wherever_the_neighbors_come_from(
    monkeypatch: pytest.MonkeyPatch, beyond: float
) -> None:
    monkeypatch.setattr(preview, "LARGEST_PAIRS", 60_000)
    data = table()
    prepared_table = PreparedTable.of(data)
    params = rwn.RWN(epsilon=beyond * prepared_table.prepared.slider_range.stored, k=5, q=0.7)
    assert prepared_table.prepared.at(k=5, epsilon=params.epsilon).is_quick is (beyond <= 1)
    current = prepared_table.release(params, 3)
    same_release(current, rwn.mask(data, params, seed=3), np.arange(data.n))
    assert isinstance(current.readings["neighborhood_size"], Reading)


@pytest.mark.parametrize("beyond", [0.5, 1.3])
def test_some_records_look_as_in_the_release_of_all(some, beyond: float) -> None:
    data = table()
    prepared_table = PreparedTable.of(data)
    records = prepared_table.prepared.records
    assert (len(records), prepared_table.prepared.whole) == (2100, False)
    params = rwn.RWN(epsilon=beyond * prepared_table.prepared.slider_range.epsilon, k=5, q=0.7)
    release = rwn.mask(data, params, seed=3)
    current = prepared_table.release(params, 3)
    same_release(current, release, records)
    plain = Comparison(original=data.take(records), masked=current.masked.masked)
    for key in SHOWN:
        reading = current.readings[key]
        if rwn.MEASURES[key].side == "utility":  # the same records, before and after
            assert reading.value == rwn.MEASURES[key].read(plain).value
    sizes = current.readings["neighborhood_size"].detail["sizes"]
    np.testing.assert_array_equal(sizes, release.law.neighborhoods.sizes[records])


def test_records_that_are_shown_keep_the_numbers_of_the_file(some) -> None:
    data = table()
    prepared_table = PreparedTable.of(data)
    readings = prepared_table.release(rwn.RWN(epsilon=0.1, k=5), 3).readings
    for key in ("cooks_distance", "mahalanobis"):
        detail = readings[key].detail
        np.testing.assert_array_equal(detail["records_original"], prepared_table.prepared.records)
        place = int(np.argmax(detail["original"]))
        assert detail["argmax_original"] == prepared_table.prepared.records[place]


def test_an_intruder_holds_all_records_whichever_are_shown(some) -> None:
    data = table()
    prepared_table = PreparedTable.of(data)
    params = rwn.RWN(epsilon=0.05, k=1, q=0.5)
    shown = prepared_table.release(params, 3).readings["distance_linkage"]
    release = rwn.mask(data, params, seed=3)
    full = rwn.audit(data, release, measures=["distance_linkage"])["distance_linkage"]
    np.testing.assert_allclose(
        shown.detail["score"], full.detail["score"][prepared_table.prepared.records]
    )
    assert shown.baseline == 1 / data.n
    assert (shown.detail["of"], shown.detail["sampled"]) == (data.n, True)


def test_what_needs_every_record_says_so_and_nothing_fails(some) -> None:
    prepared_table = PreparedTable.of(table())
    comparison = prepared_table.release(rwn.RWN(epsilon=0.1, k=5), 3).comparison
    found = {key: measure.read(comparison) for key, measure in rwn.MEASURES.items()}
    reasons = {
        key: str(reading) for key, reading in found.items() if not isinstance(reading, Reading)
    }
    assert set(reasons) >= {"bayes_linkage", "membership", "k_anonymity", "nearest_distance"}
    for key, reason in reasons.items():
        if rwn.MEASURES[key].side == "risk":
            assert "these are 2,100 random ones of 2,600" in reason
    risks = [key for key in found if rwn.MEASURES[key].side == "risk" and key not in reasons]
    assert set(risks) == {
        "cells_changed",
        "neighborhood_size",
        "distance_linkage",
        "cooks_distance",
        "mahalanobis",
    }


def test_rounded_values_of_some_records(some) -> None:
    data = table()
    params = rwn.RWN(epsilon=0.1, k=5)
    rounded = PreparedTable.of(data).release(Rounded(params=params, precision=(("x", 0.5),)), 3)
    values = rounded.masked.masked.values("x")
    np.testing.assert_allclose(values, 0.5 * np.round(values / 0.5))
    assert isinstance(rounded.readings["correlation"], Reading)


def test_a_page_says_that_some_records_are_shown_and_no_page_fails(some, open_page) -> None:
    screen = open_page("data").upload("large.csv", csv()).wait()
    for page in PAGES:
        screen.visit(page)
        assert screen.errors == [], page
        told = any("2,100 random records of 2,600" in each.value for each in screen.test.caption)
        assert told is (page in ("tune", "utility")), page
    session: Session = screen.session
    assert str(_not_expected(session)).startswith("This needs every record")
    assert len(screen.panel["cards"]) == 9


def test_whole_tables_are_not_said_to_be_samples(open_page) -> None:
    screen: AppTest = open_page("tune").test
    assert not any("random records of" in each.value for each in screen.caption)


def test_the_slope_of_some_records_is_not_held_against_the_policy(some) -> None:
    session = Session(name="large", demo=None, data=table())
    session.settle(prepared(session).prepared)
    shown = tune_view.payload(session, current_release(session))["tiles"]
    (slope,) = (tile for tile in shown if tile["label"].startswith("Median |Δ slope|"))
    assert (slope["state"], slope["limit"]) == (None, "SE of the shown records")
    assert "whole table's standard errors are smaller" in slope["help"]


def test_analyses_of_some_records_have_no_tile_on_tune(some) -> None:
    """They are not judged there, and “0 of 0, all within tolerance” would say that they pass."""
    session = Session(name="large", demo=None, data=table())
    session.settle(prepared(session).prepared)
    session.analysis_plan = analysis_plan.suggested(session.data)
    labels = [t["label"] for t in tune_view.payload(session, current_release(session))["tiles"]]
    assert "Analysis plan" not in labels


def test_the_table_of_some_records_is_capped(some, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "TABLE_BYTES", 2.4e6)
    made = preview.build_preview(coordinates(table()))
    assert made.table is None or 12 * len(made.table.records) <= 2.4e6
