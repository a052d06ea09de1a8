"""Measure the masking of datasets: python -m benchmarks.dataset N [--exact] [--m M] [--rows ROWS].

Processor seconds a row and the peak memory of a worker, against the table in memory; at up to
300,000 records also whether the releases are the same.
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

PART = 250_000  # records of a file
COMPARED = 300_000


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


def main() -> None:
    """Measure one size."""
    asked = argparse.ArgumentParser()
    asked.add_argument("n", type=int)
    asked.add_argument("--exact", action="store_true")
    asked.add_argument("--m", type=int, default=20_000)
    asked.add_argument("--epsilon", type=float, default=0.9)
    asked.add_argument("--rows", type=int, default=None)
    asked.add_argument("--folder", type=Path, default=None)
    given = asked.parse_args()
    params = rwn.RWN(k=5, epsilon=given.epsilon)
    if not given.exact:
        params = rwn.RWN(k=5, epsilon=given.epsilon, neighbors="sample", m=given.m)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        source = Path(folder) / "in"
        source.mkdir()
        for start in range(0, given.n, PART):
            frame = part(start, min(PART, given.n - start))
            frame.to_parquet(source / f"{start:010d}.parquet", index=False)
        measure(source, params, given.n, given.rows)


def measure(source: Path, params: rwn.RWN, n: int, rows: int | None) -> None:
    """Mask a dataset, and the table in memory where it is small."""
    before, clock = processor_seconds(), time.perf_counter()
    target = source.with_name("out")
    made = rwn.mask_dataset(
        source, target, params, seed=1, options=rwn.RunOptions(workers=2, rows=rows)
    )
    spent = processor_seconds() - before
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
    report(
        f"n {n:,}: {1e6 * spent / n:.2f} processor microseconds a row, {spent:.1f} s, "
        f"{time.perf_counter() - clock:.1f} s on the clock, worker peak {peak:.2f} GB, "
        f"{made.governed / n:.1%} fall back to k"
    )
    if n > COMPARED:
        return
    data = rwn.Microdata.from_frame(pd.read_parquet(source))
    before = processor_seconds()
    release = rwn.mask(data, params, seed=1, threads=2)
    report(f"in memory: {1e6 * (processor_seconds() - before) / n:.2f} microseconds a row")
    wanted = pd.read_parquet(release.publish(source.with_name("memory.parquet")))
    report("the same release:", pd.read_parquet(target).equals(wanted))


if __name__ == "__main__":
    main()
