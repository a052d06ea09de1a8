"""The page of thresholds, from the comments ``# decides: ...`` in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("rwn_core", "rwn_ui", "rwn_cli", "pages")

_INTRODUCTION = """# Thresholds

Sizes from which the program computes another way, reads a sample, or leaves something out. Each
row is the comment `# decides: ...` of a constant. Levels and seeds of statistics, sizes of charts,
limits of files and texts, and sizes of blocks that change no result are no thresholds; their reason
stands at the constant.

| name | value | file | what it decides |
|---|---:|---|---|"""

_CONSTANT = re.compile(
    r"(?m)^(?P<above>(?:# [^\n]*\n)*)(?P<name>[A-Z_]+) = (?P<value>[^#\n]+?)"
    r"(?:  # (?P<end>[^\n]*))?$"
)


class Threshold(NamedTuple):
    """A constant with its comment; `path` is relative to the project."""

    name: str
    value: float
    path: str
    decides: str


def thresholds(root: Path = ROOT) -> list[Threshold]:
    """Return the thresholds of all files, in the order of the files."""
    files = [path for room in ROOMS for path in sorted((root / room).rglob("*.py"))]
    return [each for path in files for each in _thresholds_in(path, root)]


def _thresholds_in(path: Path, root: Path) -> Iterator[Threshold]:
    for match in _CONSTANT.finditer(path.read_text(encoding="utf-8")):
        lines = [line.removeprefix("# ") for line in (match["above"] or "").splitlines()]
        comment = " ".join([*lines, match["end"] or ""]).strip()
        if comment.startswith("decides: "):
            name = path.relative_to(root).as_posix()
            text = comment.removeprefix("decides: ")
            yield Threshold(match["name"], float(match["value"]), name, text)


def page() -> str:
    """Return the page."""
    rows = (f"| `{t.name}` | {t.value:,.10g} | `{t.path}` | {t.decides} |" for t in thresholds())
    return "\n".join([_INTRODUCTION, *rows])
