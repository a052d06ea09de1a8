"""Files that a page opens, their form, and tables that are made ready in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.io.reading import FileReading
from rwn_core.neighbors import find
from rwn_core.parallel.threads import Cancelled
from rwn_ui.background.opening import WIDE
from rwn_ui.background.task import Task
from rwn_ui.data import variables
from rwn_ui.data.describe import describe_anew
from rwn_ui.features import analysis_plan
from rwn_ui.server import given_file
from rwn_ui.server.environment import FILE_VARIABLE
from rwn_ui.state import change_table, results
from rwn_ui.state.results import (
    SHOWN,
    PreparedTable,
    current_release,
    full_release,
    prepared,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work
from tests.labelled_files import survey, write_spss
from tests.ui.following import CARDS_OF_TUNE, RECORDS, large_csv, large_table, shown, small_csv
from tests.waiting import HANG_S

SECRET = "SENTINEL7731"


class Gate:
    """Holds preparations until it is opened; says how they ended."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.ended = []

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
    work.wait(HANG_S)
    assert not work.running


def test_the_pages_stay_in_use_until_the_table_is_ready(open_page, gate: Gate) -> None:
    screen = open_page("data").upload("large.csv", large_csv())
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
    assert len(screen.panel["cards"]) == CARDS_OF_TUNE
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
    screen = open_page("data").upload("large.csv", large_csv())
    first = screen.work.preparation
    screen.test.button(key="arrival.cancel").click().run()
    ended(first)
    assert (screen.work.preparation, screen.session.name) == (None, "bodyfat")
    assert screen.errors == []
    assert "the pages show bodyfat" in screen.test.toast[0].value
    for number in (1, 2):
        screen.upload(f"other {number}.csv", large_csv(seed=number))
        second = screen.work.preparation
        assert second is not first
        first = second
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    ended(second)
    assert (screen.work.preparation, screen.session.name) == (None, "pima")
    assert len(screen.visit("tune").panel["cards"]) == CARDS_OF_TUNE
    work = Work(preparation=Task(large_table(), "large", gate.prepare, lambda result: None))
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
        screen = open_page("data").upload("large.csv", large_csv()).wait()
    (sentence,) = screen.errors
    assert sentence.startswith("large.csv: ")
    assert ("needs about 3 GB" in sentence) is (kind == "refusal")
    assert ("(error " in sentence) is (kind == "failure")
    assert SECRET not in screen.everything() + caplog.text
    assert screen.session.name == "bodyfat"
    assert len(screen.visit("tune").panel["cards"]) == CARDS_OF_TUNE
    assert screen.errors == [sentence]
    screen.test.button(key="arrival.close").click().run()
    assert screen.errors == []


