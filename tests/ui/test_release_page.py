"""Compare and Release: scenarios, decisions, and five steps."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting import read_record
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.release_folder import RECORD
from rwn_core.reporting.scenario import Decision
from rwn_core.tuning import Setting
from rwn_ui.compare import view as compare_view
from rwn_ui.features import analysis_plan_results, scenario_trial
from rwn_ui.features.analysis_plan_results import standing_words
from rwn_ui.features.project import current_project
from rwn_ui.features.scenario_trial import JOB
from rwn_ui.features.setting_sentences import differences
from rwn_ui.release import files, judging, ledger
from rwn_ui.release.steps import about, steps
from rwn_ui.server.environment import CLASSROOM_VARIABLE
from rwn_ui.state import kept_picture, own_machine
from rwn_ui.state.results import prepared
from rwn_ui.state.session import History
from tests.lanes import lanes
from tests.ui.work_here import HeldJob, WorkHere

pytestmark = pytest.mark.usefixtures("few_people")

PASS = rwn.AnalysisPlan(
    analyses=(rwn.Analysis(name="both", kind="measure", measure="correlation", tolerance=9.0),)
)
RUN = "Run the registered analyses on One"


@pytest.fixture
def compare(open_page) -> Any:
    return open_page("compare")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    payloads: list[dict[str, Any]] = []
    for each in (kept_picture, compare_view):
        monkeypatch.setattr(each, "panel", lambda payload, **more: payloads.append(payload))
    return payloads


def tables(drawn: list[dict[str, Any]], title: str) -> list[dict[str, Any]]:
    found = [each for payload in drawn for each in payload.get("tables", [])]
    return [each for each in found if each["title"].startswith(title)]


def save(screen: Any, name: str) -> None:
    screen.find("text_input", "Name").set_value(name)
    screen.press("Save scenario")
    assert screen.errors == []


@pytest.fixture(params=["here", pytest.param("in a process", marks=pytest.mark.nightly)])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> int:
    """So many records are a large table; by day 120, and its work is done in this process.

    Either way it is under way until `ends`. `test_job.py` has work of a page done in a process by
    day.
    """
    if request.param != "here":
        monkeypatch.setattr(scenario_trial, "Job", partial(HeldJob, folder=tmp_path))
        return 4 * LARGEST_DENSE
    for part in (scenario_trial, analysis_plan_results):
        monkeypatch.setattr(part, "LARGEST_DENSE", 100)
    monkeypatch.setattr(scenario_trial, "Job", WorkHere)
    return 120


def ends(screen: Any) -> None:
    screen.job(JOB).end()
    screen.test.run()
    assert screen.errors == []


@pytest.fixture
def beside(open_page, drawn, large: int) -> Any:
    """Open Compare on a large table, of which a scenario is measured beside the page."""
    rows = np.random.default_rng(1).normal(size=(large, 2)).round(4)
    text = "\n".join(["x,y", *(f"{x},{y}" for x, y in rows)])
    return open_page("data").upload("large.csv", text.encode()).wait().visit("compare")


def labels(screen) -> list[str]:
    """Return what the buttons of the page say."""
    return [each.label for each in screen.test.button]


def test_a_scenario_of_a_large_table_is_measured_beside_and_can_be_cancelled(beside) -> None:
    session = beside.session
    save(beside, "One")
    assert beside.work.busy
    assert session.scenarios == {}
    assert beside.job(JOB).label == f"One: {session.words}"
    assert beside.find("button", "Save scenario").disabled
    assert f"**Present setting**  \n{session.name_of_setting}" in beside.words("markdown")
    assert not beside.test.info  # the hint before anything was started
    beside.press("Cancel")
    assert not beside.work.busy
    assert session.scenarios == {}
    assert "Cancelled." in beside.words("info")


def test_a_scenario_of_a_large_table_is_of_the_setting_that_was_saved(beside) -> None:
    session = beside.session
    save(beside, "One")
    beside.press("Cancel")
    save(beside, "One")
    before = session.setting
    session.move(k=session.levers["k"] + 3)
    ends(beside)
    assert beside.job(JOB) is None
    one = session.scenarios["One"]
    assert one.setting == before
    assert {"median", "low", "high"} <= set(one.readings["correlation"])
    assert beside.test.multiselect[0].value == ["One"]


def test_the_analyses_of_a_scenario_of_a_large_table_are_run_beside(beside, drawn) -> None:
    session = beside.session
    save(beside, "One")
    ends(beside)

    def answered() -> list[str]:
        """The analyses that the last table of the page has an answer to."""
        rows = tables(drawn, "Side by side")[-1]["rows"]
        return [row[0] for row in rows if row[0].startswith("Analysis plan") and row[1] != "–"]

    session.analysis_plan = PASS
    beside.test.run()
    assert answered() == []
    beside.press(RUN)
    assert beside.work.busy
    session.analysis_plan = rwn.AnalysisPlan()  # other analyses are registered meanwhile
    ends(beside)
    session.analysis_plan = PASS
    beside.test.run()
    assert RUN not in labels(beside)
    assert answered() == ["Analysis plan: both"]
    save(beside, "Two")  # a new scenario brings the answers of its analyses
    ends(beside)
    assert session.scenarios["Two"].analysis_plan == PASS
    assert "Run the registered" not in " ".join(labels(beside))


def test_another_table_ends_the_work_on_a_scenario(beside) -> None:
    save(beside, "Three")
    job = beside.job(JOB)
    beside.visit("data").test.selectbox(key="data.demo").set_value("pima").run()
    assert not job.running
    assert beside.job(JOB) is None


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
    assert (record.accepted_by, record.chosen, record.participants) == ("C", "Two", ("A", "B"))
    assert record.verdict.encode() in decision_html(record)
    assert record.hash in compare.words("success")
    assert Decision.thaw(record.frozen()).hash == record.hash


def test_a_board_draws_its_line_before_it_sees_all(compare, drawn, tmp_path, monkeypatch) -> None:
    """Nothing is shown until the limits are stated; the record and the minutes hold them."""
    for month in range(1, 8):
        earlier = Decision(date=f"2026-0{month}-01", reason=f"Meeting {month}").frozen()
        (tmp_path / f"2026-0{month}-01.toml").write_text(earlier, encoding="utf-8")
    (tmp_path / "notes.toml").write_text("no = 'decision'", encoding="utf-8")
    forged = earlier.replace("Meeting 7", "Meeting 9")
    (tmp_path / "2026-09-01.toml").write_text(forged, encoding="utf-8")
    save(compare, "One")
    compare.press("Draw the line first")
    assert "Decision" not in [box.label for box in compare.test.selectbox]
    drawn.clear()
    compare.test.number_input[0].set_value(3.0)
    compare.press("State these limits and show the scenarios")
    monkeypatch.setenv("RWN_DECISIONS", str(tmp_path))
    compare.test.run()
    (before,) = tables(drawn, "Earlier decisions")
    nothing = ["none of them", "no verdict was recorded", "–", "–"]
    meetings = [[*nothing, f"Meeting {month}"] for month in range(7, 2, -1)]
    assert [row[1:] for row in before["rows"]] == meetings
    compare.find("selectbox", "Decision").set_value("One")
    compare.find("text_area", "Reason").set_value("It keeps the line.")
    compare.find("text_area", "Participants, a line each").set_value("A")
    compare.find("text_input", "Who accepts").set_value("C")
    compare.press("Freeze")
    (record,) = compare.session.decisions
    limits = [limit.at_most for limit in record.line.limits]
    assert min(limits) == pytest.approx(0.0)
    assert 0.03 in [pytest.approx(each) for each in limits]
    assert Decision.thaw(record.frozen()) == record
    assert b"Limits stated before the candidates were seen" in decision_html(record)


def test_tune_keeps_settings_for_the_meeting_and_compares_with_them(open_page) -> None:
    screen = open_page("tune")
    session = screen.session
    for _ in range(2):
        assert screen.press("Keep this setting").errors == []
    for names in (["A", "B"], ["B"]):
        if names == ["B"]:
            screen.find("multiselect", "Compared with").set_value(names).run()
        assert session.compared == tuple(names)
        assert [each["pin"] for each in screen.panel["tiles"][0]["against"]] == names
    assert session.scenarios["B"].setting == session.setting
    assert "median" in session.scenarios["A"].readings["correlation"]
    screen.visit("compare")
    assert screen.find("multiselect", "Scenarios side by side").value == ["A", "B"]


@pytest.mark.usefixtures("compare_opens")
def test_compare_opens_with_the_present_setting_and_its_strengths(open_page, monkeypatch) -> None:
    stronger = rwn.Setting(params=rwn.RWN(epsilon=9.0, k=20))
    asked = []

    def presets(data: rwn.Microdata, setting: Setting, policy: rwn.Policy) -> dict[str, Setting]:
        asked.append(setting)
        return {"Standard": setting, "Strong": stronger}

    monkeypatch.setattr(scenario_trial, "find_presets", presets)
    monkeypatch.setattr(scenario_trial, "Job", WorkHere)
    screen = open_page("compare")
    session = screen.session
    assert "Measuring the present setting" in screen.job(JOB).words
    present = session.setting
    ends(screen)
    assert asked == [present]
    assert {name: each.setting for name, each in session.scenarios.items()} == {
        "Present setting": present,
        "Strong": stronger.resolved(session.data),
    }
    assert all(each.readings for each in session.scenarios.values())
    # it is done once: what is removed stays away
    session.scenarios.clear()
    screen.test.run()
    assert screen.job(JOB) is None


def test_a_setting_that_is_kept_outlives_its_page(open_page, monkeypatch) -> None:
    monkeypatch.setattr(scenario_trial, "Job", WorkHere)
    screen = open_page("tune")
    wanted = screen.session.setting
    screen.press("Keep this setting")
    job = screen.job(JOB)
    assert screen.find("button", "Keep this setting").disabled
    screen.visit("risk")
    assert screen.job(JOB) is job, "another page does not end it"
    job.end()
    assert screen.visit("tune").errors == []
    assert screen.session.scenarios["A"].setting == wanted
    assert screen.session.compared == ("A",)


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


def scenario(value: float, **parameters: float) -> rwn.Scenario:
    reading = {"median": value, "low": value - 0.01, "high": value + 0.01}
    readings = {"distance_linkage": reading, "cells_changed": {"median": 0.5}}
    return rwn.Scenario(setting=Setting.of("rwn", parameters), readings=readings)


def told(before: rwn.Scenario, after: rwn.Scenario) -> list[str]:
    return [each.replace("\N{NO-BREAK SPACE}", " ") for each in differences(before, after)]


def test_differences_are_told_in_words() -> None:
    first = scenario(0.1, epsilon=2, k=5)
    assert told(first, scenario(0.03, epsilon=3, k=5)) == [
        "ε is 3 instead of 2.",
        "Distance linkage: better, 3.0 % against 10.0 %.",
        "No clear difference: Cells changed (both 50.0 %).",
    ]
    assert told(first, scenario(0.105, epsilon=2, k=5)) == [
        "Both have the same setting.",
        "No clear difference: Distance linkage (10.5 % against 10.0 %); "
        "Cells changed (both 50.0 %).",
    ]
    bare = replace(first, readings={"cells_changed": {"median": 0.9}})
    assert told(first, bare)[1:] == ["Cells changed: higher, 90.0 % against 50.0 %."]

    def rounded_to(**steps: float) -> rwn.Scenario:
        return rwn.Scenario(setting=Setting.of("rwn", {"k": 5}, precision=steps))

    assert told(rounded_to(age=5, hip=1), rounded_to(age=10)) == [
        "age is released in steps of 10 instead of in steps of 5.",
        "hip is released unrounded instead of in steps of 1.",
    ]
    many = told(rounded_to(), rounded_to(**dict.fromkeys("abcdef", 1.0)))
    assert many[0] == "a is released in steps of 1 instead of unrounded."
    assert many[3:] == ["3 more variables are released in other steps."]


READINGS = {"bayes_linkage": {"median": 0.013, "low": 0.011, "high": 0.017}}
NAME = "Careful"


def of_table(table: str) -> rwn.Scenario:
    setting = Setting.of("rwn", {"epsilon": 1.0, "k": 9})
    return rwn.Scenario(name=NAME, table=table, setting=setting, readings=READINGS)


def upload(compare: Any, text: str) -> None:
    compare.test.file_uploader[0].set_value(("one.toml", text.encode(), "text/plain")).run()


def test_a_decision_on_another_table_waits_for_its_table(compare):
    session = compare.session
    other = "f" * 64
    before = compare.session.words
    decided = Decision(scenarios=(of_table(other),), chosen=NAME, date="2026-03-31")
    assert decided.table == other
    upload(compare, decided.frozen())  # it is no decision on this one
    assert (compare.errors, session.decisions, session.scenarios) == ([], [], {})
    assert session.words == before
    assert "made on another table" in compare.words("info")
    assert session.drafts(other).decisions == [decided]


def test_a_file_of_another_table_brings_its_setting_alone(compare):
    session = compare.session
    other = "f" * 64
    upload(compare, of_table(other).to_toml())
    assert (compare.errors, session.scenarios) == ([], {})
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert "made for another table" in compare.words("info")
    assert session.drafts(other).scenarios[NAME].readings == READINGS
    upload(compare, of_table("").to_toml())  # of any table
    assert session.scenarios[NAME].readings == {}
    assert session.scenarios[NAME].setting == of_table("").setting


def test_a_decision_is_taken_up_as_it_was_frozen(compare):
    session = compare.session
    session.move(epsilon=2.0, k=5)
    chosen = of_table("")
    decided = Decision(scenarios=(chosen,), chosen=NAME, date="2026-03-31")
    upload(compare, decided.frozen())
    assert compare.errors == []
    assert [each.hash for each in session.decisions] == [decided.hash]
    assert session.scenarios[NAME].setting == chosen.setting
    assert (session.levers["epsilon"], session.levers["k"]) == (1.0, 9)
    assert "2026-03-31" in compare.words("info")
    upload(compare, decided.frozen().replace("2026-03-31", "2026-04-01"))
    assert "changed after it was frozen" in compare.errors[0]
    assert len(session.decisions) == 1


def test_a_scenario_and_its_decision_wait_for_their_table(compare) -> None:
    session = compare.session

    def other_table(name: str) -> None:
        compare.visit("data").test.selectbox(key="data.demo").set_value(name).run()
        assert compare.visit("compare").errors == []

    own = session.scenarios[NAME] = of_table(session.data.fingerprint)
    session.decisions.append(Decision(scenarios=(own,), chosen=NAME, date="2026-03-31"))
    other_table("pima")
    assert session.scenarios == {}
    assert session.decisions == []  # none that the release could be said to be made on
    assert not [each for each in compare.test.multiselect if each.label.startswith("Scenarios")]
    session.scenarios[NAME] = of_table(session.data.fingerprint)  # a name of both tables
    other_table("bodyfat")
    assert session.scenarios == {NAME: own}
    assert [each.chosen for each in session.decisions] == [NAME]


def test_an_analysis_passes_on_all_releases_or_says_on_how_many() -> None:
    (analysis,) = PASS.analyses
    for passed, value, words in (
        (5, 0.25, "✓ pass (0.25)"),
        (0, 0.25, "▲ fail (0.25)"),
        (4, 0.25, "▲ passes on 4 of 5 (0.25)"),
        (0, None, "▲ no answer"),
    ):
        about = {"passed": passed, "releases": 5, "value": value, "reason": "no answer"}
        standing = Standing(analysis=analysis, **about)
        assert standing_words(standing) == words


EASY = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.9),))


@pytest.fixture
def screen(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page on the user's own machine, with releases that are drawn at once."""
    monkeypatch.setattr(judging, "Job", at_once)
    for part in (files, ledger):
        monkeypatch.setattr(part, "on_own_machine", lambda: True)
    screen = open_page("release", epsilon="2", k="5", q="1")
    # judged in a moment; in another order, since the first rows of the file resemble each other
    some = np.random.default_rng(1).permutation(screen.session.data.n)[:60]
    screen.session.data = screen.session.data.take(some)
    screen.test.run()
    assert screen.errors == []
    return screen


