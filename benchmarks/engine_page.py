"""The page of the documentation that the engine benchmark writes."""

from __future__ import annotations

import math
from itertools import product

HEAD = """# How long the search takes

Written by `python benchmarks/engine.py`; each row was measured in a process of its own, all of
them in turn on one machine of two processors. Times are processor seconds; read them as ratios.
*Load* is how many processes wanted the processors just before. The search includes its tree,
sizes, nearest distances and a draw for every cell; the others count members, and no more.

## Stated limits

| line | what | measured | limit | | load |
|---|---|---|---|---|---|
"""


def page_of(lines: list[dict], grid: list[dict]) -> str:
    """The page: the stated limits, what was measured for them, the grid and how times grow."""
    text = [HEAD.rstrip("\n")]
    measured: list[dict] = []
    for line in lines:
        load = max((row["load"] or 0 for row in line["rows"]), default=0)
        kept = "kept" if line["kept"] else "**not kept**"
        figure, limit = f"{line['figure']:.3g}", line["limit"]
        text.append(
            f"| {line['line']} | {line['says']} | {figure} | {limit} | {kept} | {load:.1f} |"
        )
        measured += [row for row in line["rows"] if row not in measured]
    text += _table("Measured for them", measured) + _table("Grid", with_ratios(grid))
    return "\n".join([*text, *_growth([*measured, *grid])]) + "\n"


def _table(title: str, rows: list[dict]) -> list[str]:
    if not rows:
        return []
    return [
        "",
        f"## {title}",
        "",
        "| data | records | coordinates | mean size | what | time | memory | ratio | load |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_line_of(row) for row in rows),
    ]


def _line_of(row: dict) -> str:
    """One measurement as a line of a Markdown table."""
    size = row.get("size", "")
    if row["what"] == "engine" and row["share_run"] == 1:
        size = f"{row['mean_size']:,.0f}"
    start = f"| {row['kind']} | {row['n']:,.0f} | {row['p']} | {size} "
    load = "" if row.get("load") is None else f"{row['load']:.1f}"
    return f"{start}| {' | '.join(_CELLS[row['what']](row))} | {load} |"


def _of_engine(row: dict) -> tuple[str, str, str, str]:
    part = "" if row["share_run"] == 1 else f", {row['share_run']:.0%} of it run"
    plural = "s" if row["threads"] > 1 else ""
    least = f", k = {row['k']}" if row.get("k") else ""
    return (
        f"search with draws{least}, {row['threads']:g} thread{plural}",
        f"{row['cpu_s']:.4g} s (wall {row['wall_s']:.4g} s{part})",
        f"{row['peak_gb']:.2f} GB",
        "1",
    )


def _of_peer(row: dict) -> tuple[str, str, str, str]:
    ratio = row.get("ratio")
    return (
        f"{row['peer']}, count only",
        f"{row['cpu_s']:.4g} s ({row['queries']:,} records timed)",
        f"{row['peak_gb']:.2f} GB",
        "" if ratio is None else f"{ratio:.0f} x",
    )


def _of_move(row: dict) -> tuple[str, str, str, str]:
    taken = f"median {row['median_ms']:.1f} ms, longest {row['largest_ms']:.1f} ms"
    return "slider move", taken, f"{row['table_mb']:.0f} MB table", ""


def _of_cancel(row: dict) -> tuple[str, str, str, str]:
    taken = f"median {row['median_s']:.2f} s, longest {row['longest_s']:.2f} s"
    return f"cancelled at {row['stops']} moments", taken, "", ""


_CELLS = {"engine": _of_engine, "peer": _of_peer, "move": _of_move, "cancel": _of_cancel}


def with_ratios(rows: list[dict]) -> list[dict]:
    """Each peer with how many times the processor time of the search of its table it takes."""
    searches = [row for row in rows if row["what"] == "engine" and row["threads"] == 1]

    def ratio(row: dict) -> float | None:
        same = [s for s in searches if all(s[x] == row[x] for x in ("kind", "n", "p", "size"))]
        return row["cpu_s"] / same[-1]["cpu_s"] if same else None

    return [{**row, "ratio": ratio(row)} if row["what"] == "peer" else row for row in rows]


def _growth(rows: list[dict]) -> list[str]:
    """How the search's processor time grows between neighboring numbers of records."""
    searches = [row for row in rows if row["what"] == "engine"]
    text = []
    for small, large in product(searches, searches):
        alike = all(small.get(x) == large.get(x) for x in ("kind", "p", "size", "k", "threads"))
        if alike and 2 <= large["n"] / small["n"] <= 10:
            power = math.log(large["cpu_s"] / small["cpu_s"]) / math.log(large["n"] / small["n"])
            name = f"{small['kind']}, {small['p']} coordinates, mean size {small['size']}"
            memory = f"{small['peak_gb']:.2f} to {large['peak_gb']:.2f} GB"
            text.append(
                f"| {name} | {small['n']:,.0f} | {large['n']:,.0f} | {power:.2f} | {memory} |"
            )
    if not text:
        return []
    head = ["", "## Growth", "", "| of | from | to | time grows as n to the power | peak memory |"]
    return [*head, "|---|---|---|---|---|", *dict.fromkeys(text)]
