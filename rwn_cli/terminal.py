"""Terminal output: sentences, a table of readings, a progress bar."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rwn_core.data.microdata import Microdata

BAR_AFTER = 1.0  # seconds, so that whatever takes two of them shows a bar
_BAR_STEPS = 1000
_COLUMNS = ("measure", "value", "baseline", "better", "unit")


def say(line: str) -> None:
    """Write a line for the person, apart from what a program may read."""
    typer.echo(line, err=True)


def size_words(table: Microdata) -> str:
    """Return the numbers of records and variables of a table, in words."""
    records = "1 record" if table.n == 1 else f"{table.n:,} records"
    return f"{records}, {table.p} {'variable' if table.p == 1 else 'variables'}"


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """A bar on stderr for work that takes its time, where stderr is a terminal.

    Parameters
    ----------
    label : str

    Yields
    ------
    callable
        Takes the share done, from 0 to 1.
    """
    start = time.monotonic()
    bar: Any = None

    def report(share: float) -> None:
        nonlocal bar
        if bar is None and sys.stderr.isatty() and time.monotonic() - start > BAR_AFTER:
            bar = typer.progressbar(length=_BAR_STEPS, label=label, file=sys.stderr)
            bar.__enter__()
        if bar is not None:
            bar.update(max(0, round(share * _BAR_STEPS) - bar.pos))

    try:
        yield report
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)


def readings_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows of an audit as aligned text; measures without an answer follow with the reason."""
    read = [row for row in rows if row["not_applicable"] is None]
    lines = [_COLUMNS, *(tuple(_cell(row[column]) for column in _COLUMNS) for row in read)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    for row in rows:
        if row.get("at_most") is not None:
            text.append(f"{row['title']} {_cell(row['value'])}, at most {_cell(row['at_most'])}.")
        if row["not_applicable"] is not None:
            text.append(f"{row['measure']}: not applicable. {row['not_applicable']}")
    return "\n".join(text)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return str(value)
