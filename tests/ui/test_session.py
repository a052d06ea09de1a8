"""The session's memory and presets, what scripts may do, and budgets of texts that users give."""

from __future__ import annotations

import ast
import pickle
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import playwright
import pytest
import streamlit as st
from streamlit.runtime.state import SafeSessionState, SessionState, session_state_proxy

import rwn_core as rwn
from rwn_core.data.plain import WORK_AT_ONCE
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_ui import panel
from rwn_ui.panel import live_sliders
from rwn_ui.state.change_table import load, set_setting
from rwn_ui.state.results import PreparedTable, preparation_key
from rwn_ui.state.session import Session, first_setting
from rwn_ui.state.work import Memo, TuneScreen, User
from tests.tables import described, frame, table
from tests.waiting import HANG_S

pytestmark = pytest.mark.usefixtures("few_people")

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "rwn_ui").rglob("*.py")]


def test_a_memo_keeps_the_latest_results_and_no_more() -> None:
    memo = Memo(2)
    made = []

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


def test_a_session_is_choices_and_nothing_that_runs_or_is_computed(open_page, finished) -> None:
    """Jobs, results and Streamlit's own objects cannot be written down."""
    screen = open_page("tune")
    screen.visit("utility").visit("risk").visit("find").visit("compare")
    assert screen.errors == []
    session, work, results = screen.session, screen.work, screen.results
    choices = {each.name: getattr(session, each.name) for each in fields(Session)}
    assert isinstance(choices.pop("user"), User)
    again = pickle.loads(pickle.dumps(choices))
    assert again["setting"] == session.setting
    allowed = {"rwn_core", "rwn_ui.state", "__future__", "collections", "dataclasses", "typing"}
    tree = ast.parse((ROOT / "rwn_ui" / "state" / "session.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            package = ".".join(node.module.split(".")[: 2 if "rwn_ui" in node.module else 1])
            assert package in allowed
    # another table ends all work and frees all results
    work.jobs["planner"] = finished(label="k = 3")
    assert results.memos
    assert results.tune.picture is not None
    load(session, rwn.load_demo("pima"), name="pima", demo="pima")
    assert (work.jobs, work.worker, work.drawn) == ({}, None, None)
    assert (results.memos, results.last, results.tune) == ({}, {}, TuneScreen())
    assert preparation_key(session, session.data, session.params) in results.tables


def test_a_change_of_the_setting_is_never_cut_short(session: Session, monkeypatch) -> None:
    """Streamlit may end a run wherever it looks at the state, in a callback too."""

    class CutShort(Exception):
        """As Streamlit's."""

    def look() -> None:
        raise CutShort

    params = rwn.NBRS2015(epsilon=1.0, q=0.5)
    precision = (("age", 5.0),)
    choice = rwn.Setting(params=params, weights=(("age", 3.0),), precision=precision, slices=())
    with monkeypatch.context() as patch:
        state = SafeSessionState(SessionState(), look)
        patch.setattr(session_state_proxy, "_mock_session_state", state)
        with pytest.raises(CutShort):
            _ = st.session_state["any"]
        set_setting(session, choice)  # it never looks
    assert (session.setting, session.data.schema.variable("age").weight) == (choice, 3.0)


TINY = described(frame("ties", 3), g="key", y="confidential")
TABLES = {"bodyfat": table("bodyfat"), "pima": table("pima"), "tiny": TINY}


LARGER = ["bodyfat", "pima"]
"""Tables with room for every preset."""


@pytest.mark.parametrize("method", rwn.METHODS)
def test_presets_lie_within_the_sliders(method: str) -> None:
    names = {lever.name for lever in rwn.METHODS[method].levers}
    for name, data in TABLES.items():
        ready = PreparedTable.prepare(data, params=first_setting(method)).prepared
        assert set(ready.ranges) == names
        for levers in ready.presets.values():
            assert set(levers) == names - ({"balance"} if method == "soft_rwn" else set())
            for lever, value in levers.items():
                ends = ready.ranges[lever]
                assert ends.clip(value) == value
                steps = (value - ends.low) / ends.step
                assert name == "tiny" or steps == pytest.approx(round(steps))


@pytest.mark.parametrize("method", rwn.METHODS)
def test_every_preset_masks_a_tiny_table(method: str) -> None:
    ready = PreparedTable.prepare(TINY, params=first_setting(method)).prepared
    for levers in ready.presets.values():
        moved = ready.with_levers(**levers)
        if method == "soft_rwn":  # two donors cannot give a tenth each
            with pytest.raises(rwn.ParameterError, match="cap must be at least 1/2"):
                moved.release(rwn.SecretKey.from_seed(1))
            moved = PreparedTable.prepare(TINY, params=rwn.SoftRWN(cap=1.0)).prepared
        assert moved.release(rwn.SecretKey.from_seed(1)).masked.n == 3


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("method", rwn.METHODS)
def test_presets_rise_and_are_all_different(method: str, name: str) -> None:
    ready = PreparedTable.prepare(TABLES[name], params=first_setting(method)).prepared
    values = {preset: tuple(levers.values()) for preset, levers in ready.presets.items()}
    assert len(set(values.values())) == len(values)
    values.pop("As sdcMicro", None)  # another program's default is no strength
    assert [*values.values()] == sorted(values.values())


FOLDER = ROOT / "rwn_ui" / "panel"
MODULES = {
    "panel": panel.MODULE,
    "live_sliders": live_sliders.MODULE,
    "sheet": live_sliders.SHEET,
    "tab": ("tab.js",),
}
NODE = shutil.which("node") or str(Path(playwright.__file__).parent / "driver" / "node")
"""The system's Node, or the one that comes with playwright, a dependency of the tests."""
# written by the server, our own words, and schemas of the demos
OWN = {"learn/lesson.py", "state/project_folder.py", "panel/guide.py", "widgets/command.py"}


def test_no_script_shares_a_cache_shows_html_or_parses_and_each_belongs_to_a_module() -> None:
    shared = {"cache", "cache_data", "cache_resource", "cached_property", "lru_cache"}
    parses = set()
    for path in SCRIPTS:
        source = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(source)))
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        assert not names & shared, path
        assert "unsafe_allow_html" not in source, path
        assert source.count("st.html(") == (path.name == "messages.py"), path  # the app's own style
        if re.search(r"(from_toml|thaw|toml_document)\(", source):
            parses.add("/".join(path.parts[-2:]))
    assert parses <= OWN
    assert {path.name for path in FOLDER.glob("*.js")} == {n for m in MODULES.values() for n in m}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_valid_and_every_name_is_declared_once_and_used(module: str) -> None:
    script = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in MODULES[module])
    declared = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
    names = declared.findall(script)
    assert len(names) == len(set(names))
    assert not [name for name in names if len(re.findall(rf"\b{name}\b", script)) < 2]
    command = [NODE, "--check", "--input-type=module", "-"]
    run = subprocess.run(command, input=script, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "js").glob("*.test.mjs")))
