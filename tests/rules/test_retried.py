"""A test that fails now and again and passes alone is found out."""

from __future__ import annotations

import datetime
from pathlib import Path

from tools.retried import remember

LOG = "x\nFAILED tests/ui/test_a.py::test_b - AssertionError: late\n= 1 failed =\n"
DAY = datetime.date(2026, 3, 10)


def test_the_third_time_in_a_week_fails(tmp_path: Path) -> None:
    file = tmp_path / "retried.json"
    days = (DAY, DAY + datetime.timedelta(days=2), DAY + datetime.timedelta(days=6))
    results = [remember(LOG, day, file) for day in days]
    assert results == [[], [], ["tests/ui/test_a.py::test_b"]]


def test_an_older_failure_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "retried.json"
    days = (DAY, DAY + datetime.timedelta(days=7), DAY + datetime.timedelta(days=8))
    assert [remember(LOG, day, file) for day in days] == [[], [], []]
    assert remember("all passed", DAY + datetime.timedelta(days=9), file) == []
