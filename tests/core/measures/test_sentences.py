"""Each sentence says the number that it is of, and no number by itself is called good enough."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, RWN, Microdata, SoftRWN
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.attacks.true_match import KnownSets
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading, Sides, with_parts
from tests.core.measures.attacks.attribute_tables import released
from tests.tables import described

RISKS = [key for key, measure in MEASURES.items() if measure.side == "risk"]
ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
N = 60
VERDICT = re.compile(
    r"\b(safe|safely|safer|secure|fine|ok|okay|harmless|sufficient|sufficiently|acceptable|"
    r"anonymous|anonymi[sz]ed?|protected|protects|no risk|risk.free|guarantees?|guaranteed|"
    r"nobody can|cannot be (linked|found|attacked|inferred|learned|traced|(re-?)?identified|"
    r"recogni[sz]ed))\b",
    re.IGNORECASE,
)
NAMED = (
    *("looks harmless", "what it protects", "costs and protects", "looks safe"),
    "anonymous for this recipient because",  # the steward's own words follow
    *("does not make it acceptable", "is acceptable when *every* limit holds"),
    *("rounding alone protects little", "not shown as fine", "fine quantiles"),
    *("protects nobody", "sampling protects only by the doubt", "what each costs and protects"),
    "tuned to the same loss, and see which protects best.",
    *("has no inverse, so nobody can estimate true counts", "password-protected"),
    "cut off or protected",
    "safe setting",  # of the Five Safes: a place where a file is used
)
"""What may be said: of a number that deceives, of all limits, as a title, and of what is lost."""
FOLDERS = ("rwn_ui", "rwn_cli", "rwn_core", "pages")
PROGRAM = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]


def screen_words(text: str) -> str:
    """All texts of a file of the program that are no docstring: helps, notices and reports."""
    tree = ast.parse(text)
    bodies = [getattr(node, "body", None) for node in ast.walk(tree)]
    first = [body[0] for body in bodies if isinstance(body, list) and body]
    docs = {id(node.value) for node in first if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    return " ".join(" ".join(texts).split())


def verdicts(words: str) -> list[str]:
    """The verdicts in a text that are not among those allowed, each with what stands before it."""
    for exception in NAMED:
        words = re.sub(re.escape(exception), "", words, flags=re.IGNORECASE)
    return [words[max(0, hit.start() - 60) : hit.end()] for hit in VERDICT.finditer(words)]


def table() -> Microdata:
    """Keys of every kind, a confidential number and a confidential category, some missing."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "s"])
    frame["g"], frame["t"] = rng.choice(list("xyz"), N), rng.choice(["u", "v"], N)
    frame.loc[3, "s"] = np.nan
    return described(frame, a="key", b="key", g="key", s="confidential", t="confidential")


@pytest.fixture(scope="module")
def found() -> dict[str, Reading]:
    data = table()
    release = released(data, RWN(epsilon=1.0, k=3, q=0.7), 2)
    read = {key: MEASURES[key].read(release) for key in RISKS}
    known = Sampling(population=20.0 * N)
    sampled = Comparison(original=data, masked=release.masked, sampling=known)
    read["population_uniqueness"] = MEASURES["population_uniqueness"].read(sampled)
    certain = released(data, SoftRWN(kernel="exponential", own=True), 2)
    read["certified_linkage"] = MEASURES["certified_linkage"].read(certain)
    read["true_matches"] = planted(read["true_matches"], level=None)  # the sentence of a set
    return {key: reading for key, reading in read.items() if isinstance(reading, Reading)}


def said(key: str, reading: Reading) -> str:
    return str(MEASURES[key].sentence(reading, N))


def planted(reading: Reading, **changes: Any) -> Reading:
    """The reading with another value, baseline or part of its detail."""
    own = ["value", "baseline"] + ["unit_words"] * (not hasattr(reading.detail, "unit_words"))
    fields = {name: changes.pop(name) for name in own if name in changes}
    return replace(with_parts(reading, **changes), **fields)


A_LEVEL = Finding(attack="merge", words="a merge", kind="attribute", right=8.0, named=8.0,
                  people=13.0, base=0.1, score=0.5, secret="flag", level="yes")  # fmt: skip
