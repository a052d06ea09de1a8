"""Count how many small faults in a package's code its tests find.

``python -m tools.mutants mechanism 100`` changes 100 random places of rwn_core/laws, one
at a time, in copies of the repository, and runs the tests that run the changed line: the cheapest
first, and then the other tests of their files. What no test notices is listed. The first run notes
which test runs which line; a stopped run goes on where it was (``--folder``).
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.mutant_faults import Mutant, mutants
from tools.mutant_loop import ENDS, TAKEN, TASKS, Task
from tools.mutant_tests import GROUPS, MARKERS, TestsOfLines, note_lines

ROOT = Path(__file__).resolve().parents[1]
DEMANDED = 0.85
COPIED = ("rwn_core", "rwn_cli", "rwn_ui", "tests", "benchmarks", "demo_data", "docs", "pages",
          ".streamlit")  # fmt: skip
FILES = ("app.py", "pyproject.toml", "ARCHITECTURE.md", "README.md", "CHANGELOG.md")


def main() -> int:
    """Print each surviving fault, and the share that was found with its interval."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="+", choices=GROUPS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rwn-mutants")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one fault")
    given = parser.parse_args()
    os.nice(19 - os.nice(0))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(given.folder / "kernels"))
    samples = {name: _sample(name, given.count, given.seed) for name in given.packages}
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / str(number) for number in range(given.at_once)]
        for place in places:
            copied(ROOT, place)
        note_lines(places[0], given.folder / "lines", given.packages)
        tests = TestsOfLines(given.folder / "lines")
        for package, sample in samples.items():
            known = _known(given.folder)
            wanted = [each for each in sample if _is_open(known.get(each.key), given.seconds)]
            tasks = [_task(each, tests, package, given.seconds) for each in wanted]
            _run(tasks, places, given.folder / package)
    known = _known(given.folder)
    shares = [_report(package, sample, known) for package, sample in samples.items()]
    return int(min(shares) < DEMANDED)


def copied(root: Path, place: Path) -> None:
    """Make a copy of the repository that may be broken."""
    for name in COPIED:
        shutil.copytree(root / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(root / name, place / name)


def _sample(package: str, count: int, seed: int) -> list[Mutant]:
    files = sorted((ROOT / "rwn_core" / package).rglob("*.py"))
    every = [mutant for path in files for mutant in mutants(path, ROOT)]
    random.Random(seed).shuffle(every)  # so that a larger sample holds a smaller one
    return every[:count]


def _known(folder: Path) -> dict[str, dict[str, Any]]:
    lines = [
        line for file in folder.glob("*.ends") for line in file.read_text("utf-8").splitlines()
    ]
    return {noted["key"]: noted for noted in map(json.loads, lines)}


def _is_open(noted: dict[str, Any] | None, seconds: float) -> bool:
    """Whether a fault was not tried yet, or not noticed by fewer tests."""
    if noted is None:
        return True
    return noted["end"] in ("survived", "not run") and noted["most"] < seconds


def _task(mutant: Mutant, tests: TestsOfLines, package: str, most: float) -> Task:
    chosen, seconds = tests.of(mutant, package, most)
    told = {"key": mutant.key, "fault": str(mutant), "most": most}
    return {
        "told": told,
        "path": mutant.path,
        "source": mutant.source,
        "tests": chosen,
        "seconds": seconds,
    }


def _run(tasks: list[Task], places: list[Path], name: Path) -> None:
    """Run the faults: each copy takes the next one."""
    file = name.with_suffix(".tasks")
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    used = sorted({test.partition("::")[0] for task in tasks for test in task["tests"]})
    options = ["-q", "-p", "no:cacheprovider", "-m", MARKERS, "--basetemp", "files"]
    running = []
    for number, place in enumerate(places if used else ()):
        ends = name.with_name(f"{name.name}-{number}.ends")
        with ends.with_suffix(".log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-p", "tools.mutant_loop", *options, *used],
                cwd=place,
                env={
                    **os.environ,
                    "PYTHONPATH": str(place),
                    TASKS: str(file.absolute()),
                    ENDS: str(ends.absolute()),
                    TAKEN: str(places[0].parent),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        running.append(process)
    for process in running:
        process.wait()


def _report(package: str, sample: list[Mutant], known: dict[str, dict[str, Any]]) -> float:
    """Print what became of a package's faults, and give the share that was found."""
    ends = [known[mutant.key] for mutant in sample if mutant.key in known]
    if not ends:
        return 0.0
    for end in ends:
        if end["end"] != "killed":
            sys.stdout.write(f"{end['end']} {end['fault']}\n")
    counts = collections.Counter(end["end"] for end in ends)
    found = counts["killed"]  # a busy machine, too, makes tests take long
    low, high = interval(found, len(ends))
    sys.stdout.write(
        f"{package}: {len(ends)} faults, {dict(counts)}; found {found / len(ends):.0%} "
        f"(95 % interval {low:.0%} to {high:.0%})\n"
    )
    sys.stdout.flush()
    return found / len(ends)


def interval(found: int, tried: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share."""
    z, p = 1.96, found / tried
    middle, half = p + z**2 / (2 * tried), z * (p * (1 - p) / tried + z**2 / (4 * tried**2)) ** 0.5
    return (middle - half) / (1 + z**2 / tried), (middle + half) / (1 + z**2 / tried)


if __name__ == "__main__":
    sys.exit(main())
