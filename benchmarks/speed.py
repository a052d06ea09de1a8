"""Processor seconds of rank swapping, noise and interval disclosure beside sdcMicro's algorithms.

``python -m benchmarks speed`` writes docs/explanation/side-by-side-speed.csv; it needs R with MASS
and Rcpp, which run the formulas of sdcMicro's source. Exit 1 if ours take more than twice as long
at 100,000 records. Distance linkage is held against all pairs in C++, so at 10,000 records only.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pandas as pd

import rwn_core as rwn
from benchmarks import bench
from benchmarks.pages import HERE, say, write_lines
from benchmarks.tables import mixed
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics import nearest_points

FILE = HERE / "side-by-side-speed.csv"
COLUMNS = ("records", "name", "seconds", "sdcmicro_seconds", "ratio")
MOST = 2.0  # times as long as the algorithm of sdcMicro
ALL_PAIRS = 10_000  # records up to which all pairs are looked at
LARGE = 100_000  # records from which that is demanded
METHODS = (
    rwn.RankSwapping(p=0.05),
    rwn.AdditiveNoise(size=0.3),
    rwn.CorrelatedNoise(size=0.25, form="plain"),
)


def seconds(work: Callable[[], object]) -> float:
    """Return the median processor seconds of three runs, after one that warms up."""
    return statistics.median([bench.seconds(work)[0] for _ in range(4)][1:])


def our_seconds(frame: pd.DataFrame) -> dict[str, float]:
    """Return the seconds of the three methods and of two measures, each of a table just read."""

    def reading(measure: str) -> object:
        data = rwn.Microdata.from_frame(frame)
        return MEASURES[measure].compute(Comparison(original=data, masked=masked))

    data = rwn.Microdata.from_frame(frame)
    masked = rwn.mask(data, METHODS[1], seed=1).masked
    found = {m.title: seconds(lambda m=m: rwn.mask(data, m, seed=1)) for m in METHODS}
    for key in ("interval_disclosure", "distance_linkage"):
        found[MEASURES[key].title] = seconds(lambda key=key: reading(key))
    if len(frame) <= ALL_PAIRS:
        with patch.object(nearest_points, "LIVE_RECORDS", len(frame)):
            found["Distance linkage of every record"] = seconds(lambda: reading("distance_linkage"))
    return found


def their_seconds(frame: pd.DataFrame) -> list[float | None]:
    """Return the seconds of sdcMicro's algorithms on the same table, by R."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        command = ["Rscript", str(Path(__file__).with_suffix(".R")), str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    *four, pairs = done.stdout.split()
    linked = [None] if pairs == "NA" else [None, float(pairs)]
    return [*map(float, four), *linked]


def main() -> int:
    """Write the file, print its lines; return 1 if one takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=int, default=[10_000, LARGE])
    lines, late = [], False
    for records in parser.parse_args().records:
        frame = pd.DataFrame(mixed(records, 10)).add_prefix("v")
        ours, theirs = our_seconds(frame), their_seconds(frame)
        for (title, mine), rival in zip(ours.items(), theirs, strict=True):
            late |= records >= LARGE and rival is not None and mine > MOST * rival
            known = ("", "") if rival is None else (f"{rival:.3f}", f"{mine / rival:.2f}")
            lines.append((records, title, f"{mine:.3f}", *known))
            say(f"{lines[-1]}")
    write_lines(FILE, [dict(zip(COLUMNS, line, strict=True)) for line in lines])
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
