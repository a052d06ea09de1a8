"""The Compare page with a large table: releases are measured beside the page."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.compare import view as compare_view
from rwn_ui.features.scenario_trial import JOB

PASS = AnalysisPlan(
    analyses=(Analysis(name="both", kind="measure", measure="correlation", tolerance=9.0),)
)


@pytest.fixture
def screen(open_page) -> Any:
    """The Compare page with a table that is just too large to be measured at once."""
    rows = np.random.default_rng(1).normal(size=(LARGEST_DENSE + 100, 2)).round(4)
    text = "\n".join(["x,y", *(f"{x},{y}" for x, y in rows)])
    screen = open_page("data").upload("large.csv", text.encode()).wait().visit("compare")
    yield screen
    screen.work.end()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the page gave its panels to draw."""
    payloads: list[dict[str, Any]] = []
    monkeypatch.setattr(compare_view, "panel", lambda payload, **more: payloads.append(payload))
    return payloads


def analyses(drawn: list[dict[str, Any]]) -> list[str]:
    """The analyses that the last table of the page has an answer to."""
    tables = [t for payload in drawn for t in payload.get("tables", [])]
    latest = [t for t in tables if t["title"] == "Side by side"][-1]
    return [
        row[0] for row in latest["rows"] if row[0].startswith("Analysis plan") and row[1] != "–"
    ]


def button(screen: Any, label: str) -> Any:
    return next(each for each in screen.test.button if each.label.startswith(label))


def save(screen: Any, name: str) -> None:
    next(box for box in screen.test.text_input if box.label == "Name").set_value(name)
    button(screen, "Save scenario").click().run()
    assert screen.errors == []


def end(screen: Any) -> None:
    """Let the job end, and draw the page with what it found."""
    job, latest = screen.job(JOB), time.monotonic() + 300
    while job.running and time.monotonic() < latest:
        time.sleep(0.02)
    screen.test.run()
    assert screen.errors == []


def test_a_scenario_of_a_large_table_and_its_analyses_are_measured_beside_the_page(
    screen, drawn
) -> None:
    session = screen.session
    save(screen, "One")
    job = screen.job(JOB)
    assert screen.work.busy
    assert session.scenarios == {}
    assert job.label == f"One: {session.words}"
    assert button(screen, "Save scenario").disabled
    assert button(screen, "Cancel")
    assert f"**Present setting**  \n{session.words}" in [m.value for m in screen.test.markdown]
    assert not screen.test.info  # the hint before anything was started
    before = session.setting
    session.levers["k"] += 3  # what is measured is the setting that was saved
    end(screen)
    assert screen.job(JOB) is None
    one = session.scenarios["One"]
    assert one.setting == before
    assert {"median", "low", "high"} <= set(one.readings["correlation"])
    assert screen.test.multiselect[0].value == ["One"]

    session.analysis_plan = PASS
    screen.test.run()
    assert analyses(drawn) == []
    button(screen, "Run the registered analyses on One").click().run()
    assert screen.work.busy
    session.analysis_plan = AnalysisPlan()  # other analyses are registered meanwhile
    end(screen)
    session.analysis_plan = PASS
    screen.test.run()
    assert not [b for b in screen.test.button if b.label.startswith("Run the registered")]
    assert analyses(drawn) == ["Analysis plan: both"]

    save(screen, "Two")  # a new scenario brings the answers of its analyses
    end(screen)
    assert session.scenarios["Two"].analysis_plan == PASS
    assert not [b for b in screen.test.button if b.label.startswith("Run the registered")]


def test_cancelling_and_another_table_end_the_work(screen) -> None:
    save(screen, "One")
    button(screen, "Cancel").click().run()
    assert not screen.work.busy
    assert screen.session.scenarios == {}
    assert any(note.value.endswith("Cancelled.") for note in screen.test.info)
    save(screen, "One")
    job = screen.job(JOB)
    screen.visit("data").test.selectbox(key="data.demo").set_value("pima").run()
    assert not job.running
    assert screen.job(JOB) is None