def missing(screen) -> list[str]:
    return [step.title for step in steps(screen.session) if not step.done]


def look_and_draw(screen) -> None:
    screen.press("I have looked at every variable")
    screen.press("Draw the release and judge it")


def record(screen, reason: str = "") -> None:
    screen.find("text_input", "Name of the person").set_value("Ada")
    if reason:
        screen.find("text_input", "Reason, where").set_value(reason)
    screen.press("Record")


def made_files(screen) -> dict[str, bytes]:
    screen.press("Make the files")
    made: dict[str, bytes] = screen.work.drawn.files
    return made


def decide(screen, params: Any) -> Decision:
    session = screen.session
    setting = rwn.Setting(params=params).resolved(session.data)
    scenario = rwn.Scenario(name="mild", table=session.data.fingerprint, setting=setting)
    made = Decision(scenarios=(scenario,), chosen="mild", date="2026-03-31")
    session.decisions.append(made)
    screen.test.run()
    return made


def primary(screen) -> list[str]:
    """The labels of the buttons that the page would have pressed."""
    shown = [*screen.test.get("button"), *screen.test.get("download_button")]
    return [each.label for each in shown if each.proto.type == "primary"]


def next_sentence(screen) -> str:
    """What the page says on top of all else."""
    first = screen.test.main.markdown[0].value
    assert first.startswith("#### ")
    return str(first.removeprefix("#### "))


