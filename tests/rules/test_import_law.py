"""The law of imports and the size of rooms, held against every file, and against planted faults."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rules import import_law as law

BROKEN: set[tuple[str, str]] = set()
CIRCLES: list[list[str]] = []
METHODS_ASKED_FOR: set[str] = set()
LAWS_ASKED_FOR: set[str] = set()
"""Faults that are known. Each list may only get shorter: a fault that is gone must leave it."""

MOST_LINES = 800
MOST_ENTRIES = {"rwn_core": 16, "rwn_ui": 15}
MARKERS = {"py.typed", "__init__.py", "__init__.pyi"}  # neither a room nor a module of its own
WRITTEN = {".py", ".js", ".css"}


def test_every_import_keeps_the_law() -> None:
    wrong = law.broken(law.arrows(law.program()))
    assert set(wrong) == BROKEN, {arrow: why for arrow, why in wrong.items() if arrow not in BROKEN}


def test_no_files_import_each_other() -> None:
    assert law.circles(law.arrows(law.program())) == CIRCLES


def test_every_room_has_a_line_in_the_law() -> None:
    assert law.homeless(law.program()) == []
    entries = {Path(name).stem for name in find_entries("rwn_core")} - {"__init__"}
    assert entries == set(law.RANK) - {"rwn_ui", "rwn_cli", "pages", "app"}


def test_the_law_has_ten_lines_and_is_written_down() -> None:
    lines = law.law_text().splitlines()
    assert [line.split()[0] for line in lines[:10]] == [str(number) for number in range(1, 11)]
    document = (law.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert f"```\n{law.law_text()}\n```" in document


def planted(**texts: str) -> law.Program:
    """The program with lines added to files, which are made where there are none."""
    files = dict(law.program())
    for name, text in texts.items():
        module = name.replace("__", ".")
        files[module] = files.get(module, "") + "\n" + text
    return files


FAULTS = """
rwn_core.neighbors.metric | import rwn_core.tuning | rwn_core.tuning
rwn_core.data.microdata | def later():\\n    from rwn_core.masking.rwn import RWN\\n    return RWN | rwn_core.masking.rwn
rwn_core.laws.donors | if TYPE_CHECKING:\\n    from rwn_core.measures.comparison import Comparison | rwn_core.measures.comparison
rwn_core.io.reading | from rwn_core import evaluation as other | rwn_core.evaluation
rwn_core.randomness | from rwn_core.parallel.threads import Work | rwn_core.parallel.threads
rwn_core.tuning.sweep | import rwn_core as rwn | rwn_core
rwn_core.measures.statistics.ols | from rwn_core.measures.attacks.posterior import posterior | rwn_core.measures.attacks.posterior
rwn_core.measures.utility.regression | from rwn_core.measures.risk.uniqueness import UNIQUENESS | rwn_core.measures.risk.uniqueness
rwn_core.measures.comparison | from rwn_core.measures import MEASURES | rwn_core.measures
rwn_core.masking.nbrs2015 | from rwn_core.masking.rwn import RWN | rwn_core.masking.rwn
rwn_core.masking.pram | from rwn_core.masking.rwn import RWN | rwn_core.masking.rwn
rwn_core.io.parquet_format | from rwn_core.io.csv_format import read_csv | rwn_core.io.csv_format
rwn_core.charts.tuning.two_way | from rwn_core.charts.tuning.quantiles import draw | rwn_core.charts.tuning.quantiles
rwn_core.measures.drawing.style | from rwn_core.measures.attacks.posterior import link | rwn_core.measures.attacks.posterior
rwn_ui.risk.view | from rwn_ui.utility import results | rwn_ui.utility.results
pages.extra | import pages.other | pages.other
rwn_core.reporting.scenario | from rwn_ui.server.messages import show | rwn_ui.server.messages
rwn_core.measures.attacks.red_team.merge | from rwn_core.measures.attacks.posterior import link | rwn_core.measures.attacks.posterior
rwn_core.measures.attacks.worst_case | from rwn_core.measures.attacks.red_team import merge | rwn_core.measures.attacks.red_team.merge
rwn_core.data.variable | import rwn_core.attic | rwn_core.attic
"""  # noqa: E501


@pytest.mark.parametrize("fault", FAULTS.strip().splitlines())
def test_a_planted_fault_breaks_the_law(fault: str) -> None:
    """An earlier room, a sibling, the package from inside; plain, in a function or for types."""
    name, text, target = fault.split(" | ")
    files = planted(**{name: text.replace("\\n", "\n"), target: ""})
    assert set(law.broken(law.arrows(files))) - BROKEN == {(name, target)}


def test_a_relative_import_is_refused(tmp_path: Path) -> None:
    for part in ("app.py", "rwn_core/masking/rwn.py"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).write_text("from . import release\n" if "rwn" in part else "")
    with pytest.raises(AssertionError, match="relative import in line 1"):
        law.arrows(law.program(tmp_path))


def tracked(*parts: str) -> list[str]:
    """The files under version control, and new ones that are not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *parts]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=law.ROOT)
    return [name for name in run.stdout.splitlines() if (law.ROOT / name).is_file()]


def find_entries(folder: str) -> set[str]:
    """What stands at the top of a folder."""
    return {name.split("/")[1] for name in tracked(folder)} - MARKERS


@pytest.mark.parametrize("folder", MOST_ENTRIES)
def test_a_package_has_few_entries_at_its_top(folder: str) -> None:
    assert len(find_entries(folder)) <= MOST_ENTRIES[folder], sorted(find_entries(folder))


def test_no_file_is_long() -> None:
    parts = ("rwn_core", "rwn_ui", "rwn_cli", "pages", "app.py", "tests", "benchmarks", "tools")
    long = {
        name
        for name in tracked(*parts)
        if Path(name).suffix in WRITTEN
        and len((law.ROOT / name).read_text(encoding="utf-8").splitlines()) > MOST_LINES
    }
    assert long == set()


def classes_asked_for(text: str) -> Iterator[str]:
    """The classes that a source asks objects for, by `isinstance` or by a pattern."""
    for call in law.nodes(text, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "isinstance":
            yield from ast.unparse(call.args[1]).replace("(", "").replace(")", "").split(", ")
    yield from (ast.unparse(pattern.cls) for pattern in law.nodes(text, ast.MatchClass))


def asking(files: law.Program, asked: Callable[[str], bool], room: str) -> set[str]:
    """The modules outside of a room that ask for one of the classes."""
    return {
        module
        for module, text in files.items()
        if law.room_of(module) != room and any(map(asked, classes_asked_for(text)))
    }


def is_method(name: str) -> bool:
    """Whether this is the class of one masking method."""
    return name.split(".")[-1] in {"RWN", "NBRS2015"}


def is_law(name: str) -> bool:
    """Whether this is the class of one mechanism's law."""
    return name.endswith("Law")


def test_only_masking_asks_which_method_it_is() -> None:
    assert asking(law.program(), is_method, "masking") == METHODS_ASKED_FOR


def test_only_the_mechanism_asks_which_law_it_is() -> None:
    assert asking(law.program(), is_law, "laws") == LAWS_ASKED_FOR
