"""The Compare page: scenarios, decisions, matched methods, and the work of a large table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.scenario import Decision
from rwn_core.tuning import Point, Setting, Spread
from rwn_core.tuning.match import Matched, MatchedLoss, Unmatched
from rwn_ui.compare import match_sentences, matching
from rwn_ui.compare import view as compare_view
from rwn_ui.features.analysis_plan_results import standing_words
from rwn_ui.features.scenario_trial import JOB
from rwn_ui.features.setting_sentences import differences
from rwn_ui.state.results import prepared
from rwn_ui.state.session import History
from tests.ui.following import until
from tests.ui.one_page import PAGES, field, session_of

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


def test_a_scenario_of_a_large_table_and_its_analyses_are_measured_beside_the_page(
    screen, drawn
) -> None:
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


pytestmark = pytest.mark.usefixtures("sweeps_folder")


def test_scenarios_are_kept_compared_and_frozen() -> None:
    page = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=60).run()
    session = session_of(page)
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.set(session.setting, prepared(session).prepared, preset)
        field(page, "text_input", "Name").set_value(name)
        field(page, "button", "Save scenario").click().run()
    assert list(session.scenarios) == ["One", "Two"]
    assert {"median", "low", "high"} <= set(session.scenarios["One"].readings["correlation"])
    field(page, "toggle", "Meeting").set_value(True).run()
    assert field(page, "selectbox", "Decision").value is None
    field(page, "button", "Freeze").click().run()
    assert page.error[0].value == (
        "Nothing is frozen. Missing: a decision; a reason; at least one participant."
    )
    assert session.decisions == []
    field(page, "selectbox", "Decision").set_value("One")
    field(page, "text_area", "Reason").set_value("It serves the analysts best.")
    field(page, "text_area", "Participants, a line each").set_value("A\nB")
    field(page, "button", "Freeze").click().run()
    (refused,) = (message.value for message in page.error)
    assert refused.startswith("Nothing is frozen. Missing: who accepts this: ")
    accepts = "Who accepts limits that the scenario does not keep"
    field(page, "text_input", accepts).set_value("C")
    field(page, "selectbox", "Decision").set_value("Two")
    field(page, "button", "Freeze").click().run()
    (record,) = session.decisions
    assert record.verdict == session.policy.judge(session.scenarios["Two"].readings).sentence
    assert record.accepted_by == "C"
    assert record.verdict.encode() in decision_html(record)
    assert record.chosen == "Two"
    assert record.participants == ("A", "B")
    assert any(record.hash in message.value for message in page.success)
    assert Decision.thaw(record.frozen()).hash == record.hash
    assert not page.error


def test_a_decision_of_another_day_is_taken_up_again() -> None:
    chosen = rwn.Scenario(name="Careful", setting=Setting.of("rwn", {"epsilon": 1.0, "k": 9}))
    decided = Decision(scenarios=(chosen,), chosen="Careful", date="2026-03-31")
    page = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=60).run()
    page.file_uploader[0].set_value(
        ("decision.toml", decided.frozen().encode(), "text/plain")
    ).run()
    session = session_of(page)
    assert [each.hash for each in session.decisions] == [decided.hash]
    assert session.scenarios["Careful"].setting == chosen.setting
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert any("2026-03-31" in message.value for message in page.info)
    forged = decided.frozen().replace("2026-03-31", "2026-04-01")
    page.file_uploader[0].set_value(("decision.toml", forged.encode(), "text/plain")).run()
    assert any("changed after it was frozen" in error.value for error in page.error)
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


NEAR, FAR, BETWEEN = (0.10, 0.11, 0.12), (0.60, 0.61, 0.62), (0.11, 0.12, 0.13)
LOSS = MatchedLoss(measure="correlation", value=0.115)


def matched(params: Any, *, reached: bool = True, **values: tuple[float, ...]) -> Matched:
    spreads = {key: Spread(measure=key, values=each) for key, each in values.items()}
    return Matched(point=Point(setting=Setting(params=params), spreads=spreads), reached=reached)


RWN = matched(rwn.RWN(k=5), correlation=NEAR, bayes_linkage=FAR, distance_linkage=NEAR)
NOISE = matched(
    rwn.AdditiveNoise(size=0.4), correlation=BETWEEN, bayes_linkage=NEAR, distance_linkage=FAR
)
WEAK = matched(rwn.PRAM(change=1.0), reached=False, correlation=(0.01, 0.02, 0.03))
SPACE = "\N{NO-BREAK SPACE}"


def test_where_rwn_wins_and_where_it_loses_is_said() -> None:
    (told,) = match_sentences.pairs([RWN, NOISE], LOSS, 100)
    assert told == (
        f"RWN, the 2022 method against Additive noise: better on Distance linkage (11.0{SPACE}% "
        f"against 61.0{SPACE}%); worse on Worst-case linkage (61.0{SPACE}% against 11.0{SPACE}%)."
    )


def test_an_outright_winner_is_named_and_the_loss_itself_is_not_compared() -> None:
    third = matched(rwn.RowCopy(k=5), correlation=FAR, bayes_linkage=FAR, distance_linkage=FAR)
    told = match_sentences.sentences([RWN, NOISE, third], LOSS, 100)
    assert told[0] == (
        "RWN, the 2022 method is better than every other compared method on Distance linkage."
    )
    assert "Correlations" not in " ".join(told)


def test_a_method_without_an_answer_is_not_ranked_there() -> None:
    dumb = Spread(measure="bayes_linkage", reason="It has no law.")
    swap = matched(rwn.RankSwapping(), correlation=NEAR, distance_linkage=BETWEEN)
    swap = replace(swap, point=replace(swap.point, spreads={**swap.point.spreads,
                                                            "bayes_linkage": dumb}))  # fmt: skip
    third = matched(rwn.KNoise(k=2), correlation=NEAR, bayes_linkage=FAR, distance_linkage=NEAR)
    told = match_sentences.sentences([RWN, NOISE, swap, third], LOSS, 100)
    # of three with a worst case
    assert told == ["Additive noise is better than every other compared method on Worst-case "
                    "linkage."]  # fmt: skip
    assert match_sentences.unread([swap], 100) == [
        "Rank swapping is not ranked on Worst-case linkage: It has no law."
    ]


def test_who_is_left_out_is_said_with_the_reason() -> None:
    lossy = matched(rwn.KNoise(k=2), reached=False, correlation=FAR)
    refused = Unmatched(method="additive_noise", reason="The method masks numbers only.")
    told = match_sentences.sentences([RWN, WEAK, lossy, refused], LOSS, 100)
    assert told[0].startswith("Post-randomization (PRAM) never loses so much: at its strongest,")
    assert "it reads 0.02 and not 0.115" in told[0]
    assert told[1].startswith(f"k-noise loses more at every strength that was tried: at k{SPACE}2")
    assert told[2] == "Additive noise is not compared: The method masks numbers only."
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
    (kept,) = match_sentences.sentences([matched(rwn.RWN(k=5), reached=False, bayes_linkage=FAR)],
                                    policy, 100)  # fmt: skip
    assert kept.startswith("RWN, the 2022 method keeps the policy at no strength that was tried")
    (reached,) = match_sentences.sentences([RWN], rwn.Policy(), 100)
    assert reached.startswith(
        f"RWN, the 2022 method keeps all limits at k{SPACE}5 · q{SPACE}1; nothing"
    )


@pytest.fixture
def matched_on(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The Compare page, where work is done at once."""
    monkeypatch.setattr(matching, "Job", at_once)
    return open_page("compare")