ASKED = "Questions about the release: 0 of 20 answered"


def boxes(screen) -> list[str]:
    return [each.label for each in screen.test.main.expander]


def test_one_thing_is_next_and_questions_come_last(screen) -> None:
    assert boxes(screen) == [ASKED]
    assert next_sentence(screen).startswith("Look at the kind and the role of each variable")
    assert primary(screen) == ["I have looked at every variable: kinds and roles are right"]
    screen.press("I have looked at every variable")
    assert next_sentence(screen).startswith("Draw the file that leaves")
    assert primary(screen) == ["Draw the release and judge it"]
    assert boxes(screen) == ["1 · Data checked", ASKED]
    screen.press("Take this back")
    assert missing(screen)[0] == "Data checked"


def test_an_exception_is_offered_and_is_not_what_the_page_would_have_done(screen) -> None:
    look_and_draw(screen)
    assert next_sentence(screen) == "Change the setting: this file breaks a limit."
    assert primary(screen) == ["Change the setting on Tune"]
    exception = "Or answer for an exception, with name and reason"
    assert boxes(screen) == ["1 · Data checked", exception, ASKED]


def test_a_release_that_keeps_its_policy_is_decided_made_taken_and_signed(screen) -> None:
    screen.session.policy = EASY
    look_and_draw(screen)
    assert next_sentence(screen) == "Policy kept: say who answers for this release."
    assert primary(screen) == ["Record"]
    record(screen, reason="A lesson")
    assert primary(screen) == ["Make the files"]
    made_files(screen)
    assert next_sentence(screen) == "Take the files."
    assert primary(screen) == ["Download (for users)"]
    screen.work.drawn.left = "The files were downloaded."
    screen.test.run()
    assert next_sentence(screen).startswith("Sign the ledger")
    assert primary(screen) == ["Sign as Ada"]
    assert boxes(screen)[-1] == ASKED


