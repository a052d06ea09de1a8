"""Count how many small faults in the code its tests find: ``python -m tools.mutants ROOM ... 40``.

Changes 40 random places of each room (a folder of rwn_core, or ui, cli, js), one at a time, in
copies of the repository, and runs the tests that run the changed line, the cheapest first: in a
fork of one process of pytest where the fault is within a function that tests call, else in a
process of its own. Tests that never end have found a fault, too: the check stops such a test.
Faults that no test finds are listed. A stopped run continues (``--folder``).
``--matrix`` notes every test that finds a fault, and lists those of the room that find none, or
none that cheaper tests miss. ``--night S`` tries what these tests leave with the tests of the night
lane in the room's folders, many faults at once, as far as S processor seconds go a round. Needs
``coverage``.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutant_faults import Mutant, mutants, script_mutants
from tools.mutant_forks import FAULTS, WAITED, function_of
from tools.mutant_tests import GROUPS, TestsOfLines, note_lines

ROOT = Path(__file__).resolve().parents[1]
DEMANDED = 0.8
LEFT_OUT = (".git", ".venv", "build", "dist", "node_modules", "__pycache__", ".hypothesis")
SOURCES = {"ui": ("rwn_ui", "pages"), "cli": ("rwn_cli",), "js": ("rwn_ui/panel",)}
"""Folders of the rooms outside rwn_core."""
NIGHT = ("-n0", "-m", "nightly and not browser and not engines")
GRACE_S = 60.0  # more than the tests take without a fault, and four times as long
Fault = tuple[Mutant, list[str], float]
"""A fault, the tests that may notice it, and their seconds without it."""


def main() -> int:
    """Print each surviving fault, and the share that was found with its interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", choices=(*GROUPS, "js"))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rwn-mutants")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one fault")
    parser.add_argument("--night", type=float, default=0.0, help="seconds of tests of the night")
    parser.add_argument("--nice", type=int, default=19)
    parser.add_argument("--matrix", action="store_true", help="every test that finds a fault")
    given = parser.parse_args()
    os.nice(given.nice)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(given.folder / "kernels"))
    places = [given.folder / "copies" / str(number) for number in range(given.at_once)]
    for place in places:  # always at the same path, so that compiled kernels are found again
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_OUT))
    note_lines(places, given.folder / "lines", given.rooms)
    tests = TestsOfLines(given.folder / "lines")
    shares = []
    for room in given.rooms:
        sample = _sample(room, given.count, given.seed)
        ends = given.folder / f"{room}.ends"
        known = _known(ends)
        faults = [
            (each, *tests.of(each, room, given.seconds)) for each in sample if each.key not in known
        ]
        if given.matrix:
            report_matrix(_forked(faults, places, every=True), tests, GROUPS[room])
            continue
        here = [fault for fault in faults if tests.run_here(fault[0])]
        found = _forked(here, places, every=False)
        for mutant, _, seconds in faults:
            if mutant.key in found:
                _note(ends, mutant, "killed" if found[mutant.key] else "survived", seconds)
        _run([fault for fault in faults if fault[0].key not in found], places, ends)
        if given.night:
            _try_by_night(room, sample, given.night, places[0], ends)
        shares.append(_report(room, sample, _known(ends)))
    return int(min(shares, default=1.0) < DEMANDED)


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


