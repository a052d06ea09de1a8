"""The page of what datasets take, written from all lines that were kept."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
LINES, PAGE = REFERENCE / "datasets.csv", REFERENCE / "datasets.md"
FAR = 1_000_000_000
COLUMNS = (
    "way",
    "records",
    "epsilon",
    "processor microseconds a row",
    "in memory",
    "ratio",
    "memory of a worker",
    "fall back to k",
)
HEAD = """<!-- Written by `python -m benchmarks.dataset N --write`. -->

# How long a dataset takes

Ten mixed columns (four continuous, four rounded, two categories; twelve encoded ones), k = 5, two
workers. Processor time is that of all processes, the start of the workers included (about two
seconds), on two processors that other work shared, which makes it longer, too. *In memory* is
`rwn.mask` in the same run, of the first 1,000,000 records, without reading and writing files.

"""
TAIL = """
For the exact way epsilon falls with the number of records, so that neighborhoods have as many, 190
on average: with one epsilon, ten times as many records are ten times as many neighbors of each, in
memory, too. What fewer than 1,000,000 records take is for the most part the start of the workers.
The memory of a worker counts what it has read of the index on disk; beyond 0.7 GB it leaves that to
the system, and reads it again. `python -m benchmarks.dataset 1000000 --exact` measures one line.
"""


class Line(NamedTuple):
    """What one run took.

    Attributes
    ----------
    way : str
    n : int
    epsilon : float
    row, in_memory : float
        Processor microseconds a row.
    worker : float
        Gigabytes.
    governed : float
        Share of records that fall back to k.
    """

    way: str = ""
    n: int = 0
    epsilon: float = 0.0
    row: float = 0.0
    in_memory: float = 0.0
    worker: float = 0.0
    governed: float = 0.0


def keep(line: Line) -> None:
    """Keep a line, in place of the one of the same way and size, and write the page."""
    lines = {(other.way, other.n): other for other in _kept()} | {(line.way, line.n): line}
    ordered = [lines[which] for which in sorted(lines)]
    with LINES.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Line._fields)
        writer.writerows(ordered)
    PAGE.write_text(page(ordered), encoding="utf-8")


def page(lines: list[Line]) -> str:
    """The page of some lines."""
    rows = "".join(
        f"| {line.way} | {line.n:,} | {line.epsilon:g} | {line.row:.1f} | {line.in_memory:.1f} "
        f"| {line.row / line.in_memory:.2f} | {line.worker:.2f} GB | {line.governed:.1%} |\n"
        for line in lines
    )
    growths = [_growth([line for line in lines if line.way == way]) for way in _ways(lines)]
    heads = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    return HEAD + heads + rows + TAIL + "".join(growths)


def _kept() -> list[Line]:
    if not LINES.exists():
        return []
    with LINES.open(encoding="utf-8", newline="") as stream:
        return [
            Line(row["way"], int(row["n"]), *(float(row[name]) for name in Line._fields[2:]))
            for row in csv.DictReader(stream)
        ]


def _ways(lines: list[Line]) -> list[str]:
    return list(dict.fromkeys(line.way for line in lines))


def _growth(lines: list[Line]) -> str:
    """How the work grows with the records, and what it would be for very many."""
    some = [line for line in lines if line.n >= 1_000_000]
    if len(some) < 2:
        return ""
    n, seconds = (np.log([getattr(line, name) for line in some]) for name in ("n", "row"))
    exponent = 1 + float(np.polyfit(n, seconds, 1)[0])
    last = some[-1]
    hours = last.row * 1e-6 * last.n * (FAR / last.n) ** exponent / 3600
    return (
        f"\n**{last.way}**: from {some[0].n:,} to {last.n:,} records the work grows as their "
        f"number to the power {exponent:.2f}. **Extrapolated with that, not measured:** "
        f"{hours:,.0f} processor hours for {FAR:,} records.\n"
    )