def test_the_line_of_steps_says_which_is_next(screen) -> None:
    def line() -> list[str]:
        (shown,) = [each.value for each in screen.test.markdown if each.value.startswith("- ")]
        return [item.removeprefix("- ") for item in shown.splitlines()]

    later = ["3\xa0Decision recorded", "4\xa0Files written", "5\xa0Ledger signed"]
    assert line() == ["**1\xa0Data checked**", "2\xa0Policy", *later]
    screen.press("I have looked at every variable")
    assert line() == [":green[✓] Data checked", "**2\xa0Policy**", *later]


STEPS = ["Data checked", "Policy", "Decision recorded", "Files written", "Ledger signed"]


def drawn_with_an_exception(screen) -> int:
    """Draw a file that breaks limits, answer for it, and return how many limits it breaks."""
    look_and_draw(screen)
    record(screen, reason="A lesson")
    return len(screen.work.drawn.judged.verdict.broken)


def test_a_file_that_breaks_limits_is_refused(screen) -> None:
    assert missing(screen) == STEPS
    look_and_draw(screen)
    assert missing(screen) == ["Policy broken", *STEPS[2:]]
    broken = len(screen.work.drawn.judged.verdict.broken)
    assert broken > 1
    assert f"Refused. Breaks {broken} of 4 limits" in screen.errors[0]


