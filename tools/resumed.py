"""Compare the end of work that was killed again and again with that of work that never was.

``python -m tools.resumed 100`` masks a dataset and sweeps settings in processes that are
killed at random moments, each going on where the last one was, and compares the ends by SHA-256.
A second number is the minutes after which either of the two stops early.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.tuning import Grid, Plan, sweep
from tools.kills import apart

GRID = Grid(axes={"k": (3, 5, 8, 13), "q": (0.25, 0.5, 0.75, 1.0)})
PLAN = Plan(measures=("correlation", "distance_linkage"), releases=3, seed=7)


def dataset(folder: Path) -> Path:
    """Four files of a thousand records each."""
    rng = np.random.default_rng(14)
    folder.mkdir()
    for number in range(4):
        frame = pd.DataFrame(rng.normal(size=(1024, 4)), columns=list("abcd"))
        frame.to_parquet(folder / f"{number}.parquet")
    return folder


def mask_into(source: Path, target: Path) -> None:
    """Mask the dataset, going on where an earlier run was."""
    options = rwn.RunOptions(workers=1, rows=1024, file_rows=1024)
    rwn.mask_dataset(source, target, rwn.RWN(k=5), seed=7, options=options)


def hash_of(folder: Path) -> str:
    """SHA-256 of all files of a folder, with their names."""
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def sweep_into(folder: Path) -> None:
    """Sweep, going on where an earlier run was."""
    sweep(rwn.load_demo("bodyfat"), GRID, plan=PLAN, workers=1, folder=folder)


def hash_of_sweep(folder: Path) -> str:
    """SHA-256 of what all points of a finished sweep read, without their seconds."""
    done = sweep(rwn.load_demo("bodyfat"), GRID, plan=PLAN, workers=1, folder=folder)
    points = [{**point.to_dict(), "seconds": 0} for point in done]
    return hashlib.sha256(repr(points).encode()).hexdigest()


def killed(
    work: Callable[[Path], None],
    hashed: Callable[[Path], str],
    place: Path,
    count: int,
    minutes: float,
) -> dict[str, int]:
    """Kill work at random moments until it is done, and begin again, until so many kills."""
    place.mkdir()
    for whole in (place / "first", place / "whole"):  # the first one also fills caches
        ended, span = apart(lambda whole=whole: work(whole))
        assert ended == 0, ended
    wanted, rng = hashed(whole), random.Random(14)
    found = {"kills": 0, "finished": 0, "other hashes": 0, "refused": 0}
    end = time.monotonic() + 60 * minutes
    while (found["kills"] < count and time.monotonic() < end) or not found["finished"]:
        target = place / f"run{found['finished']}"
        ended, _ = apart(lambda target=target: work(target), rng.uniform(0.1, 0.8) * span)
        if ended == signal.SIGKILL:
            found["kills"] += 1
            if found["kills"] > 2 * count:
                ended, _ = apart(lambda target=target: work(target))
        # a kill after the last step leaves all of it, which a further run refuses to write over
        if ended == 0 or (ended != signal.SIGKILL and target.is_dir()):
            found["finished"] += 1
            found["other hashes"] += hashed(target) != wanted
            shutil.rmtree(target)
        elif ended != signal.SIGKILL:
            found["refused"] += 1
            break
    return found


def main() -> int:
    """Print how many runs ended otherwise; exit with 1 if any did."""
    count, minutes = (*map(float, sys.argv[1:3]), *(100, 600.0)[len(sys.argv) - 1 :])
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = dataset(place / "source")
        ways: dict[str, tuple[Callable[[Path], None], Callable[[Path], str]]] = {
            "mask-dataset": (lambda target: mask_into(source, target), hash_of),
            "sweep": (sweep_into, hash_of_sweep),
        }
        for name, (work, hashed) in ways.items():
            found = killed(work, hashed, place / name, int(count), minutes)
            bad += found["other hashes"] + found["refused"]
            said = ", ".join(f"{number} {what}" for what, number in found.items())
            sys.stdout.write(f"{name}: {said}\n")
            sys.stdout.flush()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
