"""Walks three jobs in shell and browser and measures them: ``python -m benchmarks journeys``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.pages import HERE, read_lines, write_lines
from tests.journeys.figures import HEAD

ROOT = Path(__file__).resolve().parents[1]
PAGE = HERE / "journeys.md"
FIGURES = PAGE.with_suffix(".csv")
BEGIN, END = "<!-- figures -->\n", "<!-- end -->"
JOBS = {
    "survey": "survey, 10,000 × 25",
    "clinical": "clinical, 250 × 15",
    "workbook": "workbook, 160 × 7",
}


def table(rows: list[dict[str, str]]) -> str:
    """The figures as the page has them."""
    lines = ["| job | way | actions | machine | hands | end |", "|---|---|---:|---:|---:|---|"]
    for row in rows:
        times = " | ".join(f"{row[name]} s" for name in ("machine", "hands"))
        lines.append(
            f"| {JOBS[row['job']]} | {row['way']} | {row['actions']} | {times} | {row['end']} |"
        )
    return "\n".join(lines) + "\n"


def with_table(page: str, rows: list[dict[str, str]]) -> str:
    """A page with these figures in place of others."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.partition(END)[2]}"


def read(file: Path) -> list[dict[str, str]]:
    """The figures of a file, job by job."""
    return sorted(read_lines(file), key=lambda row: (list(JOBS).index(row["job"]), row["way"]))


def main() -> int:
    """Walk all of them; the figures are written if none was stopped."""
    with tempfile.TemporaryDirectory() as folder:
        measured = Path(folder, "figures.csv")
        measured.write_text(",".join(HEAD) + "\n", encoding="utf-8")
        walk = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not engines"]
        walk += ["tests/journeys/test_shell.py", "tests/browser/test_journeys.py"]
        environment = os.environ | {"RWN_JOURNEYS": str(measured)}
        code = subprocess.run(walk, cwd=ROOT, env=environment, check=False).returncode
        if code == 0:
            rows = read(measured)
            write_lines(FIGURES, rows, HEAD)
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(with_table(page, rows), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