def test_who_answers_for_an_exception_is_named_in_a_warning(screen) -> None:
    broken = drawn_with_an_exception(screen)
    assert missing(screen) == STEPS[3:]
    amber = next(each for each in screen.warnings if "Ada answers" in each)
    assert f"It is an exception. Breaks {broken} of 4 limits" in amber
    assert "broken" not in screen.words("success")
    assert "Ada answers" not in screen.words("success")
    assert [step.exception for step in steps(screen.session)] == [False, True, False, False, False]


def test_only_a_page_on_its_own_machine_writes_a_folder_and_reads_a_ledger(
    screen, monkeypatch
) -> None:
    drawn_with_an_exception(screen)
    for here in (False, True):
        for part in (files, ledger):
            monkeypatch.setattr(part, "on_own_machine", lambda here=here: here)
        made_files(screen)
        assert missing(screen) == STEPS[3:]
        asked = " ".join(each.label for each in screen.test.text_input)
        assert [word in asked for word in ("folder", "Ledger")] == [here, here]
        assert ("rwn ledger add LEDGER" in screen.words()) is not here


def test_each_step_opens_the_next(screen, tmp_path: Path) -> None:
    drawn_with_an_exception(screen)
    made_files(screen)
    screen.find("text_input", "Or a folder").set_value(str(tmp_path)).run()
    screen.press("Write")
    assert missing(screen) == STEPS[4:]
    screen.find("text_input", "Ledger on this machine").set_value(str(tmp_path / "a.jsonl")).run()
    screen.press("Sign as Ada")
    assert missing(screen) == []
    # what is signed stands: another name or title would make another record of the same file
    for label in ("Record", "Make the files"):
        assert screen.find("button", label).disabled
    # a description that changes is to be looked at again
    data = screen.session.data
    screen.session.data = data.with_schema(data.schema.replace_variable("neck", role="key"))
    assert "Data checked" in missing(screen)


