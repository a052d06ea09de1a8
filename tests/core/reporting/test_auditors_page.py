"""The page for auditors fits one printed page, and a planted leak is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting import auditors_page, read_record
from rwn_core.reporting.auditors_page import auditors_file, unanswered, unchecked_page
from rwn_core.reporting.context import QUESTIONS, Context
from rwn_core.reporting.facts import Content, Material
from rwn_core.reporting.judged_release import Approval, judge_release
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning.policy import CLINICAL
from tests.core.reporting.records_by_hand import by_hand
from tests.core.reporting.test_context import FULL

SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "release-record.schema.json"


def judged(data: Microdata, params: object, policy: rwn.Policy, context: Context) -> Material:
    """Judge a release of a meeting's decision, with the context of its steward."""
    made = judge_release(data, params, "csv", policy)
    scenario = Scenario(name="mild", table=data.fingerprint, setting=made.setting)
    decision = Decision(
        scenarios=(scenario,), chosen="mild", reason="fits", date="2026-01-02",
        participants=("Ada", "Bob"),
    )  # fmt: skip
    approval = Approval(by="Ada", reason="x", decision=decision, context=context)
    return Material(record=read_record(made.record(data, approval)))


def categories() -> Microdata:
    draw = np.random.default_rng(7)
    frame = pd.DataFrame({name: draw.choice(list("abcd"), 400) for name in ("u", "v", "w")})
    data = Microdata.from_frame(frame)
    for name, role in (("u", "key"), ("v", "key"), ("w", "confidential")):
        data = data.with_schema(data.schema.replace_variable(name, role=role))
    return data


def sourced(limits: tuple[rwn.Limit, ...]) -> rwn.Policy:
    """State where each limit comes from."""
    return rwn.Policy(
        limits=tuple(replace(e, source=e.source or "Handbook 4", set_by="Board") for e in limits)
    )


USUAL = sourced(rwn.Policy().limits)
RELEASES = {
    "pima, soft kernel": lambda: (
        "pima", rwn.SoftRWN(kernel="gaussian", width=1.0), sourced(CLINICAL)
    ),
    "categories": lambda: (categories(), rwn.PRAM(change=0.4), USUAL),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_every_question_is_answered(name: str) -> None:
    table, params, policy = RELEASES[name]()
    data = rwn.load_demo(table).take(np.arange(200)) if isinstance(table, str) else table
    material = judged(data, params, policy, FULL)
    validator = Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    assert [each.message for each in validator.iter_errors(material.record)] == []
    text = auditors_file(material, data).decode()
    assert unanswered(material) == []
    assert text.count("<section") == 5
    for answer in (FULL.recipient, FULL.retention, FULL.anonymity, "Board", "Ada", "Singling out"):
        assert answer in text
    for title in ("Worst-case linkage", "Attribute inference", *data.schema.names):
        assert title.casefold() in text.casefold()


def test_what_the_steward_did_not_state_is_said() -> None:
    left = unanswered(by_hand())
    assert "Who receives the file?" in left
    assert {"Who answers for the release?", "What did a meeting decide?"} <= {*left}
    text = unchecked_page(by_hand()).decode()
    for title in ("purpose", "recipient", "retention", "anonymous for this recipient, because"):
        assert f"<td>{title}</td><td>not stated</td>" in text


@pytest.mark.parametrize("missing", ["retention", "anonymity"])
def test_the_officers_questions_are_there_without_an_answer(missing: str) -> None:
    context = replace(FULL, **{missing: ""})
    material = by_hand(context=context.to_dict())
    (question,) = (each for each in QUESTIONS if each.name == missing)
    assert question.question in unanswered(material)
    assert f"<td>{question.title}</td><td>not stated</td>" in unchecked_page(material).decode()


@pytest.fixture
def small(bodyfat_table: Microdata, kept_material: Material) -> tuple[Material, Microdata]:
    return replace(kept_material, evidence={}), bodyfat_table


LEAKS = {
    "The heaviest man weighs 363.15.": "a number that the internal record does not have",
    "Key: " + "0f" * 32: "looks like a key",
    "Record 37 gave its value to another one.": "the number of a record",
    "It lies in /home/Zaphod/data.": "a path",
    "Made from survey.csv.": "the name of the original's file",
}


def test_a_planted_leak_is_refused(
    small: tuple[Material, Microdata], monkeypatch: pytest.MonkeyPatch
) -> None:
    material, data = small
    facts = auditors_page.FACTS
    assert auditors_file(material, data)
    for line, kind in LEAKS.items():
        said = Content(lines=(line,))
        entries = [
            replace(each, make=lambda _, said=said: said) if each.key == "file" else each
            for each in facts
        ]
        monkeypatch.setattr(auditors_page, "FACTS", entries)
        with pytest.raises(ReleaseError, match=kind) as refused:
            auditors_file(material, data)
        assert "363" not in str(refused.value)


def test_a_level_of_few_records_is_refused() -> None:
    data = categories()
    frame = data.frame.assign(u=["Magrathea", *data.frame["u"][1:]])
    data = Microdata.from_frame(frame)
    release = rwn.mask(data, rwn.PRAM(change=0.4))
    file = rwn.reporting.ReleasedFile.of(b"", "csv")
    text = rwn.reporting.internal_record(data, release, file, measures=("cells_changed",))
    material = Material(record=read_record(text))
    assert auditors_file(material, data)
    stated = {**material.record, "context": {"motives": "To find people of Magrathea"}}
    for leaky in (replace(material, title="People of Magrathea"), Material(record=stated)):
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            auditors_file(leaky, data)


def test_another_table_is_refused(small: tuple[Material, Microdata]) -> None:
    material, data = small
    with pytest.raises(InputError, match="not the table"):
        auditors_file(material, data.take(np.arange(100)))
