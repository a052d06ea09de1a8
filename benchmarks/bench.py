"""Time work against a named rival in turn: a ratio survives another machine, a second does not.

``python -m benchmarks [NAME ...] [--rounds N] [--json FILE]`` runs the benchmarks of cases.py;
exit 1 if a ratio is below its limit.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold what is compared.

    Attributes
    ----------
    work, rival : callable
        Both are run in each round.
    rival_share : float
        Part of the full work that the rival does in a round; its time is scaled up by it.
    """

    work: Work
    rival: Work
    rival_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Hold one benchmark: its name, its rival's, the least ratio and what prepares it."""

    name: str
    rival: str
    least: float
    prepare: Callable[[], Pair]


@dataclass(frozen=True, slots=True)
class Result:
    """Hold medians in processor seconds, and how many times longer the rival takes."""

    name: str
    rival: str
    work_s: float
    rival_s: float
    ratio: float
    least: float

    @property
    def line(self) -> str:
        """Return the result in one line."""
        return (
            f"{self.name}: {self.work_s:.3g} s; {self.rival} {self.rival_s:.3g} s: "
            f"{self.ratio:.2f} times as long (at least {self.least:g})"
        )


REGISTERED: dict[str, Benchmark] = {}


def bench(
    name: str, *, rival: str, least: float
) -> Callable[[Callable[[], Pair]], Callable[[], Pair]]:
    """Register a function that prepares a benchmark."""

    def register(prepare: Callable[[], Pair]) -> Callable[[], Pair]:
        REGISTERED[name] = Benchmark(name, rival, least, prepare)
        return prepare

    return register


def processor_seconds(work: Work) -> float:
    """Return the processor time of one run, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(benchmark: Benchmark, rounds: int) -> Result:
    """Run work and rival in turn, after one round that warms up."""
    pair = benchmark.prepare()
    both = [
        (processor_seconds(pair.work), processor_seconds(pair.rival) / pair.rival_share)
        for _ in range(rounds + 1)
    ][1:]
    work, rival = (statistics.median(times) for times in zip(*both, strict=True))
    ratio = statistics.median(slow / fast for fast, slow in both)
    return Result(benchmark.name, benchmark.rival, work, rival, ratio, benchmark.least)


def run(names: Iterable[str], rounds: int, file: Path | None) -> int:
    """Print each result, write all of them; return 1 if a ratio is below its limit."""
    results = []
    for name in names:
        results.append(measure(REGISTERED[name], rounds))
        sys.stdout.write(results[-1].line + "\n")
        sys.stdout.flush()
    if file is not None:
        file.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return int(any(result.ratio < result.least for result in results))
