"""The scripts of the components, and texts that users give: syntax, names, budgets of work."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import playwright
import pytest

import rwn_core as rwn
import rwn_ui
from rwn_core.data.plain import WORK_AT_ONCE
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.io.demo import load_demo
from rwn_ui import panel
from rwn_ui.panel import live_sliders

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "rwn_ui" / "panel"
MODULES = {"panel": panel.MODULE, "live_sliders": live_sliders.MODULE, "tab": ("tab.js",)}
TESTS = sorted(path.name for path in (ROOT / "tests" / "js").glob("*.test.mjs"))
_DECLARED = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def node() -> str:
    """The system's Node, or the one that comes with playwright, a dependency of the tests."""
    return shutil.which("node") or str(Path(playwright.__file__).parent / "driver" / "node")


def text(module: str) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in MODULES[module])


def test_every_script_belongs_to_a_module() -> None:
    assert {path.name for path in FOLDER.glob("*.js")} == {n for m in MODULES.values() for n in m}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_declared_once_and_used(module: str) -> None:
    script = text(module)
    names = _DECLARED.findall(script)
    assert len(names) == len(set(names))
    unused = [name for name in names if len(re.findall(rf"\b{name}\b", script)) < 2]
    assert not unused


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_valid(node: str, module: str) -> None:
    command = [node, "--check", "--input-type=module", "-"]
    run = subprocess.run(command, input=text(module), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", TESTS)
def test_functions_without_a_browser(node: str, name: str) -> None:
    command = [node, "--test", str(ROOT / "tests" / "js" / name)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


# written by the server, our own words, and schemas of the demos
OWN = {"learn/lesson.py", "state/project_folder.py", "panel/guide.py", "widgets/command.py"}


def test_no_page_parses_a_text_but_by_the_one_function() -> None:
    folder = Path(rwn_ui.__file__).parent
    called = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"(from_toml|thaw|toml_document)\(", path.read_text(encoding="utf-8"))
    }
    assert called <= OWN


def plan(*formulas: str, kind: str = "linear") -> AnalysisPlan:
    return AnalysisPlan(
        analyses=tuple(
            Analysis(name=f"n{number}", kind=kind, tolerance=1.0, formula=formula)
            for number, formula in enumerate(formulas)
        )
    )


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    return load_demo("bodyfat")


def test_a_usual_plan_is_run_at_once(data: rwn.Microdata) -> None:
    names = [variable.name for variable in data.schema.released]
    usual = plan(f"{names[0]} ~ {' + '.join(names[1:])}", f"{names[1]} ~ {names[2]}*{names[3]}")
    assert 0 < 8 * usual.work(data) <= WORK_AT_ONCE


def test_a_plan_at_the_end_of_the_budget_is_not_run_at_once(data: rwn.Microdata) -> None:
    names = [variable.name for variable in data.schema.released]
    wide = f"{names[0]} ~ {'*'.join(names[1:9])}"
    hostile = plan(*[f"{wide} + {names[10 + i % 3]}" for i in range(100)])
    assert hostile.work(data) > WORK_AT_ONCE
    assert plan(wide).work(data) < plan(wide, kind="poisson").work(data)


def test_work_is_counted_without_a_design_and_without_a_refusal(data: rwn.Microdata) -> None:
    assert plan("nothing ~ there").work(data) == 0
    measured = Analysis(name="m", kind="measure", tolerance=0.2, measure=next(iter(rwn.MEASURES)))
    assert AnalysisPlan(analyses=(measured,)).work(data) > 0
