"""The privacy label says what was judged of a release on half a page, and never more."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting.facts import Material, facts_for
from rwn_core.reporting.facts.fact import Audience
from rwn_core.reporting.facts.outside import label
from rwn_core.reporting.facts.public_words import LABEL
from rwn_core.reporting.ledger import earlier_releases
from rwn_core.reporting.public_notice import public_file, public_files
from tests.core.reporting.records_by_hand import by_hand

QUESTIONS = ("unit", "feared", "bounded", "open", "relations", "releases")


def rows(material: Material) -> dict[str, str]:
    table = label(material).table
    assert table is not None
    return dict(zip(QUESTIONS, (row[1] for row in table.rows), strict=True))


def of(verdict: dict[str, Any], *measures: str) -> Material:
    limits = [{"measure": key, "at_most": 0.05} for key in measures]
    usual = {"kept": True, "words": "x", "shares": {}, "judged": {}, "not_judged": {}}
    return by_hand(limit=limits, verdict={**usual, **verdict})


def test_it_has_six_rows_in_their_order() -> None:
    table = label(by_hand()).table
    assert table is not None
    assert [row[0] for row in table.rows] == [LABEL[key] for key in QUESTIONS]


def test_what_is_kept_is_bounded_with_its_proof() -> None:
    said = rows(of({"shares": {"bayes_linkage": 0.5},
                    "judged": {"bayes_linkage": {"title": "x", "value": 0.02, "standing": ""}}},
                   "bayes_linkage"))  # fmt: skip
    assert said["bounded"].startswith("Rows linked to their records")
    assert "exact, from the probabilities of the method" in said["bounded"]
    assert "holds the whole original file" in said["feared"]
    assert said["open"] == LABEL["always"]


@pytest.mark.parametrize(
    ("standing", "proof"),
    [
        ("at least", "what simple attacks reached"),
        ("an estimate", "not a proof"),
        ("estimated at most", "not a proof"),
    ],
)
def test_a_number_without_a_worst_case_is_no_proof(standing: str, proof: str) -> None:
    judged = {"bayes_linkage": {"title": "x", "value": 0.02, "standing": standing}}
    said = rows(of({"shares": {"bayes_linkage": 0.5}, "judged": judged}, "bayes_linkage"))
    assert "exact" not in said["bounded"]
    assert proof in said["bounded"]


def test_an_older_record_without_standings_proves_nothing() -> None:
    judged = {"bayes_linkage": {"title": "x", "value": 0.02}}
    said = rows(of({"shares": {"bayes_linkage": 0.5}, "judged": judged}, "bayes_linkage"))
    assert "exact" not in said["bounded"]


@pytest.mark.parametrize(
    "verdict",
    [
        {"shares": {"bayes_linkage": 1.2}, "judged": {"bayes_linkage": {"title": "", "value": 1}}},
        {"not_judged": {"bayes_linkage": "It takes too long."}},
        {},
    ],
)
def test_what_is_broken_or_not_judged_is_not_bounded(verdict: dict[str, Any]) -> None:
    said = rows(of(verdict, "bayes_linkage"))
    assert said["bounded"] == LABEL["nothing"]
    assert said["open"].startswith("Rows linked to their records, on average. Further")


def test_without_a_policy_nobody_was_feared_and_nothing_is_bounded() -> None:
    said = rows(by_hand(limit=[], verdict={"shares": {}, "judged": {}, "not_judged": {}}))
    assert (said["feared"], said["bounded"]) == (LABEL["nobody"], LABEL["nothing"])
    bare = by_hand()
    record = {k: v for k, v in bare.record.items() if k not in ("limit", "verdict")}
    assert rows(replace(bare, record=record))["bounded"] == LABEL["nothing"]


def test_a_measure_of_a_policy_of_ones_own_is_measured_and_not_proven() -> None:
    judged = {"membership": {"title": "x", "value": 0.02, "standing": ""}}
    said = rows(of({"shares": {"membership": 0.5}, "judged": judged}, "membership"))
    assert said["bounded"] == "Another risk of the policy (measured on this file, without a proof)"


@pytest.mark.parametrize(
    ("earlier", "words"),
    [(None, "no ledger was read"), (0, ": none."), (2, ": two."), (40, ": more than nine.")],
)
def test_releases_so_far_are_those_of_the_ledger(earlier: int | None, words: str) -> None:
    assert words in rows(replace(by_hand(), earlier=earlier))["releases"]


def test_earlier_releases_are_those_of_the_same_people() -> None:
    one = {"table": "a", "names": [], "columns": {}}
    marks = [one, {"table": "b", "names": ["x"], "columns": {}}]
    entries = [{"release": str(i), "marks": marks[i == 1]} for i in range(4)]
    assert [earlier_releases(entries, str(i)) for i in range(4)] == [0, 0, 1, 2]
    with pytest.raises(InputError, match="does not have this release"):
        earlier_releases(entries, "9")


def test_it_is_in_every_form_of_a_kept_release(
    kept_material: Material, bodyfat_table: Microdata
) -> None:
    names = ("label.svg", "label.json", "notice.json", "notice.html")
    files = public_files(kept_material, bodyfat_table, names)
    plain = json.loads(files["label.json"])
    (fact,) = (e for e in facts_for(Audience.PUBLIC, kept_material) if e.key == "label")
    assert fact.content.table is not None
    assert plain["label"] == dict(fact.content.table.rows)
    assert (plain["format"], plain["sha256"]) == (
        "rwn label 1", kept_material.record["file"]["sha256"]
    )  # fmt: skip
    drawn = " ".join(re.findall(r">([^<>]+)</text>", files["label.svg"].decode()))
    words = set(" ".join(plain["label"].values()).split())
    assert words <= set(drawn.replace("&#34;", '"').split())
    height = int(re.findall(r'height="(\d+)"', files["label.svg"].decode())[0])
    assert height < 560  # half a page at 760 units of width
    assert "Privacy label" in files["notice.html"].decode()
    assert json.loads(files["notice.json"])["facts"][0]["key"] == "label"


def test_a_planted_number_is_refused_in_the_drawing(
    kept_material: Material, bodyfat_table: Microdata
) -> None:
    leaky = replace(kept_material, title="The heaviest weighs 363.15")
    for name in ("label.svg", "label.json"):
        with pytest.raises(ReleaseError, match="would hold"):
            public_file(leaky, bodyfat_table, name)


def test_the_unit_is_the_one_that_risk_was_counted_in() -> None:
    for unit in ("people", "households", "records"):
        material = by_hand()
        table = {**material.record["table"], "unit": unit}
        said = rows(replace(material, record={**material.record, "table": table}))
        assert said["unit"] == LABEL["units"][unit]
    assert rows(by_hand())["unit"] == LABEL["unknown_unit"]
