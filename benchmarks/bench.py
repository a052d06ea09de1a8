"""Time work against a named rival in turn: a ratio survives another machine, a second does not.

``python -m benchmarks [NAME ...] [--rounds N] [--json FILE]`` runs the benchmarks of cases.py;
exit 1 if a limit is broken.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.pages import say

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold what is compared."""

    # work, rival: both are run in each round
    work: Work
    rival: Work
    # part of the full work that the rival does in a round; its time is scaled up by it
    rival_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Hold one benchmark: names, least ratio, most seconds on the clock, and what prepares it."""

    name: str
    rival: str
    least: float
    most_s: float | None
    prepare: Callable[[], Pair]


@dataclass(frozen=True, slots=True)
class Result:
    """Hold medians in processor seconds, how many times longer the rival takes, and the clock."""

    name: str
    rival: str
    work_s: float
    rival_s: float
    ratio: float
    least: float
    clock_s: float
    most_s: float | None

    @property
    def line(self) -> str:
        """Return the result in one line."""
        clock = ""
        if self.most_s is not None:
            clock = f"; {self.clock_s:.3g} s on the clock (at most {self.most_s:g})"
        return (
            f"{self.name}: {self.work_s:.3g} s; {self.rival} {self.rival_s:.3g} s: "
            f"{self.ratio:.2f} times as long (at least {self.least:g}){clock}"
        )

    @property
    def kept(self) -> bool:
        """Return True if both limits are kept."""
        return self.ratio >= self.least and (self.most_s is None or self.clock_s <= self.most_s)


REGISTERED: dict[str, Benchmark] = {}


def bench(
    name: str, *, rival: str, least: float, most_s: float | None = None
) -> Callable[[Callable[[], Pair]], Callable[[], Pair]]:
    """Register a function that prepares a benchmark."""

    def register(prepare: Callable[[], Pair]) -> Callable[[], Pair]:
        REGISTERED[name] = Benchmark(name, rival, least, most_s, prepare)
        return prepare

    return register


def seconds(work: Work) -> tuple[float, float]:
    """Return the processor time of one run, of all threads, and its time on the clock."""
    start = time.process_time()
    clock = time.perf_counter()
    work()
    return time.process_time() - start, time.perf_counter() - clock


def measure(benchmark: Benchmark, rounds: int) -> Result:
    """Run work and rival in turn, after one round that warms up."""
    pair = benchmark.prepare()
    each = [
        (*seconds(pair.work), seconds(pair.rival)[0] / pair.rival_share) for _ in range(rounds + 1)
    ]
    work, clock, rival = (statistics.median(times) for times in zip(*each[1:], strict=True))
    return Result(
        benchmark.name,
        benchmark.rival,
        work,
        rival,
        statistics.median(slow / fast for fast, _, slow in each[1:]),
        benchmark.least,
        max(clock, each[0][1]),  # a user does not warm up
        benchmark.most_s,
    )


def run(names: Iterable[str], rounds: int, file: Path | None) -> int:
    """Print each result, write all of them; return 1 if a limit is broken."""
    results = []
    for name in names:
        results.append(measure(REGISTERED[name], rounds))
        say(results[-1].line)
    if file is not None:
        file.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return int(any(not result.kept for result in results))
