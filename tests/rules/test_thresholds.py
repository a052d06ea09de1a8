"""Thresholds are listed by their comments, and their number only falls."""

from __future__ import annotations

import re

from docs.reference_of.thresholds import ROOMS, ROOT, thresholds

MOST = 34
"""Thresholds that there may be; a new one replaces another."""


def test_the_page_lists_every_comment() -> None:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    comments = sum(len(re.findall(r"# decides: ", path.read_text("utf-8"))) for path in files)
    assert len(thresholds()) == comments


def test_the_number_only_falls() -> None:
    assert len(thresholds()) <= MOST
