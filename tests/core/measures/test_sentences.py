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
    fields = {name: changes.pop(name) for name in ("value", "baseline") if name in changes}
    return replace(with_parts(reading, **changes), **fields)


@pytest.mark.parametrize("key", [key for key in RISKS if key != "cooks_distance"])
def test_another_value_is_another_sentence(key, found):
    one, other = (planted(found[key], value=value) for value in (0.25, 0.75))
    assert said(key, one) != said(key, other)


A_LEVEL = Finding(attack="merge", words="a merge", kind="attribute", right=8.0, named=8.0,
                  people=13.0, base=0.1, score=0.5, secret="flag", level="yes")  # fmt: skip
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("nearest_distance", {}, "It assumes somebody who has nothing but the release", "?"),
    ("closest_record", {}, "somebody who holds whole original records and compares", "?"),
    ("extremes", {}, "It assumes somebody who knows who holds an extreme", "?"),
    ("singling_out", {}, "It assumes somebody who has nothing but the release", "?"),
    ("homogeneity", {"value": 0.5}, "no linkage is needed", "other attacks"),
    ("homogeneity", {"value": 0.0}, "other attacks do without", "no linkage is needed"),
    ("loglinear_risk", {"population": N}, "if the file is the whole population", "?"),
    ("loglinear_risk", {"population": 10 * N}, "in expectation.", "whole population"),
    ("closest_record", {"exact_copies": []}, "No row is an exact copy", "are exact"),
    ("closest_record", {"exact_copies": [1]}, "1 row is an exact copy", "No row"),
    ("closest_record", {"exact_copies": [1, 2]}, "2 rows are exact copies", "No row"),
    ("neighborhood_size", {"k": None}, "others.", "within ε"),
    ("neighborhood_size", {"share_governed_by_k": 0.31}, "31 % of the records have fewer", "?"),
    ("individual_risk", {"caveat": ""}, "one in each class", "Benedetti"),
    ("individual_risk", {"caveat": "It is rough."}, "It is rough.", "each class"),
    ("loglinear_risk", {"caveat": "a enters apart."}, "a enters apart.", "Left out"),
    ("loglinear_risk", {"left_out": ["b"]}, "Left out, of one level only: b.", "?"),
    ("linked_over_half", {"together": None}, "one half, one row at a time", "random rows"),
    ("linked_over_half", {"together": 0.1}, "above one half;", "one row at a time"),
    ("linked_over_half", {"sampled": True, "share": 0.04}, "links 4 % of", "one row at a time"),
    ("linked_over_half", {"largest": 0.83}, "of one record is 83 %", "?"),
    ("largest_linkage", {"standing": "worst"}, "over every row", "were attacked"),
    ("largest_linkage", {"standing": "at least"}, "rows that were attacked", "every row"),
    ("bayes_linkage", {}, "correctly in expectation", "?"),
    ("red_team", {"attribute": None}, "no confidential value more often than luck", "is named"),
    ("red_team", {"attribute": A_LEVEL}, "8 people, 100 % of the names are right: 62 % of the 13 "
     "people who have one of its values.", "luck"),
    ("red_team", {"attribute": replace(A_LEVEL, level=None)}, "the 13 people.", "one of its"),
    ("red_team", {"identity": None}, "at least", "at most"),
    ("bayes_linkage", {"top5": 0.37}, "37 % of all the right one is among five", "?"),
    ("k_anonymity", {"baseline": 0.83}, "original: 83 %", "?"),
    ("uniqueness", {"baseline": 0.83}, "original: 83 %", "?"),
    ("misclassification", {"baseline": 0.83}, "against 83 % unmasked", "?"),
    ("suda", {"dis": Sides(np.zeros(2), np.zeros(2))}, "60 records.", "a part in"),
    ("suda", {"dis": Sides(np.zeros(2), np.array([0.31, 0.0]))},
     "is true with probability 31 % on average", "?"),
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
    ("abstaining_linkage", {"value": 0.0, "by_keys": 0.0}, "links nobody if", "by the"),
    ("abstaining_linkage", {"value": 0.0, "by_keys": 0.31}, "keys alone 31 % of", "?"),
    ("abstaining_linkage", {"value": 0.31}, "links 31 % of the people, and", "nobody"),
    ("attribute_gain", {"value": 0.0}, "adds nothing to naming", "tells"),
    ("attribute_gain", {"value": -0.1}, "adds nothing to naming", "tells"),
    ("attribute_gain", {"value": 0.31}, " of 31 % more of the people", "nothing"),
    ("attribute_gain", {"control": None}, "who names the most frequent value", "not in the file"),
    ("attribute_gain", {"control": [0.4]}, "people who are not in the file", "most rows say"),
    ("certified_linkage", {"unit": "house"}, "to their unit (house)", "?"),
    ("certified_linkage", {"left": 0.31}, "slices 31 % are left", "?"),
    ("certified_linkage", {"left": None, "unit": None}, "(proved)", "across slices"),
    ("certified_linkage", {"disclosing": [["a", "s"]]}, "together (a, s)", "?"),
    ("certified_linkage", {"disclosing": []}, "(proved)", "A slice has"),
    ("bayes_linkage", {"standing": "at least", "estimate": 0.37}, "an estimate", "too large"),
    ("bayes_linkage", {"standing": "at least", "estimate": None}, "too large for the",
     "estimate"),
    ("bayes_linkage", {"standing": "at least", "rows": 20, "of": N}, "of 20 random rows", "?"),
    ("bayes_linkage", {"standing": "at least", "parts": 0}, "at least", "part of the file"),
    ("bayes_linkage", {"standing": "at least", "at_most": 0.37,
                       "parts": 16, "linked_by_parts": 0.31},
     "with each row's part of the file (16 parts) known, 31 % are linked: without it at most "
     "37 %", "28 %"),
    ("bayes_linkage", {"standing": "at least", "at_most": 0.37,
                       "parts": 1, "linked_by_parts": 0.31},
     "links more than 37 %, an estimate", "known"),
    ("bayes_linkage", {"standing": "worst", "attack": "file"}, "at once, each original", "least"),
    ("bayes_linkage", {"standing": "worst", "attack": "rows"}, "one row at a time (all", "least"),
    ("bayes_linkage", {"standing": "worst", "attack": "weighed"}, "row given all rows (", "least"),
    ("intruder_levels", {"neighborhoods": True}, "the method and the neighborhoods", "?"),
    ("intruder_levels", {"neighborhoods": False}, "and the method links", "neighborhoods"),
    ("mahalanobis_linkage", {"of": N}, f"of {N} records.", "in both files"),
    ("mahalanobis_linkage", {"of": 40}, "of 40 records that have all their", f"of {N}"),
    ("differential_privacy", {"total_epsilon": 1.5}, "with epsilon = 1.5", "No epsilon"),
    ("differential_privacy", {"total_epsilon": None, "value": 0.0}, "some released values", "= "),
    ("differential_privacy", {"total_epsilon": None, "value": 0.31}, "probability 31 %", "= "),
    ("true_matches", {"people": [0], "worst": 0}, "Nobody is alone with all values", "are found"),
    ("true_matches", {"people": [1], "worst": 0}, "Of the one person who is alone", "the 1 people"),
    ("true_matches", {"secret": [None], "worst": 0}, "nothing more is read", "shows their own"),
    ("true_matches", {"known": KnownSets((("a",),), 1, 0, 10, 3), "worst": 0},
     "7 more sets of three were not", "?"),
    ("true_matches", {"known": KnownSets((("a",),), 1, 0, 10, 10), "worst": 0},
     "sets of variables.", "not looked at"),
    ("true_matches", {"few": None}, "sets of variables", "It is 44 %"),
    ("true_matches", {"shares": [0.44], "worst": 0, "value": 0.31},
     "of so few people 31 % for sure", "?"),
    ("true_matches", {"shares": [0.31], "worst": 0, "value": 0.31},
     "31 % more than by chance:", "for sure"),
    ("true_matches",
     {"shares": [0.44], "worst": 0, "value": 0.31, "people": [100], "valued": [100]},
     "44 % more than by chance, 31 % for sure", "so few"),
    ("true_matches", {"known": KnownSets((("a",),), 1, 0, 10, 3, 5), "worst": 0},
     "7 more sets of three and 5 of fewer were not looked at", "?"),
    ("true_matches", {"known": KnownSets((("a",),), 1, 0, 10, 10), "people": [3], "shares": [0.44],
                      "worst": 0, "few": 0},
     "It is 44 % of the 3 people who are alone with their a.", "?"),
    ("true_matches", {"known": KnownSets((("a",),), 1, 0, 10, 10), "people": [3], "shares": [0.44],
                      "worst": 0, "few": 0, "unit_words": "households"},
     "It is 44 % of the 3 households that are alone with their a.", "people who"),
    ("repeated_releases", {"standing": "worst"}, "table link ", "link at least"),
    ("repeated_releases", {"standing": "at least"}, "table link at least ", "?"),
    ("population_uniqueness", {"caveat": "It is rough."}, "fit the release. It is rough.", "?"),
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
    assert not verdicts(" ".join(page.read_text(encoding="utf-8").split()))


def test_no_screen_and_no_report_calls_a_setting_good_enough():
    """All texts of the program: help of tiles and pages, notices, facts of the reports."""
    found = {path.name: verdicts(screen_words(path.read_text("utf-8"))) for path in PROGRAM}
    assert len(found) > 200
    for path in sorted((ROOT / "rwn_ui").rglob("*.js")):
        texts = re.findall(r'"[^"\n]*[ ·][^"\n]*"', path.read_text("utf-8"))
        found[path.name] = verdicts(" ".join(texts))
    assert not {name: words for name, words in found.items() if words}


@pytest.mark.parametrize(
    "planted_words",
    [
        "This is safe to release.",
        "A low rate protects against intruders.",
        "The file is anonymous.",
        "Linkage is 2 %: fine.",
        "Nobody in it cannot be linked.",
    ],
)
def test_a_planted_verdict_is_seen(planted_words):
    assert VERDICT.search(planted_words)
    assert verdicts(screen_words(f'"""It is safe."""\nst.write(f"{{n}} {planted_words}")'))
    assert not verdicts(screen_words(f'"""{planted_words}"""\nst.write("Linkage is 2 %.")'))
