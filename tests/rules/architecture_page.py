"""Reads the tables of ARCHITECTURE.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def page() -> str:
    """The page's text."""
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rows(title: str, text: str | None = None) -> list[tuple[str, ...]]:
    """The rows of the first table under a title, each cell as it is written.

    Parameters
    ----------
    title : str
    text : str, optional
        Of another page.
    """
    _, result, rest = (page() if text is None else text).partition(f"\n## {title}\n")
    assert result, f"no title {title}"
    lines = re.split(r"^## ", rest, maxsplit=1, flags=re.M)[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in table[2:]]
