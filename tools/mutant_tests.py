"""Find the tests that can notice a fault: those that run its lines, the cheapest first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.mutant_contexts import OUT
from tools.mutant_faults import Mutant

MARKERS = "not browser and not nightly and not engines"
GROUPS = {
    "laws": ("core/laws", "golden", "properties", "conformance"),
    "masking": ("core/masking", "golden", "properties", "conformance"),
    "io": ("core/io", "bad_inputs"),
    "reporting": ("core/reporting", "cli"),
}
"""Whose tests are tried first."""

_PARTS = (0.25, 0.5, 0.25)
"""Of the time: the nearest tests, all that run the line, all of their files."""


class TestsOfLines:
    """Which test runs which line.

    Parameters
    ----------
    folder : Path
        Holds a file for each group of tests, as `mutant_contexts` writes it.
    """

    def __init__(self, folder: Path) -> None:
        self._lines: dict[tuple[str, int], set[str]] = {}
        self._seconds: dict[str, float] = {}
        for file in sorted(folder.glob("*.json")):
            self._add(json.loads(file.read_text(encoding="utf-8")))
        self._files: dict[str, list[str]] = {}
        for name in self._seconds:
            self._files.setdefault(_file(name), []).append(name)

    def _add(self, noted: dict[str, dict[str, object]]) -> None:
        failed = set(noted["failed"])
        asking: dict[str, list[str]] = {}
        for name, seconds in noted["seconds"].items():
            if name not in failed:
                self._seconds[name] = float(str(seconds))
                for shared in noted["fixtures"][name]:
                    asking.setdefault(shared, []).append(name)
        for path, lines in noted["lines"].items():
            for line, contexts in lines.items():
                ran = {test for each in contexts for test in asking.get(each, [each])}
                known = self._lines.setdefault((path, int(line)), set())
                known |= ran & self._seconds.keys()

    def of(self, mutant: Mutant, package: str, most: float) -> tuple[list[str], float]:
        """The tests that may notice a fault, and the seconds they take: about so many at most.

        Those near come first, then the others that run its lines, then the rest of their files,
        which may use what one of them has kept.
        """
        begin, end = mutant.ran
        places = [(mutant.path, line) for line in range(begin, end + 1)]
        running = set[str]().union(*(self._lines.get(place, set()) for place in places))
        if not running:  # run at the import: any test of the file
            running = set[str]().union(*(v for k, v in self._lines.items() if k[0] == mutant.path))
        first = tuple(f"tests/{name}/" for name in GROUPS[package])

        def rank(name: str) -> tuple[bool, float]:
            return not name.startswith(first), self._seconds[name]

        ordered = sorted(running, key=rank)
        near = self._within(ordered, most * _PARTS[0])
        rest = self._within((name for name in ordered if name not in near), most * _PARTS[1])
        beside = {each for name in (*near, *rest) for each in self._files[_file(name)]} - running
        others = self._within(sorted(beside, key=rank), most * _PARTS[2])
        tests = [*_by_file(near), *_by_file(rest), *_by_file(others)]
        return tests, sum(self._seconds[name] for name in tests)

    def _within(self, names: Iterable[str], seconds: float) -> list[str]:
        """The first of the tests, until they take so long; at least one."""
        result, total = [], 0.0
        for name in names:
            total += self._seconds[name]
            if result and total > seconds:
                break
            result.append(name)
        return result


def _file(name: str) -> str:
    return name.partition("::")[0]


def _by_file(names: list[str]) -> list[str]:
    """The same tests, those of a file together, as they share what they need."""
    places = {file: place for place, file in enumerate(dict.fromkeys(map(_file, names)))}
    return sorted(names, key=lambda name: places[_file(name)])


def note_lines(place: Path, folder: Path, packages: Iterable[str]) -> None:
    """Run the tests once, and note which lines each runs, where that is not known yet."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = [name for package in packages for name in GROUPS[package]]
    for group in dict.fromkeys(groups):
        out = folder / f"{group.replace('/', '_')}.json"
        if not out.exists():
            command = [sys.executable, "-m", "pytest", "-p", "tools.mutant_contexts", "-q"]
            subprocess.run(
                [*command, "-p", "no:cacheprovider", "-m", MARKERS, f"tests/{group}"],
                cwd=place,
                env={**os.environ, "PYTHONPATH": str(place), OUT: str(out)},
                stdout=subprocess.DEVNULL,
                check=False,
            )
