"""Every section of the internal report says what the record says, word for word."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rwn_core.errors import ParameterError
from rwn_core.reporting.facts import FACTS, Audience, Content, Material
from rwn_core.reporting.record_parts import OF_EACH_RECORD
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


PLAIN = RECORD["setting"]
NO_KEYS = {"not_applicable": "There are no keys."}
MEETING = {
    "chosen": "",
    "reason": "Not yet.",
    "participants": ["Ada", "Grace"],
    "date": "2028-02-01",
    "watched": ["the oldest", "the richest"],
    "scenario": [{"name": "Mild"}, {}],
}
MEETINGS = {
    chosen: {
        "followed": bool(chosen),
        "hash": "12" * 32,
        "meeting": {**MEETING, "chosen": chosen},
    }
    for chosen in ("", "Mild")
}
VERDICT = {**RECORD["verdict"], "kept": True, "not_judged": {}, "shares": {}, "judged": {}}
ONCE = {"number": 1, "further": 0, "further_kept": 0}
MATERIALS = {
    "": replace(by_hand(), evidence=EVIDENCE),
    "no readings": by_hand(table={**RECORD["table"], "removed": []}, readings={}),
    "no keys": replace(
        by_hand(
            readings={
                "k_anonymity": NO_KEYS,
                "individual_risk": NO_KEYS,
                "repeated_releases": NO_KEYS,
            }
        ),
        evidence={"riskiest": {"reason": "There are no keys."}},
    ),
    "radii": by_hand(setting={**PLAIN, "parameters": {"epsilon": OF_EACH_RECORD, "k": 5}}),
    "kept": by_hand(verdict=VERDICT),
    "exception": by_hand(
        approval={"by": "Ada", "reason": "", "exception": True},
        draws={"number": 2, "further": 4, "further_kept": 3},
    ),
    "one draw": by_hand(
        approval={"by": "Ada", "reason": "A lesson", "exception": False}, draws=ONCE
    ),
    "approved": by_hand(approval={"by": "Ada", "reason": "A lesson", "exception": False}),
    "not decided": by_hand(decision=MEETINGS[""]),
    "decided": by_hand(decision=MEETINGS["Mild"]),
}


def test_what_each_section_says(sentences: Callable[..., None]) -> None:
    """Of every record only what differs from that of the first is written."""
    keys = [each.key for each in FACTS if each.audience is Audience.INTERNAL]
    first = {key: said(section(key, MATERIALS[""])) for key in keys}
    found = {f"{key}": lines for key, lines in first.items()}
    for name, material in MATERIALS.items():
        for key in keys:
            lines = said(section(key, material))
            if lines != first[key]:
                found[f"{key}, {name}"] = lines
    sentences("house", found)


def test_charts_are_handed_on() -> None:
    assert section("charts", MATERIALS[""]).charts == tuple(EVIDENCE["charts"])
    assert MATERIALS["radii"].setting.params.epsilon == 0.0


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


def test_the_review_is_a_year_later_on_a_day_that_every_month_has() -> None:
    assert by_hand().made == "2028-02-29"
    assert by_hand().review_day == "2029-02-28"
    assert Material(record=record(made="2027-12-07T01:00")).review_day == "2028-12-07"
    assert by_hand(context={"review": "2031-05-30"}).review_day == "2031-05-30"
    assert by_hand().name == "Masked microdata"
    assert replace(by_hand(), title="Homes").name == "Homes"
    with pytest.raises(ParameterError, match="must be a date such as 2030-01-31; correct it"):
        _ = by_hand(context={"review": "2030-13-01"}).context
