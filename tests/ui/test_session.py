"""The session's memory and presets; how refusals and failures are shown and logged."""

from __future__ import annotations

import ast
import json
import logging
import pickle
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.state import SafeSessionState, SessionState, session_state_proxy
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.masking.lever import lever_presets, lever_ranges
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.neighbors.slider_range import STORED_PAIRS, find_slider_range
from rwn_core.tuning import Setting
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import load, set_setting
from rwn_ui.state.results import PreparedTable, preparation_key, prepared
from rwn_ui.state.session import Session, first_setting
from rwn_ui.state.work import Memo, User

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "rwn_ui").rglob("*.py")]


def test_a_memo_keeps_the_latest_results_and_no_more() -> None:
    memo, made = Memo(2), []

    def make(key: str) -> str:
        return memo.get_or_make(key, lambda: made.append(key) or key.upper())

    assert [make(key) for key in "abab"] == ["A", "B", "A", "B"]
    assert made == ["a", "b"]
    make("a")  # now b is the oldest
    make("c")
    make("a")
    assert made == ["a", "b", "c"]
    make("b")
    assert made == ["a", "b", "c", "b"]


def test_a_session_is_choices_and_nothing_that_runs_or_is_computed(open_page) -> None:
    """Jobs, results and Streamlit's own objects cannot be written down."""
    screen = open_page("tune")
    screen.visit("utility").visit("risk").visit("find").visit("compare")
    assert screen.errors == []
    choices = {each.name: getattr(screen.session, each.name) for each in fields(Session)}
    assert isinstance(choices.pop("user"), User)
    again = pickle.loads(pickle.dumps(choices))
    assert again["setting"] == screen.session.setting
    allowed = {"rwn_core", "rwn_ui.state", "__future__", "collections", "dataclasses", "typing"}
    tree = ast.parse((ROOT / "rwn_ui" / "state" / "session.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            package = ".".join(node.module.split(".")[: 2 if "rwn_ui" in node.module else 1])
            assert package in allowed


def test_another_table_ends_all_work_and_frees_all_results(open_page, finished) -> None:
    screen = open_page("tune")
    session, work, results = screen.session, screen.work, screen.results
    work.jobs["planner"] = finished(label="k = 3")
    assert results.memos
    assert "tune" in results.last
    load(session, rwn.load_demo("pima"), name="pima", demo="pima")
    assert (work.jobs, work.worker, work.drawn) == ({}, None, None)
    assert (results.memos, results.last) == ({}, {})
    assert preparation_key(session, session.data, session.params) in results.tables


def test_a_change_of_the_setting_is_never_cut_short(monkeypatch) -> None:
    """Streamlit may end a run wherever it looks at the state, in a callback too."""
    data = rwn.load_demo("bodyfat")
    session = Session(name="bodyfat", demo="bodyfat", data=data)
    session.clamp(prepared(session).prepared)
    weights = (("age", 3.0),)
    params = rwn.NBRS2015(epsilon=1.0, q=0.5)
    choice = Setting(params=params, weights=weights, precision=(("age", 5.0),), slices=())

    def chosen() -> tuple[object, ...]:
        here = session.data.schema, session.method, dict(session.levers), session.precision
        return (*here, session.edit_version)

    class CutShort(Exception):
        """As Streamlit's."""

    def look() -> None:
        raise CutShort

    with monkeypatch.context() as patch:
        state = SafeSessionState(SessionState(), look)
        patch.setattr(session_state_proxy, "_mock_session_state", state)
        with pytest.raises(CutShort):
            _ = st.session_state["any"]
        set_setting(session, choice)  # it never looks
    assert chosen()[1:4] == ("nbrs2015", {"epsilon": 1.0, "q": 0.5}, (("age", 5.0),))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay [a](b) $x$ *y*", r"pay \[a\](b) \$x\$ \*y\*"),
        ("see http://a.example/x", "see http:\u2060//a.example/x"),
        ("WWW.a.example", "WWW\u2060.a.example"),
        ("who@a.example", "who\u2060@a.example"),
        ("ε = 2 · k = 5", "ε = 2 · k = 5"),
    ],
)
def test_no_name_becomes_a_link_or_a_formula(text: str, shown: str) -> None:
    assert escaped(text) == shown


