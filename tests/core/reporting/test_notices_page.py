"""The words of a notice are held against a simulation that shares no regression with them."""

from __future__ import annotations

from bisect import bisect

import pytest

import rwn_core as rwn
from docs import notices
from rwn_core.reporting.facts.public_words import AMOUNTS

ENDS = (0.05, 0.2, 0.4, 0.6, 0.85)


@pytest.mark.parametrize("params", [rwn.RWN(epsilon=30.0, k=5), rwn.RWN(k=3, q=0.05)])
def test_a_notice_says_what_a_simulation_finds(params: rwn.RWN) -> None:
    row = notices.row("bodyfat", params, simulated=15)
    assert row.relations in {AMOUNTS[bisect(ENDS, row.loss + away)] for away in (-0.04, 0.0, 0.04)}
    assert all(0.5 < row.coverage[name] <= 1.0 for name in row.differ), row
    lost, fine = set(row.missed), [name for name, held in row.coverage.items() if held < 0.5]
    assert set(fine) <= lost
    if params.epsilon == 30.0:  # nothing is left
        assert row.relations in AMOUNTS[-2:]
        assert lost
    if params.q < 1:
        assert row.relations == AMOUNTS[0]


def test_a_notice_that_calls_biased_slopes_fine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "missed", lambda record: ())
    row = notices.row("bodyfat", rwn.RWN(epsilon=2.0, k=5), simulated=8)
    assert "abdomen" in row.differ


def test_the_page_has_ten_releases_of_four_tables() -> None:
    text = notices.PAGE.read_text(encoding="utf-8")
    assert text.startswith(notices.page([]).rstrip())
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(notices.SETTINGS) == 10
    assert {row[0].removeprefix("| ") for row in rows} == {"bodyfat", "pima", "randhie", "cps1988"}
    assert all(row[2] in AMOUNTS for row in rows)