def press(matched_on: Any, label: str, nth: int = 0) -> None:
    buttons = [each for each in matched_on.test.button if each.label == label]
    buttons[nth].click().run()
    assert matched_on.errors == []


def match(matched_on: Any, methods: list[str]) -> None:
    box = matched_on.find("multiselect", "Methods")
    box.set_value(methods)
    for label, value in (("Releases", 2), ("At worst, %", 20.0)):
        field = matched_on.find("number_input", label)
        field.set_value(value)
    press(matched_on, "Match")


def test_methods_are_matched_opened_on_tune_and_kept(matched_on) -> None:
    match(matched_on, ["rwn", "additive_noise", "rank_swapping"])
    job = matched_on.job(matching.JOB)
    assert [each.method for each in job.result] == ["rwn", "additive_noise", "rank_swapping"]
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    (table,) = matching.match_table(matched_on.session, job.result, job.about[0].to)["tables"]
    assert few in table["caption"]
    (lost,) = (row for row in table["rows"] if row[0].startswith("Relations lost"))
    assert not any("★" in cell for cell in lost)  # it is the same for all
    (linkage,) = (row for row in table["rows"] if row[0].startswith("Distance linkage"))
    assert sum("★" in cell for cell in linkage) == 1
    assert ["records released", "100.0 %", "100.0 %", "100.0 %"] in table["rows"]
    text = matched_on.words("markdown", "caption")
    assert "Tuned to Relations lost: at most 20" in text
    assert "RWN, the 2022 method against Additive noise:" in text
    assert "Rank swapping is not ranked on Worst-case linkage" in text.replace("\\", "")
    press(matched_on, "Keep as scenario", 1)
    (kept,) = matched_on.session.scenarios.values()
    assert kept.name == "Additive noise, matched"
    assert kept.setting == job.result[1].point.setting
    assert kept.readings == job.result[1].point.stated()
    press(matched_on, "Open on Tune", 1)
    assert matched_on.session.method == "additive_noise"
    assert matched_on.session.setting == job.result[1].point.setting
    for what in ("Coefficients", "Distributions"):
        key = f"compare.{matched_on.session.table_version}.matched.picture"
        matched_on.test.session_state[key] = what
        matched_on.test.run()
        assert matched_on.errors == []
    assert sum(each.label == "Variable" for each in matched_on.test.selectbox) == 1


def test_the_axes_of_the_map_run_towards_risk_and_away_from_loss() -> None:
    axes = [matching._axis("bayes_linkage", 241, risk=True)]
    axes += [matching._axis(key, 241, risk=False) for key in ("correlation", "ci_overlap")]
    assert [axis["falls"] for axis in axes] == [False, True, False]


def test_a_match_of_another_table_is_not_shown(matched_on) -> None:
    match(matched_on, ["rwn"])
    assert "Tuned to" in matched_on.words("markdown", "caption")
    matched_on.work.jobs[matching.JOB].about = (
        matching.Asked(fingerprint="another", to=LOSS, across="correlation"),
    )
    matched_on.test.run()
    assert "Tuned to" not in matched_on.words("markdown", "caption")


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
