"""Each sentence says the number that it is of, and no number by itself is called good enough."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading

RISKS = [key for key, measure in MEASURES.items() if measure.side == "risk"]
ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
N = 60

VERDICT = re.compile(
    r"\b(safe|safely|harmless|sufficient|sufficiently|acceptable|protects|no risk|"
    r"guarantees?|guaranteed|well protected|nobody can|cannot be (linked|identified))\b",
    re.IGNORECASE,
)
NAMED = (
    *("looks harmless", "what it protects", "costs and protects", "looks safe"),
    *("does not make it acceptable", "is acceptable when *every* limit holds"),
    "rounding alone protects little",
)
"""What the pages may say: of a number that deceives, of all limits, and as a question's title."""


def table() -> Microdata:
    """Keys of every kind, a confidential number and a confidential category, some missing."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "s"])
    frame["g"], frame["t"] = rng.choice(list("xyz"), N), rng.choice(["u", "v"], N)
    frame.loc[3, "s"] = np.nan
    variables = [
        Variable(
            name=name,
            kind=Kind.CATEGORICAL if name in "gt" else Kind.CONTINUOUS,
            role=Role.CONFIDENTIAL if name in "st" else Role.KEY,
        )
        for name in frame
    ]
    return Microdata.from_frame(frame, Schema(variables=tuple(variables)))


@pytest.fixture(scope="module")
def found() -> dict[str, Reading]:
    data = table()
    release = mask(data, RWN(epsilon=1.0, k=3, q=0.7), seed=2)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    read = {key: MEASURES[key].read(comparison) for key in RISKS}
    sampled = Comparison(
        original=data, masked=release.masked, sampling=Sampling(population=20.0 * N)
    )
    read["population_uniqueness"] = MEASURES["population_uniqueness"].read(sampled)
    return {key: reading for key, reading in read.items() if isinstance(reading, Reading)}


def said(key: str, reading: Reading) -> str:
    return str(MEASURES[key].sentence(reading, N))


def planted(reading: Reading, **changes: Any) -> Reading:
    """The reading with another value, baseline or part of its detail."""
    fields = {name: changes.pop(name) for name in ("value", "baseline") if name in changes}
    return replace(reading, **fields, detail={**reading.detail, **changes})


@pytest.mark.parametrize("key", [key for key in RISKS if key != "cooks_distance"])
def test_another_value_is_another_sentence(key, found):
    one, other = (planted(found[key], value=value) for value in (0.25, 0.75))
    assert said(key, one) != said(key, other)


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("homogeneity", {"value": 0.5}, "no linkage is needed", "other attacks"),
    ("homogeneity", {"value": 0.0}, "other attacks do without", "no linkage is needed"),
    ("loglinear_risk", {"population": N}, "if the file is the whole population", "?"),
    ("loglinear_risk", {"population": 10 * N}, "in expectation.", "whole population"),
    ("closest_record", {"exact_copies": []}, "No row is an exact copy", "are exact"),
    ("closest_record", {"exact_copies": [1]}, "1 row is an exact copy", "No row"),
    ("closest_record", {"exact_copies": [1, 2]}, "2 rows are exact copies", "No row"),
    ("neighborhood_size", {"k": None}, "others.", "within ε"),
    ("neighborhood_size", {"share_governed_by_k": 0.31}, "31 % of the records have fewer", "?"),
    ("bayes_linkage", {"top5": 0.37}, "37 % of all the right one is among five", "?"),
    ("k_anonymity", {"baseline": 0.83}, "original: 83 %", "?"),
    ("uniqueness", {"baseline": 0.83}, "original: 83 %", "?"),
    ("misclassification", {"baseline": 0.83}, "against 83 % unmasked", "?"),
    ("nearest_distance", {"baseline": 3.21}, "against 3.21 in the original", "?"),
    ("closest_record", {"baseline": 3.21}, "neighboring originals are 3.21 apart", "?"),
    ("mahalanobis", {"baseline": 3.21}, "original: 3.21", "?"),
    ("attribute_inference", {"control": None}, "naming what most rows say", "not in the file"),
    ("attribute_inference", {"control": [0.4], "baseline": 0.4},
     "for people who are not in the file it is 40 %", "?"),
    ("membership", {"share_with_own_values": 0.0}, "Nobody has a value", "certain"),
    ("membership", {"share_with_own_values": 0.5}, "30 of 60 records have a value", "Nobody"),
    ("linkability", {"void": True}, "no better than a guess", "?"),
    ("linkability", {"void": False}, "beyond that (95 % interval", "no better"),
    ("inference", {"control": 0.2}, "people who are not in the file in 20 %", "population"),
    ("singling_out", {"attacks": 1, "attack": 1.0}, "100 % of 1 attack,", "1 attacks"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "case", "words", "never"), CASES)
def test_a_planted_case_is_said(key, case, words, never, found):
    sentence = said(key, planted(found[key], **case))
    assert words in sentence
    assert never not in sentence


@pytest.mark.parametrize("key", [key for key in RISKS if key != "cooks_distance"])
def test_no_value_alone_is_called_good_enough(key, found):
    assert not VERDICT.search(MEASURES[key].question)
    for value in (0.0, 1.0):
        assert not VERDICT.search(said(key, planted(found[key], value=value)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_calls_a_setting_good_enough(page):
    words = " ".join(page.read_text(encoding="utf-8").split())
    for exception in NAMED:
        words = words.replace(exception, "")
    assert not [words[max(0, hit.start() - 60) : hit.end()] for hit in VERDICT.finditer(words)]


@pytest.mark.parametrize(
    "planted_words", ["This is safe to release.", "A low rate protects against intruders."]
)
def test_a_planted_verdict_is_seen(planted_words):
    assert VERDICT.search(planted_words)
