"""Every section of the internal report says what the record says, word for word."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rwn_core.errors import ParameterError
from rwn_core.reporting.auditors_page import unchecked_page
from rwn_core.reporting.facts import FACTS, Audience, Content, Material
from rwn_core.reporting.public_notice import unchecked_file
from rwn_core.reporting.release_record import OF_EACH_RECORD
from tests.core.reporting.records_by_hand import RECORD, by_hand, said

EVIDENCE: dict[str, Any] = {
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
HALF = dict.fromkeys([each["measure"] for each in RECORD["limit"]], 0.5)
VERDICT = {**RECORD["verdict"], "kept": True, "not_judged": {}, "shares": HALF, "judged": {}}
ONCE = {"number": 1, "further": 0, "further_kept": 0}
MATERIALS = {
    "": replace(by_hand(), evidence=EVIDENCE),
    "no readings": by_hand(table={**RECORD["table"], "removed": []}, readings={}),
    "no keys": replace(
        by_hand(
            readings={
                "k_anonymity": NO_KEYS,
                "repeated_releases": NO_KEYS,
            }
        ),
        evidence={},
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


def test_no_day_of_review_is_told_that_nobody_stated() -> None:
    """Finding: the notice named a day a year later, which no person had chosen."""
    assert by_hand().made == "2028-02-29"
    for context, line in (
        ({}, "No day was stated on which the release is looked at again."),
        ({"review": "2031-05-30"}, "The release is looked at again by 2031-05-30."),
    ):
        material = by_hand(context=context)
        assert said(section("review", material)) == [line]
        rows = section("context", material).table.rows
        answer = dict(rows)["When is it looked at again?"]
        assert answer == context.get("review", "not stated")
        card = unchecked_file(material, ".toml").decode()
        assert ("review" in card) == bool(context)
    assert b"2029" not in unchecked_page(by_hand())
    assert by_hand().name == "Masked microdata"
    assert replace(by_hand(), title="Homes").name == "Homes"
    with pytest.raises(ParameterError, match="must be a date such as 2030-01-31; correct it"):
        _ = by_hand(context={"review": "2030-13-01"}).context


def test_variables_that_the_measures_take_as_keys_are_keys_in_every_table() -> None:
    """Finding: one clause called each variable "other" that the next one took for a key."""
    table = {**RECORD["table"], "roles": ["other", "confidential", "other"]}
    rows = section("data", by_hand(table=table)).table.rows
    kinds = {row[0]: row[3] for row in rows}
    assert [kinds[name] for name in ("age", "income", "sex")] == [
        "indirect identifier", "sensitive attribute", "indirect identifier"
    ]  # fmt: skip
    alone = section("data", by_hand(table=table, readings={})).table.rows
    assert {row[3] for row in alone if row[0] in ("age", "sex")} == {"other"}


def test_how_much_of_a_variable_changed_is_told() -> None:
    """Finding: "masked: yes" where one cell in a thousand changed."""
    read = {**RECORD["readings"]["cells_changed"], "share": [0.001, 0.0, 0.25]}
    table = {**RECORD["table"], "left_alone": []}
    material = by_hand(readings={"cells_changed": read}, table=table)
    data = {row[0]: row[6] for row in section("data", material).table.rows[:3]}
    assert data == {"age": "0.1 % of cells", "income": "0.0 % of cells", "sex": "no"}
    rows = {row[0]: row[2] for row in section("variables", material).table.rows}
    # 0 is not told apart from .1 %: it would say that each value is true
    few = "fewer than one in a hundred"
    assert rows == {"age": few, "income": few, "sex": "none"}
    unread = by_hand(readings={}, table=table)
    assert {row[2] for row in section("variables", unread).table.rows} == {"not measured", "none"}


SETTINGS = {
    "drawn by itself": ({}, ["equally likely", "replaced by the same"], ["common donor", "Chance"]),
    "slices": (
        {"slices": [["age", "income"]]},
        ["take their values from one common donor: age, income."],
        ["anew for every value"],
    ),
    "q": ({"q": 0.5}, ["Chance decides whether a masked value is kept"], ["with probability q"]),
    "soft": (
        {"kernel": "gaussian", "width": 1.0},
        ["likelier to be its donors than"],
        ["equally"],
    ),
    "balance": ({"kernel": "gaussian", "balance": 1.0}, ["about equally often"], ["own donor"]),
    "own": ({"kernel": "gaussian", "own": True}, ["may be its own donor"], ["equally often"]),
    "household": ({"outside_household": True}, ["of the record's own household"], []),
    "rounded": ({"precision": {"age": 5.0}}, ["but for rounding"], ["Types survive"]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_notice_says_what_the_method_does_at_this_setting(name: str) -> None:
    change, told, untold = SETTINGS[name]
    setting = {"method": "rwn", "parameters": {"k": 5}}
    for key, value in change.items():
        if key in ("slices", "precision"):
            setting[key] = value
        else:
            setting["parameters"][key] = value
    material = by_hand(setting=setting)
    for text in (
        " ".join(said(section("treated", material))),
        unchecked_file(material, ".toml").decode(),
        unchecked_file(material, ".html").decode().replace("&#x27;", "'").replace("&#39;", "'"),
    ):
        assert all(words in text for words in told), text
        assert not any(words in text for words in untold), text