def test_functions_without_a_browser(path: Path) -> None:
    run = subprocess.run([NODE, "--test", path], capture_output=True, text=True, timeout=HANG_S)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_usual_plan_is_run_at_once_and_one_at_the_end_of_the_budget_is_not() -> None:
    data = rwn.load_demo("bodyfat")
    names = [variable.name for variable in data.schema.released]

    def work(*formulas: str, kind: str = "linear") -> int:
        about = {"kind": kind, "tolerance": 1.0}
        plan = (Analysis(name=f"n{i}", formula=x, **about) for i, x in enumerate(formulas))
        return AnalysisPlan(analyses=tuple(plan)).work(data)

    usual = f"{names[0]} ~ {' + '.join(names[1:])}", f"{names[1]} ~ {names[2]}*{names[3]}"
    assert 0 < 8 * work(*usual) <= WORK_AT_ONCE
    wide = f"{names[0]} ~ {'*'.join(names[1:9])}"
    assert work(*(f"{wide} + {names[10 + i % 3]}" for i in range(100))) > WORK_AT_ONCE
    assert work(wide) < work(wide, kind="poisson")
    # without a design and without a refusal
    assert work("nothing ~ there") == 0
    measured = Analysis(name="m", kind="measure", tolerance=0.2, measure=next(iter(rwn.MEASURES)))
    assert AnalysisPlan(analyses=(measured,)).work(data) > 0