KNOWN = KnownSets((("a",),), 1, 0, 10, 10)
FEW = {"known": KNOWN, "people": [3], "shares": [0.44], "worst": 0, "few": 0}
SHARED = {"standing": "at least", "at_most": 0.37, "linked_by_parts": 0.31}
NOBODY = np.zeros(2)
CASES: dict[str, list[dict[str, Any]]] = {
    "abstaining_linkage": [{"value": 0.0, "by_keys": 0.0}, {"value": 0.0, "by_keys": 0.31},
                           {"value": 0.31}],
    "attribute_gain": [{"value": 0.0}, {"value": -0.1}, {"value": 0.31}, {"control": None},
                       {"control": [0.4]}, {"unit_words": "households"}],
    "attribute_inference": [{"control": None}, {"control": [0.4], "baseline": 0.4},
                            {"unit_words": "households"}],
    "bayes_linkage": [
        {"top5": 0.37}, {"standing": "at least", "estimate": 0.37},
        {"standing": "at least", "estimate": None}, {"standing": "at least", "rows": 20, "of": N},
        {"standing": "at least", "parts": 0}, {**SHARED, "parts": 16}, {**SHARED, "parts": 1},
        *({"standing": "worst", "attack": attack} for attack in ("file", "rows", "weighed")),
    ],
    "cells_changed": [{"share": np.full(5, 0.31)}],
    "certified_linkage": [{"unit": "house"}, {"sampled": 400}, {"left": 0.31}, {"left": 0.05},
                          {"left": None, "unit": None}, {"disclosing": [["a", "s"]]},
                          {"disclosing": []}],
    "closest_record": [{"exact_copies": []}, {"exact_copies": [1]}, {"exact_copies": [1, 2]},
                       {"baseline": 3.21}],
    "differential_privacy": [{"total_epsilon": 1.5}, {"total_epsilon": None, "value": 0.0},
                             {"total_epsilon": None, "value": 0.31}],
    "homogeneity": [{"value": 0.5}, {"value": 0.0}],
    "individual_risk": [{"caveat": ""}, {"caveat": "It is rough."}],
    "inference": [{"control": 0.2}],
    "intruder_levels": [{"neighborhoods": True}, {"neighborhoods": False}],
    "k_anonymity": [{"baseline": 0.83}],
    "largest_linkage": [{"standing": "worst"}, {"standing": "at least"}],
    "linkability": [{"void": True}, {"void": False}, {"unit_words": "households"},
                    {"parts": (["a", "b"], ["g"]), "stated": True}],
    "linked_over_half": [{"together": None}, {"together": 0.1}, {"sampled": True, "share": 0.04},
                         {"largest": 0.83}],
    "loglinear_risk": [{"population": N}, {"population": 10 * N}, {"caveat": "a enters apart."},
                       {"left_out": ["b"]}],
    "mahalanobis": [{"baseline": 3.21}],
    "mahalanobis_linkage": [{"of": N}, {"of": 40}],
    "membership": [{"share_with_own_values": 0.0}, {"share_with_own_values": 0.5}],
    "misclassification": [{"baseline": 0.83}],
    "nearest_distance": [{"baseline": 3.21}],
    "neighborhood_size": [{"k": None}, {"share_governed_by_k": 0.31}],
    "population_uniqueness": [{"caveat": "It is rough."}],
    "red_team": [{"attribute": None}, {"attribute": A_LEVEL}, {"identity": None},
                 {"attribute": replace(A_LEVEL, level=None)}],
    "repeated_releases": [{"standing": "worst"}, {"standing": "at least"}],
    "singling_out": [{"attacks": 1, "attack": 1.0}, {"ended": "narrow"}, {"ended": "work"}],
    "suda": [{"left_out": 1}, {"dis": Sides(NOBODY, NOBODY)},
             {"dis": Sides(NOBODY, np.array([0.31, 0.0]))}],
    "true_matches": [
        {"people": [0], "worst": 0}, {"people": [1], "worst": 0}, {"secret": [None], "worst": 0},
        {"known": KNOWN, "worst": 0}, {"known": KNOWN._replace(searched=3), "worst": 0},
        {"known": KNOWN._replace(searched=3, left=5), "worst": 0}, {"few": None},
        *({"shares": [share], "worst": 0, "value": 0.31} for share in (0.44, 0.31)),
        {"shares": [0.44], "worst": 0, "value": 0.31, "people": [100], "valued": [100]},
        FEW, {**FEW, "unit_words": "households"},
    ],
    "uniqueness": [{"baseline": 0.83}],
}  # fmt: skip


def test_a_radius_without_effect_and_a_neighborhood_of_nearly_all_are_warned_of():
    measure = MEASURES["neighborhood_size"]
    for epsilon, words in (
        (0.01, "The radius plays no part for 100 % of the records"),
        (9.0, "The typical neighborhood is more than half the file"),
    ):
        reading = measure.read(released(table(), RWN(epsilon=epsilon, k=3), 2))
        (said,) = measure.warn(reading)
        assert said.startswith(words)


def test_what_each_reading_says_as_it_is_and_with_planted_parts(found, sentences):
    cases = {key: [{}, *CASES.get(key, ())] for key in found}
    sentences("risk", {
        key: [said(key, planted(found[key], **case)) for case in cases[key]] for key in cases
    })  # fmt: skip
    assert set(CASES) <= set(cases)


@pytest.mark.parametrize("key", [key for key in RISKS if key != "cooks_distance"])
def test_another_value_is_another_sentence_and_none_is_called_good_enough(key, found):
    texts = [said(key, planted(found[key], value=value)) for value in (0.0, 0.25, 0.75, 1.0)]
    assert texts[1] != texts[2]
    assert not VERDICT.search(" ".join([MEASURES[key].question, *texts]))


def test_no_page_no_screen_and_no_report_calls_a_setting_good_enough():
    """All texts of the program: help of tiles and pages, notices, facts of the reports."""
    found = {path.name: verdicts(screen_words(path.read_text("utf-8"))) for path in PROGRAM}
    assert len(found) > 200
    found |= {page.name: verdicts(" ".join(page.read_text("utf-8").split())) for page in PAGES}
    for path in sorted((ROOT / "rwn_ui").rglob("*.js")):
        texts = re.findall(r'"[^"\n]*[ ·][^"\n]*"', path.read_text("utf-8"))
        found[path.name] = verdicts(" ".join(texts))
    assert not {name: words for name, words in found.items() if words}


@pytest.mark.parametrize(
    "planted_words",
    ["This is safe to release.", "It protects against intruders.", "The file is anonymous.",
     "Linkage is 2 %: fine.", "Nobody in it cannot be linked."],
)  # fmt: skip
def test_a_planted_verdict_is_seen(planted_words):
    assert VERDICT.search(planted_words)
    assert verdicts(screen_words(f'"""It is safe."""\nst.write(f"{{n}} {planted_words}")'))
    assert not verdicts(screen_words(f'"""{planted_words}"""\nst.write("Linkage is 2 %.")'))
