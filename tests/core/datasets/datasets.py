"""A table of every kind of column, as one table and as files."""

import hashlib
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from tests.core.parallel.worker_tasks import alive
from tests.waiting import until

N = 3000
SCHEMA = rwn.Schema(
    variables=(
        rwn.Variable(name="income", kind=rwn.Kind.CONTINUOUS),
        rwn.Variable(name="age", kind=rwn.Kind.COUNT, weight=0.5),
        rwn.Variable(name="school", kind=rwn.Kind.ORDERED),
        rwn.Variable(name="person", kind=rwn.Kind.CATEGORICAL, role=rwn.Role.IDENTIFIER),
        rwn.Variable(name="born", kind=rwn.Kind.DATE, group="together", confirmed=True),
        rwn.Variable(name="score", kind=rwn.Kind.CONTINUOUS, group="together"),
        rwn.Variable(name="region", kind=rwn.Kind.CATEGORICAL),
        rwn.Variable(name="place", kind=rwn.Kind.CATEGORICAL, weight=0.2),
        rwn.Variable(name="fixed", kind=rwn.Kind.COUNT, weight=0.0, masked=False),
    )
)


def frame(n: int = N) -> pd.DataFrame:
    """Columns with ties, missing values, rare levels, and a category of many levels."""
    numbers = np.random.default_rng(15)
    score = numbers.normal(size=n).round(1)
    score[numbers.random(n) < 0.05] = np.nan
    region = numbers.choice(np.array(["north", "south", "east", None], dtype=object), n)
    return pd.DataFrame(
        {
            "income": numbers.lognormal(10, 1, n),
            "age": numbers.integers(18, 90, n),
            "school": numbers.choice(["a", "b", "c"], n),
            "person": [f"person-{number:09d}" for number in range(n)],
            "born": pd.Timestamp("1950-01-01")
            + pd.to_timedelta(numbers.integers(0, 20_000, n), unit="D"),
            "score": score,
            "region": region,
            "place": np.char.add("place ", numbers.integers(0, 70, n).astype(str)),
            "fixed": np.arange(n) % 5,
        }
    )


def write_files(folder: Path, table: pd.DataFrame, count: int) -> Path:
    """The table as so many files of unlike sizes, with small row groups."""
    folder.mkdir()
    ends = np.rint(np.linspace(0, 1, count + 1) ** 1.3 * len(table)).astype(int).tolist()
    for number, (start, stop) in enumerate(pairwise(ends)):
        part = table.iloc[start:stop]
        part.to_parquet(folder / f"{number:03d}.parquet", index=False, row_group_size=300)
    return folder


def released(folder: Path) -> pd.DataFrame:
    """All rows of a release in the order of its files."""
    parts = [pd.read_parquet(path) for path in sorted(folder.iterdir())]
    return pd.concat(parts, ignore_index=True)


def digest(folder: Path) -> str:
    """SHA-256 of the files of a release."""
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    return hashlib.sha256(content).hexdigest()


def options(**changes: object) -> rwn.RunOptions:
    """Options of a small run in this process."""
    return rwn.RunOptions(
        **{"schema": SCHEMA, "workers": 1, "rows": 1024, "file_rows": 800} | changes
    )


def mask(
    source: Path,
    target: Path,
    params: rwn.RWN,
    seed: int | rwn.SecretKey | None = 3,
    engine: str = "local",
    **changes: object,
) -> Any:
    """Mask a dataset with small tasks."""
    return rwn.mask_dataset(
        source, target, params, engine=engine, seed=seed, options=options(**changes)
    )


DRIVER = """
import os, signal
from tests.core.datasets import datasets
import rwn_core as rwn

def kill(share):
    if share > {share}:
        print(*datasets.descendants(os.getpid()), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    method = rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150)
    datasets.mask({source!r}, {target!r}, method, engine={engine!r}, workers=2, progress=kill)
"""


def killed_driver(source: Path, target: Path, engine: str, share: float = 0.2) -> None:
    """Kill what drives a run: nothing that it started is left, and no release."""
    script = target.with_name("driver.py")
    text = DRIVER.format(source=str(source), target=str(target), engine=engine, share=share)
    script.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    ended = subprocess.run(
        [sys.executable, script],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    started = [int(pid) for pid in ended.stdout.split()]
    assert len(started) >= 2
    until(lambda: not any(alive(pid) for pid in started))
    assert not target.exists()
    assert list(target.with_name(f".{target.name}.stage").rglob("*.done"))


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rpartition(") ")[2].split()[1]
            except OSError:
                continue
            children.setdefault(int(parent), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        more = children.get(left.pop(), [])
        found += more
        left += more
    return found
