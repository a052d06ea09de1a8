"""Print how plain the code is, beside its targets: ``python -m tools.figures``, in seconds.

``--lower`` writes today's figures into ``tests/rules/sentences.toml``, unless one has risen.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tools import sentences

BY_COMMAND = {
    "compiling all that the app needs, processor seconds": "time NUMBA_CACHE_DIR=$(mktemp -d) "
    "python -m rwn_core.compile_ahead",
    "faults found in each room": "python -m tools.mutants ROOM 40",
    "masking 100,000 x 10 against cKDTree": "python -m benchmarks 'mask 100000 x 10'",
    "redraw of bodyfat": "python -m benchmarks.redraw --whole-range --demo bodyfat",
    "the check of a fresh clone": ".ci/run",
    "first picture where nothing is compiled": "python -m benchmarks.redraw --fresh",
    "a quick check": "make quick",
    "all tests": "time python -m pytest (one after another: with -n 0)",
    "scripts: rules, and tests without a browser": "make lint; node --test tests/js/*.test.mjs",
    "where another package is called tests": "d=$(mktemp -d); mkdir $d/tests; "
    "touch $d/tests/__init__.py; PYTHONPATH=$d python -m pytest --collect-only -q",
}
"""Figures that need minutes, each with its command."""


def plainness() -> list[tuple[str, float, float | None]]:
    """Return name, present value and target, if there is one, of each figure of the sentences."""
    rows: list[tuple[str, float, float | None]] = []
    for group, values in sentences.measured().items():
        targets = sentences.TARGETS.get(group, {})
        rows += [(f"{name}, {group}", value, targets.get(name)) for name, value in values.items()]
    return rows


def table(rows: Sequence[tuple[str, float, float | None]]) -> str:
    """Return the figures as a Markdown table."""
    body = [
        f"| {name} | {value:,} | {'' if target is None else f'{target:,}'} |"
        for name, value, target in rows
    ]
    return "\n".join(["| figure | today | target |", "|---|---:|---:|", *body])


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table, or lower what is held."""
    if "--lower" in arguments:
        higher = sentences.lower()
        sys.stdout.write("".join(f"{each}; nothing is written.\n" for each in higher))
        return 1 if higher else 0
    sys.stdout.write(table(plainness()) + "\n\nFigures that take minutes:\n")
    sys.stdout.write("".join(f"- {name}: {line}\n" for name, line in BY_COMMAND.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
