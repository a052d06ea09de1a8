"""What functions of the pages return and offer, asked without a page where that is enough."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.measures import CHANGED
from rwn_core.measures.comparison import Comparison
from rwn_ui.compare.view import _mark, choice_key
from rwn_ui.data.file_layout import _picture
from rwn_ui.data.variables import _bins
from rwn_ui.features import unchanged_categories
from rwn_ui.learn.paper import draw_many
from rwn_ui.learn.sampling import LESSON as SAMPLING
from rwn_ui.panel.parts import _with_rows_used
from rwn_ui.risk import sentences
from rwn_ui.server import private_streamlit
from rwn_ui.server.peer import account_of
from rwn_ui.state import visit
from rwn_ui.state.results import Snapshot
from rwn_ui.state.session import Session
from rwn_ui.utility.results import _read
from tests.tables import table

ROOT = Path(__file__).resolve().parents[2]


def test_the_second_variable_is_the_chosen_one_then_a_predictor_then_any_other(session) -> None:
    session.variable = "siri"
    first = session.data.schema.question.predictors[0]
    assert session.pair == ("siri", first)
    session.second_variable = "age"
    assert session.pair == ("siri", "age")
    session.second_variable = "siri"
    assert session.pair == ("siri", first)
    alone = Session(
        name="x", demo=None, data=rwn.Microdata.from_frame(table("ties").frame.iloc[:, :1])
    )
    alone.variable = alone.data.schema.released[0].name
    assert alone.pair == (alone.variable, alone.variable)


def test_the_picture_of_a_sheet_marks_names_and_records_between_the_rows_around_them() -> None:
    cells = [(number, (f"row {number}", "x" * 30)) for number in range(6)]
    shown = _picture(cells, above=1, header=1, below=2)
    assert shown["read"].tolist() == ["", "▌ names", "▌ record", "▌ record", "", ""]
    assert shown.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert shown["column 2"].tolist() == ["x" * 24] * 6
    assert _picture([], above=1, header=1, below=0).empty


def test_enter_in_a_field_confirms_it_alone_and_sends_no_form() -> None:
    forms = []
    for path in sorted((ROOT / "rwn_ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.form":
                forms.append((path.name, ast.unparse(node)))
    assert len(forms) >= 6
    assert [name for name, call in forms if "enter_to_submit=False" not in call] == []


def test_curves_of_the_paper_say_how_far_they_are(session) -> None:
    shares = []
    draw_many(
        session.data, rwn.RWN(epsilon=2, k=5, q=1), number=8, releases=4, progress=shares.append
    )
    assert shares == sorted(shares)
    assert (shares[0] <= 0.25, shares[-1]) == (True, 1.0)


def test_a_candidate_is_marked_and_its_mark_taken_back(session, monkeypatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    marks = []
    for name in ("A", "B", "B", "A"):
        _mark(session, name)
        marks.append(st.session_state[choice_key(session)])
    assert marks == ["A", "B", None, "A"]


def test_nothing_is_drawn_on_a_server_with_an_option_that_lets_values_out(monkeypatch) -> None:
    def page() -> None:
        import streamlit as st

        from rwn_ui.server.safety import require_safe_options

        require_safe_options()
        st.write("drawn")

    screen = AppTest.from_function(page).run()
    assert [each.value for each in screen.markdown] == ["drawn"]
    monkeypatch.setattr("rwn_ui.server.safety.unsafe_options", lambda: ["--an-option"])
    screen.run()
    assert [each.value for each in screen.markdown] == []
    assert "--an-option" in screen.error[0].value


def test_a_page_opened_by_its_address_has_the_bar_with_the_others(monkeypatch) -> None:
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    private_streamlit.prepare()
    assert PagesManager.uses_pages_directory is False


def test_a_visit_without_a_table_takes_nothing_over(monkeypatch) -> None:
    here, other = (SimpleNamespace(session=None, other=name) for name in ("token", ""))
    other.session = SimpleNamespace()
    monkeypatch.setattr(visit, "current", lambda: here)
    monkeypatch.setattr(visit, "_find", {"token": other}.get)
    visit.take_over()
    assert (here.session, here.other) == (None, "")


def test_readings_of_the_picture_are_not_read_a_second_time() -> None:
    comparison = rwn.Comparison(original=table("ties"), masked=table("ties"))
    shown = {"correlation": object()}
    read = _read(SimpleNamespace(readings=shown, comparison=comparison), slow=False)
    assert read["correlation"] is shown["correlation"]
    assert read["quantiles"].value == 0


def test_shares_are_written_in_percent_and_other_numbers_are_not(monkeypatch) -> None:
    measures = {
        key: replace(
            rwn.MEASURES["distance_linkage"], bounds=bounds, sentence=lambda *_: "3 % of all."
        )
        for key, bounds in (("share", (0.0, 1.0)), ("number", (0.0, np.inf)))
    }
    reading = rwn.Reading(value=0.031, baseline=0.5, detail=SimpleNamespace(standing=None))
    monkeypatch.setattr(sentences, "rwn", SimpleNamespace(MEASURES=measures, Reading=rwn.Reading))
    title = rwn.MEASURES["distance_linkage"].title
    words = "3\N{NO-BREAK SPACE}% of all."
    assert sentences.rows(dict.fromkeys(measures, reading), 10) == [
        [title, "3.1\N{NO-BREAK SPACE}%", "50.0\N{NO-BREAK SPACE}%", words],
        [title, "0.031", "0.5", words],
    ]


def test_a_key_that_is_never_drawn_anew_has_no_privacy() -> None:
    values = {"fraction": 0.1, "keys": 8}
    shown = [SAMPLING.show({**values, "change": change}, None).tiles[2] for change in (0.0, 1.0)]
    assert [tile["released"] for tile in shown] == ["none", "0.00"]


def test_a_card_of_some_rows_says_so_in_its_title_its_words_and_with_its_table() -> None:
    frame = rwn.load_demo("bodyfat").frame.copy()
    frame.loc[:131, "age"] = np.nan
    data = rwn.Microdata.from_frame(frame)
    comparison = Comparison(original=data, masked=data)
    reading = rwn.MEASURES["mahalanobis"].read(comparison)
    assert isinstance(reading, rwn.Reading)
    card = _with_rows_used(rwn.MEASURES["mahalanobis"].charts["mahalanobis"](reading), reading)
    said = f"{len(frame) - 132} of {len(frame)} rows"
    assert card["title"] == f"Mahalanobis distance ({said})"
    assert card["alt"].endswith(f"; {said} are read, the others lack a value")
    assert card["table"]["caption"].startswith(f"{said} are read, the others lack a value. Value:")


def test_whole_numbers_have_bins_of_their_own_and_many_of_them_share_one() -> None:
    few = np.array([1.0, 2, 2, 5])
    assert np.histogram(few, bins=_bins(few))[0].tolist() == [1, 2, 0, 0, 1]
    many = np.arange(1000.0)
    counts = np.histogram(many, bins=_bins(many))[0]
    assert counts.sum() == 1000
    assert len(set(counts[:-1])) == 1
    assert isinstance(_bins(np.array([0.5, 1])), int)


def test_a_release_whose_changed_cells_are_not_known_has_no_strip() -> None:
    unknown = SimpleNamespace(
        readings={CHANGED: rwn.NotApplicable("No cell is compared.")},
        levers={},
        release=SimpleNamespace(comparison=SimpleNamespace(law=None)),
    )
    assert unchanged_categories.strip(cast(Snapshot, unknown)) is None


def test_the_account_stands_in_the_eighth_field_of_a_connection(tmp_path: Path) -> None:
    ends = (("127.0.0.1", 0x1F90), ("127.0.0.1", 0x2135))
    number = int.from_bytes(bytes((127, 0, 0, 1)), sys.byteorder)
    line = f"0: {number:08X}:1F90 {number:08X}:2135 01 0:0 0:0 0 1234 7 99 1"
    listed = tmp_path / "tcp"
    listed.write_text(f"names of the fields\n{line}\n", encoding="ascii")
    assert account_of(*ends, listed) == 1234
    assert account_of(ends[1], ends[0], listed) is None
