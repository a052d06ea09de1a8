"""How long the worst-case linkage of one release takes, beside a slow loop over all pairs.

``python benchmarks/risk.py``; it needs no browser. The law's tables are built anew each time, as
after a slider move. The slow loop follows the formula, L_i = product of P(w' | i), pair by pair
on a few rows, and is scaled to the same number of rows.

The last line is a table of 100,000 x 10 whose neighborhoods have about a thousand members, up to
six thousand. It runs in a process of its own, because its memory is measured: the most that the
process ever had, and what the linkage added to masking, beside what all pairs of a record and a
member would take at 12 bytes each. Its time is told as a multiple of the time of masking too, so
that it can be compared between machines.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.laws.cell_law import CellLaw
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.watch_list import WatchList
from rwn_core.measures.comparison import Comparison

REPEATS = 5
LOOP_ROWS = 3
PINNED = 20  # records on a full watch list
CASES = (
    ("bodyfat", 2.0, 5, 0.150),
    ("bodyfat", 6.0, 5, 0.150),
    ("pima", 2.0, 5, None),
    ("randhie", 0.4, 5, 5.0),
    ("randhie", 0.0, 5, 5.0),
)
"""Table, epsilon, k, limit in seconds."""

LARGE = (100_000, 1.98, 15)
"""Records, epsilon, k."""
LIMIT_GB = 1.5
PAIR_BYTES = 12


def timed(work: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def plain_loop(law: CellLaw, release: rwn.Release, rows: int) -> float:
    """Seconds per released row of the formula written as it stands."""
    names = [variable.name for variable in law.original.schema.released]
    tables = {name: law.table(name) for name in names}
    lookup = {name: {v: p for p, v in enumerate(tables[name][1])} for name in names}
    frame = release.masked.frame

    def loop() -> None:
        for row in range(rows):
            likelihood = np.ones(law.original.n)
            for name in names:
                value = frame[name].iloc[row]
                column = lookup[name].get(value)
                for record in range(law.original.n):
                    chance = 0.0 if column is None else tables[name][0][record, column]
                    likelihood[record] *= chance

    return timed(loop) / rows


def measure(name: str, epsilon: float, k: int) -> dict[str, object]:
    """One case."""
    data = rwn.load_demo(name)
    release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=k), seed=7)
    times, reading = [], None
    for _ in range(REPEATS):
        fresh = CellLaw(data, release.law.neighborhoods, release.law.q)
        comparison = Comparison(original=data, masked=release.masked, law=fresh)
        start = time.perf_counter()
        reading = MEASURES["bayes_linkage"].compute(comparison)
        times.append(time.perf_counter() - start)
    assert reading is not None
    fresh = CellLaw(data, release.law.neighborhoods, release.law.q)
    pinned = WatchList(records=tuple(range(PINNED)))
    followed = timed(lambda: pinned.follow(data, release.masked, fresh))
    rows = len(reading.detail["records"])
    loop = plain_loop(release.law, release, LOOP_ROWS if data.n < 5000 else 1) * rows
    return {
        "table": f"{name} {data.n} x {data.p}",
        "setting": f"epsilon {epsilon:g}, k {k}, q 1",
        "rows": f"{rows} of {data.n}",
        "median_s": round(statistics.median(times), 4),
        "worst_s": round(max(times), 4),
        "plain_loop_s": round(loop, 1),
        "times_faster": round(loop / statistics.median(times)),
        "r_map": round(reading.value, 4),
        "followed_s": round(followed, 4),
    }


def large_table(n: int) -> rwn.Microdata:
    """Eight numbers with three factors behind them, and two categories."""
    generator = np.random.default_rng(1)
    factors = generator.normal(size=(n, 3))
    numbers = factors @ generator.normal(size=(3, 8)) + generator.normal(size=(n, 8))
    frame = pd.DataFrame(np.round(numbers, 2), columns=[f"x{j}" for j in range(8)])
    frame["two"], frame["five"] = generator.integers(0, 2, n), generator.integers(0, 5, n)
    return rwn.Microdata.from_frame(frame)


def gigabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure_large() -> dict[str, object]:
    """The large case, after a small one that has the kernels compiled."""
    n, epsilon, k = LARGE
    small = large_table(n // 20)
    release = rwn.mask(small, rwn.RWN(epsilon=epsilon, k=k), seed=7)
    MEASURES["bayes_linkage"].compute(
        Comparison(original=small, masked=release.masked, law=release.law)
    )
    data = large_table(n)
    start = time.perf_counter()
    release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=k), seed=7)
    masked, before = time.perf_counter() - start, gigabytes()
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    start = time.perf_counter()
    reading = MEASURES["bayes_linkage"].compute(comparison)
    linked = time.perf_counter() - start
    pairs = int(release.law.neighborhoods.sizes.sum())
    return {
        "table": f"{n} x {data.p}",
        "setting": f"epsilon {epsilon:g}, k {k}, q 1",
        "rows": f"{len(reading.detail['records'])} of {n}",
        "members_mean": round(pairs / n),
        "seconds": round(linked, 2),
        "times_masking": round(linked / masked, 2),
        "peak_gb": round(gigabytes(), 2),
        "added_gb": round(gigabytes() - before, 2),
        "all_pairs_gb": round(pairs * PAIR_BYTES / 1e9, 2),
        "r_map": round(reading.value, 4),
        "limit_gb": LIMIT_GB,
    }


def in_own_process() -> dict[str, object]:
    """`measure_large` where nothing else has taken memory."""
    command = [sys.executable, str(Path(__file__).resolve()), "--large"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, object] = json.loads(ended.stdout)
    return answer


def main() -> int:
    """Print the times; exit with 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--large", action="store_true", help="the large table alone, as JSON")
    options = parser.parse_args()
    if options.large:
        sys.stdout.write(json.dumps(measure_large()) + "\n")
        return 0
    rows, missed = [], False
    for name, epsilon, k, limit in CASES:
        row = measure(name, epsilon, k)
        row["limit_s"] = limit
        missed |= limit is not None and float(str(row["median_s"])) > (limit or math.inf)
        rows.append(row)
    large = in_own_process()
    missed |= float(str(large["peak_gb"])) > LIMIT_GB
    if options.json:
        sys.stdout.write(json.dumps([*rows, large], indent=1) + "\n")
    else:
        sys.stdout.write("".join([*map(in_words, rows), large_in_words(large)]))
    return int(missed)


def in_words(row: dict[str, object]) -> str:
    """One line of a case."""
    limit = f"  (limit {row['limit_s']} s)" if row["limit_s"] else ""
    return (
        f"{row['table']:22} {row['setting']:22} rows {row['rows']:14} median "
        f"{row['median_s']} s, worst {row['worst_s']} s{limit}; slow loop "
        f"{row['plain_loop_s']} s ({row['times_faster']}x); R_MAP {row['r_map']}; "
        f"{PINNED} watched records {row['followed_s']} s\n"
    )


def large_in_words(large: dict[str, object]) -> str:
    """The line of the large case."""
    return (
        f"{large['table']:22} {large['setting']:22} rows {large['rows']:14} "
        f"{large['seconds']} s ({large['times_masking']}x masking); peak memory "
        f"{large['peak_gb']} GB (limit {LIMIT_GB} GB), {large['added_gb']} GB more than "
        f"masking, all pairs {large['all_pairs_gb']} GB; R_MAP {large['r_map']}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
