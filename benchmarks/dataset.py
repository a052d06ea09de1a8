"""Measure the masking of datasets: python -m benchmarks.dataset N [--exact] [--m M] [--write].

Processor microseconds a row and the peak memory of a worker, and in the same run those of the table
in memory, of the first 1,000,000 records; at up to 300,000 records also whether the releases are
the same. `--write` keeps the line in the documentation, which is written anew from all lines.

For the exact way epsilon is that of 1,000,000 records, and less for more, so that neighborhoods
have as many records, 190 on average. Otherwise only their growth would be measured.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.dataset_page import Line, keep

PART = 250_000  # records of a file
COMPARED = 300_000
IN_MEMORY = 1_000_000
# of the table's ten: categories and rounded values add little within such radii; among 10,000,000
# records there are as many within .66 of each other as among 1,000,000 within .9
DIMENSIONS = 7.4


def part(start: int, count: int) -> pd.DataFrame:
    """Ten mixed columns: three factors behind continuous, rounded and few-valued ones."""
    numbers = np.random.default_rng([7, start])
    factors = numbers.normal(size=(count, 3))
    load = np.random.default_rng(0).normal(size=(3, 10))
    values = factors @ load + 0.7 * numbers.normal(size=(count, 10))
    columns = {f"x{j}": values[:, j] for j in range(4)}
    columns |= {f"r{j}": np.round(values[:, j] * 4) for j in range(4, 8)}
    columns |= {f"g{j}": np.where(values[:, j] > 0, "yes", "no") for j in range(8, 10)}
    return pd.DataFrame(columns)


def processor_seconds() -> float:
    """Of this process and its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def report(*words: object) -> None:
    """Write a line."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def setting(given: argparse.Namespace, n: int) -> rwn.RWN:
    """What so many records are masked with."""
    if not given.exact:
        return rwn.RWN(k=5, epsilon=given.epsilon, neighbors="sample", m=given.m)
    return rwn.RWN(k=5, epsilon=round(given.epsilon * (IN_MEMORY / n) ** (1 / DIMENSIONS), 3))


def main() -> None:
    """Measure one size."""
    asked = argparse.ArgumentParser()
    asked.add_argument("n", type=int)
    asked.add_argument("--exact", action="store_true")
    asked.add_argument("--m", type=int, default=20_000)
    asked.add_argument("--epsilon", type=float, default=0.9)
    asked.add_argument("--rows", type=int, default=None)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--folder", type=Path, default=None)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    some = rwn.Microdata.from_frame(part(0, 5000))
    rwn.mask(some, rwn.RWN(k=5, epsilon=1.0), seed=1)  # compiled before it is measured
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        source = Path(folder) / "in"
        source.mkdir()
        for start in range(0, given.n, PART):
            frame = part(start, min(PART, given.n - start))
            frame.to_parquet(source / f"{start:010d}.parquet", index=False)
        line = masked_files(source, given)
        line = line._replace(in_memory=masked_in_memory(source, given))
    report(line)
    if given.write:
        keep(line)


def masked_files(source: Path, given: argparse.Namespace) -> Line:
    """Mask a dataset; all of its line but what the table in memory takes."""
    before, clock, params = processor_seconds(), time.perf_counter(), setting(given, given.n)
    options = rwn.RunOptions(workers=given.workers, rows=given.rows)
    made = rwn.mask_dataset(source, source.with_name("out"), params, seed=1, options=options)
    spent, clock = processor_seconds() - before, time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
    report(f"{1e6 * spent / given.n:.2f} processor microseconds a row, {clock:.0f} s on the clock")
    return Line(
        way="exact" if given.exact else f"Method 1, m = {given.m:,}",
        n=given.n,
        epsilon=params.epsilon,
        row=1e6 * spent / given.n,
        worker=peak,
        governed=made.governed / given.n,
    )


def masked_in_memory(source: Path, given: argparse.Namespace) -> float:
    """Processor microseconds a row of the table in memory; small releases are compared."""
    paths = sorted(source.iterdir())[: IN_MEMORY // PART]
    data = rwn.Microdata.from_frame(pd.concat(map(pd.read_parquet, paths), ignore_index=True))
    before = processor_seconds()
    release = rwn.mask(data, setting(given, data.n), seed=1, threads=2)
    spent = processor_seconds() - before
    if given.n <= COMPARED:
        wanted = pd.read_parquet(release.publish(source.with_name("memory.parquet")))
        report("the same release:", pd.read_parquet(source.with_name("out")).equals(wanted))
    return 1e6 * spent / data.n


if __name__ == "__main__":
    main()
