"""Replays papers and prints a page of their numbers: ``python -m benchmarks.papers``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import rwn_core as rwn
from benchmarks.pages import HERE, say, write_end
from benchmarks.papers import chosen
from benchmarks.papers.replay import Replayed, Request, Row, count, replayed, totals

PAGE = HERE / "reproduced.md"
BEGINS = "## Verdicts\n"


def counts(runs: Sequence[Replayed]) -> tuple[str, ...]:
    """Count the rows of all runs by verdict: of all sources together, then of each."""
    rows = [row for run in runs for row in run.rows]
    return (count("all sources", rows), *totals(rows))


def section(run: Replayed) -> str:
    """Write what one replay gave, as a part of the page."""
    lines = [
        "| number | held against | ours | may differ by | source | verdict |",
        "|---|---|---|---|---|---|",
        *(f"| {' | '.join(cells(row))} |" for row in run.rows),
    ]
    reasons = dict.fromkeys(f"- {row.verdict_words}: {row.cause}" for row in run.rows if row.cause)
    head = f"### {run.title}\n\n`python -m benchmarks.papers {run.key}`. {run.where}."
    parts = [head, "\n".join(lines), "\n".join(reasons), "\n".join(run.notes)]
    return "\n\n".join(part for part in parts if part)


def cells(row: Row) -> tuple[str, ...]:
    """Write a row as texts, in the order of the page's columns."""
    ours, printed = row.ours, row.published
    found = ("–", "–")
    if ours is not None:
        found = (f"{round(ours.value, 12):.6g}", f"{printed.tolerance(ours):.2g}")
    return (printed.name, printed.text, *found, printed.source, row.verdict_words)


def main() -> None:
    """Run what is asked for, and print it; a full run of all replays can rewrite the page."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("name", nargs="?", default="all", help="a replay, or all")
    asked.add_argument("--short", action="store_true", help="fewer repetitions")
    asked.add_argument("--file", help="the paper's own table, for a replay that asks for one")
    asked.add_argument("--schema", help="its schema, with weights and question")
    asked.add_argument("--write", action="store_true", help="rewrite the page")
    options = asked.parse_args()
    data = None if options.file is None else rwn.read(options.file, schema=options.schema)
    request = Request(short=options.short, data=data)
    runs = []
    for each in chosen(options.name):
        runs.append(replayed(each, request))
        say(section(runs[-1]) + "\n")
    lines = "\n".join(f"- {line}" for line in counts(runs))
    say(lines)
    if options.write and options.name == "all" and not (options.short or options.file):
        write_end(PAGE, BEGINS, "\n".join(["", lines, "", "\n\n".join(map(section, runs)), ""]))


if __name__ == "__main__":
    main()