@pytest.mark.parametrize("epsilon", lanes(2.0, 1.0))
def test_a_release_that_keeps_its_policy_says_whether_it_follows_the_decision(screen, epsilon):
    screen.session.policy = EASY
    made = decide(screen, rwn.RWN(epsilon=epsilon, k=5))
    followed = epsilon == 2.0
    look_and_draw(screen)
    assert screen.errors == []
    record(screen)  # a name is enough
    if not followed:
        assert "not what the meeting chose" in screen.errors[0]
        record(screen, reason="Agreed by telephone")
    assert screen.errors == []
    words = "It follows the decision of 2026-03-31" if followed else "It does not follow"
    assert words in screen.words()
    said = read_record(made_files(screen)[RECORD].decode("utf-8"))
    assert (said["decision"]["hash"], said["decision"]["followed"]) == (made.hash, followed)
    assert said["approval"]["exception"] is False


def test_answers_go_with_project_record_and_reports_and_older_files_are_dropped(screen) -> None:
    look_and_draw(screen)
    record(screen, reason="A lesson")
    made_files(screen)
    assert "“not stated” of: recipient, purpose" in screen.words()
    screen.find("text_area", "What could happen").set_value("Shame\nand loss")
    screen.find("text_area", "What may it be used").set_value("Teaching")
    screen.find("selectbox", "How does one get").set_value("on request")
    screen.find("text_area", "What came out of a motivated").set_value("Bob tried, found nobody")
    screen.press("Save the answers")
    assert screen.work.drawn.files == {}
    made = made_files(screen)
    context = read_record(made[RECORD].decode("utf-8"))["context"]
    assert context["harms"] == "Shame and loss"
    assert context["intruder_test"] == "Bob tried, found nobody"
    assert current_project(screen.session).context.to_dict() == context
    assert b"Shame and loss" in made["internal/for-auditors.html"]
    notice = made["for-users/notice.html"]
    assert b"for this purpose: Teaching." in notice
    assert b"Bob" not in notice