def test_the_first_table_of_all_is_waited_for(open_page, gate, monkeypatch, tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(large_csv())
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
    assert len(screen.panel["cards"]) == CARDS_OF_TUNE


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
    data = large_table()
    ready = PreparedTable.prepare(data)
    params = rwn.RWN(epsilon=beyond * ready.prepared.about.stored, k=5, q=0.7)
    assert ready.prepared.with_levers(k=5, epsilon=params.epsilon).is_quick is (beyond <= 1)
    current = ready.release(params, 3)
    same_release(current, rwn.mask(data, params, seed=3), np.arange(data.n))
    assert isinstance(current.readings["neighborhood_size"], rwn.Reading)


@pytest.mark.parametrize("beyond", [0.5, 1.3])
def test_some_records_look_as_in_the_release_of_all(some, beyond: float) -> None:
    data = large_table()
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


def test_what_needs_every_record_says_so_and_is_not_held_against_policy_or_plan(some) -> None:
    data = large_table()
    comparison = PreparedTable.prepare(data).release(rwn.RWN(epsilon=0.1, k=5), 3).comparison
    found = {key: each.read(comparison) for key, each in rwn.MEASURES.items()}
    risks = {key for key, each in rwn.MEASURES.items() if each.side == "risk"}
    read = {key for key in risks if isinstance(found[key], rwn.Reading)}
    shown_ones = {"neighborhood_size", "distance_linkage", "cooks_distance", "mahalanobis"}
    assert read == {"cells_changed"} | shown_ones
    for key in risks - read - {"certified_linkage"}:  # which wants a soft kernel
        assert "these are 2,100 random ones of 2,600" in str(found[key])
    # Analyses are not judged there; “0 of 0, all within tolerance” would say that they pass
    session = Session(name="large", demo=None, data=data)
    session.clamp(prepared(session).prepared)
    session.analysis_plan = analysis_plan.suggested(session.data)
    tiles = {tile["label"]: tile for tile in shown(session)["tiles"]}
    assert "Analysis plan" not in tiles
    slope = tiles["Largest move of a slope, in its standard errors"]
    assert (slope["state"], slope["limit"]) == (None, "errors of the shown records")
    assert "full table has smaller standard errors" in slope["help"]


def test_a_page_says_that_some_records_are_shown_and_no_page_fails(some, open_page) -> None:
    screen = open_page("data").upload("large.csv", large_csv()).wait()
    for page in PAGES:
        screen.visit(page)
        assert screen.errors == [], page
        noted = "random sample of 2,100 of 2,600 records" in screen.words("caption")
        assert noted is (page == "tune"), page
    session: Session = screen.session
    assert full_release(session).masked.masked.n == session.data.n
    assert len(screen.panel["cards"]) == CARDS_OF_TUNE


SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
TABLE = f"a,b,c\n{ROWS}"
BAD_FILES = {
    "empty.csv": (b"", "empty.csv is empty", "choose a file"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG image", "save the table"),
    "quote.csv": (f'{TABLE}\n1,2,"{SECRET}\n'.encode(), "line 32: a quote is opened", "close it"),
    "broken.parquet": (b"PAR1" + SECRET.encode() + b"PAR1", "broken.parquet is damaged", "again"),
}
OTHER_LAYOUTS = {
    "latin1.csv": (f"{TABLE}\n1,2,café\n".encode("latin-1"), "line 32: there are bytes"),
    "t.csv": (b"a;b\n1;2\n3;4\n5;6\n", "semicolon"),
}


def test_a_bad_file_is_one_sentence_and_the_table_before_it_stays(open_page, caplog) -> None:
    screen = open_page("data")
    for name, (content, position, remedy) in BAD_FILES.items():
        screen.upload(name, content)
        (shown,) = screen.errors
        sentence = shown.replace("\\", "")  # which keeps Markdown from reading names
        assert all(part in sentence for part in (name, position, remedy)), sentence
        assert sentence.endswith(".")
        assert sentence.count(". ") == 0, sentence
        assert screen.session.name == "bodyfat"
        assert not screen.test.multiselect, "the questions of the last table"
        assert "show bodyfat still" in screen.words("caption")
        assert SECRET not in screen.everything() + caplog.text
    screen.upload("good.csv", TABLE.encode("utf-8"))
    assert (screen.errors, screen.session.name) == ([], "good.csv")
    for content, said in (
        (f"{TABLE}\ninf,2,a\n", "a has 1 infinite value, which counts as missing"),
        (f"{TABLE}\n{SECRET},2,a\n", "texts: a (line 32: 1 value is not a number"),
        ("a,b\n" + "\n".join(f"{i}," for i in range(30)), "of every release: b (no values)"),
    ):
        screen.upload("odd.csv", content.encode())
        assert screen.errors == [], "odd columns are said, and the file is open"
        notices = " ".join(screen.session.data.notices)
        assert said in notices
        assert SECRET not in notices


@pytest.mark.parametrize("name", OTHER_LAYOUTS)
def test_a_file_of_another_layout_that_was_seen_is_no_refusal_but_one_click_away(
    open_page, name: str
) -> None:
    content, seen = OTHER_LAYOUTS[name]
    screen = open_page("data").upload(name, content)
    assert screen.errors == []
    said = screen.words("info").replace("\\", "")
    assert name in said
    assert seen in said
    assert "look at it, and open it so." in said
    assert screen.session.name == "bodyfat"
    read_anew(screen)
    assert (screen.errors, screen.session.name) == ([], name)


def test_a_layout_that_the_user_states_and_that_cannot_be_read_is_a_refusal(open_page) -> None:
    screen = open_page("data").upload("latin1.csv", OTHER_LAYOUTS["latin1.csv"][0])
    screen.find("selectbox", "Encoding").set_value("utf-8").run()
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    (refused,) = screen.errors
    assert "are bytes that are not UTF-8 text" in refused


def test_no_row_of_another_table_stands_below_the_name_of_one_that_is_ranked(
    open_page, gate: Gate
) -> None:
    screen = open_page("data")
    assert "#### bodyfat: 241 records" in screen.words("markdown")
    screen.upload("large.csv", large_csv())
    assert f"#### large.csv: {RECORDS:,} records" in screen.words("markdown")
    assert "241 records" not in screen.words("markdown")
    grids = [each.value for each in screen.test.dataframe if each.value.index.name != "line"]
    (shown,) = grids  # and none of the table before
    assert tuple(shown.columns) == screen.work.preparation.data.names
    assert "The other pages show bodyfat until then." in screen.words("caption")
    gate.open.set()
    screen.wait()
    assert len(screen.test.dataframe) > 1, "its variables are there again"


def test_no_row_of_another_table_stands_below_a_file_that_is_being_read(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = open_page("data")
    monkeypatch.setattr(FileReading, "wait", lambda *_: False)
    monkeypatch.setattr(FileReading, "running", property(lambda _: True))
    upload = screen.test.file_uploader(key="data.upload")
    upload.set_value(("mine.csv", small_csv(), "text/csv")).run()
    assert screen.work.opening.reading is not None
    assert not screen.test.dataframe
    assert not screen.test.multiselect, "the questions of the table before"
    assert "The other pages show bodyfat until then." in screen.words("caption")


def test_a_file_and_a_demo_that_are_both_chosen_do_not_take_turns(a_process_reads, open_page):
    screen = open_page("data")
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    screen.upload("the %22new%22.csv", small_csv())  # as browsers send a quote
    loaded = screen.session.table_version
    screen.test.run()
    assert (screen.session.name, screen.session.table_version) == ('the "new".csv', loaded)
    screen.test.selectbox(key="data.demo").set_value("bodyfat").run()
    assert screen.session.name == "bodyfat"


def read_anew(screen: Any, button: str = "data.layout.open") -> None:
    screen.test.button(key=button).click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []


def test_a_workbook_with_a_title_and_dates_that_fit_two_ways_are_one_click_away(
    open_page, titled_workbook: bytes
) -> None:
    screen = open_page("data").upload("t.xlsx", titled_workbook)
    assert screen.errors == []
    assert "row 1: column 2 has no name" in screen.words("info")
    words = screen.words("info")
    assert "a table with names in row 3; 2 rows above the table; 1 row below it: look" in words
    read_anew(screen)
    data = screen.session.data
    assert (data.n, data.names) == (60, ("age", "pay", "place"))
    rows = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/19{50 + i % 40},{i}.5" for i in range(60)]
    screen.upload("t.csv", "\n".join(["born,x", *rows, ""]).encode())
    assert screen.errors == []
    assert "all fit DD/MM/YYYY and MM/DD/YYYY" in " ".join(screen.session.data.notices)
    dates = screen.find("selectbox", "Dates")
    assert dates.value == "YYYY-MM-DD"
    dates.set_value("MM/DD/YYYY").run()
    read_anew(screen)
    assert screen.session.data.schema.variable("born").notation == "MM/DD/YYYY"
    assert screen.session.data.frame["born"].dt.month[11] == 12


def test_numbers_in_groups_are_one_click_away(open_page) -> None:
    rows = [f"{'mf'[i % 2]},{1 + i % 7}'{i * 37 % 1000:03},{20 + i % 9}" for i in range(60)]
    screen = open_page("data").upload("t.csv", "\n".join(["sex,pay,age", *rows, ""]).encode())
    assert screen.errors == []
    assert screen.session.data.schema.variable("pay").kind is rwn.Kind.CATEGORICAL
    assert "digits in groups are numbers" in screen.words("markdown")
    read_anew(screen)
    pay = screen.session.data.frame["pay"].tolist()
    assert pay[:2] == [1000, 2037]


def test_a_third_format_can_be_opened_and_written(open_page, monkeypatch) -> None:
    asked: dict[str, Any] = {}  # what the pages ask Streamlit for, by label

    def note(name: str) -> None:
        real = getattr(st, name)

        def seen(label: str, *arguments: Any, **more: Any) -> Any:
            asked[label] = (arguments, more)
            return real(label, *arguments, **more)

        monkeypatch.setattr(st, name, seen)

    note("file_uploader")
    note("segmented_control")
    more = {"demand": "no blanks", "suffixes": (".toy", ".plaything")}
    toy = replace(io.FORMATS[0], key="toy", title="Toy", **more)
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], toy))
    screen = open_page("data")
    (label,) = (label for label in asked if label.startswith("Open your table"))
    assert label == "Open your table: CSV, Parquet or Toy", "other layouts open, too"
    assert asked[label][1]["type"] == [
        "csv",
        "parquet",
        "pq",
        "toy",
        "plaything",
        "gz",
        "bz2",
        "xz",
        "zip",
    ]
    screen.visit("release").press(
        "I have looked at every variable"
    )  # the format is of the next step
    assert asked["Format of the file"][0] == (["csv", "parquet", "toy"],)
    assert screen.errors == []