def _forked(faults: list[Fault], places: list[Path], *, every: bool) -> dict[str, list[str]]:
    """Return the failing tests (the first, or all) of the faults that forks can try."""
    processes = []
    for at, place in enumerate(places):
        lines = []
        chosen = set[str]()
        for mutant, tests, seconds in faults[at :: len(places)]:
            target = place / mutant.path
            name = function_of(target.read_text(encoding="utf-8"), mutant.line)
            if name is None or not tests or mutant.path.endswith("_kernel.py"):
                continue
            chosen.update(tests)
            fault = {"key": mutant.key, "path": str(target), "source": mutant.source, "name": name}
            limit = GRACE_S + 4 * seconds
            lines.append(json.dumps({**fault, "tests": tests, "every": every, "seconds": limit}))
        if lines:
            given = place.with_suffix(".faults")
            given.write_text("\n".join(lines), encoding="utf-8")
            given.with_suffix(".forks").unlink(missing_ok=True)
            files = sorted({name.split("::")[0] for name in chosen})
            processes.append((given, _pytest(place, "tools.mutant_forks", {FAULTS: given}, files)))
    found: dict[str, list[str]] = {}
    for given, process in processes:
        process.wait()
        ends = _known(given.with_suffix(".forks"))
        found |= {key: end["failed"] for key, end in ends.items() if end["failed"] is not None}
    return found


