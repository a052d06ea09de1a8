"""The least loss of each method at limits that need no law, with judges that know no method.

``python -m benchmarks.judges`` writes docs/explanation/judges.csv and prints its table. One random
half of each table is masked, at most ``--records`` records of it, and the other half stays outside.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.tables import mixed, survey
from rwn_core.measures import read
from rwn_core.measures.measure import Reading

TABLES: dict[str, Callable[[], rwn.Microdata]] = {
    **{name: partial(rwn.load_demo, name) for name in ("bodyfat", "pima", "randhie", "cps1988")},
    "survey, simulated": lambda: survey(4000),
    "factors, simulated": lambda: rwn.Microdata.from_frame(
        pd.DataFrame(mixed(2000, 8)).add_prefix("x")
    ),
}
FILE = Path(__file__).parents[1] / "docs" / "explanation" / "judges.csv"
RELEASES = 5
LIMITS = {"distance_linkage": 0.05, "inference": 0.05}
"""Rows whose nearest original is the right one; guesses right more often than for outsiders."""
UTILITY = ("correlation", "pmse", "ci_overlap")


def settings(table: rwn.Microdata) -> Iterator[tuple[str, rwn.Microdata, Any]]:
    """Yield each method's name, its table and its setting, from weak to strong."""
    question = table.schema.question
    apart = question.response if question is not None else table.names[-1]
    rest = tuple(v.name for v in table.schema.released if v.name != apart)
    two = table.with_slices([rest])
    for radius in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0):
        yield "RWN, each alone", table, rwn.RWN(epsilon=radius, k=5)
        yield "RWN, two slices", two, rwn.RWN(epsilon=radius, k=5)
        yield "RWN, gaussian kernel", table, rwn.RWN(kernel="gaussian", width=radius / 2)
    for leaf in (3, 5, 10, 20, 50):
        yield "CART synthesis", table, rwn.CARTSynthesis(leaf=leaf)
        yield "CART, smoothed", table, rwn.CARTSynthesis(leaf=leaf, smoothing=0.5)
    if table.numeric_names:
        for share in (0.5, 0.8, 1.0):
            names = table.numeric_names
            yield "Data shuffling", table, rwn.DataShuffling(anew=share, variables=names)
        for share in (0.02, 0.05, 0.1, 0.2, 0.4):
            yield "Rank swapping", table, rwn.RankSwapping(p=share)
        for size in (0.1, 0.3, 0.5, 1.0, 2.0):
            yield "Additive noise", table, rwn.AdditiveNoise(size=size)
            yield "Correlated noise", table, rwn.CorrelatedNoise(size=size)
        for k in (3, 5, 10, 25, 50):
            yield "Microaggregation", table, rwn.Microaggregation(k=k)


def judged(
    own: rwn.Microdata, outside: rwn.Microdata, table: rwn.Microdata, params: Any
) -> dict[str, float]:
    """Return the mean of each measure over some releases; without those that do not apply."""
    made, found = params.prepare(table), dict[str, list[float]]()
    for seed in range(RELEASES):
        masked = made.release(rwn.SecretKey.from_seed(seed)).masked
        comparison = rwn.Comparison(original=own, masked=masked, holdout=outside)
        for key in (*UTILITY, *LIMITS):
            reading = read(key, comparison)
            if isinstance(reading, Reading):
                found.setdefault(key, []).append(reading.value)
    return {key: float(np.mean(values)) for key, values in found.items()}


def rows_of(name: str, records: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each setting of a table."""
    data = TABLES[name]()
    order = np.random.default_rng(0).permutation(data.n)[: 2 * records]
    own, outside = (data.take(np.sort(part)) for part in np.array_split(order, 2))
    for method, table, params in settings(own):
        found = judged(own, outside, table, params)
        kept = all(found.get(key, 0.0) <= limit for key, limit in LIMITS.items())
        strength = getattr(params, params.strength if "CART" not in method else "leaf")
        line = {"table": name, "records": own.n, "method": method, "at": strength}
        numbers = {key: f"{found[key]:.4f}" if key in found else "" for key in (*UTILITY, *LIMITS)}
        yield {**line, **numbers, "kept": "yes" if kept else "no"}


def least(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table: each method's setting of least loss that keeps the limits."""
    yield "| table | method | at | correlations moved | pMSE ratio | interval overlap |"
    yield "|---|---|---|---|---|---|"
    for name in dict.fromkeys(row["table"] for row in rows):
        here = [row for row in rows if row["table"] == name]
        best: dict[str, Any] = dict.fromkeys(dict.fromkeys(r["method"] for r in here))
        for row in (row for row in here if row["kept"] == "yes" and row["correlation"]):
            known = best[row["method"]]
            if known is None or float(row["correlation"]) < float(known["correlation"]):
                best[row["method"]] = row
        order = sorted(best, key=lambda m: float(best[m]["correlation"]) if best[m] else 9.0)
        for method in order:
            row = best[method]
            cells = [row[key] for key in ("at", *UTILITY)] if row else ["none keeps them", *"–––"]
            yield f"| {name} | {method} | {' | '.join(str(cell) for cell in cells)} |"


def main() -> None:
    """Write the file and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--records", type=int, default=400)
    given = parser.parse_args()
    rows = [row for name in given.tables for row in rows_of(name, given.records)]
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sys.stdout.write("\n".join([*least(rows), ""]))


if __name__ == "__main__":
    main()
