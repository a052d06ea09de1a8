"""How long every method takes on a whole table, against a plain NumPy version of the same.

``python -m benchmarks.methods_speed`` prints one table: CPU seconds of making the table ready and
drawing a release, on one thread, at the Standard preset, and those of `plain_methods`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.plain_methods import PLAIN
from rwn_core.masking import METHODS

FILE = Path(__file__).parents[1] / "docs" / "explanation" / "methods-speed.csv"
SECONDS = 2.0
QUICK = 0.5
AGAIN = 3
QUADRATIC = {"microaggregation"}
"""They compare all records with each other, and say so with a bar."""


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds: the least of three where it is quick, else those of a single time."""
    times = []
    for _ in range(AGAIN):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
        if times[-1] > QUICK:
            break
    return min(times)


def standard(key: str, data: rwn.Microdata) -> Any:
    """The method at its Standard preset on a table."""
    kind = METHODS[key]
    ready = kind(**kind.start).preview(data)
    return ready.with_levers(**ready.presets["Standard"]).params


def measured(key: str, data: rwn.Microdata, frame: pd.DataFrame) -> dict[str, Any]:
    """One method's line."""
    params = standard(key, data)

    def ours() -> None:
        params.prepare(data, threads=1).release(rwn.SecretKey.from_seed(1), threads=1)

    def theirs() -> None:
        PLAIN[key](frame, params, np.random.default_rng(1))

    took = cpu(ours)
    plain = cpu(theirs) if key in PLAIN else None
    kept = took <= SECONDS or key in QUADRATIC
    return {
        "method": key,
        "seconds": f"{took:.3f}",
        "plain_seconds": "" if plain is None else f"{plain:.3f}",
        "ratio": "" if plain is None else f"{took / plain:.2f}",
        "kept": "yes" if kept else "no",
    }


def main() -> None:
    """Measure every method and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", default="cps1988")
    chosen = parser.parse_args()
    data = rwn.load_demo(chosen.demo)
    frame = data.frame.reset_index(drop=True)
    rows = []
    for key in METHODS:
        rows.append(measured(key, data, frame))
        sys.stdout.write("  ".join(f"{name} {value}" for name, value in rows[-1].items()) + "\n")
        sys.stdout.flush()
    if chosen.demo == "cps1988":
        with FILE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
