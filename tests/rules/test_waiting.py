"""Tests wait for states: the clock on the wall is read in one place, which only ends a hang."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from tests import waiting
from tests.waiting import BETWEEN, calls, growth, processor_seconds, until

TESTS = Path(__file__).resolve().parents[1]
CLOCK = re.compile(
    r"time\.(?:monotonic|perf_counter|time)\(\)"  # what passed is judged
    r"|timeout=[\d_.]+\)|(?:join|wait|result|exception)\((?!600\))[1-9][\d.]*\)"
)
READ = {
    "waiting.py": "ends a hang",
    "browser/steward.py": "tells how long a person waits, and judges nothing",
    "journeys/test_shell.py": "tells how long a person waits, and judges nothing",
    "browser/app_tab.py": "a run that no script has asked for is not waited for",
}
"""Files in which a time on the wall stands, and why no test fails by it."""


def test_no_test_is_judged_by_the_clock_on_the_wall() -> None:
    files = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("*.py")}
    del files["rules/test_waiting.py"]  # it plants them
    found = {name for name, path in files.items() if CLOCK.search(path.read_text("utf-8"))}
    assert found == set(READ)
    for planted in ("time.monotonic() - begun < 2", "wait_for(timeout=500)", "job.wait(30)"):
        assert CLOCK.search(planted), planted


def test_a_wait_ends_at_its_state_or_as_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter((False, False, True))
    until(lambda: next(looks), pause=0.0)
    assert next(looks, None) is None
    monkeypatch.setattr(waiting, "HANG_S", 0.0)
    with pytest.raises(AssertionError, match="a hang"):
        until(lambda: False)


def test_a_quadratic_cost_is_told_from_a_linear_one() -> None:
    def linear(n: int) -> float:
        return processor_seconds(lambda: sum(i * i for i in range(1000 * n)))

    def quadratic(n: int) -> float:
        return processor_seconds(lambda: sum(i * j for i, j in product(range(n), repeat=2)))

    assert growth(linear, 100) < BETWEEN < growth(quadratic, 300)


def test_calls_are_counted() -> None:
    def one() -> None:
        pass

    def ten() -> None:
        for _ in range(10):
            one()

    assert calls(ten) == 11
