"""Note which lines each test runs (a plugin of pytest), and choose the tests for a fault."""

from __future__ import annotations

import ast
import json
import os
import queue
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import coverage
import pytest

from tools.mutant_faults import Mutant

MARKERS = "not browser and not nightly and not engines"
OUT = "RWN_MUTANTS_LINES"
"""The environment variable with the file to write; the plugin does nothing without it."""

GROUPS = {
    "data": ("core/data", "bad_inputs"),
    "io": ("core/io", "bad_inputs"),
    "parallel": ("core/parallel",),
    "neighbors": ("core/neighbors", "golden", "properties"),
    "laws": ("core/laws", "golden", "properties", "conformance"),
    "masking": ("core/masking", "golden", "properties", "conformance"),
    "measures": ("core/measures", "contracts", "golden"),
    "evaluation": ("core/evaluation", "contracts"),
    "datasets": ("core/datasets",),
    "tuning": ("core/tuning", "contracts"),
    "charts": ("core/charts",),
    "reporting": ("core/reporting", "core/evaluation", "cli"),
    "ui": ("ui",),
    "cli": ("cli",),
}
"""By room: the folders of tests that are tried first."""

SCRIPT_TESTS = tuple(
    f"tests/{name}.py"
    for name in (
        "ui/test_session",
        "browser/test_tune_page",
        "browser/test_live_sliders",
        "browser/test_cards",
        "browser/test_keyboard",
    )
)
"""The tests that run the JavaScript, the cheapest first."""

_PARTS = (0.25, 0.5, 0.25)
"""Shares of the time: nearest tests, all that run the line, the rest of their files."""


class Notes:
    """Note the lines, shared fixtures, seconds and failures of each test."""

    def __init__(self, out: Path) -> None:
        folders = ["rwn_core", "rwn_cli", "rwn_ui", "pages"]
        self.out = out
        self.coverage = coverage.Coverage(data_file=None, source=folders, config_file=False)
        self.coverage.start()
        self.contexts: list[str] = []
        self.fixtures: dict[str, list[str]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def _enter(self, context: str) -> None:
        self.contexts.append(context)
        self.coverage.switch_context(context)

    def _leave(self) -> None:
        self.contexts.pop()
        self.coverage.switch_context(self.contexts[-1] if self.contexts else "")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the fixtures that a test shares, its lines and its seconds."""
        known = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
        shared = [_shared(each[-1]) for each in known if each[-1].scope != "function"]
        self.fixtures[item.nodeid] = shared
        self._enter(item.nodeid)
        start = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - start
        self._leave()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        """Note the lines of a shared fixture for each test that uses it."""
        if fixturedef.scope == "function":
            return (yield)
        self._enter(_shared(fixturedef))
        try:
            return (yield)
        finally:
            self._leave()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails without a fault: it would find every fault."""
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the notes."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            str(Path(file).relative_to(Path.cwd())): data.contexts_by_lineno(file)
            for file in data.measured_files()
        }
        noted = {"lines": lines, "fixtures": self.fixtures, "seconds": self.seconds}
        self.out.write_text(json.dumps({**noted, "failed": sorted(self.failed)}), encoding="utf-8")


