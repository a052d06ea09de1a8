"""The Release page: five steps, each of which says what is missing; nothing leaves before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import ReleaseError
from rwn_core.reporting import read_record
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.release_folder import RECORD
from rwn_core.reporting.scenario import Scenario
from rwn_ui.features.project import current_project
from rwn_ui.release import files, judging, ledger
from rwn_ui.release.steps import about, steps
from rwn_ui.state import own_machine


@pytest.fixture
def screen(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page on the user's own machine, with releases that are drawn at once."""
    monkeypatch.setattr(judging, "Job", at_once)
    for part in (files, ledger):
        monkeypatch.setattr(part, "on_own_machine", lambda: True)
    screen = open_page("release", epsilon="2", k="5", q="1")
    screen.session.data = screen.session.data.take(np.arange(60))  # judged in a moment
    screen.test.run()
    assert screen.errors == []
    return screen


def field(screen, kind: str, label: str) -> Any:
    return next(e for e in getattr(screen.test, kind) if e.label.startswith(label))


def words(screen) -> str:
    """The sentences of the page."""
    kinds = ("caption", "info", "success", "warning", "error", "markdown")
    return " ".join(each.value for kind in kinds for each in getattr(screen.test, kind))


def press(screen, label: str) -> None:
    field(screen, "button", label).click().run()


def missing(screen) -> list[str]:
    return [step.title for step in steps(screen.session) if not step.done]


def look_and_draw(screen) -> None:
    field(screen, "checkbox", "I have looked").check().run()
    press(screen, "Draw the release and judge it")


def decide(screen, params: Any) -> Decision:
    """A meeting that chose this setting of the table."""
    session = screen.session
    setting = rwn.Setting(params=params).resolved(session.data)
    scenario = Scenario(name="mild", table=session.data.fingerprint, setting=setting)
    made = Decision(scenarios=(scenario,), chosen="mild", date="2026-03-31")
    session.decisions.append(made)
    screen.test.run()
    return made


def test_each_step_opens_the_next(screen, tmp_path: Path) -> None:
    everything = ["Data checked", "Policy kept", "Decision recorded", "Files written"]
    everything.append("Ledger signed")
    assert missing(screen) == everything
    look_and_draw(screen)
    assert missing(screen) == everything[1:]
    broken = len(screen.work.drawn.judged.verdict.broken)
    assert broken > 1
    assert f"Refused. {broken} of 4 limits are broken" in screen.errors[0]
    field(screen, "text_input", "Name of the person").set_value("Ada")
    field(screen, "text_input", "Reason, where").set_value("A lesson")
    press(screen, "Record")
    assert missing(screen) == everything[3:]
    assert [step.exception for step in steps(screen.session)] == [False, True, False, False, False]
    press(screen, "Make the files")
    assert missing(screen) == everything[3:]
    field(screen, "text_input", "Or a folder").set_value(str(tmp_path)).run()
    press(screen, "Write")
    assert missing(screen) == everything[4:]
    field(screen, "text_input", "Ledger on this machine").set_value(str(tmp_path / "a.jsonl")).run()
    press(screen, "Sign as Ada")
    assert missing(screen) == []
    # what is signed stands: another name or title would make another record of the same file
    for label in ("Record", "Make the files"):
        assert field(screen, "button", label).disabled


def test_a_release_that_follows_its_decision_and_keeps_its_policy_needs_a_name_alone(
    screen,
) -> None:
    screen.session.policy = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.9),))
    made = decide(screen, rwn.RWN(epsilon=2.0, k=5))
    look_and_draw(screen)
    assert screen.errors == []
    field(screen, "text_input", "Name of the person").set_value("Ada")
    press(screen, "Record")
    assert "It follows the decision of 2026-03-31" in words(screen)
    press(screen, "Make the files")
    record = read_record(screen.work.drawn.files[RECORD].decode("utf-8"))
    assert (record["decision"]["hash"], record["decision"]["followed"]) == (made.hash, True)
    assert record["approval"]["exception"] is False