def _pytest(
    place: Path, plugin: str, variables: dict[str, Path], files: list[str]
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", "-p", plugin, "-q", "-p", "no:cacheprovider", *files]
    paths = {name: str(path) for name, path in variables.items()}
    return subprocess.Popen(
        command,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", **paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def report_matrix(
    found: dict[str, list[str]], tests: TestsOfLines, folders: tuple[str, ...]
) -> None:
    """Print the tests of the folders that find no fault, or none that cheaper tests miss."""
    needed = set[str]()
    for failed in sorted(found.values(), key=len):
        if failed and not needed & set(failed):
            needed.add(min(failed, key=tests.seconds.__getitem__))
    finding = {test for failed in found.values() for test in failed}
    first = tuple(f"tests/{name}/" for name in folders)
    for name, seconds in sorted(tests.seconds.items(), key=lambda each: -each[1]):
        if name.startswith(first) and name not in needed:
            what = "nothing that cheaper tests miss" if name in finding else "nothing"
            sys.stdout.write(f"{seconds:6.2f} s  {name}: {what}\n")
    caught = sum(map(bool, found.values()))
    sys.stdout.write(f"{len(found)} faults, {caught} found; {len(needed)} tests find these\n")


def _note(ends: Path, mutant: Mutant, end: str, seconds: float) -> None:
    noted = {"key": mutant.key, "fault": str(mutant), "end": end, "seconds": round(seconds)}
    with ends.open("a", encoding="utf-8") as file:
        file.write(json.dumps(noted) + "\n")


def _try_by_night(room: str, sample: list[Mutant], seconds: float, place: Path, ends: Path) -> None:
    """Try the faults that the day lane leaves with the tests of the night lane, many at once."""
    known = _known(ends)
    left = [each for each in sample if known[each.key]["end"] == "survived"]
    folders = [f"tests/{name}" for name in GROUPS[room]]
    night = Night(place=place, seconds=seconds)
    for mutant, end in night.ends(left, folders):
        _note(ends, mutant, end, seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """The night lane in one copy of the repository."""

    place: Path
    seconds: float  # of a processor, for one run

    def ends(self, faults: list[Mutant], tests: list[str]) -> Iterator[tuple[Mutant, str]]:
        """Run the tests with all faults; where some fail, with each fault alone."""
        failed = self._failing(faults, tests)
        if failed is None:
            yield from ((mutant, "survived, the night was not over") for mutant in faults)
            return
        sound = self._failing([], failed) if failed else []
        failed = [test for test in failed if test not in (sound or [])]
        found = [mutant for mutant in faults if failed and self._failing([mutant], ["-x", *failed])]
        yield from ((mutant, "killed by night") for mutant in found)
        left = [mutant for mutant in faults if mutant not in found]
        if found and left:  # a fault may have hidden another one in these tests
            yield from self.ends(left, failed)
            return
        yield from ((mutant, "survived, also the night") for mutant in left)

    def _failing(self, faults: list[Mutant], tests: list[str]) -> list[str] | None:
        """Return the tests that fail with the faults; None if they were not over in time."""
        sound = {each.path: (self.place / each.path).read_text("utf-8") for each in faults}
        for path, source in sound.items():
            here = [each.source for each in faults if each.path == path]
            (self.place / path).write_text(together(source, here), encoding="utf-8")
        try:
            limited = max(self.seconds - GRACE_S, 0.0) / 4  # `_tested` allows so much more
            code, said = _tested([*NIGHT, *tests], limited, self.place)
        finally:
            for path, source in sound.items():
                (self.place / path).write_text(source, encoding="utf-8")
        return None if code is None else _failed(said)


def together(sound: str, faulty: list[str]) -> str:
    """Return a file with the faults of several of its copies.

    >>> together("a < 1 and b < 2", ["a <= 1 and b < 2", "a < 1 and b < 3"])
    'a <= 1 and b < 3'
    """
    changes = []
    for source in faulty:
        begin = _alike(sound, source)
        same = _alike(sound[begin:][::-1], source[begin:][::-1])
        changes.append((begin, len(sound) - same, source[begin : len(source) - same]))
    for begin, end, new in sorted(changes, reverse=True):  # the last first: places stay
        sound = sound[:begin] + new + sound[end:]
    return sound


def _alike(one: str, other: str) -> int:
    """Return how many letters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _failed(said: str) -> list[str]:
    """Return the tests that failed, from what pytest printed."""
    lines = [line.partition(" - ")[0] for line in said.splitlines()]
    kinds = ("FAILED ", "ERROR ")
    return [line.removeprefix(kind) for line in lines for kind in kinds if line.startswith(kind)]


def _run(faults: list[Fault], places: list[Path], ends: Path) -> None:
    """Run the faults, each copy of the repository the next one, and note their ends."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def work(fault: Fault) -> None:
        (mutant, tests, seconds), place, start = fault, free.get(), time.monotonic()
        end = _end(mutant, tests, seconds, place) if tests else "not run"
        free.put(place)
        _note(ends, mutant, end, time.monotonic() - start)

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(work, faults))


def _end(mutant: Mutant, tests: list[str], seconds: float, place: Path) -> str:
    """Return "killed", "survived" or "too long"; a kill counts if the test passes without it."""
    target = place / mutant.path
    sound = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    try:
        code, said = _tested(["-x", *tests], seconds, place)
    finally:
        target.write_text(sound, encoding="utf-8")
    if code == 0:
        return "survived"
    if code is None:
        return "too long"
    failed = _failed(said)
    return "doubtful" if failed and _tested(["-x", *failed], seconds, place)[0] else "killed"


def _tested(tests: list[str], seconds: float, place: Path) -> tuple[int | None, str]:
    """Return the exit code of the tests (None: too long) and what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
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
        limit = int(GRACE_S + 4 * seconds)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit + 5))
        try:
            code = process.wait(WAITED * limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        code = None if code == -signal.SIGXCPU else code
        return code, said.read().decode(errors="replace")


def _report(room: str, sample: list[Mutant], known: dict[str, dict[str, Any]]) -> float:
    """Print the ends of a room's faults; return the share that was found."""
    ends = [known[mutant.key] for mutant in sample if mutant.key in known]
    for end in ends:
        if end["end"] != "killed":
            sys.stdout.write(f"{end['end']} {end['fault']}\n")
    counts = collections.Counter(end["end"] for end in ends)
    found = counts["killed"] + counts["too long"]
    tried = max(len(ends), 1)
    low, high = interval(found, tried)
    sys.stdout.write(
        f"{room}: {len(ends)} faults, {dict(counts)}; found {found / tried:.0%} "
        f"(95 % interval {low:.0%} to {high:.0%})\n"
    )
    sys.stdout.flush()
    return found / tried


def interval(found: int, tried: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    z = 1.96
    p = found / tried
    middle, half = p + z**2 / (2 * tried), z * (p * (1 - p) / tried + z**2 / (4 * tried**2)) ** 0.5
    return (middle - half) / (1 + z**2 / tried), (middle + half) / (1 + z**2 / tried)


if __name__ == "__main__":
    sys.exit(main())