def _shared(fixture: pytest.FixtureDef[object]) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Begin to take notes."""
    if OUT in os.environ:
        config.pluginmanager.register(Notes(Path(os.environ[OUT])))


def note_lines(places: Sequence[Path], folder: Path, rooms: Iterable[str]) -> None:
    """Run the tests of the rooms once, a folder in each place, unless their notes are there."""
    folder.mkdir(parents=True, exist_ok=True)
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def note(group: str) -> None:
        out = folder / f"{group.replace('/', '_')}.json"
        if out.exists():
            return
        place = free.get()
        command = [sys.executable, "-m", "pytest", "-p", "tools.mutant_tests", "-q"]
        subprocess.run(
            [*command, "-p", "no:cacheprovider", "-m", MARKERS, f"tests/{group}"],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(place), OUT: str(out)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        free.put(place)

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(note, dict.fromkeys(name for room in rooms for name in GROUPS.get(room, ()))))


class TestsOfLines:
    """Hold which test runs which line, as noted in a folder."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self._lines: dict[tuple[str, int], set[str]] = {}
        self.seconds: dict[str, float] = {}
        for file in sorted(folder.glob("*.json")):
            self._add(json.loads(file.read_text(encoding="utf-8")))
        self._files: dict[str, list[str]] = {}
        for name in self.seconds:
            self._files.setdefault(_file(name), []).append(name)

    def _add(self, noted: dict[str, Any]) -> None:
        users: dict[str, list[str]] = {}
        for name in noted["seconds"].keys() - set(noted["failed"]):
            self.seconds[name] = noted["seconds"][name]
            for fixture in noted["fixtures"][name]:
                users.setdefault(fixture, []).append(name)
        for path, lines in noted["lines"].items():
            for line, contexts in lines.items():
                ran = {test for each in contexts for test in users.get(each, [each])}
                self._lines.setdefault((path, int(line)), set()).update(ran & self.seconds.keys())

    def _running(self, mutant: Mutant) -> set[str]:
        begin, end = mutant.ran
        lines = (self._lines.get((mutant.path, line), set()) for line in range(begin, end + 1))
        return set[str]().union(*lines)

    def run_here(self, mutant: Mutant) -> bool:
        """Tell whether tests run a fault in their own process: workers have no notes."""
        return bool(self._running(mutant))

    def of(self, mutant: Mutant, room: str, most: float) -> tuple[list[str], float]:
        """Return tests that may notice a fault, cheapest of the room first, and their seconds."""
        if room == "js":
            return list(SCRIPT_TESTS), most
        running = self._running(mutant)
        naming = set[str]()
        if not running:  # compiled: no line is noted but those that call it
            running = set[str]().union(
                *(self._lines.get(line, set()) for line in calling(mutant.path, mutant.line))
            )
        if not running:  # run at the import, or by a worker
            naming = self._naming(mutant.path)
            files = {mutant.path, *_importing(mutant.path, Path().glob("rwn_*/**/*.py"))}
            running = naming.union(
                *(tests for (path, _), tests in self._lines.items() if path in files)
            )
        first = tuple(f"tests/{name}/" for name in GROUPS[room])

        def rank(name: str) -> tuple[bool, bool, float]:
            return name not in naming, not name.startswith(first), self.seconds[name]

        ordered = sorted(running, key=rank)
        near = self._within(ordered, most * _PARTS[0])
        rest = self._within((name for name in ordered if name not in near), most * _PARTS[1])
        files = {name for test in (*near, *rest) for name in self._files[_file(test)]} - running
        others = self._within(sorted(files, key=rank), most * _PARTS[2])
        tests = [*near, *rest, *others]
        return tests, sum(self.seconds[name] for name in tests)

    def _naming(self, path: str) -> set[str]:
        naming = _importing(path, map(Path, self._files))
        return {test for file in naming for test in self._files[file]}

    def _within(self, names: Iterable[str], seconds: float) -> list[str]:
        """Return the first tests that take this long together; at least one."""
        result = list[str]()
        total = 0.0
        for name in names:
            total += self.seconds[name]
            if result and total > seconds:
                break
            result.append(name)
        return result


def _importing(path: str, among: Iterable[Path]) -> list[str]:
    """Return the files that import another one."""
    folder, _, name = path.removesuffix(".py").replace("/", ".").rpartition(".")
    imported = re.compile(rf"{re.escape(folder)}(\.| import [^\n]*\b){name}\b")
    return [str(each) for each in among if imported.search(each.read_text("utf-8"))]


def calling(path: str, line: int) -> set[tuple[str, int]]:
    """Return the lines of statements that name the compiled function with a line, or its callers.

    A line is a file and a number.
    """
    kernels = dict[str, set[str]]()
    others = list[tuple[str, set[str], ast.stmt]]()
    names = set[str]()
    for file in sorted(Path().glob("rwn_*/**/*.py")):
        compiled = file.name.endswith("_kernel.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.stmt):
                continue
            used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            if compiled and isinstance(node, ast.FunctionDef):
                kernels.setdefault(node.name, set()).update(used)
                if str(file) == path and node.lineno <= line <= (node.end_lineno or 0):
                    names.add(node.name)
            elif not compiled and not hasattr(node, "body"):
                others.append((str(file), used, node))
    while more := {name for name, used in kernels.items() if used & names} - names:
        names |= more
    return {
        (file, number)
        for file, used, node in others
        if used & names
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _file(name: str) -> str:
    return name.partition("::")[0]
