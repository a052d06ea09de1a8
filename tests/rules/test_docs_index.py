"""The page that lists the documentation leads to every part of it."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def linked() -> set[str]:
    """The files that docs/index.md links, as paths below docs."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    return set(re.findall(r"\]\(([^)#\s]+)", text))


def test_every_decision_is_linked() -> None:
    files = {f"decisions/{path.name}" for path in (DOCS / "decisions").glob("*.md")}
    assert files
    assert files <= linked()


def test_every_page_for_users_is_linked() -> None:
    folders = ("tutorial", "how-to", "reference", "explanation")
    files = {f"{folder}/{path.name}" for folder in folders for path in (DOCS / folder).glob("*.md")}
    assert files <= linked()
