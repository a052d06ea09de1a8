"""The scripts of the components: their syntax, names without use, and tests under Node."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import playwright
import pytest

from rwn_ui import panel
from rwn_ui.panel import live_sliders

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "rwn_ui" / "panel"
MODULES = {
    "panel": panel.MODULE,
    "live_sliders": live_sliders.MODULE,
    "tab": ("tab.js",),
}
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
