"""How long the neighborhood search takes, beside what a user would pick instead.

``python benchmarks/engine.py --limits`` measures every stated limit, ``--quick`` those that take
a minute or two, ``--line ckdtree`` one of them; ``--grid`` the whole grid (hours), ``--grid --n
1e4 1e5 --p 10`` a part of it. Each measurement runs in a process of its own, in turn, so that all
of them meet the same machine. Peers count members and nothing else, on some random records and
for at most ``--limit`` processor seconds; the time for all records is in proportion. What was
measured before and is not measured now stays in the JSON file and in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

PEERS = ("cKDTree", "KDTree", "brute")
HERE = Path(__file__).resolve()
RESULTS = HERE.with_name("engine.json")
TABLE = HERE.parents[1] / "docs" / "reference" / "engine.md"


def run(case: dict) -> dict:
    """Measure one case in a process of its own, and note how busy the machine is."""
    sys.stderr.write(f"{case}\n")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    command = [sys.executable, str(HERE), "--case", json.dumps(case)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.stderr.write(ended.stderr)
        raise SystemExit(1)
    return {**case, **json.loads(ended.stdout.splitlines()[-1]), "load": load}


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


def measure_lines(options: argparse.Namespace) -> list[dict]:
    """Measure what the chosen lines need, each case once, and compare with the limits."""
    from engine_limits import lines_of

    known: dict[str, dict] = {}
    results = []
    for line in lines_of(options.line, options.quick):
        for case in line.cases:
            name = json.dumps(case)
            if name not in known:
                known[name] = run(case)
        rows = [known[json.dumps(case)] for case in line.cases]
        figure = line.figure(rows)
        results.append(
            {
                "line": line.name,
                "says": line.says,
                "figure": figure,
                "limit": line.limit,
                "kept": line.kept(figure),
                "rows": rows,
            }
        )
        sys.stderr.write(f"{line.name}: {figure:.4g}, {line.limit}\n")
    return results


def with_older(new: list[dict], old: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The new results, and those older ones that nothing new stands for."""

    def key(row: dict) -> tuple:
        return tuple(row.get(name) for name in names)

    fresh = {key(row): row for row in new}
    kept = [fresh.pop(key(row), row) for row in old]
    return [*kept, *fresh.values()]


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", action="store_true", help="every stated limit")
    parser.add_argument("--quick", action="store_true", help="the limits that take a minute or two")
    parser.add_argument("--line", nargs="+", help="stated limits by name")
    parser.add_argument("--grid", action="store_true", help="the grid of tables and peers")
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
    options = parser.parse_args()
    if not (options.limits or options.quick or options.line or options.grid or options.case):
        parser.error("say what to measure: --limits, --quick, --line NAME or --grid")
    return options


def main() -> None:
    """Measure, and write the results as JSON and as a table."""
    options = arguments()
    if options.case:
        from engine_cases import MEASURED

        case = json.loads(options.case)
        sys.stdout.write(json.dumps(MEASURED[case["what"]](case)) + "\n")
        return
    from engine_page import page_of

    known = json.loads(options.json.read_text()) if options.json.is_file() else {}
    lines, rows = known.get("lines", []), known.get("grid", [])
    if options.limits or options.quick or options.line:
        lines = with_older(measure_lines(options), lines, ("line",))
    if options.grid:
        names = ("what", "kind", "n", "p", "size", "k", "threads", "peer")
        rows = with_older([run(case) for case in grid(options)], rows, names)
    options.json.write_text(json.dumps({"lines": lines, "grid": rows}, indent=1) + "\n")
    page = page_of(lines, rows)
    options.table.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
