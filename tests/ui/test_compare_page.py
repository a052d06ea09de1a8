"""The Compare page: scenarios, decisions, matched methods, and the work of a large table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.scenario import Decision
from rwn_core.tuning import Setting
from rwn_ui.compare import view as compare_view
from rwn_ui.features.analysis_plan_results import standing_words
from rwn_ui.features.scenario_trial import JOB
from rwn_ui.features.setting_sentences import differences
from rwn_ui.state.results import prepared
from rwn_ui.state.session import History
from tests.ui.following import until

PASS = rwn.AnalysisPlan(
    analyses=(rwn.Analysis(name="both", kind="measure", measure="correlation", tolerance=9.0),)
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


def save(screen: Any, name: str) -> None:
    screen.find("text_input", "Name").set_value(name)
    screen.press("Save scenario")
    assert screen.errors == []


def end(screen: Any) -> None:
    """Let the job end, and draw the page with what it found."""
    job = screen.job(JOB)
    until(lambda: not job.running, 300)
    screen.test.run()
    assert screen.errors == []


def test_a_scenario_of_a_large_table_and_its_analyses_are_measured_beside_the_page(screen, drawn):
    session = screen.session
    save(screen, "One")
    job = screen.job(JOB)
    assert screen.work.busy
    assert session.scenarios == {}
    assert job.label == f"One: {session.words}"
    assert screen.find("button", "Save scenario").disabled
    assert screen.find("button", "Cancel")
    assert f"**Present setting**  \n{session.words}" in [m.value for m in screen.test.markdown]
    assert not screen.test.info  # the hint before anything was started
    before = session.setting
    session.move(k=session.levers["k"] + 3)  # what is measured is the setting that was saved
    end(screen)
    assert screen.job(JOB) is None
    one = session.scenarios["One"]
    assert one.setting == before
    assert {"median", "low", "high"} <= set(one.readings["correlation"])
    assert screen.test.multiselect[0].value == ["One"]

    session.analysis_plan = PASS
    screen.test.run()
    assert analyses(drawn) == []
    screen.press("Run the registered analyses on One")
    assert screen.work.busy
    session.analysis_plan = rwn.AnalysisPlan()  # other analyses are registered meanwhile
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
    screen.press("Cancel")
    assert not screen.work.busy
    assert screen.session.scenarios == {}
    assert any(note.value.endswith("Cancelled.") for note in screen.test.info)
    save(screen, "One")
    job = screen.job(JOB)
    screen.visit("data").test.selectbox(key="data.demo").set_value("pima").run()
    assert not job.running
    assert screen.job(JOB) is None


def test_scenarios_are_kept_compared_and_frozen(compare) -> None:
    session = compare.session
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.set(session.setting, prepared(session).prepared, preset)
        save(compare, name)
    assert list(session.scenarios) == ["One", "Two"]
    assert {"median", "low", "high"} <= set(session.scenarios["One"].readings["correlation"])
    compare.find("toggle", "Meeting").set_value(True).run()
    assert compare.find("selectbox", "Decision").value is None
    assert compare.press("Freeze").errors == [
        "Nothing is frozen. Missing: a decision; a reason; at least one participant."
    ]
    assert session.decisions == []
    compare.find("selectbox", "Decision").set_value("One")
    compare.find("text_area", "Reason").set_value("It serves the analysts best.")
    compare.find("text_area", "Participants, a line each").set_value("A\nB")
    (refused,) = compare.press("Freeze").errors
    assert refused.startswith("Nothing is frozen. Missing: who accepts this: ")
    compare.find("text_input", "Who accepts limits that the scenario").set_value("C")
    compare.find("selectbox", "Decision").set_value("Two")
    assert compare.press("Freeze").errors == []
    (record,) = session.decisions
    assert record.verdict == session.policy.judge(session.scenarios["Two"].readings).sentence
    assert record.accepted_by == "C"
    assert record.verdict.encode() in decision_html(record)
    assert record.chosen == "Two"
    assert record.participants == ("A", "B")
    assert record.hash in compare.words("success")
    assert Decision.thaw(record.frozen()).hash == record.hash


def test_a_board_draws_its_line_before_it_sees_the_candidates(
    compare, drawn, tmp_path, monkeypatch
) -> None:
    """Nothing is shown until the limits are stated; the record and the minutes hold them."""
    earlier = [
        Decision(date=f"2026-0{month}-01", reason=f"Meeting {month}") for month in range(1, 8)
    ]
    for each in earlier:
        (tmp_path / f"{each.date}.toml").write_text(each.frozen(), encoding="utf-8")
    (tmp_path / "notes.toml").write_text("no = 'decision'", encoding="utf-8")
    forged = earlier[6].frozen().replace("Meeting 7", "Meeting 9")
    (tmp_path / "2026-09-01.toml").write_text(forged, encoding="utf-8")
    save(compare, "One")
    compare.press("Draw the line first")
    assert "Decision" not in [box.label for box in compare.test.selectbox]
    drawn.clear()
    field = compare.test.number_input[0]
    field.set_value(3.0)
    compare.press("State these limits and show the scenarios")
    monkeypatch.setenv("RWN_DECISIONS", str(tmp_path))
    compare.test.run()
    tables = [each for payload in drawn for each in payload.get("tables", [])]
    (before,) = [each for each in tables if each["title"].startswith("Earlier decisions")]
    nothing = ["none of them", "no verdict was recorded", "–", "–"]
    meetings = [[*nothing, f"Meeting {month}"] for month in range(7, 2, -1)]
    assert [row[1:] for row in before["rows"]] == meetings
    compare.find("selectbox", "Decision").set_value("One")
    compare.find("text_area", "Reason").set_value("It keeps the line.")
    compare.find("text_area", "Participants, a line each").set_value("A")
    compare.find("text_input", "Who accepts").set_value("C")
    compare.press("Freeze")
    (record,) = compare.session.decisions
    assert min(limit.at_most for limit in record.line.limits) == pytest.approx(0.0)
    assert 0.03 in [pytest.approx(limit.at_most) for limit in record.line.limits]
    assert Decision.thaw(record.frozen()) == record
    assert b"Limits stated before the candidates were seen" in decision_html(record)


def test_tune_keeps_settings_for_the_meeting_and_compares_with_them(open_page) -> None:
    screen = open_page("tune")
    for _ in range(2):
        assert screen.press("Keep this setting").errors == []
    assert list(screen.session.scenarios) == ["A", "B"]
    assert screen.session.compared == ("A", "B")
    assert {each["pin"] for each in screen.panel["tiles"][0]["against"]} == {"A", "B"}
    screen.find("multiselect", "Compared with").set_value(["B"]).run()
    assert screen.session.compared == ("B",)
    assert {each["pin"] for each in screen.panel["tiles"][0]["against"]} == {"B"}
    assert screen.session.scenarios["B"].setting == screen.session.setting
    assert "median" in screen.session.scenarios["A"].readings["correlation"]
    screen.visit("compare")
    shown = screen.find("multiselect", "Scenarios side by side").value
    assert shown == ["A", "B"]


def test_a_decision_of_another_day_is_taken_up_again(compare) -> None:
    chosen = rwn.Scenario(name="Careful", setting=Setting.of("rwn", {"epsilon": 1.0, "k": 9}))
    decided = Decision(scenarios=(chosen,), chosen="Careful", date="2026-03-31")
    upload(compare, "decision.toml", decided.frozen())
    session = compare.session
    assert [each.hash for each in session.decisions] == [decided.hash]
    assert session.scenarios["Careful"].setting == chosen.setting
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert "2026-03-31" in compare.words("info")
    forged = decided.frozen().replace("2026-03-31", "2026-04-01")
    compare.test.file_uploader[0].set_value(("decision.toml", forged.encode(), "text/plain")).run()
    assert "changed after it was frozen" in compare.words("error")
    assert len(session.decisions) == 1


def test_undo_and_redo_without_limit() -> None:
    history = History()
    settings = [rwn.Setting(params=rwn.RWN(epsilon=n / 10, k=5)) for n in range(500)]
    for setting in settings:
        history.note(setting)
        history.note(setting)
    back = [history.go(-1) for _ in range(499)]
    assert back == settings[-2::-1]
    assert not history.has(-1)
    assert history.go(1) == settings[1]
    history.note(settings[7])
    assert not history.has(1)
    assert history.go(-1) == settings[1]


def scenario(name: str, value: float, **parameters: float) -> rwn.Scenario:
    reading = {"median": value, "low": value - 0.01, "high": value + 0.01}
    return rwn.Scenario(
        name=name,
        setting=Setting.of("rwn", parameters),
        readings={"distance_linkage": reading, "cells_changed": {"median": 0.5}},
    )


def test_differences_are_told_in_words() -> None:
    sentences = differences(scenario("A", 0.1, epsilon=2, k=5), scenario("B", 0.03, epsilon=3, k=5))
    assert sentences == [
        "ε is 3 instead of 2.",
        "Distance linkage: better, 3.0\N{NO-BREAK SPACE}% against 10.0\N{NO-BREAK SPACE}%.",
        "No clear difference: Cells changed (both 50.0\N{NO-BREAK SPACE}%).",
    ]
    near = differences(scenario("A", 0.1, k=5), scenario("B", 0.105, k=5))
    assert near[0] == "Both have the same setting."
    assert near[1] == (
        "No clear difference: Distance linkage (10.5\N{NO-BREAK SPACE}% against "
        "10.0\N{NO-BREAK SPACE}%); Cells changed (both 50.0\N{NO-BREAK SPACE}%)."
    )
    assert len(near) == 2
    bare = replace(scenario("A", 0.1, k=5), readings={"cells_changed": {"median": 0.9}})
    assert differences(scenario("B", 0.1, k=5), bare)[1:] == [
        "Cells changed: higher, 90.0\N{NO-BREAK SPACE}% against 50.0\N{NO-BREAK SPACE}%."
    ]


READINGS = {"bayes_linkage": {"median": 0.013, "low": 0.011, "high": 0.017}}
NAME = "Careful"


@pytest.fixture
def compare(open_page) -> Any:
    return open_page("compare")


def other_table(compare: Any, name: str) -> None:
    compare.visit("data").test.selectbox(key="data.demo").set_value(name).run()
    compare.visit("compare")
    assert compare.errors == []


def of_table(table: str) -> rwn.Scenario:
    setting = Setting.of("rwn", {"epsilon": 1.0, "k": 9})
    return rwn.Scenario(name=NAME, table=table, setting=setting, readings=READINGS)


def upload(compare: Any, name: str, text: str) -> None:
    compare.test.file_uploader[0].set_value((name, text.encode(), "text/plain")).run()
    assert compare.errors == []


def test_a_scenario_and_its_decision_wait_for_their_table(compare) -> None:
    session = compare.session
    own = of_table(session.data.fingerprint)
    session.scenarios[NAME] = own
    session.decisions.append(Decision(scenarios=(own,), chosen=NAME, date="2026-03-31"))
    other_table(compare, "pima")
    assert session.scenarios == {}
    assert session.decisions == []  # none that the release could be said to be made on
    assert not [each for each in compare.test.multiselect if each.label.startswith("Scenarios")]
    session.scenarios[NAME] = of_table(session.data.fingerprint)  # a name of both tables
    other_table(compare, "bodyfat")
    assert session.scenarios == {NAME: own}
    assert [each.chosen for each in session.decisions] == [NAME]


def test_a_file_of_another_table_brings_its_setting_and_no_reading(compare) -> None:
    session = compare.session
    upload(compare, "one.toml", of_table("f" * 64).to_toml())
    assert session.scenarios == {}
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert any("made for another table" in each.value for each in compare.test.info)
    assert session.drafts("f" * 64).scenarios[NAME].readings == READINGS


def test_a_file_for_any_table_has_no_reading_of_this_one(compare) -> None:
    upload(compare, "one.toml", of_table("").to_toml())
    assert compare.session.scenarios[NAME].readings == {}
    assert compare.session.scenarios[NAME].setting is not None


def test_a_decision_of_another_table_is_no_decision_on_this_one(compare) -> None:
    decided = Decision(scenarios=(of_table("f" * 64),), chosen=NAME, date="2026-03-31")
    assert decided.table == "f" * 64
    before = compare.session.words
    upload(compare, "decision.toml", decided.frozen())
    assert compare.session.decisions == []
    assert compare.session.scenarios == {}
    assert compare.session.words == before
    assert any("made on another table" in each.value for each in compare.test.info)
    assert compare.session.drafts("f" * 64).decisions == [decided]


@pytest.mark.parametrize(
    ("passed", "value", "words"),
    [
        (5, 0.25, "✓ pass (0.25)"),
        (0, 0.25, "▲ fail (0.25)"),
        (4, 0.25, "▲ passes on 4 of 5 (0.25)"),
        (0, None, "▲ no answer"),
    ],
)
def test_an_analysis_passes_on_all_releases_or_says_on_how_many(passed, value, words) -> None:
    (analysis,) = PASS.analyses
    reason = "" if value else "no answer"
    standing = Standing(analysis=analysis, passed=passed, releases=5, value=value, reason=reason)
    assert standing_words(standing) == words
