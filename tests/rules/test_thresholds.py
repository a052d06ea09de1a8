"""Thresholds are listed by their comments, and their number only falls."""

from __future__ import annotations

import re
from pathlib import Path

from docs.reference_of.thresholds import ROOMS, ROOT, thresholds

MOST = 34
"""Thresholds that there may be; a new one replaces another."""


def test_the_page_lists_every_comment() -> None:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    comments = sum(len(re.findall(r"# decides: ", path.read_text("utf-8"))) for path in files)
    assert len(thresholds()) == comments


def test_the_number_only_falls() -> None:
    assert len(thresholds()) <= MOST


def test_a_comment_above_or_behind_a_number_is_read(tmp_path: Path) -> None:
    (tmp_path / "rwn_core").mkdir()
    text = (
        "# decides: records of a\n# long sentence\nMANY_RECORDS = 2_000\n"
        "OTHER = 3  # of another kind\nBYTES = 1e6  # decides: bytes of a table\n"
    )
    (tmp_path / "rwn_core" / "planted.py").write_text(text, "utf-8")
    assert [tuple(each) for each in thresholds(tmp_path)] == [
        ("MANY_RECORDS", 2000, "rwn_core/planted.py", "records of a long sentence"),
        ("BYTES", 1e6, "rwn_core/planted.py", "bytes of a table"),
    ]