def test_the_limits_are_listed_and_a_second_draw_is_counted(screen) -> None:
    look_and_draw(screen)
    limits = screen.test.dataframe[0].value
    assert len(limits) == 5  # with the ordinary intruder
    columns = ["this release", "read it against", "in one more release", "at most", "uses"]
    assert list(limits)[1:] == columns
    screen.press("Draw another release")
    assert screen.work.drawn.number == 2
    shown = {each.name for each in fields(screen.work.drawn) if each.repr}
    assert not shown & {"files", "foreseen", "entry"}, "what stays inside is in no log"
    assert "It is release 2 that was drawn of this setting" in screen.words()
    # it is of the choices that it was drawn under
    before = about(screen.session)
    screen.session.policy = rwn.Policy(limits=())
    none = "No release of the present setting was drawn."
    assert none in [step.missing for step in steps(screen.session)]
    screen.session.policy = before[-1]
    screen.session.move(k=6)
    assert "Policy" in missing(screen)
    screen.test.run()
    assert "is of another setting, policy or table" in screen.words()
    assert not [e for e in screen.test.text_input if e.label.startswith("Name of")]


def test_an_entry_says_what_became_of_its_policy(monkeypatch) -> None:
    """Finding V4: an entry of limits that were not judged read as one of a broken policy."""
    said: list[str] = []
    monkeypatch.setattr(ledger, "refused", said.append)
    about = {"number": 1, "by": "Ada", "time": "2026-03-31T10:00:00", "hash": "abc", "kept": False}
    unread = {"attribute_gain": "No variable is confidential. Say which is."}
    for more in (
        {"chain": {"breaks": True}, "state": "broken"},
        {"chain": {"unchecked": ["a file"]}, "state": "not judged"},
        {"chain": {}, "state": "not judged", "not_judged": unread},
        {"chain": {}, "kept": True, "state": "kept"},
    ):
        ledger.show_entry({**about, **more})
    assert said == [
        "The entry says: policy broken; broken by merges with earlier releases.",
        "The entry says: policy not judged; merges with earlier releases not checked.",
        "The entry says: policy not judged; Attribute gain not judged: no variable is "
        "confidential. Say which is.",
    ]


def test_what_is_passed_on_by_a_proxy_is_not_of_this_machine(monkeypatch) -> None:
    address = "127.0.0.1"
    headers = {"Host": "localhost:8501"}

    class Streamlit:
        @property
        def context(self):
            return type("Context", (), {"headers": headers})

        def get_option(self, name: str) -> str:
            assert name == "server.address"
            return address

    monkeypatch.setattr(own_machine, "st", Streamlit())
    assert own_machine.on_own_machine()
    with monkeypatch.context() as patch:  # a class lets other accounts in
        patch.setenv(CLASSROOM_VARIABLE, "1")
        assert not own_machine.on_own_machine()
    headers["X-Forwarded-For"] = "203.0.113.9"
    assert not own_machine.on_own_machine()
    del headers["X-Forwarded-For"]
    for elsewhere in ("0.0.0.0", "None"):
        address = elsewhere
        assert not own_machine.on_own_machine()


@pytest.mark.parametrize("name", ["ledger.jsonl", "/ledger.txt", "/nowhere/ledger.jsonl"])
def test_a_path_that_is_no_ledgers_is_refused_before_it_is_read(name: str) -> None:
    with pytest.raises(rwn.ReleaseError, match=r"end in \.jsonl|does not exist"):
        ledger._checked(Path(name))


@pytest.mark.parametrize(
    ("further", "n", "said"),
    [
        ((True, False, True), 100, "Of 3 further draws of the setting, 2 keep the policy."),
        ((False, True), 100, "Of 2 further draws of the setting, 1 keeps the policy."),
        ((), 100_000, "On a table of this size no further draws are read to judge the setting."),
    ],
)
def test_further_draws_are_told_where_there_are_some(
    further: tuple[bool, ...], n: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "losses", lambda data, to: [])
    about = {"format": "csv", "document": {"file": {"key": "a key"}}, "guarded": {}}
    file = SimpleNamespace(content=b"1", further=further, **about)
    drawn: Any = SimpleNamespace(judged=file, number=1)
    session: Any = SimpleNamespace(data=SimpleNamespace(n=n))
    assert judging._about_draws(session, drawn)[1:] == [said]
