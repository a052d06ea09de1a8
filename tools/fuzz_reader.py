"""The process that reads many broken files, each under the limits of one reading."""

from __future__ import annotations

import faulthandler
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rwn_core.io import reading
from rwn_core.io.reading import FileToRead
from rwn_core.parallel.pool import Pool, Stopped
from rwn_core.parallel.processes import Handle
from tools.fuzz_mutations import Mutant

MEMORY = 2e9  # bytes that a reading may take beyond what the libraries have
SECONDS = 30.0  # that a reading may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of reading one file.

    Attributes
    ----------
    answer : bytes
        As the process gave it; empty where it gave none.
    fault : str
        Of an error that is no refusal, its type; "ended" where the process ended.
    seconds : float
    """

    answer: bytes = b""
    fault: str = ""
    seconds: float = 0.0


def prepare(memory: float, seconds: float) -> Handle:
    """Make what reads one file after another, each with a limit of its own."""
    read = reading._prepare(memory, seconds)
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
