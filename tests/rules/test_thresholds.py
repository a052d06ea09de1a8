"""The table of thresholds in ARCHITECTURE.md is what the code says."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from tests.rules import architecture_page

ROOT = architecture_page.ROOT


def value_in(path: str, name: str) -> float | None:
    """The number that a file gives a name at its top; None where it gives none."""
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if name in names:
                return float(ast.literal_eval(node.value))
    return None


def wrong(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows that say something else than the code."""
    return [
        row
        for row in rows
        if value_in(row[2].strip("`"), row[0].strip("`")) != float(row[1].replace(",", ""))
    ]


def test_every_threshold_is_as_written() -> None:
    rows = architecture_page.rows("Thresholds")
    assert len(rows) > 30
    assert wrong(rows) == []
    assert all(len(row) == 4 and row[3] for row in rows), "each says what it decides"


@pytest.mark.parametrize("said", ["1,000", "2,001"])
def test_another_number_would_be_noticed(said: str) -> None:
    planted = ("`LARGEST_DENSE`", said, "`rwn_core/neighbors/table.py`", "why")
    assert wrong([planted]) == [planted]
    assert wrong([("`LARGEST_DENSE`", "2,000", *planted[2:])]) == []
