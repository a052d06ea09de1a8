"""Count how many small faults in the code its tests find: ``python -m tools.mutants ROOM ... 40``.

Changes 40 random places of each room (a folder of rwn_core, or ui, cli, js), one at a time, in
copies of the repository, and runs the tests that run the changed line, the cheapest first. Faults
that no test finds are listed. A stopped run continues (``--folder``). Needs ``coverage``.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tools.mutant_faults import Mutant, mutants, script_mutants
from tools.mutant_tests import GROUPS, TestsOfLines, note_lines

ROOT = Path(__file__).resolve().parents[1]
DEMANDED = 0.8
LEFT_OUT = (".git", "__pycache__", ".hypothesis")
SOURCES = {"ui": ("rwn_ui", "pages"), "cli": ("rwn_cli",), "js": ("rwn_ui/panel",)}
"""Folders of the rooms outside rwn_core."""
GRACE_S = 60.0  # more than the tests take without a fault, and four times as long


def main() -> int:
    """Print each surviving fault, and the share that was found with its interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", choices=(*GROUPS, "js"))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rwn-mutants")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one fault")
    given = parser.parse_args()
    os.nice(19 - os.nice(0))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(given.folder / "kernels"))
    places = [given.folder / "copies" / str(number) for number in range(given.at_once)]
    for place in places:  # always at the same path, so that compiled kernels are found again
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_OUT))
    note_lines(places[0], given.folder / "lines", given.rooms)
    tests = TestsOfLines(given.folder / "lines")
    shares = []
    for room in given.rooms:
        sample, ends = _sample(room, given.count, given.seed), given.folder / f"{room}.ends"
        known = _known(ends)
        faults = [(each, *tests.of(each, room, given.seconds)) for each in sample]
        _run([fault for fault in faults if fault[0].key not in known], places, ends)
        shares.append(_report(room, sample, _known(ends)))
    return int(min(shares) < DEMANDED)


def _sample(room: str, count: int, seed: int) -> list[Mutant]:
    kind, made = ("*.js", script_mutants) if room == "js" else ("*.py", mutants)
    folders = SOURCES.get(room, (f"rwn_core/{room}",))
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob(kind))]
    every = [mutant for path in files for mutant in made(path, ROOT)]
    random.Random(seed).shuffle(every)  # so that a larger sample holds a smaller one
    return every[:count]


def _known(ends: Path) -> dict[str, dict[str, Any]]:
    lines = ends.read_text(encoding="utf-8").splitlines() if ends.exists() else []
    return {noted["key"]: noted for noted in map(json.loads, lines)}


def _run(faults: list[tuple[Mutant, list[str], float]], places: list[Path], ends: Path) -> None:
    """Run the faults, each copy of the repository the next one, and note their ends."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def work(fault: tuple[Mutant, list[str], float]) -> None:
        (mutant, tests, seconds), place, start = fault, free.get(), time.monotonic()
        end = _end(mutant, tests, seconds, place) if tests else "not run"
        free.put(place)
        took = round(time.monotonic() - start)
        noted = {"key": mutant.key, "fault": str(mutant), "end": end, "seconds": took}
        with ends.open("a", encoding="utf-8") as file:
            file.write(json.dumps(noted) + "\n")

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(work, faults))


def _end(mutant: Mutant, tests: list[str], seconds: float, place: Path) -> str:
    """Return "killed", "survived" or "too long"; a kill counts if the test passes without it."""
    target = place / mutant.path
    sound = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    try:
        code, said = _tested(tests, seconds, place)
    finally:
        target.write_text(sound, encoding="utf-8")
    if code == 0:
        return "survived"
    if code is None:
        return "too long"
    failed = [line.split()[1] for line in said.splitlines() if line.startswith("FAILED ")]
    return "doubtful" if failed and _tested(failed, seconds, place)[0] else "killed"


def _tested(tests: list[str], seconds: float, place: Path) -> tuple[int | None, str]:
    """Return the exit code of the tests (None: too long) and what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            code = process.wait(GRACE_S + 4 * seconds)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        return code, said.read().decode(errors="replace")


def _report(room: str, sample: list[Mutant], known: dict[str, dict[str, Any]]) -> float:
    """Print the ends of a room's faults; return the share that was found."""
    ends = [known[mutant.key] for mutant in sample if mutant.key in known]
    for end in ends:
        if end["end"] != "killed":
            sys.stdout.write(f"{end['end']} {end['fault']}\n")
    counts = collections.Counter(end["end"] for end in ends)
    found, tried = counts["killed"], max(len(ends), 1)
    low, high = interval(found, tried)
    sys.stdout.write(
        f"{room}: {len(ends)} faults, {dict(counts)}; found {found / tried:.0%} "
        f"(95 % interval {low:.0%} to {high:.0%})\n"
    )
    sys.stdout.flush()
    return found / tried


def interval(found: int, tried: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    z, p = 1.96, found / tried
    middle, half = p + z**2 / (2 * tried), z * (p * (1 - p) / tried + z**2 / (4 * tried**2)) ** 0.5
    return (middle - half) / (1 + z**2 / tried), (middle + half) / (1 + z**2 / tried)


if __name__ == "__main__":
    sys.exit(main())
