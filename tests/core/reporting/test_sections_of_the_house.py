"""Every section of the internal report says what the record says, word for word."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.reporting.facts import FACTS, Audience, Content, Material, facts_for
from rwn_core.reporting.facts.fact import pairs
from rwn_core.reporting.record_parts import OF_EACH_RECORD
from rwn_core.tuning import Setting
from tests.core.reporting.records_by_hand import RECORD, by_hand, record, said

EVIDENCE: dict[str, Any] = {
    "riskiest": {
        "names": ["age", "sex"],
        "rows": [
            {"values": ["90", "f"], "records": 1, "risk": 1.0, "score": 0.75},
            {"values": ["89", "m"], "records": 2, "risk": 0.5, "score": 0.0},
        ],
    },
    "charts": [{"key": "correlation", "title": "Correlations"}],
}


def section(key: str, material: Material) -> Content:
    (entry,) = (each for each in FACTS if each.key == key)
    assert entry.make is not None
    return entry.make(material)


SECTIONS = {
    "data": [
        "1,200 records; the file has 1,100.",
        "Left out, as identifiers or households: name, street.",
        "variable | kind | role | masked",
        "age | count | key | yes",
        "income | continuous | sampling weight | yes",
        "sex | categorical | time | no",
    ],
    "limits": [
        "NOT KEPT.",
        "One limit is broken.",
        "measure | value | at most | uses | source of the limit | set by",
        "Linkage by distance | 0.25 | 0.5 | 50 % of it | Handbook | Board",
        "Membership | – | 0.1 | No value is rare. | not stated | not stated",
        "Linkage at least | 0.5 | 0.25 | 2.0 times it | not stated | not stated",
    ],
    "anonymity": [
        "Records that break it, by the key variables: age, sex. A masked key is no proof of "
        "identity where it is rare.",
        " | original | released",
        "2-anonymity | 12 (1.0 %) | 6 (0.5 %)",
        "3-anonymity | 1,200 (100.0 %) | 24 (2.0 %)",
    ],
    "expected": [
        "Expected re-identifications by the key variables: 1,234.5 in the original, 2.0 if the "
        "release were read as if its keys were true. What masked keys really give away is said "
        "under the worst cases."
    ],
    "riskiest": [
        "Combinations of key values in the original that are easiest to single out. CONFIDENTIAL.",
        " | age | sex | records | individual risk | special-unique score",
        "1 | 90 | f | 1 | 1 | 0.75",
        "2 | 89 | m | 2 | 0.5 | 0",
    ],
    "repeated": [
        "So many records are linked by their keys if the table is released again at this setting "
        "and its rows keep their places.",
        "If each release has a fresh secret row order, at least 12.5 % are linked.",
        "releases | records linked",
        "1 | 12.5 %",
        "3 | 20.0 %",
    ],
    "risks": [
        "measure | value | baseline | better | unit",
        "Values changed | 0.5 | 0 | neutral | share of cells",
        "Distance linkage | 0.25 | 0.001 | lower | share of records",
        "Linkage at least | 0.5 | 0.001 | lower | share of records",
        "Membership | No value is rare. | – | – | ",
        "Singling out | 0.125 | 0 | lower | risk beyond control",
        "Below 3-anonymity | 0.01 | – | lower | share of records",
        "Expected re-identifications | 0.1 | – | lower | share of records",
        "Three releases | 0.2 | – | lower | share of records",
    ],
    "versions": ["what | value", "rwn | 1.2.3", "python | 3.12.0"],
    "hashes": [
        "what | value",
        f"original (fingerprint of the table) | {'ab' * 32}",
        f"released file (SHA-256) | {'cd' * 32}",
        "released file (bytes) | 45,678",
        "format and row order | csv, shuffled",
        "randomness | a fresh 256-bit secret, forgotten",
        "evidence (SHA-256) | none",
        "original read from | not stated",
    ],
    "decision": ["No decision of a meeting was given with this release."],
    "approval": ["Nobody's name was given with this release."],
}


@pytest.mark.parametrize("key", SECTIONS)
def test_a_section_is_what_the_record_says(key: str) -> None:
    assert said(section(key, replace(by_hand(), evidence=EVIDENCE))) == SECTIONS[key]


def test_readings_are_told_on_the_side_of_their_measures() -> None:
    rows = [line.split(" | ") for line in said(section("utility", by_hand()))[1:]]
    assert [row[:3] for row in rows] == [
        ["Distributions", "0.03", "0"],
        ["Correlations", "0.02", "–"],
        ["Relations lost", "0.3", "–"],
        [MEASURES["regression"].title, "No regression was asked for.", "–"],
    ]
    assert rows[1][3:] == ["lower", "mean absolute change"]


def test_what_intruders_do_is_answered_or_has_its_reason() -> None:
    content = section("scenarios", by_hand())
    assert content.lines[0].startswith(
        "Intruders who might try, what they are after, and what came out"
    )
    assert content.table.columns == ("attack", "question", "answer")
    answers = {row[0]: row[2] for row in content.table.rows}
    assert answers["Distance linkage"] == "A quarter is linked."
    assert answers["Linkage at least"] == "Half of them are linked."
    assert answers[MEASURES["intruder_levels"].title] == "It was not read."
    assert next(iter(answers)) == "Distance linkage"
    assert len(answers) == 7
    questions = [row[1] for row in content.table.rows]
    assert questions[0] == MEASURES["distance_linkage"].question
    guesses = [row[::2] for row in section("guesses", by_hand()).table.rows]
    assert guesses[0] == ("Singling out", "One in eight is singled out.")
    assert [row[1] for row in guesses[1:]] == ["It was not read."] * 3
    worst = section("worst", by_hand()).table
    assert worst.columns == ("worst case", "what it says and assumes", "computed by")
    told = {row[0]: row[1:] for row in worst.rows}
    source = MEASURES["bayes_linkage"].source
    assert told["Linkage at least"] == ("Half of them are linked.", source)
    assert told["Membership"] == ("No value is rare.", MEASURES["membership"].source)
    assert len(told) == 8


def test_a_setting_is_told_with_all_that_belongs_to_it() -> None:
    plain = RECORD["setting"]
    content = section("parameters", by_hand())
    assert said(content) == [
        Setting.from_dict(plain).words,
        "what | value",
        "method | RWN, the 2022 method (rwn)",
        "parameter epsilon | 2",
        "parameter k | 5",
        "weight of age | 3",
        "step of income | 100",
        "slice 1 | age, sex",
    ]
    radii = by_hand(setting={**plain, "parameters": {"epsilon": OF_EACH_RECORD, "k": 5}})
    assert radii.setting.params.epsilon == 0.0
    assert said(section("parameters", radii))[3:5] == [
        "parameter epsilon | a value for each record",
        "parameter k | 5",
    ]
    cautions = section("cautions", by_hand())
    assert list(cautions.lines) == list(Setting.from_dict(plain).params.cautions())
    assert cautions.lines


def test_without_removed_variables_and_readings_that_is_said() -> None:
    bare = by_hand(table={**RECORD["table"], "removed": []}, readings={})
    assert section("data", bare).lines[1] == "Left out, as identifiers or households: none."
    for key in ("anonymity", "expected", "repeated"):
        assert said(section(key, bare)) == ["It was not read."]
    why = {"not_applicable": "There are no keys."}
    asked = by_hand(readings={"k_anonymity": why, "individual_risk": why, "repeated_releases": why})
    for key in ("anonymity", "expected", "repeated"):
        assert said(section(key, asked)) == ["There are no keys."]
    for key in ("riskiest", "charts"):
        assert said(section(key, bare)) == ["The evidence file of the record is missing."]
    reason = replace(bare, evidence={"riskiest": {"reason": "There are no keys."}})
    assert said(section("riskiest", reason)) == ["There are no keys."]


def test_charts_are_handed_on_under_what_their_colors_mean() -> None:
    charts = section("charts", replace(by_hand(), evidence=EVIDENCE))
    assert charts.charts == tuple(EVIDENCE["charts"])
    assert charts.lines == (
        "Blue and hollow is the original, vermillion and filled the release. CONFIDENTIAL.",
    )


def test_kept_limits_are_said_to_be_kept() -> None:
    verdict = {**RECORD["verdict"], "kept": True, "not_judged": {}, "shares": {}, "judged": {}}
    lines = said(section("limits", by_hand(verdict=verdict)))
    assert lines[0] == "Kept."
    assert lines[3:] == [
        "Distance linkage | 0.25 | 0.5 |  | Handbook | Board",
        "Membership | – | 0.1 |  | not stated | not stated",
        "Linkage at least | 0.5 | 0.25 |  | not stated | not stated",
    ]


def test_who_answers_and_how_often_it_was_drawn() -> None:
    approved = {"by": "Ada", "reason": "", "exception": True}
    draws = {"number": 2, "further": 4, "further_kept": 3}
    assert said(section("approval", by_hand(approval=approved, draws=draws))) == [
        "EXCEPTION: the release does not keep every limit of its policy.",
        "what | value",
        "name | Ada",
        "reason | none given",
        "drawn of this setting | 2, of which this is the last",
        "other fresh releases that keep the policy | 3 of 4",
    ]
    approved = {"by": "Ada", "reason": "A lesson", "exception": False}
    once = {"number": 1, "further": 0, "further_kept": 0}
    assert said(section("approval", by_hand(approval=approved, draws=once))) == [
        "what | value",
        "name | Ada",
        "reason | A lesson",
        "drawn of this setting | 1, of which this is the last",
    ]
    assert len(said(section("approval", by_hand(approval=approved)))) == 3


def test_what_a_meeting_decided_is_told_in_full() -> None:
    meeting = {
        "chosen": "",
        "reason": "Not yet.",
        "participants": ["Ada", "Grace"],
        "date": "2028-02-01",
        "watched": ["the oldest", "the richest"],
        "scenario": [{"name": "Mild"}, {}],
    }
    about = {"followed": False, "hash": "12" * 32, "meeting": meeting}
    assert said(section("decision", by_hand(decision=about))) == [
        "The release does NOT follow it.",
        "what | value",
        "chosen | none",
        "reason | Not yet.",
        "participants | Ada, Grace",
        "date | 2028-02-01",
        "watched | the oldest; the richest",
        "scenarios | Mild, ",
        f"hash | {'12' * 32}",
    ]
    chosen = {**about, "followed": True, "meeting": {**meeting, "chosen": "Mild"}}
    lines = said(section("decision", by_hand(decision=chosen)))
    assert lines[0] == "The release follows it."
    assert lines[2] == "chosen | Mild"


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("data", ("table", "kinds")),
        ("anonymity", ("readings", "k_anonymity", "limits")),
        ("repeated", ("readings", "repeated_releases", "same_order")),
    ],
)
def test_lists_that_do_not_belong_together_are_never_cut_to_the_shorter(
    key: str, path: tuple[str, ...]
) -> None:
    damaged = part = copy.deepcopy(RECORD)
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = part[path[-1]][:-1]
    with pytest.raises(ValueError, match=r"argument \d is (shorter|longer) than"):
        section(key, Material(record=damaged))


def test_every_audience_gets_its_own_facts_and_those_of_both() -> None:
    material = by_hand()
    inside = facts_for(Audience.INTERNAL, material)
    outside = facts_for(Audience.PUBLIC, material)
    assert [fact.key for fact in outside] == [
        "treated", "variables", "loss", "errors", "totals", "use", "file", "review"
    ]  # fmt: skip
    assert [fact.key for fact in inside[:5]] == ["treated", "errors", "use", "file", "review"]
    assert len(inside) == 24
    made = [entry for entry in FACTS if entry.audience is Audience.INTERNAL]
    assert [(each.key, each.title) for each in inside[5:]] == [(e.key, e.title) for e in made]
    assert inside[5].content == section("data", material)


def test_the_review_is_a_year_later_on_a_day_that_every_month_has() -> None:
    assert by_hand().made == "2028-02-29"
    assert by_hand().review_day == "2029-02-28"
    assert Material(record=record(made="2027-12-07T01:00")).review_day == "2028-12-07"
    assert replace(by_hand(), review="2031-05-30").review_day == "2031-05-30"
    assert by_hand().name == "Masked microdata"
    assert replace(by_hand(), title="Homes").name == "Homes"
    with pytest.raises(ParameterError, match="must be a date such as 2030-01-31; correct it"):
        replace(by_hand(), review="2030-13-01")


def test_numbers_are_written_short_and_truths_as_words() -> None:
    named = {"none": None, "less": -0.123456, "many": 123456, "yes": True, "text": "a-b"}
    assert [row[1] for row in pairs(named).rows] == ["–", "−0.1235", "1.235e+05", "True", "a-b"]
