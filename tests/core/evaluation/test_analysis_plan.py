"""Registered analyses, and the captions of the papers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import rwn_core as rwn
from rwn_core import Analysis, AnalysisPlan, Microdata, NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.figure_curves import PAPER_FIGURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.formula import Formula, formula_design
from rwn_core.measures.statistics.ols import least_squares

PASS = AnalysisPlan(
    analyses=(
        Analysis(name="Body fat", kind="linear", tolerance=2.0, formula="siri ~ bmi + log(neck)"),
        Analysis(name="Ages", kind="table", tolerance=0.1, variables=("age", "bmi")),
        Analysis(name="Fat by age", kind="means", tolerance=0.5, variables=("siri", "age")),
        Analysis(name="Overlap", kind="measure", tolerance=0.5, measure="ci_overlap"),
        Analysis(name="Pairs", kind="measure", tolerance=0.1, measure="correlation"),
    )
)


@pytest.fixture
def people() -> Microdata:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x": rng.normal(5, 1, 200), "z z": rng.normal(size=200)})
    frame["g"] = rng.choice(["n", "s", "w"], 200)
    frame["y"] = frame["x"] + (frame["g"] == "s") * frame["z z"] + rng.normal(size=200)
    frame["n"] = rng.poisson(np.exp(0.2 * frame["x"]))
    frame["b"] = np.where(rng.random(200) < 0.5, "yes", "no")
    return Microdata.from_frame(frame)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("y ~ x + g", "y ~ x + g"),
        ("y ~ x * g", "y ~ x * g"),
        ("log(x) ~ g + `z z`", "np.log(x) ~ g + Q('z z')"),
        ("y ~ sqrt(x) + square(x) + x:g", "y ~ np.sqrt(x) + I(x**2) + x:C(g, Treatment)"),
    ],
)
def test_a_formula_means_what_statsmodels_says(people, ours, theirs):
    design = formula_design(people, people, Formula.parse(ours))
    if "x:g" in ours:  # without x itself statsmodels takes every level of g: compare the fit
        theirs = "y ~ np.sqrt(x) + I(x**2) + I(x*(g=='s')) + I(x*(g=='w'))"
    found = least_squares(design)
    wanted = smf.ols(theirs, people.frame).fit()
    assert sorted(found.coefficients) == pytest.approx(sorted(wanted.params), rel=1e-7)
    assert sorted(found.standard_errors) == pytest.approx(sorted(wanted.bse), rel=1e-7)


def test_a_formula_names_what_is_wrong(people):
    named = {"y ~ nowhere": "nowhere", "y ~ log(`z z`)": "log(z z)", "y ~ log(g)": "log(g)"}
    for text, words in (named | {"g ~ x": "categorical"}).items():
        with pytest.raises(NotApplicable, match=re.escape(words)):
            formula_design(people, people, Formula.parse(text))


def test_verdicts_of_a_weak_and_a_strong_masking():
    data = rwn.load_demo("bodyfat")
    itself = PASS.judge(Comparison(original=data, masked=data))
    assert all(verdict.passed for verdict in itself)
    assert [verdict.value for verdict in itself] == pytest.approx([0, 0, 0, 1, 0])
    strong = PASS.judge(compare(data, rwn.mask(data, rwn.RWN(epsilon=8.0, k=60), seed=1)))
    assert not any(verdict.passed for verdict in strong)
    assert all(verdict.value is not None for verdict in strong)


def test_a_setting_is_judged_over_many_releases():
    """What passes on one draw by luck is told from what belongs to the setting."""
    data, params = rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=5)
    found = PASS.judge_setting(data, params, repeats=6, seed=3)
    judged = [PASS.judge(compare(data, rwn.mask(data, params, seed=3 + r))) for r in range(6)]
    assert [standing.analysis for standing in found] == list(PASS.analyses)
    for standing, each in zip(found, zip(*judged, strict=True), strict=True):
        assert standing.passed == sum(verdict.passed for verdict in each)
        assert standing.releases == 6
        assert standing.value == pytest.approx(np.median([verdict.value for verdict in each]))
        assert standing.always == (standing.passed == 6)
    assert AnalysisPlan().judge_setting(data, params, repeats=1) == ()
    unknown = Analysis(name="n", kind="table", tolerance=1, variables=("no",))
    nothing = AnalysisPlan(analyses=(unknown,))
    (standing,) = nothing.judge_setting(data, params, repeats=2)
    assert (standing.passed, standing.value) == (0, None)
    assert "no" in standing.reason


def test_every_kind_of_model(people):
    passes = AnalysisPlan(
        analyses=(
            Analysis(name="l", kind="logistic", tolerance=1, formula="b ~ x + g"),
            Analysis(name="p", kind="poisson", tolerance=1, formula="n ~ x"),
            Analysis(name="negative", kind="poisson", tolerance=1, formula="`z z` ~ x"),
            Analysis(name="three", kind="logistic", tolerance=1, formula="g ~ x"),
            Analysis(name="unknown", kind="table", tolerance=1, variables=("g", "nowhere")),
        )
    )
    comparison = compare(people, rwn.mask(people, rwn.RWN(k=3, q=0.2), seed=2))
    found = passes.judge(comparison)
    assert [verdict.value is not None for verdict in found] == [True, True, False, False, False]
    assert not any(verdict.passed for verdict in found[2:])
    assert "nowhere" in found[4].reason
    again = passes.judge(comparison)  # what depends on the original comes from the memo
    assert [v.value for v in again] == [v.value for v in found]


def test_toml_round_trip_without_data():
    text = PASS.to_toml()
    assert AnalysisPlan.from_toml(text) == PASS
    assert AnalysisPlan.from_records(PASS.to_records()) == PASS
    assert AnalysisPlan.from_toml("") == AnalysisPlan()
    assert "[[analysis]]" in text


PUBLISHED = tomllib.loads(
    (Path(__file__).parents[3] / "benchmarks/papers/published.toml").read_text(encoding="utf-8")
)

_NUMBER = re.compile(r"(?<![\d.])−?\d*\.\d+|(?<![\d.])\d{2,3}(?![\d.])")


def unknown(number: int, text: str) -> list[str]:
    """Return the numbers of a text that no published value of its figure rounds to."""
    values = [
        float(each["value"])
        for each in PUBLISHED[f"rwn2022-figure-{number}"]["values"].values()
        if re.fullmatch(r"-?[\d.]+", each["value"])
    ]
    missing = []
    for said in _NUMBER.findall(text.replace("record 39", "").replace("241 records", "")):
        digits = len(said.partition(".")[2])
        stated, half = float(said.replace("−", "-")), 0.5000001 / 10**digits
        if not any(abs(value - stated) <= half for value in values):
            missing.append(said)
    return missing


@pytest.mark.parametrize("number", PAPER_FIGURES)
def test_each_number_of_a_caption_is_one_of_its_figure(number: int) -> None:
    text = PAPER_FIGURES[number].paper
    assert len(_NUMBER.findall(text)) >= 2
    assert unknown(number, text) == []
    assert unknown(number, f"{text} And it is .777 at last.") == [".777"]
