"""The page of journeys has the figures that were measured."""

from __future__ import annotations

from benchmarks import journeys

ROWS = journeys.read(journeys.FIGURES)
PAGE = journeys.PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_figures_of_the_file() -> None:
    assert journeys.with_table(PAGE, ROWS) == PAGE
    assert {(row["job"], row["way"]) for row in ROWS} == {
        (job, way) for job in journeys.JOBS for way in ("browser", "shell")
    }
    assert len(PAGE.splitlines()) <= 80


def test_the_jobs_are_short() -> None:
    for row in ROWS:
        most = 300 if row["job"] == "workbook" else 600
        assert int(row["machine"]) + int(row["hands"]) <= most, row
        assert int(row["actions"]) <= 30


def test_other_figures_would_be_noticed() -> None:
    others = [{**row, "actions": "99"} for row in ROWS]
    assert journeys.with_table(PAGE, others) != PAGE
