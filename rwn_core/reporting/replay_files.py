"""Writes a replay as files: a page, a picture, a table and a text, each complete by itself."""

from __future__ import annotations

import csv
import io
import re
import textwrap

from rwn_core.charts import CHARTS, Chart, still
from rwn_core.evaluation.published_results import Replayed, Row
from rwn_core.reporting.facts import Audience, Content, Fact, Table
from rwn_core.reporting.page import page

COLUMNS = (
    "number",
    "held against",
    "ours",
    "standard error",
    "may differ by",
    "unit",
    "source",
    "verdict",
    "cause",
)


def replay_files(replay: Replayed) -> dict[str, bytes]:
    """The files of a replay, by name."""
    stills = [still(chart) for chart in replay_charts(replay)]
    files = {
        f"{replay.key}.html": _page(replay, stills),
        f"{replay.key}.csv": _csv(replay),
        f"{replay.key}.txt": replay_text(replay).encode(),
    }
    for number, picture in enumerate(stills, start=1):
        end = "" if number == 1 else f"-{number}"
        files[f"{replay.key}{end}.svg"] = picture.encode()
    return files


def replay_charts(replay: Replayed) -> list[Chart]:
    """The charts of a replay; numbers of one unit stand side by side in the first one."""
    charts = [CHARTS["published_and_ours"](replay)] if replay.drawn else []
    charts += [CHARTS[key](shown) for key, shown in replay.pictures]
    if replay.stand_in:
        charts = [chart | {"title": f"Stand-in data: {chart['title']}"} for chart in charts]
    return charts


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts, in the order of `COLUMNS`."""
    ours, printed = row.ours, row.published
    found: tuple[str, ...] = ("–", "–", "–")
    if ours is not None:
        spans = (ours.error, printed.tolerance(ours))
        found = (f"{round(ours.value, 12):.6g}", *(f"{span:.2g}" for span in spans))
    return (
        printed.name,
        printed.text,
        *found,
        printed.unit or "–",
        printed.source,
        row.verdict_words,
        row.cause,
    )


def replay_text(replay: Replayed) -> str:
    """Return the published results, ours and the verdict as a text."""
    lines = [
        replay.title,
        "=" * len(replay.title),
        "",
        f"Source: {replay.where}.",
        *replay.counts,
        "",
    ]
    lines += [line for note in replay.notes for line in textwrap.wrap(note, 96)]
    shown: list[tuple[str, ...]] = [
        ("number", "held against", "ours", "may differ by", "source", "verdict")
    ]
    shown += [(*cells(row)[:3], cells(row)[4], *cells(row)[6:8]) for row in replay.rows]
    widths = [max(len(line[column]) for line in shown) for column in range(len(shown[0]))]
    rows = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in shown]
    lines += ["", rows[0]]
    for line, row in zip(rows[1:], replay.rows, strict=True):
        lines += [line, *textwrap.wrap(row.cause, 96, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join(lines) + "\n"


def _csv(replay: Replayed) -> bytes:
    """Numbers with all their digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in replay.rows:
        ours: tuple[str, ...] = ("", "", "")
        if row.ours is not None:
            number = row.ours
            spans = (number.error, row.published.tolerance(number))
            ours = (repr(number.value), *map(repr, spans))
        words = cells(row)
        writer.writerow((*words[:2], *ours, row.published.unit, *words[6:]))
    return file.getvalue().encode()


def _page(replay: Replayed, stills: list[str]) -> bytes:
    rows = tuple(cells(row) for row in replay.rows)
    parts = {
        "Picture": Content(stills=tuple(stills)),
        "Numbers": Content(lines=replay.counts, table=Table(columns=COLUMNS, rows=rows)),
        "How": Content(lines=replay.notes),
    }
    facts = [
        Fact(key=re.sub(r"\W", "-", title.lower()), title=title, audience=Audience.BOTH, content=c)
        for title, c in parts.items()
    ]
    return page(replay.title, "", f"{replay.key}. Source: {replay.where}.", facts, "replay")