read_once = cache(rwn.load_demo)


@pytest.mark.parametrize("method", rwn.METHODS)
@pytest.mark.parametrize("demo", ["bodyfat", "pima"])
def test_presets_lie_within_the_sliders(demo: str, method: str) -> None:
    data = read_once(demo)
    params = first_setting(method)
    if issubclass(rwn.METHODS[method], NeighborhoodMethod):
        distances = find_slider_range(
            params.points(data), STORED_PAIRS, largest_searched=LISTED_PAIRS
        )
        ranges, presets = lever_ranges(params, distances), lever_presets(params, distances)
    else:
        ready = params.preview(data)
        ranges, presets = ready.ranges, ready.presets
    assert set(ranges) == {lever.name for lever in rwn.METHODS[method].levers}
    for levers in presets.values():
        assert set(levers) == set(ranges) - ({"balance"} if method == "soft_rwn" else set())
        assert all(ranges[name].clip(value) == value for name, value in levers.items())
        for name, value in levers.items():
            steps = (value - ranges[name].low) / ranges[name].step
            assert steps == pytest.approx(round(steps))
    values = {name: tuple(levers.values()) for name, levers in presets.items()}
    assert len(set(values.values())) == len(values)
    values.pop("As sdcMicro", None)  # another program's default is no strength
    assert [*values.values()] == sorted(values.values())


@pytest.mark.parametrize("method", rwn.METHODS)
def test_presets_lie_within_the_sliders_of_a_tiny_table(method: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 4], "y": [0.0, 1, 1], "g": ["a", "b", "b"]})
    schema = rwn.Microdata.from_frame(frame).schema.replace_variable("g", role=rwn.Role.KEY)
    schema = schema.replace_variable("y", role=rwn.Role.CONFIDENTIAL)
    data = rwn.Microdata.from_frame(frame, schema)
    prepared_table = PreparedTable.prepare(data, params=first_setting(method)).prepared
    for levers in prepared_table.presets.values():
        assert all(prepared_table.ranges[name].clip(x) == x for name, x in levers.items())
        moved = prepared_table.with_levers(**levers)
        if method == "soft_rwn":  # two donors cannot give a tenth each
            with pytest.raises(rwn.ParameterError, match="cap must be at least 1/2"):
                moved.release(rwn.SecretKey.from_seed(1))
            moved = PreparedTable.prepare(data, params=rwn.SoftRWN(cap=1.0)).prepared
        assert moved.release(rwn.SecretKey.from_seed(1)).masked.n == 3


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

    return AppTest.from_function(script, args=(kind,)).run()


def test_a_refusal_is_shown_as_it_is_and_the_page_lives_on(caplog) -> None:
    page = failing("refusal")
    assert [error.value for error in page.error] == ["q must be a number from 0 to 1."]
    assert page.text[0].value == "and the page lives on"
    assert not [record for record in caplog.records if record.name == "rwn"]


def test_a_missing_answer_is_no_error() -> None:
    page = failing("reason")
    assert not page.error
    assert [info.value for info in page.info] == ["There is no holdout."]


def test_a_failure_shows_a_number_and_logs_type_and_lines_but_no_value(caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        page = failing("failure")
    (shown,) = [error.value for error in page.error]
    (number,) = re.findall(r"\berror ([0-9a-f]{8})\b", shown)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "rwn"]
    assert number in line
    assert "ValueError" in line
    assert "script:" in line
    assert not page.exception
    assert page.text[0].value == "and the page lives on"
    everything = shown + caplog.text + json.dumps([r.__dict__ for r in caplog.records], default=str)
    assert "SENTINEL7731" not in everything


def test_no_script_has_a_cache_that_users_share_or_shows_a_text_as_html() -> None:
    shared = {"cache", "cache_data", "cache_resource", "cached_property", "lru_cache"}
    for path in SCRIPTS:
        source = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(source)))
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        assert not names & shared, path
        assert "unsafe_allow_html" not in source, path
        assert source.count("st.html(") == (path.name == "messages.py"), path  # the app's own style
