"""Look for broken files that crash a reader, hold it up, or are read as what they do not say.

``python -m tools.fuzz 100000 --state FILE`` reads so many broken files of every
format in a process with the limits of a reading, and goes on where the last run ended.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rwn_core.errors import InputError
from rwn_core.io import reading
from rwn_core.io.reading import FileReading, FileToRead
from rwn_core.parallel.pool import Pool, Stopped
from rwn_core.parallel.processes import Handle
from tools.fuzz_files import WORDS, Seed, seeds
from tools.fuzz_mutations import Mutant, mutant
from tools.fuzz_texts import misread_text

LOT = 1_000  # files that one process reads
SERIOUS = ("foreign error", "answer", "hang", "no sentence", "misread", "value in a message")
_REMEDIES = (";", ":", "choose", "save", "get or save")


MEMORY = 2e9  # bytes that a reading may take beyond what the libraries have
SECONDS = 30.0  # that a reading may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of reading one file."""

    answer: bytes = b""  # as the process gave it; empty where it gave none
    fault: str = ""  # of an error that is no refusal, its type; "ended" where the process ended
    seconds: float = 0.0


def prepare(memory: float, seconds: float) -> Handle:
    """Make what reads one file after another, each with a limit of its own."""
    read = reading._limited(reading._read, memory, seconds)
    nowhere = os.open(os.devnull, os.O_WRONLY)

    def one(file: FileToRead, progress: Any) -> Any:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        begun = time.monotonic()
        answer = read(file, progress)
        return b"%.3f\n" % (time.monotonic() - begun) + answer

    return one


def outcomes(mutants: Sequence[Mutant]) -> Iterator[Outcome]:
    """Read broken files in one process, and in a new one after each that ends it."""
    at = 0
    while at < len(mutants):
        pool = Pool(prepare, MEMORY, SECONDS, workers=1, plain=True)
        files = [FileToRead(name=each.seed.name, content=each.content) for each in mutants[at:]]
        tasks = [pool.submit(file) for file in files]
        pool.close()
        for task in tasks:
            begun = time.monotonic()
            at += 1
            try:
                took, _, answer = task.result().partition(b"\n")
                yield Outcome(answer=answer, seconds=float(took))
            except Stopped as stopped:
                yield Outcome(fault=stopped.fault or "ended", seconds=time.monotonic() - begun)
                if not stopped.fault:
                    break
        pool.cancel()


class Judge:
    """Says what is wrong with the reading of a broken file."""

    def __init__(self, valid: list[Seed]) -> None:
        same = [Mutant(seed=seed, content=seed.content, ways=()) for seed in valid]
        self._whole: dict[str, bytes] = {}
        for seed, outcome in zip(valid, outcomes(same), strict=True):
            _, refusal, _ = reading._taken(outcome.answer)
            assert refusal is None, refusal
            self._whole[seed.name] = outcome.answer

    def of(self, broken: Mutant, outcome: Outcome) -> tuple[str, str]:
        """What kind of end it came to, and what is to be said of it."""
        if outcome.seconds > SECONDS:
            return "hang", f"{outcome.seconds:.0f} seconds"
        if outcome.fault == "ended":
            return self._alone(broken)
        if outcome.fault:
            return "foreign error", outcome.fault
        try:
            data, refusal, _ = reading._taken(outcome.answer)
        except Exception as error:
            return "answer", repr(error)
        if refusal is not None:
            return self._sentence(str(refusal))
        assert data is not None
        return self._read(broken, outcome.answer, data)

    def _alone(self, broken: Mutant) -> tuple[str, str]:
        """A file that ended the process of many, read as it is in the program."""
        alone = FileReading(
            FileToRead(name=broken.seed.name, content=broken.content), seconds=SECONDS
        )
        alone.wait()
        try:
            alone.result()
        except InputError as refusal:
            kind, said = self._sentence(str(refusal))
            return ("process ended" if kind == "refused" else kind), said
        except Exception as error:
            return "foreign error", repr(error)
        return "only among others", ""

    def _sentence(self, text: str) -> tuple[str, str]:
        if any(word in text for word in WORDS):
            return "value in a message", text
        if not text.endswith(".") or not any(part in text for part in _REMEDIES):
            return "no sentence", text
        return "refused", text

    def _read(self, broken: Mutant, answer: bytes, data: Any) -> tuple[str, str]:
        whole = self._whole[broken.seed.name]
        if broken.same:
            return ("read", "") if answer == whole else ("misread", "the same bytes")
        if broken.seed.format == "CSV":
            why = misread_text(broken.content, broken.seed.name, data)
            return ("misread", why) if why else ("read", "")
        if _same_values(answer, whole):
            return "read, same values", ""
        notices = json.loads(answer.partition(b"\n")[0])["notices"]
        before = json.loads(whole.partition(b"\n")[0])["notices"]
        if notices != before:
            return "read otherwise, with a notice", ""
        if broken.cut and not (broken.seed.format == "SAS" and len(broken.content) % 80 == 0):
            return "misread", "a cut file"
        if broken.seed.sealed and broken.outside:
            return "misread", "beside a checksum"
        return "read otherwise", ""


