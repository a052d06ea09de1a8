"""The rules of ARCHITECTURE.md: imports, sizes of files, and who may do what."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.registry import CPUDispatcher

import rwn_core as rwn
from rwn_core.masking import METHODS
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import Measure
from tests.rules import import_law as law

ROOT = law.ROOT
PROGRAM = law.program()
SOURCES = law.sources()
MOST_LINES = 800


def offenders(rule: Callable[[Path], object], paths: Iterable[Path] = SOURCES) -> list[str]:
    """The files that break a rule, with what the rule says of them."""
    return [f"{path.relative_to(ROOT)}: {said}" for path in paths if (said := rule(path))]


def libraries(path: Path) -> set[str]:
    """The packages that a file imports, wherever in the file."""
    return {name.split(".")[0] for name in law.imported_names(path.read_text("utf-8"))}


def test_every_import_keeps_the_law_and_no_files_import_each_other() -> None:
    arrows = law.arrows(PROGRAM)
    assert law.broken(arrows) == {}
    assert law.circle(arrows) == []
    assert set(law.circle([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])) == set("abc")


def test_the_law_is_written_down_and_has_a_line_for_every_room() -> None:
    assert f"```\n{law.law_text()}\n```" in (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert law.homeless(PROGRAM) == []
    assert law.homeless({**PROGRAM, "rwn_core.attic": ""}) == ["attic"]


FAULTS = {
    "an earlier room": "rwn_core.neighbors.metric rwn_core.tuning",
    "a later line inside a room": "rwn_core.measures.statistics.ols rwn_core.measures.risk",
    "the catalogue from inside": "rwn_core.measures.comparison rwn_core.measures",
    "the package from inside": "rwn_core.tuning.sweep rwn_core",
    "another method": "rwn_core.masking.pram rwn_core.masking.rwn",
    "another file format": "rwn_core.io.parquet_format rwn_core.io.csv_format",
    "an exact attack": "rwn_core.measures.attacks.red_team rwn_core.measures.attacks.posterior",
    "another page": "rwn_ui.risk.view rwn_ui.utility",
}


def test_planted_imports_break_the_law_in_a_function_and_for_types_too() -> None:
    for here, there in map(str.split, FAULTS.values()):
        for text in (f"import {there}", f"def later():\n    from {there} import something"):
            arrows = law.arrows({here: text, there: ""})
            assert set(law.broken(arrows)) == {(here, there)}, text


def test_a_file_is_not_long_and_is_named_by_its_idea() -> None:
    folders = ("rwn_core", "rwn_ui", "rwn_cli", "pages", "tests", "benchmarks", "tools")
    inside = [ROOT / "app.py"]
    for folder in folders:
        inside += (ROOT / folder).rglob("*")
    files = [path for path in inside if path.suffix in {".py", ".js", ".css"}]
    assert len(files) > 500

    def rule(path: Path) -> list[str]:
        text = path.read_text("utf-8")
        return [
            *({path.stem} & {"utils", "util", "helpers", "common", "misc", "base"}),
            *(word for word in ("TO" + "DO", "FIX" + "ME") if word in text),
            *(["long"] if len(text.splitlines()) > MOST_LINES else []),
        ]

    assert offenders(rule, files) == []


def test_streamlit_stays_in_the_front_and_its_shared_caches_nowhere() -> None:
    fronts = {"app", "pages", "rwn_ui"}
    shared = {"cache_data", "cache_resource", "experimental_memo"}
    without = ("rwn_ui/server/launch.py", "rwn_ui/server/assets.py", "rwn_ui/__init__.py")
    needs_none = {ROOT / name for name in without}  # the command line imports them

    def rule(path: Path) -> set[str]:
        text = path.read_text("utf-8")
        names = {node.id for node in law.nodes(text, ast.Name)}
        names |= {node.attr for node in law.nodes(text, ast.Attribute)}
        is_front = law.room_of(law.module_of(path)) in fronts and path not in needs_none
        return (shared & names) | ({"streamlit"} & libraries(path) if not is_front else set())

    assert offenders(rule) == []


def test_only_kernels_import_the_compiler() -> None:
    allowed = {"jit.py", "chacha_kernel.py", "weight_kernel.py"}
    files = [*SOURCES, *(ROOT / "benchmarks").rglob("*.py")]
    assert offenders(lambda p: p.name not in allowed and "numba" in libraries(p), files) == []


def test_only_the_command_writes_to_the_terminal() -> None:
    calls = re.compile(r"sys\.std(?:out|err)\.write|typer\.echo")  # ruff refuses print

    def rule(path: Path) -> list[str]:
        found = set(calls.findall(path.read_text("utf-8")))
        is_command = law.room_of(law.module_of(path)) == "rwn_cli"
        return sorted(found - {"typer.echo"} if is_command else found)

    assert offenders(rule) == []


def classes_asked_for(text: str) -> Iterator[str]:
    """The classes that a source asks objects for, by `isinstance` or by a pattern."""
    for call in law.nodes(text, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "isinstance":
            yield from re.findall(r"\w+", ast.unparse(call.args[1]))
    yield from (ast.unparse(pattern.cls) for pattern in law.nodes(text, ast.MatchClass))


@pytest.mark.parametrize(("room", "classes"), [("masking", r"RWN|NBRS2015"), ("laws", r"\w*Law")])
def test_only_its_own_room_asks_which_method_or_law_it_is(room: str, classes: str) -> None:
    def rule(path: Path) -> list[str]:
        asked = classes_asked_for(path.read_text("utf-8"))
        own = law.room_of(law.module_of(path)) == room
        return [name for name in asked if re.fullmatch(classes, name) and not own]

    assert offenders(rule) == []


def test_catalogues_have_every_method_and_measure_by_its_own_key() -> None:
    assert all(measure.key == key for key, measure in MEASURES.items())
    assert all(method.method == key for key, method in METHODS.items())


def test_the_list_of_methods_names_every_file_of_a_method() -> None:
    home = ROOT / "rwn_core" / "masking"
    names = law.imported_names((home / "__init__.py").read_text("utf-8"))
    listed: set[str] = set()
    for name in names:
        listed |= set(name.split("."))
    shared = law.SIBLINGS["rwn_core.masking"].split()
    assert {path.stem for path in home.glob("*.py")} - {"__init__", *shared} <= listed


@pytest.mark.parametrize("side", ["utility", "risk"])
def test_the_catalogue_has_the_measures_of_every_file(side: str) -> None:
    files = sorted((ROOT / "rwn_core" / "measures" / side).glob("[a-z]*.py"))
    modules = [import_module(f"rwn_core.measures.{side}.{file.stem}") for file in files]
    made = [[m for m in vars(each).values() if isinstance(m, Measure)] for each in modules]
    assert all(made)
    keys = [measure.key for measures in made for measure in measures]
    assert sorted(m.key for m in MEASURES.values() if m.side == side) == sorted(keys)


def test_every_public_name_is_there() -> None:
    names = [name for name in dir(rwn) if not name.startswith("__")]
    assert names == sorted(rwn._HOME_OF)
    assert all(home.startswith("rwn_core.") for home in rwn._HOME_OF.values())
    assert not [name for name in names if isinstance(getattr(rwn, name), ModuleType | None)]
    with pytest.raises(AttributeError, match="has no attribute"):
        rwn.nothing_of_this_name  # noqa: B018  (asking is the test)


HEAVY = {
    "numba",
    "plotly",
    "streamlit",
    "sklearn",
    "statsmodels",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.stats",
}
JUDGED = HEAVY - {"plotly", "streamlit", "statsmodels"}
"""What the verdict on a release needs: assignments, distances, and the red team's models."""
MASK = "from rwn_cli import main\nassert main.run(['mask', '{}', 'out.csv', '--k', '5']) == 0"
WORK = {
    "the package": ("import rwn_core", HEAVY | {"numpy", "pandas", "scipy"}),
    "functions that share their names with modules": (
        "import rwn_core.evaluation.audit, rwn_core.neighbors.metric, rwn_core as rwn\n"
        "assert callable(rwn.audit) and callable(rwn.coordinates)",
        set[str](),
    ),
    "the catalogue of measures": ("import rwn_core.measures", HEAVY),
    "the workers of a sweep, of a page and of a slider": (
        "import rwn_core.tuning.sweep, rwn_ui.background.job, rwn_ui.background.measure_worker\n"
        "import rwn_ui.background.advising",
        HEAVY,
    ),
    "the command rwn mask": (MASK.format("demo:bodyfat"), HEAVY - JUDGED),
}


