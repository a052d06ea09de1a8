"""Writes what could be reproduced of the papers, from full runs: ``python -m docs.reproduced``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rwn_core.evaluation.published_results import REPLAYS, Replayed, Request, replayed
from rwn_core.evaluation.published_results.replay import count, totals
from rwn_core.reporting.replay_files import cells

PAGE = Path(__file__).parent / "explanation" / "reproduced.md"
_BEGINNING = """
<!-- Written by `make replay`; change the replays, not this file. -->

# What we could and could not reproduce

Every figure, table and claim below is run again by [`rwn replay`](../how-to/replay-the-papers.md).
The verdict is computed: two numbers agree when they differ by no more than rounding and three
standard errors, those of the source's own draws included ("may differ by"), and when a number 10 %
away would not have passed. Where luck or rounding is too large for that, the verdict is "cannot
tell". Where they differ, a cause is named only if another way to read the source gives the number
that it prints. Where we have no printed numbers of a figure, ours are held against those of
independent programs, which share no code with this one: they are no proof that the figure is the
same.
"""


def page(runs: Sequence[Replayed]) -> str:
    """The page's text."""
    parts = [_BEGINNING.strip(), "\n".join(f"- {line}" for line in counts(runs))]
    return "\n\n".join([*parts, *map(section, runs)]) + "\n"


def counts(runs: Sequence[Replayed]) -> tuple[str, ...]:
    """Count the rows of all runs by verdict: of all sources together, then of each."""
    rows = [row for run in runs for row in run.rows]
    return (count("all sources", rows), *totals(rows))


def section(run: Replayed) -> str:
    """What one replay gave."""
    head = f"## {run.title}\n\n`rwn replay {run.key}`. {run.where}."
    lines = [
        "| number | held against | ours | may differ by | source | verdict |",
        "|---|---|---|---|---|---|",
    ]
    reasons: dict[str, None] = {}
    for row in run.rows:
        words = cells(row)
        lines.append(f"| {' | '.join((*words[:3], words[4], *words[6:8]))} |")
        if row.cause:
            reasons[f"- {row.verdict_words}: {row.cause}"] = None
    parts = [head, "\n".join(lines), "\n".join(reasons), "\n".join(run.notes)]
    return "\n\n".join(part for part in parts if part)


def main() -> None:
    """Run all replays in full, and write the page."""
    runs = [replayed(each, Request()) for each in REPLAYS.values()]
    PAGE.write_text(page(runs), encoding="utf-8")
    sys.stdout.write("\n".join(counts(runs)) + "\n")


if __name__ == "__main__":
    main()