def _same_values(answer: bytes, whole: bytes) -> bool:
    """Whether the columns are the same; their names and types lie under no checksum."""
    one, other = (each.partition(b"\n")[2] for each in (answer, whole))
    if one == other:
        return True
    tables = [pa.ipc.open_stream(columns).read_all() for columns in (one, other)]
    values = [[_values(column) for column in table.columns] for table in tables]
    return values[0] == values[1]


def _values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    coded = pa.types.is_dictionary(column.type)
    plain = column.cast(column.type.value_type) if coded else column
    text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
    return plain.cast(pa.large_string()) if text else plain


def run(count: int, key: str, state_file: Path, show: Any) -> dict[str, Any]:
    """Read broken files up to a number, and keep the count in a file."""
    logging.disable(logging.CRITICAL)
    valid = seeds()
    judge = Judge(valid)
    state: dict[str, Any] = {"key": key, "next": 0, "slowest": 0.0, "kinds": {}, "faults": []}
    if state_file.is_file():
        state = json.loads(state_file.read_text())
    folder = state_file.with_suffix("")
    while state["next"] < count:
        numbers = range(state["next"], min(count, state["next"] + LOT))
        lot = [mutant(valid, state["key"], number) for number in numbers]
        kinds = Counter(state["kinds"])
        for number, broken, outcome in zip(numbers, lot, outcomes(lot), strict=True):
            kind, said = judge.of(broken, outcome)
            kinds[f"{broken.seed.format}: {kind}"] += 1
            state["slowest"] = max(state["slowest"], outcome.seconds)
            if kind in SERIOUS or kind == "process ended":
                _keep(folder, number, broken)
                state["faults"].append([number, broken.seed.name, kind, said, list(broken.ways)])
        state |= {"next": numbers.stop, "kinds": dict(kinds)}
        state_file.write_text(json.dumps(state, indent=1))
        show(f"{numbers.stop:,} files, {len(state['faults'])} to look at\n")
    return state


def _keep(folder: Path, number: int, broken: Mutant) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{number}-{broken.seed.name}").write_bytes(broken.content)


def main() -> int:
    """Print how many broken files came to which end; exit with 1 if any came to a bad one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--key", default="1")
    given = parser.parse_args()
    state = run(given.count, given.key, given.state, sys.stderr.write)
    for kind, number in sorted(state["kinds"].items()):
        sys.stdout.write(f"{kind:<45} {number:>8,}\n")
    sys.stdout.write(f"{state['next']:,} files; slowest {state['slowest']:.1f} s\n")
    serious = [fault for fault in state["faults"] if fault[2] in SERIOUS]
    for number, name, kind, said, ways in serious[:40]:
        sys.stdout.write(f"{number} {name} {ways}: {kind}: {said}\n")
    sys.stdout.write(f"{len(serious):,} faults\n")
    return int(bool(serious))


if __name__ == "__main__":
    from tools import fuzz  # the process that reads imports it by this name

    sys.exit(fuzz.main())