@pytest.mark.parametrize("work", WORK)
def test_work_imports_nothing_heavy_that_it_does_not_need(work: str, tmp_path: Path) -> None:
    code, heavy = WORK[work]
    code = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert sorted(heavy & set(run.stdout.split())) == []


def test_no_module_but_kernels_knows_a_kernel_that_python_must_not_call() -> None:
    """Such a call would end the process (`rwn_core/parallel/jit.py`)."""
    inner: dict[str, set[str]] = {}
    for name in (name for name in PROGRAM if name.startswith("rwn_core.")):
        for key, value in vars(import_module(name)).items():
            if isinstance(value, CPUDispatcher) and value.targetoptions.get("no_cpython_wrapper"):
                inner.setdefault(name, set()).add(key)
    assert sum(map(len, inner.values())) > 50
    assert [name for name in inner if not name.endswith("_kernel")] == []


def test_only_the_kernel_divides_by_the_sizes_of_neighborhoods() -> None:
    """Donors may have weights: read Neighborhoods.weights, total or probabilities instead."""
    divided = re.compile(r"/ *(?:np\.(?:maximum|repeat)\()?(?:\w+\.)+sizes\b")
    kernel = ROOT / "rwn_core" / "neighbors" / "kernel.py"
    files = [path for path in SOURCES if path != kernel]
    assert offenders(lambda path: divided.findall(path.read_text("utf-8")), files) == []
    assert divided.search("share = 1.0 / np.maximum(found.neighborhoods.sizes, 1)")
