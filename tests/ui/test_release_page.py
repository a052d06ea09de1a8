"""The Release page: five steps, each of which says what is missing; and the claim table."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation import claims as judged
from rwn_core.evaluation.claims import AnalysisClaims, Claim, ClaimTable
from rwn_core.reporting import read_record
from rwn_core.reporting.public_words import CLAIMS
from rwn_core.reporting.release_folder import RECORD, for_users
from rwn_core.reporting.scenario import Decision
from rwn_ui.features.project import current_project
from rwn_ui.release import claims, files, judging, ledger
from rwn_ui.release.steps import about, steps
from rwn_ui.state import own_machine

EASY = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.9),))


@pytest.fixture
def screen(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page on the user's own machine, with releases that are drawn at once."""
    for part in (judging, claims):
        monkeypatch.setattr(part, "Job", at_once)
    for part in (files, ledger):
        monkeypatch.setattr(part, "on_own_machine", lambda: True)
    screen = open_page("release", epsilon="2", k="5", q="1")
    screen.session.data = screen.session.data.take(np.arange(60))  # judged in a moment
    screen.test.run()
    assert screen.errors == []
    return screen


def missing(screen) -> list[str]:
    return [step.title for step in steps(screen.session) if not step.done]


def look_and_draw(screen) -> None:
    screen.find("checkbox", "I have looked").check().run()
    screen.press("Draw the release and judge it")


def record(screen, reason: str = "") -> None:
    """Ada answers for the release, if a reason is given in spite of its limits."""
    screen.find("text_input", "Name of the person").set_value("Ada")
    if reason:
        screen.find("text_input", "Reason, where").set_value(reason)
    screen.press("Record")


def made_files(screen) -> dict[str, bytes]:
    screen.press("Make the files")
    made: dict[str, bytes] = screen.work.drawn.files
    return made


def decide(screen, params: Any) -> Decision:
    """A meeting that chose this setting of the table."""
    session = screen.session
    setting = rwn.Setting(params=params).resolved(session.data)
    scenario = rwn.Scenario(name="mild", table=session.data.fingerprint, setting=setting)
    made = Decision(scenarios=(scenario,), chosen="mild", date="2026-03-31")
    session.decisions.append(made)
    screen.test.run()
    return made


def test_each_step_opens_the_next(screen, tmp_path: Path, monkeypatch) -> None:
    left = ["Data checked", "Policy", "Decision recorded", "Files written", "Ledger signed"]
    assert missing(screen) == left
    look_and_draw(screen)
    assert missing(screen) == ["Policy broken", *left[2:]]
    broken = len(screen.work.drawn.judged.verdict.broken)
    assert broken > 1
    assert f"Refused. {broken} of 4 limits are broken" in screen.errors[0]
    record(screen, reason="A lesson")
    assert missing(screen) == left[3:]
    amber = next(each for each in screen.warnings if "Ada answers" in each)
    assert f"It is an exception. {broken} of 4 limits are broken" in amber
    assert "broken" not in screen.words("success")
    assert "Ada answers" not in screen.words("success")
    assert [step.exception for step in steps(screen.session)] == [False, True, False, False, False]
    # a server elsewhere writes no folder and reads no ledger
    for here in (False, True):
        for part in (files, ledger):
            monkeypatch.setattr(part, "on_own_machine", lambda here=here: here)
        made_files(screen)
        assert missing(screen) == left[3:]
        labels = " ".join(each.label for each in screen.test.text_input)
        assert [word in labels for word in ("folder", "Ledger")] == [here, here]
        assert ("rwn ledger add LEDGER" in screen.words()) is not here
    screen.find("text_input", "Or a folder").set_value(str(tmp_path)).run()
    screen.press("Write")
    assert missing(screen) == left[4:]
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


@pytest.mark.parametrize("epsilon", [2.0, 1.0])
def test_a_release_that_keeps_its_policy_says_whether_it_follows_the_decision(
    screen, epsilon: float
) -> None:
    screen.session.policy = EASY
    made, followed = decide(screen, rwn.RWN(epsilon=epsilon, k=5)), epsilon == 2.0
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
    assert list(limits)[1:] == ["this release", "read it against", "at most", "uses"]
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
        {"chain": {}},  # of an earlier version
        {"chain": {}, "kept": True, "state": "kept"},
    ):
        ledger.show_entry({**about, **more})
    assert said == [
        "The entry says: policy broken; broken by merges with earlier releases.",
        "The entry says: policy not judged; merges with earlier releases not checked.",
        "The entry says: policy not judged; Attribute gain not judged: no variable is "
        "confidential. Say which is.",
        "The entry says: policy not kept.",
    ]


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
    with pytest.raises(rwn.ReleaseError, match=r"end in \.jsonl|does not exist"):
        ledger._checked(Path(name))


