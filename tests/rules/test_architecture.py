"""The rules of ARCHITECTURE.md beside the law of imports, held against every file."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.rules import import_law as law

ROOT = law.ROOT

SOURCES = law.sources()
PROGRAM = [*SOURCES, *sorted((ROOT / "benchmarks").rglob("*.py"))]
STREAMLIT_ROOMS = {"app", "pages", "rwn_ui"}
WRITES_TO_THE_TERMINAL = {"rwn_cli"}
NAMES_WITHOUT_AN_IDEA = {"utils", "util", "helpers", "common", "misc", "base"}


def imports(path: Path) -> frozenset[str]:
    """The full names that a file imports, wherever in the file."""
    return law.imported_names(path.read_text(encoding="utf-8"))


def _last_name(function: ast.expr) -> str:
    return str(getattr(function, "id", "") or getattr(function, "attr", ""))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def offenders(rule: Callable[[Path], object], paths: Iterable[Path]) -> list[str]:
    """The files that break a rule, with what the rule says of them."""
    return [f"{relative(path)}: {said}" for path in paths if (said := rule(path))]


def test_the_idea_stands_in_the_first_line() -> None:
    def rule(path: Path) -> str:
        tree = law.parsed(path.read_text(encoding="utf-8"))
        first, *_ = (ast.get_docstring(tree) or "").splitlines() or [""]
        return "" if first.endswith((".", "?", ":")) else "no sentence in the first line"

    assert offenders(rule, PROGRAM) == []


def test_no_file_without_an_idea_or_unfinished() -> None:
    def rule(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        return [
            *({path.stem} & NAMES_WITHOUT_AN_IDEA),
            *(word for word in ("TO" + "DO", "FIX" + "ME") if word in text),
        ]

    assert offenders(rule, PROGRAM) == []


def test_streamlit_stays_in_the_front() -> None:
    def rule(path: Path) -> list[str]:
        if law.room_of(law.module_of(path)) in STREAMLIT_ROOMS:
            return []
        return [name for name in imports(path) if name.split(".")[0] == "streamlit"]

    assert offenders(rule, SOURCES) == []


def test_no_cache_is_shared_between_users() -> None:
    shared = {"cache_data", "cache_resource", "experimental_memo"}

    def rule(path: Path) -> set[str]:
        text = path.read_text(encoding="utf-8")
        names = {node.id for node in law.nodes(text, ast.Name)}
        return shared & (names | {node.attr for node in law.nodes(text, ast.Attribute)})

    assert offenders(rule, SOURCES) == []


def test_only_the_command_writes_to_the_terminal() -> None:
    def rule(path: Path) -> set[str]:
        calls = law.nodes(path.read_text(encoding="utf-8"), ast.Call)
        written = {"print", "sys.stdout.write", "sys.stderr.write"}
        if law.room_of(law.module_of(path)) not in WRITES_TO_THE_TERMINAL:
            written.add("typer.echo")
        ends = {"print", "write", "echo"}  # of most calls the name alone says that they are none
        return written & {
            ast.unparse(each) for call in calls if _last_name(each := call.func) in ends
        }

    assert offenders(rule, SOURCES) == []


def test_the_launcher_needs_no_streamlit() -> None:
    # the command line imports it, and must stay fast
    assert "streamlit" not in {
        name.split(".")[0]
        for part in ("server/launch.py", "server/assets.py", "__init__.py")
        for name in imports(ROOT / "rwn_ui" / part)
    }


def test_every_method_is_in_its_catalogue() -> None:
    home = ROOT / "rwn_core" / "masking"
    listed = {part for name in imports(home / "__init__.py") for part in name.split(".")}
    shared = law.SIBLINGS["rwn_core.masking"].split()
    files = {path.stem for path in home.glob("*.py")} - {"__init__", *shared}
    assert files <= listed


def test_catalogues_are_keyed_by_their_own_keys() -> None:
    from rwn_core.masking import METHODS
    from rwn_core.measures import MEASURES
    from rwn_core.measures.measure import Measure

    assert all(measure.key == key for key, measure in MEASURES.items())
    assert all(method.method == key for key, method in METHODS.items())
    for side in ("utility", "risk"):
        files = sorted((ROOT / "rwn_core" / "measures" / side).glob("[a-z]*.py"))
        modules = [import_module(f"rwn_core.measures.{side}.{file.stem}") for file in files]
        made = [[m for m in vars(each).values() if isinstance(m, Measure)] for each in modules]
        assert all(made)
        keys = [measure.key for measures in made for measure in measures]
        assert sorted(m.key for m in MEASURES.values() if m.side == side) == sorted(keys)


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, rwn_core; print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    heavy = {"numpy", "pandas", "scipy", "sklearn", "statsmodels", "numba", "streamlit", "plotly"}
    assert not loaded & heavy


def test_only_the_compiled_kernels_import_the_compiler() -> None:
    for path in PROGRAM:
        if path.name not in {"jit.py", "chacha_kernel.py", "weight_kernel.py"}:
            assert "numba" not in {name.split(".")[0] for name in imports(path)}, path


def test_every_public_name_is_there() -> None:
    import rwn_core as rwn

    names = [name for name in dir(rwn) if not name.startswith("__")]
    assert names == sorted(rwn._HOME_OF)
    assert all(home.startswith("rwn_core.") for home in rwn._HOME_OF.values())
    for name in names:
        assert getattr(rwn, name) is not None
        assert not isinstance(getattr(rwn, name), ModuleType)
    with pytest.raises(AttributeError, match="has no attribute"):
        rwn.nothing_of_this_name  # noqa: B018  (asking is the test)


def test_a_type_checker_sees_every_public_name(tmp_path: Path) -> None:
    import rwn_core as rwn

    used = [*rwn._HOME_OF, "__version__", "nothing_of_this_name"]
    file = tmp_path / "uses_every_name.py"
    program = ["import rwn_core as rwn", *(f"reveal_type(rwn.{name})" for name in used)]
    file.write_text("\n".join(program) + "\n", encoding="utf-8")
    # the options of the project, so that what it knows of the files is used again
    options = ("--no-error-summary", "--hide-error-context")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    # an answer that mypy kept from a run before names the folder of that run
    lines = [part for line in run.stdout.splitlines() for part in line.split(file.name)[1:]]
    (error,) = (line for line in lines if ": error: " in line)
    assert "nothing_of_this_name" in error, "a name that is not there is refused"
    shown = {int(line.split(":")[1]): line for line in lines if ": note: Revealed type" in line}
    unseen = [name for place, name in enumerate(used, start=2) if shown[place].endswith('"Any"')]
    assert unseen == ["nothing_of_this_name"]


def test_functions_keep_the_names_they_share_with_modules() -> None:
    code = (
        "import rwn_core.evaluation.audit, rwn_core.neighbors.metric\n"
        "import rwn_core.evaluation.forecast, rwn_core as rwn\n"
        "assert callable(rwn.audit) and callable(rwn.coordinates) and callable(rwn.forecast)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
