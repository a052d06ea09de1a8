"""How long the neighborhood search takes, beside what a user would pick instead.

``python benchmarks/engine.py --must-show`` measures the stated limits;
``python benchmarks/engine.py`` the whole grid (hours), ``--n 1e4 1e5 --p 10`` a part of it. Each
measurement runs in a process of its own, in turn, so that all of them meet the same machine.
Peers count members and nothing else, on random records; the time for all is in proportion.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from itertools import product
from pathlib import Path

UNLIMITED = 1e6  # seconds
PEERS = ("cKDTree", "KDTree", "brute")
HERE = Path(__file__).resolve()
RESULTS = HERE.with_name("engine.json")
TABLE = HERE.parents[1] / "docs" / "reference" / "engine.md"


def run(case: dict) -> dict:
    """Measure one case in a process of its own."""
    sys.stderr.write(f"{case}\n")
    command = [sys.executable, str(HERE), "--case", json.dumps(case)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.stderr.write(ended.stderr)
        raise SystemExit(1)
    return {**case, **json.loads(ended.stdout.splitlines()[-1])}


def grid(options: argparse.Namespace) -> list[dict]:
    """The cases of a part of the grid."""
    cases = []
    for kind, n, p, size in product(options.kind, options.n, options.p, options.size):
        if size >= n / 2:
            continue
        table = {"kind": kind, "n": n, "p": p, "size": size, "limit": options.limit}
        cases.append({"what": "engine", **table, "threads": options.threads})
        cases += [{"what": "peer", **table, "peer": peer} for peer in options.peers]
    return cases


def stated_limits(limit: float) -> list[dict]:
    """The cases that the limits are stated for."""
    whole = {"what": "engine", "kind": "mixed", "p": 10, "limit": UNLIMITED}
    plain = {"kind": "mixed", "n": 1e5, "p": 10, "size": 100, "limit": limit}
    cases = [
        {**whole, "n": 1e6, "size": 90, "k": 5, "threads": 2},
        {"what": "engine", **plain, "k": 5, "threads": 1},
        *({"what": "peer", **plain, "peer": peer} for peer in PEERS),
    ]
    for size in (100, 1000):
        discrete = {**whole, "kind": "discrete", "p": 5, "size": size}
        cases.append({**discrete, "n": 1e6, "k": 5, "threads": 1})
    cases += [{**whole, "n": n, "size": 90, "k": 5, "threads": 2} for n in (2.5e5, 5e5)]
    moves = {"what": "move", "kind": "mixed", "p": 10}
    return [*cases, {**moves, "n": 20_190}, {**moves, "n": 100_000}]


def same_table(one: dict, two: dict) -> bool:
    """Whether two measurements are of the same table and radius."""
    return all(one.get(name) == two.get(name) for name in ("kind", "n", "p", "size"))


def with_ratios(measured: list[dict]) -> list[dict]:
    """Each peer with how many times the processor time of the search it takes."""
    searches = [row for row in measured if row["what"] == "engine" and row["threads"] == 1]
    for row in measured:
        if row["what"] == "peer":
            beside = next((search for search in searches if same_table(row, search)), None)
            row["ratio"] = row["cpu_s"] / beside["cpu_s"] if beside else None
    return measured


def exponents(measured: list[dict]) -> list[dict]:
    """How the search's processor time grows between neighboring numbers of records."""
    grown = []
    searches = [row for row in measured if row["what"] == "engine"]
    for small, large in product(searches, searches):
        alike = all(small.get(x) == large.get(x) for x in ("kind", "p", "size", "k", "threads"))
        if alike and 2 <= large["n"] / small["n"] <= 10 and small["cpu_s"] > 0:
            power = math.log(large["cpu_s"] / small["cpu_s"]) / math.log(large["n"] / small["n"])
            memory = [row["peak_gb"] for row in (small, large)]
            names = {x: small[x] for x in ("kind", "p", "size")}
            grown.append(
                {**names, "from": small["n"], "to": large["n"], "power": power, "peak_gb": memory}
            )
    return grown


def line_of(row: dict) -> str:
    """One measurement as a line of a Markdown table."""
    table = f"| {row['kind']} | {row['n']:,.0f} | {row['p']} | {row.get('size', '')} "
    if row["what"] == "move":
        taken = f"median {row['median_ms']:.1f} ms, largest {row['largest_ms']:.1f} ms"
        return f"{table}| slider move | {taken} | {row['table_mb']:.0f} MB table | |"
    if row["what"] == "peer":
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.0f} x"
        taken = f"{row['cpu_s']:.4g} s ({row['queries']:,} records timed)"
        return f"{table}| {row['peer']}, count only | {taken} | {row['peak_gb']:.2f} GB | {ratio} |"
    part = "" if row["share_run"] == 1 else f", {row['share_run']:.0%} of it run"
    taken = f"{row['cpu_s']:.4g} s (wall {row['wall_s']:.4g} s{part})"
    what = f"search with draws, {row['threads']:g} thread{'s' if row['threads'] > 1 else ''}"
    return f"{table}| {what} | {taken} | {row['peak_gb']:.2f} GB | 1 |"


def report(measured: list[dict], grown: list[dict]) -> str:
    """The page of the documentation."""
    lines = [
        "# How long the search takes",
        "",
        "Written by `python benchmarks/engine.py`; every row from one run on one machine. Times",
        "are processor seconds; read them as ratios. The search includes its tree, sizes, nearest",
        "distances and a draw for every cell; the others count members, and no more.",
        "",
        "| data | records | coordinates | mean size | what | processor time | memory | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *(line_of(row) for row in measured),
    ]
    if grown:
        lines += ["", "| growth of | from | to | time grows as n to the power | peak memory |"]
        lines += ["|---|---|---|---|---|"]
        for row in grown:
            name = f"{row['kind']}, {row['p']} coordinates, mean size {row['size']}"
            memory = " to ".join(f"{each:.2f}" for each in row["peak_gb"])
            ends = f"{row['from']:,.0f} | {row['to']:,.0f}"
            lines.append(f"| {name} | {ends} | {row['power']:.2f} | {memory} GB |")
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--must-show", action="store_true", help="only the stated limits")
    parser.add_argument("--kind", nargs="+", default=["mixed", "discrete"])
    parser.add_argument("--n", nargs="+", type=float, default=[1e4, 1e5, 1e6])
    parser.add_argument("--p", nargs="+", type=int, default=[5, 10, 20, 40])
    parser.add_argument("--size", nargs="+", type=int, default=[10, 100, 1000])
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one measurement")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure, and write the results as JSON and as a table."""
    options = arguments()
    if options.case:
        from engine_cases import MEASURED

        case = json.loads(options.case)
        sys.stdout.write(json.dumps(MEASURED[case["what"]](case)) + "\n")
        return
    cases = stated_limits(options.limit) if options.must_show else grid(options)
    measured = with_ratios([run(case) for case in cases])
    grown = exponents(measured)
    options.json.write_text(json.dumps({"measured": measured, "growth": grown}, indent=1) + "\n")
    page = report(measured, grown)
    options.table.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
