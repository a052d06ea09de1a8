"""Measure the identity gate: how many labelled columns it finds, and how many it stops falsely.

Run ``python -m tools.identity``; ``--columns`` also names the columns that it judges wrongly.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.identity import identity_doubts
from tools.identity_columns import Labelled, labelled_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Hold how many columns of each label there are, how many the gate stops, and its errors."""

    identifying: int
    found: int
    harmless: int
    stopped: int
    wrong: tuple[str, ...]

    @property
    def words(self) -> str:
        """Return both shares as a sentence."""
        return (
            f"{self.found} of {self.identifying} identifying columns found, "
            f"{self.stopped} of {self.harmless} others stopped"
        )


def stops(column: pd.Series) -> bool:
    """True if a table of this one column does not leave without an answer."""
    found = identity_doubts(column.to_frame(), [str(column.name)])
    return any(doubt.stops for doubt in found)


def measure(columns: list[Labelled]) -> Measured:
    """Ask the gate about each column alone."""
    answers = [(each, stops(each.values)) for each in columns]
    return Measured(
        identifying=sum(each.identifies for each, _ in answers),
        found=sum(answer for each, answer in answers if each.identifies),
        harmless=sum(not each.identifies for each, _ in answers),
        stopped=sum(answer for each, answer in answers if not each.identifies),
        wrong=tuple(each.name for each, answer in answers if answer != each.identifies),
    )


def large_table(n: int = 1_000_000) -> pd.DataFrame:
    """Make ten columns of every type, of which five identify people."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.5, n).round(2),
            "age": rng.integers(18, 95, n),
            "x": rng.normal(size=n),
            "city": pd.Categorical.from_codes(rng.integers(0, 50, n), [f"C{i}" for i in range(50)]),
            "visits": rng.poisson(3, n),
            "person_id": np.arange(n),
            "mail": [f"p{i}@example.org" for i in range(n)],
            "dob": pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "hh": np.repeat(np.arange(n), 3)[:n],
            "lat": rng.uniform(46, 49, n).round(6),
        }
    )


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Print recall and false alarms of both halves, and the time on a large table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", action="store_true", help="name the wrongly judged columns")
    arguments = parser.parse_args()
    columns = labelled_columns()
    for title, some in (
        ("all", columns),
        ("rules written with", [each for each in columns if not each.held_out]),
        ("held out", [each for each in columns if each.held_out]),
    ):
        measured = measure(some)
        say(f"{title}: {measured.words}")
        if arguments.columns and measured.wrong:
            say(f"  wrongly judged: {', '.join(measured.wrong)}")
    table = large_table()
    start = time.perf_counter()
    found = identity_doubts(table, table.columns)
    took = time.perf_counter() - start
    say(f"{len(table):,} x {table.shape[1]}: {took:.2f} s, {sum(d.stops for d in found)} of 5")


if __name__ == "__main__":
    main()