NAMES = [f"v{number}" for number in range(1, WIDE + 11)]


def wide(records: int = 40) -> bytes:
    rows = np.random.default_rng(1).integers(0, 50, size=(records, len(NAMES)))
    return pd.DataFrame(rows, columns=NAMES).to_csv(index=False).encode()


def test_a_wide_file_waits_for_its_variables(open_page) -> None:
    screen = open_page("data").upload("wide.csv", wide())
    assert (screen.errors, screen.session.name) == ([], "bodyfat")
    assert not screen.test.get("arrow_data_frame")
    chosen = screen.find("multiselect", "Variables of")
    assert chosen.value == []
    screen.test.button(key=f"{chosen.key}.The first 50").click().run()
    screen.test.button(key=f"{chosen.key}.yes").click().run()
    assert screen.errors == []
    session = screen.session
    assert (session.name, session.data.p) == ("wide.csv", len(NAMES))
    assert [v.name for v in session.data.schema.released] == NAMES[:50]
    assert session.data.notices[-1] == f"{len(NAMES) - 50} variables are left out of every release."
    assert [each.name for each in variables._listed(session.data.schema)] == NAMES[:50]


@pytest.mark.nightly  # the test above; a file of the command line is opened below
def test_a_wide_file_of_the_command_line_waits_too(open_page, tmp_path, monkeypatch) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(wide())
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    screen = open_page("tune")
    assert screen.session.name == "bodyfat"
    screen.visit("data")
    assert screen.work.opening.waiting.p == len(NAMES)
    chosen = screen.find("multiselect", "Variables of")
    chosen.set_value(["v3", "v5"]).run()
    screen.test.button(key=f"{chosen.key}.yes").click().run()
    assert [v.name for v in screen.session.data.schema.released] == ["v3", "v5"]
    assert screen.session.path == str(path)