def test_answers_go_with_project_record_and_reports_and_older_files_are_dropped(screen) -> None:
    look_and_draw(screen)
    field(screen, "text_input", "Name of the person").set_value("Ada")
    field(screen, "text_input", "Reason, where").set_value("A lesson")
    press(screen, "Record")
    press(screen, "Make the files")
    assert "“not stated” of: recipient, purpose" in words(screen)
    field(screen, "text_area", "What could happen").set_value("Shame\nand loss")
    field(screen, "text_area", "What may it be used").set_value("Teaching")
    field(screen, "selectbox", "How does one get").set_value("on request")
    field(screen, "text_input", "Who tried?").set_value("Bob")
    field(screen, "text_input", "With which other").set_value("Telephone book")
    press(screen, "Save the answers")
    assert screen.work.drawn.files == {}
    press(screen, "Make the files")
    files = screen.work.drawn.files
    context = read_record(files[RECORD].decode("utf-8"))["context"]
    assert (context["harms"], context["intruder_test"]["by"]) == ("Shame and loss", "Bob")
    assert current_project(screen.session).context.to_dict() == context
    assert b"Shame and loss" in files["internal/for-auditors.txt"]
    notice = files["for-users/notice.html"]
    assert b"for this purpose: Teaching." in notice
    assert b"Bob" not in notice


def test_a_decision_for_another_setting_is_not_passed_off_as_followed(screen) -> None:
    screen.session.policy = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.9),))
    decide(screen, rwn.RWN(epsilon=1.0, k=5))
    look_and_draw(screen)
    field(screen, "text_input", "Name of the person").set_value("Ada")
    press(screen, "Record")
    assert "not what the meeting chose" in screen.errors[0]
    field(screen, "text_input", "Reason, where").set_value("Agreed by telephone")
    press(screen, "Record")
    assert screen.errors == []
    assert "It does not follow the decision" in words(screen)


def test_a_release_is_of_the_choices_that_it_was_drawn_under(screen) -> None:
    look_and_draw(screen)
    before = about(screen.session)
    screen.session.policy = rwn.Policy(limits=())
    assert "No release of the present setting was drawn." in [
        step.missing for step in steps(screen.session)
    ]
    screen.session.policy = before[-1]
    screen.session.levers["k"] = 6
    assert "Policy kept" in missing(screen)
    screen.test.run()
    assert "is of another setting, policy or table" in words(screen)
    assert not [e for e in screen.test.text_input if e.label.startswith("Name of")]


def test_a_description_that_changes_is_to_be_looked_at_again(screen) -> None:
    field(screen, "checkbox", "I have looked").check().run()
    session = screen.session
    schema = session.data.schema
    changed = [replace(v, role="key") if v.name == "neck" else v for v in schema.variables]
    session.data = session.data.with_schema(replace(schema, variables=tuple(changed)))
    assert "Data checked" in missing(screen)


def test_a_server_elsewhere_writes_no_folder_and_reads_no_ledger(screen, monkeypatch) -> None:
    for part in (files, ledger):
        monkeypatch.setattr(part, "on_own_machine", lambda: False)
    look_and_draw(screen)
    field(screen, "text_input", "Name of the person").set_value("Ada")
    field(screen, "text_input", "Reason, where").set_value("A lesson")
    press(screen, "Record")
    press(screen, "Make the files")
    labels = [each.label for each in screen.test.text_input]
    assert not [each for each in labels if "folder" in each or "Ledger" in each]
    assert "rwn ledger add LEDGER" in words(screen)


def test_what_is_passed_on_by_a_proxy_is_not_of_this_machine(monkeypatch) -> None:
    address, headers = "127.0.0.1", {"Host": "localhost:8501"}

    class Streamlit:
        @property
        def context(self):
            return type("Context", (), {"headers": headers})

        def get_option(self, name: str) -> str:
            assert name == "server.address"
            return address

    monkeypatch.setattr(own_machine, "st", Streamlit())
    assert own_machine.on_own_machine()
    headers["X-Forwarded-For"] = "203.0.113.9"
    assert not own_machine.on_own_machine()
    del headers["X-Forwarded-For"]
    for elsewhere in ("0.0.0.0", "None"):
        address = elsewhere
        assert not own_machine.on_own_machine()


@pytest.mark.parametrize("name", ["ledger.jsonl", "/ledger.txt", "/nowhere/ledger.jsonl"])
def test_a_path_that_is_no_ledgers_is_refused_before_it_is_read(name: str) -> None:
    with pytest.raises(ReleaseError, match=r"end in \.jsonl|does not exist"):
        ledger._checked(Path(name))
