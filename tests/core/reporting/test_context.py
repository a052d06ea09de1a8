"""The context of a release: each answer is checked, kept with the project, and public or not."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_core.reporting.context import (
    QUESTIONS,
    Context,
    context_in,
    with_context,
)
from rwn_core.reporting.facts import Audience, facts_for
from rwn_core.reporting.leak_check import check_file
from rwn_core.reporting.project import Project
from rwn_core.reporting.public_notice import PUBLIC_FORMS, unchecked_file
from tests.core.reporting.records_by_hand import by_hand, said
from tests.core.reporting.test_project import project, table

TEST = "Two students on 2026-05-06, 12.5 hours with a telephone book: 3 claims, 1 true."
FULL = Context(
    recipient="University of Vogon",
    purpose="Teaching of 2026",
    retention="Until the course ends; then deleted",
    anonymity="They hold no other data about these people",
    access="on request",
    people="Patients; told by letter",
    controls="Contract",
    motives="Betelgeuse press",
    capacity="Skilled",
    harms="Loss of work",
    monitoring="Yearly search",
    incident_plan="Withdraw the file",
    contact=" desk@x.org ",
    review="2030-01-31",
    decided_by="Trillian",
    intruder_test=TEST,
)


def test_every_field_is_asked_and_comes_back() -> None:
    assert {each.name for each in QUESTIONS} == {each.name for each in fields(Context)}
    assert Context.from_dict(FULL.to_dict()) == FULL
    assert (FULL.contact, FULL.missing) == ("desk@x.org", ())
    assert Context().to_dict() == {}
    assert Context(purpose="x").missing[:2] == ("recipient", "retention")
    made = replace(project(table()), context=FULL)
    assert Project.from_toml(made.to_toml()) == made
    assert context_in(made.to_toml()) == (FULL, made.table)
    assert context_in('[context]\npurpose = "x"\n') == (Context(purpose="x"), "")
    assert with_context({"a": 1}, FULL, contact="")["context"]["contact"] == "desk@x.org"
    assert with_context({"context": {}}, Context(), contact="y")["context"] == {"contact": "y"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"access": "secret"}, "access must be one of: public, on request, safe setting"),
        ({"purpose": "a\nb"}, "purpose must be one line of at most 1,000 letters"),
        ({"harms": "x" * 1_001}, "harms must be one line"),
        ({"recipient": 3}, "recipient of the context must be a text"),
        ({"contact": "x" * 201}, "contact must be one line of at most 200"),
        ({"review": "soon"}, "review day must be a date such as 2030-01-31"),
        ({"proposal": "x"}, "unknown field proposal; known are: recipient"),
        ({"intruder_test": 3}, "intruder_test of the context must be a text"),
    ],
)
def test_a_wrong_answer_is_refused_in_one_sentence(wrong: dict[str, object], why: str) -> None:
    with pytest.raises((InputError, ParameterError), match=why) as refused:
        Context.from_dict(wrong)
    assert re.findall(r"\.(?!\w)", str(refused.value)) == ["."]


def test_a_test_of_an_earlier_record_is_read() -> None:
    test = {"by": "Bob", "day": "2026-05-06", "claims": 3}
    read = Context.from_dict({"purpose": "x", "intruder_test": test}).intruder_test
    assert read == "by: Bob; day: 2026-05-06; claims: 3"


def test_a_file_without_context_is_refused() -> None:
    with pytest.raises(InputError, match="no context"):
        context_in(project(table()).to_toml())


def test_the_house_reads_every_answer_and_the_public_four() -> None:
    material = by_hand(context=FULL.to_dict())
    inside = next(f for f in facts_for(Audience.INTERNAL, material) if f.key == "context")
    text = " ".join(said(inside.content))
    for each in QUESTIONS:
        assert getattr(FULL, each.name) in text
    empty = next(f for f in facts_for(Audience.INTERNAL, by_hand()) if f.key == "context")
    assert "Not stated: recipient, purpose" in said(empty.content)[0]
    assert said(empty.content)[-1].endswith("not stated")
    for form in PUBLIC_FORMS:
        shown = unchecked_file(material, form).decode()
        for each in QUESTIONS:
            answer = getattr(FULL, each.name)
            assert (answer in shown) == each.public, (form, each.name)
        assert "Two students" not in shown


def test_a_leak_in_the_stewards_words_is_refused_in_each_form() -> None:
    rare: set[object] = {"zaphod", 363.15, 37.0}
    for leak, kind in (
        ("Study of Zaphod", "fewer than 10 records"),
        ("Study of 363.15 pounds", "fewer than 10 records"),
        ("Record 37 gave its value", "the number of a record"),
        ("Key: " + "0f" * 33, "looks like a key"),
        ("Study in /home/me/data", "a path"),
    ):
        stated = [by_hand(context={"purpose": leak}), replace(by_hand(), title=leak)]
        if leak.endswith(("Zaphod", "data")):  # a number of a contact may be its telephone's
            stated.append(by_hand(context={"contact": leak}))
        for material in stated:
            for form in PUBLIC_FORMS:
                content = unchecked_file(material, form)
                if "few" in kind:
                    check_file(content, form, material, set())
                with pytest.raises(ReleaseError, match=kind):
                    check_file(content, form, material, rare)