# ---------------------------------------------------------------- the claim table


def test_each_claim_is_said_in_words() -> None:
    pay = rwn.Analysis(name="pay", kind="linear", tolerance=1.0, formula="pay ~ age + job")
    factored = Claim(term="age", sign=True, within_standard_errors=0.5, factor=1.2)
    near, none = Claim(term="job: cook", within_standard_errors=3.0), Claim(term="job: poet")
    analyses = (
        AnalysisClaims(analysis=pay, claims=(factored, near, none)),
        AnalysisClaims(analysis=pay, refusal=judged.TIED),
    )
    pairs = (
        Claim(term="pay ~ age", sign=True, pair=("pay", "age"), within_standard_errors=2.0),
        Claim(term="pay ~ rent", pair=("pay", "rent")),
    )
    table = ClaimTable(analyses=analyses, pairs=pairs, draws=1200)
    none = claims.claim_rows(ClaimTable(analyses=(), pairs=(), refusal="few", draws=0))
    assert none == [("pair", "all", "–", "–", "–", "do not use: few")]
    rows = claims.claim_rows(table)
    assert [" | ".join(row) for row in rows] == [
        "linear: pay | age | as in the original | at most 0.5 standard errors | multiply by 1.2 | ",
        "linear: pay | job: cook | – | at most 3 standard errors | – | ",
        "linear: pay | job: poet | – | – | – | do not use",
        "linear: pay | all | – | – | – | "
        "do not use: the predictors are nearly collinear in the original",
        "pair | pay ~ age | as in the original | at most 2 standard errors | – | ",
        "pair | pay ~ rent | – | – | – | do not use",
    ]
    assert all(len(row) == len(claims.COLUMNS) for row in rows)
    assert claims.summary(table) == (
        "1 of 2 analyses and 1 of 2 pairs of numbers have a claim, judged over 1,200 releases."
    )


def test_the_claim_table_joins_the_files_and_the_notice_names_it(screen) -> None:
    session, rng = screen.session, np.random.default_rng(5)
    school = rng.normal(12, 3, 150).round(1)
    pay = (0.8 * school + rng.normal(0, 1, 150)).round(2)
    frame = pd.DataFrame({"pay": pay, "school": school, "age": rng.integers(20, 60, 150)})
    data = rwn.Microdata.from_frame(frame)
    question = rwn.Question(response="pay", predictors=("school",))
    session.data = data.with_schema(replace(data.schema, question=question))
    limit = rwn.Limit(measure="distance_linkage", at_most=0.95)
    session.policy = rwn.Policy(limits=(limit,))
    screen.test.run()
    assert claims.present_claims(session) is None
    look_and_draw(screen)
    record(screen, reason="A lesson")
    made = made_files(screen)
    assert not any("claims" in name for name in made)
    assert CLAIMS.encode() not in made["for-users/notice.html"]
    screen.find("number_input", "Releases to draw").set_value(40).run()
    screen.press("Judge the claims")
    assert screen.errors == []
    assert "judged over 40 releases" in screen.words()
    assert "do not hold the claim table; make them again" in screen.words()
    made = made_files(screen)
    assert "make them again" not in screen.words()
    users = for_users(made)
    assert {"for-users/rwn_claims.py", "for-users/rwn_claims.R"} <= set(users)
    document = json.loads(users["for-users/claims.json"])
    assert document["sha256"] == screen.work.drawn.judged.sha256
    assert document["draws"] == 40
    assert CLAIMS.encode() in users["for-users/notice.html"]
    screen.find("checkbox", "Put it with the files").uncheck().run()
    assert "a claim table that you took out; make them again" in screen.words()
    assert "for-users/claims.json" not in made_files(screen)
    assert missing(screen)[0] == "Files written"
    assert screen.errors == []
    # it belongs to a setting and its analyses
    table = claims.present_claims(session)
    assert table is not None
    assert ("pay", "school") in [claim.pair for claim in table.pairs]
    counts = rwn.Analysis(name="ages", kind="table", tolerance=0.1, variables=("age",))
    session.analysis_plan = rwn.AnalysisPlan(analyses=(counts,))
    assert claims.present_claims(session) is None