def test_every_range_of_whole_numbers_is_counted_whole() -> None:
    for high in range(1, 300):
        known = np.arange(high + 1, dtype=float)
        counts = np.histogram(known, bins=variables._bins(known))[0]
        assert counts.sum() == high + 1
        assert len(counts) <= variables._BARS
        assert len(set(counts[:-1].tolist())) <= 1  # no hole, no peak


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    given = tmp_path / "mine.csv"
    given.write_text("x,y\n1,2\n3,4\n5,7\n")
    monkeypatch.setenv(FILE_VARIABLE, str(given))
    return given


def test_the_first_takes_what_was_begun_and_the_next_reads_anew(path: Path, monkeypatch) -> None:
    asked: list[str] = []
    begin = given_file.begin
    read = rwn.read
    monkeypatch.setattr(given_file, "begin", lambda *of: asked.append("begun") or begin(*of))
    monkeypatch.setattr(rwn, "read", lambda *of: asked.append("read") or read(*of))
    given_file.read_given_ahead()
    tables = [given_file.read_given() for _ in range(2)]
    assert asked == ["begun", "read"]
    assert tables[0].fingerprint == tables[1].fingerprint
    assert tables[0] is not tables[1]  # nothing is shared between two users
    assert given_file._started is None
    given_file.read_given_ahead()
    path.write_text("x,y\n8,9\n3,4\n5,7\n6,6\n")  # what has changed meanwhile is read anew
    assert given_file.read_given().n == 4
    assert asked == ["begun", "read"] * 2
    path.write_text("x,x\n1,2\n3,4\n")
    given_file.read_given_ahead()
    with pytest.raises(rwn.InputError, match="x"):
        given_file.read_given()
    # a file that is gone is refused whenever it went
    given_file.read_given_ahead()
    path.unlink()
    asked.clear()
    with pytest.raises(rwn.RWNError, match=r"mine\.csv"):
        given_file.read_given()
    given_file.read_given_ahead()  # nothing is begun, and nothing fails
    assert asked == ["read"]


