"""How long the worst-case linkage of one release takes, beside a plain loop over all pairs.

``python benchmarks/risk.py``; it needs no browser. The law's tables are built anew each time, as
after a slider move. The plain loop follows the formula, L_i = product of P(w' | i), pair by pair
on a few rows, and is scaled to the same number of rows.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import rwn_core as rwn
from rwn_core.cell_law import CellLaw
from rwn_core.comparison import Comparison
from rwn_core.intruder.watch import WatchList
from rwn_core.measures import MEASURES

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


def main() -> int:
    """Print the times; exit with 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows, missed = [], False
    for name, epsilon, k, limit in CASES:
        row = measure(name, epsilon, k)
        row["limit_s"] = limit
        missed |= limit is not None and float(str(row["median_s"])) > (limit or math.inf)
        rows.append(row)
    if options.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        for row in rows:
            limit = f"  (limit {row['limit_s']} s)" if row["limit_s"] else ""
            sys.stdout.write(
                f"{row['table']:22} {row['setting']:22} rows {row['rows']:14} median "
                f"{row['median_s']} s, worst {row['worst_s']} s{limit}; plain loop "
                f"{row['plain_loop_s']} s ({row['times_faster']}x); R_MAP {row['r_map']}; "
                f"{PINNED} watched records {row['followed_s']} s\n"
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
