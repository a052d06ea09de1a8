"""The figures that a benchmark keeps in docs/explanation, and the part of a page that it writes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1] / "docs" / "explanation"


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def read_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_lines(
    path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Write lines of equal columns; empty where a line lacks one."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_end(page: Path, begins: str, text: str) -> None:
    """Put a text into a page in place of what follows a line."""
    before = page.read_text(encoding="utf-8").partition(begins)[0]
    page.write_text(f"{before}{begins}{text}\n", encoding="utf-8")