def test_the_description_is_saved_with_the_file_and_found_again(path, open_page) -> None:
    screen = open_page("data")
    assert screen.session.path == str(path)
    schema = screen.session.data.schema.replace_variable("x", role="key")
    screen.session.data = screen.session.data.with_schema(schema)
    screen.session.grid_version += 1
    screen.test.run()
    screen.test.button(key="data.schema.save").click().run()
    assert screen.errors == []
    saved = path.with_name("mine.csv.toml")
    assert rwn.Schema.from_toml(saved.read_text(encoding="utf-8")).variable("x").role == "key"
    again = open_page("data")
    assert again.session.data.schema.variable("x").role == "key"
    assert "saved as mine.csv.toml" in again.words("caption")


PEOPLE = 2_600  # whose neighbors are ranked beside the page


def official(n: int = PEOPLE) -> bytes:
    rng = np.random.default_rng(3)
    home = np.sort(rng.integers(1, n // 2, n))
    weight = rng.uniform(300, 900, n // 2)[home - 1].round(3)
    columns = {
        "DB030": home * 10 + 100_000,
        "PB030": np.arange(n) + 5_000_000,
        "PB040": weight,
        "DB040": rng.choice(["AT1", "AT2", "AT3"], n),
        "PB140": rng.integers(1940, 2005, n),
        "PB150": rng.integers(1, 3, n),
        "PY010G": rng.lognormal(10, 1, n).round(0),
        "PY050G": (rng.lognormal(8, 1, n) * (rng.random(n) < 0.2)).round(0),
        "HY010": rng.lognormal(10, 1, n).round(0),
        "opinion": np.where(rng.random(n) < 0.01, 99_999, rng.integers(0, 40, n)),
    }
    return pd.DataFrame(columns).to_csv(index=False).encode()


ROLES = {"DB030": "household", "PB030": "identifier", "PB040": "sampling weight"}
ROLES |= dict.fromkeys(("DB040", "PB140", "PB150"), "key") | {"opinion": "other"}
ROLES |= dict.fromkeys(("PY010G", "PY050G", "HY010"), "confidential")


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[rwn.Microdata]:
    begun: list[rwn.Microdata] = []
    start = change_table.Task
    prepare = PreparedTable.prepare.__func__

    def counted(data: rwn.Microdata, *args: Any) -> Any:
        begun.append(data)
        return start(data, *args)

    def at_once(cls: Any, data: Any, progress: Any = None, *args: Any, **more: Any) -> Any:
        if progress is None and data.n >= PEOPLE:  # in a run of the page
            begun.append(data)
        return prepare(cls, data, progress, *args, **more)

    monkeypatch.setattr(change_table, "Task", counted)
    monkeypatch.setattr(PreparedTable, "prepare", classmethod(at_once))
    return begun


def roles(data: rwn.Microdata) -> dict[str, str]:
    return {variable.name: str(variable.role) for variable in data.schema.variables}


def forms(screen: Any) -> int:
    return sum(each.label == "Use these answers" for each in screen.test.button)


@pytest.mark.parametrize("way", ["upload", "command line"])
def test_an_official_table_is_ranked_once_from_its_file_to_the_first_picture(
    open_page, ranked, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "silc.csv"
    path.write_bytes(official())
    if way == "upload":
        screen = open_page("data").upload("silc.csv", official(), asked=True)
    else:
        monkeypatch.setenv(FILE_VARIABLE, str(path))
        screen = open_page("tune")  # which leads to the Data page
    assert screen.errors == []
    assert (ranked, forms(screen)) == ([], 1)
    assert "This looks like EU-SILC: 9 of 10 names." in screen.words()
    assert "opinion has" in screen.words()
    assert not any(each.label.startswith("Leave it") for each in screen.test.button)
    screen.find("radio", "PB040 is the sampling weight").set_value("Release it unmasked")
    screen.find("radio", "opinion has").set_value("They are missing")
    screen.press("Use these answers")
    assert len(ranked) == 1
    screen.wait()
    assert forms(screen) == 0
    screen.visit("tune")
    assert screen.errors == []
    assert len(screen.panel["cards"]) == CARDS_OF_TUNE
    assert (screen.session.name, len(ranked)) == ("silc.csv", 1)
    assert screen.session.path == ("" if way == "upload" else str(path))
    data = screen.session.data
    assert roles(data) == ROLES
    assert not data.schema.variable("PB040").masked
    assert data.schema.variable("opinion").missing_codes == (99_999,)
    assert data.frame["opinion"].max() < 40


def test_nothing_is_chosen_for_a_weight_and_codes_stay_values_until_a_person_says_so(
    open_page, ranked: list[rwn.Microdata]
) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True)
    assert screen.find("radio", "PB040 is the sampling weight").value is None
    assert screen.find("radio", "opinion has").value == "They are values"
    screen.press("Use these answers")
    assert "PB040 has no answer yet; choose one: Mask it, Round it to" in screen.words("warning")
    assert (ranked, forms(screen)) == ([], 1)


def test_opening_tune_begins_without_the_answers_and_what_is_said_meanwhile_counts(
    open_page: Any, ranked: list[rwn.Microdata], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True).visit("tune")
    first = screen.work.preparation
    assert len(ranked) == 1
    screen.visit("data")
    assert forms(screen) == 1
    screen.find("radio", "PB040 is the sampling weight").set_value("Mask it")
    screen.press("Use these answers")
    first.wait(HANG_S)
    assert gate.ended == ["cancelled"]
    gate.open.set()
    screen.wait()
    assert screen.errors == []
    assert (screen.session.name, len(ranked)) == ("silc.csv", 2)
    assert roles(screen.session.data) == ROLES
    # edits of the grid, each from the table on screen, and an answer during their ranking
    gate.open.clear()
    monkeypatch.setattr("rwn_ui.data.describe.st.rerun", lambda: None)
    data = screen.session.data
    for name in ("PY010G", "opinion"):
        schema = data.schema.replace_variable(name, role=rwn.Role.KEY)
        describe_anew(screen.session, data.with_schema(schema))
    coming = screen.work.preparation.data
    schema = coming.schema.replace_variable("PB140", role=rwn.Role.OTHER)
    change_table.answer(screen.session, coming.with_schema(schema))
    gate.open.set()
    screen.wait()
    said = {"PY010G": "key", "opinion": "key", "PB140": "other"}
    assert roles(screen.session.data) == ROLES | said


def test_two_answers_about_one_variable_are_refused_and_another_file_is_asked_by_variable(
    open_page: Any, ranked: list[rwn.Microdata]
) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True)
    for question in ("Who could be recognized?", "What is confidential?"):
        screen.find("multiselect", question).set_value(["opinion"])
    screen.press("Use these answers")
    assert "opinion has two answers; give it one." in screen.words("warning")
    assert screen.find("multiselect", "Who could").value == ["opinion"]
    assert screen.work.preparation is None
    for question in ("Who could be recognized?", "What is confidential?"):
        screen.find("multiselect", question).set_value([])
    screen.find("radio", "This looks like").set_value("It is another file")
    screen.press("Use these answers")
    assert (ranked, forms(screen)) == ([], 1)
    assert "This looks like" not in screen.words("markdown")
    assert "PB150" in screen.find("multiselect", "Who could be recognized?").value
    screen.find("radio", "PB040 is the sampling weight").set_value("Mask it")
    screen.press("Use these answers")
    assert len(ranked) == 1
    screen.wait()
    assert roles(screen.session.data)["PB150"] == "key"


def labelled(tmp_path: Path, weight: str = "gewichtung") -> bytes:
    path = tmp_path / "survey.sav"
    write_spss(*survey("words", weight, seed=1), path)
    return path.read_bytes()


def test_a_labelled_file_accepted_untouched_keeps_masking_and_values_and_asks_for_its_weight(
    open_page, tmp_path: Path
) -> None:
    screen = open_page("data").upload("survey.sav", labelled(tmp_path))
    known = screen.session.data.frame.notna().sum().to_dict()
    assert "may mean missing" not in screen.words("markdown")
    screen.press("Use these answers")
    assert "gewichtung has no answer yet" in screen.words("warning")
    screen.find("radio", "gewichtung is").set_value("Mask it")
    screen.press("Use these answers")
    data = screen.session.data
    assert (screen.errors, forms(screen)) == ([], 0)
    assert roles(data)["gewichtung"] == "sampling weight"
    assert all(variable.masked for variable in data.schema.released)
    assert data.frame.notna().sum().to_dict() == known


def test_a_weight_that_is_rounded_stays_rounded_in_every_setting_until_its_step_is_taken_out(
    open_page, tmp_path: Path
) -> None:
    screen = open_page("data").upload("survey.sav", labelled(tmp_path))
    radio = screen.find("radio", "gewichtung is")
    rounds = radio.options[1]
    radio.set_value(rounds)
    screen.press("Use these answers")
    session = screen.session
    steps = {"gewichtung": float(rounds.rpartition(" ")[2])}
    assert dict(session.precision) == steps
    assert not session.data.schema.variable("gewichtung").masked
    # a suggested setting knows nothing of the answer
    session.set(replace(session.setting, precision=(("age", 5.0),)))
    assert dict(session.precision) == steps | {"age": 5.0}
    released = current_release(session).masked.masked.values("gewichtung")
    exact = session.data.values("gewichtung")
    assert len(np.unique(released)) < len(np.unique(exact))
    # whoever takes the step out means it
    session.keep_asked_steps((("age", 5.0),))
    session.set(replace(session.setting, precision=(("age", 5.0),)))
    assert dict(session.precision) == {"age": 5.0}


def test_a_described_file_of_the_command_line_is_ranked_at_once(
    open_page: Any, ranked: list[rwn.Microdata], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.csv"
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.normal(size=(PEOPLE, 3)).round(2), columns=["a", "b", "c"])
    numbers.to_csv(path, index=False)
    schema = rwn.read(path).schema.replace_variable("a", role=rwn.Role.KEY)
    schema = schema.replace_variable("b", role=rwn.Role.CONFIDENTIAL)
    path.with_name("plain.csv.toml").write_text(schema.to_toml())
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    screen = open_page("tune")
    assert len(ranked) == 1
    screen.wait().visit("tune")
    assert (screen.session.name, len(ranked), screen.errors) == ("plain.csv", 1, [])


def test_rows_at_the_end_are_left_out_in_the_same_form_or_read_again(open_page: Any) -> None:
    lines = ["region,n,income", *(f"r{i % 5},{i + 3},{i * 100.5}" for i in range(1, 41))]
    lines += [f"Total,{sum(i + 3 for i in range(1, 41))},{sum(i * 100.5 for i in range(1, 41))}"]
    content = "\n".join([*lines, "Source: the office,,"]).encode()
    for words, records in (("", 40), ("No, read as records", 42)):
        screen = open_page("data").upload("t.csv", content, asked=True)
        assert (screen.session.data.n, forms(screen)) == (40, 1)
        said = "The last 2 rows of the file are left out: they look like a total"
        assert said in screen.words("markdown")
        if words:
            screen.find("radio", "The last 2 rows").set_value(words)
        screen.press("Use these answers")
        while screen.work.opening.reading is not None:
            screen.test.run()
        assert (screen.session.data.n, screen.errors) == (records, [])
        assert "The last 2 rows of the file" not in screen.words("markdown")


def test_the_rows_that_a_file_seems_to_end_with_are_shown_where_they_are_asked_about(
    open_page,
) -> None:
    lines = ["age,pay", *(f"{20 + n % 40},{n * 7}" for n in range(40)), "Total,5460"]
    screen = open_page("data").upload("t.csv", "\n".join(lines).encode(), asked=True)
    assert "The last row of the file is left out" in screen.words("markdown")
    shown = next(each.value for each in screen.test.dataframe if "column 1" in each.value)
    assert shown.index.tolist() == [42]
    assert shown.iloc[0].tolist() == ["Total", "5460"]
    assert screen.session.data.n == 40
