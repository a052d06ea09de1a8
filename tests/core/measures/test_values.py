"""Cells, marginals, rows, predictions, on any table, and the sentence of each number."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_cli.terminal import readings_table
from rwn_core import (
    MEASURES,
    NBRS2015,
    PRAM,
    RWN,
    AdditiveNoise,
    Comparison,
    LocalSuppression,
    Microdata,
    Policy,
    Question,
    RandomSample,
    Reading,
    Sampling,
    SecretKey,
    SoftRWN,
    mask,
)
from rwn_core.evaluation.audit import read_all
from rwn_core.laws.donors import copy_from_donors, shuffled_donors, unmasked
from rwn_core.masking.method import Prepared
from rwn_core.measures import no_measure
from rwn_core.measures.attacks.assignment import all_rows, blocks
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.attacks.true_match import KnownSets
from rwn_core.measures.comparison import released_rows
from rwn_core.measures.measure import SHUFFLES, UNMASKED, UNRELATED, Detail, Sides, with_parts
from rwn_core.measures.risk.values import PosteriorOdds
from rwn_core.measures.statistics.distributions import distribution_steps, kolmogorov_smirnov
from rwn_core.measures.utility import distributions
from tests.core.measures.attacks.attribute_tables import released
from tests.holding import hold
from tests.tables import described

MEASURE = MEASURES["cells_changed"]


def test_by_hand_with_missing_values_of_every_kind(compare):
    day = pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-04"])
    size = pd.Categorical(["s", None, "l", "l"], ["s", "m", "l"], ordered=True)
    original = pd.DataFrame(
        {"x": [1.0, np.nan, 3.0, np.nan], "g": ["a", None, "b", "b"], "day": day, "size": size}
    )
    masked = original.assign(
        x=[1.0, np.nan, np.nan, 4.0],
        g=["z", None, None, "b"],
        day=day[[0, 0, 2, 2]],
        size=size[[2, 1, 2, 1]],
    )
    reading = MEASURE.compute(compare(original, masked))
    assert reading.detail.names == ["x", "g", "day", "size"]
    assert reading.detail.share.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert reading.value == reading.detail.overall == 0.5
    assert reading.baseline is None
    assert reading.detail.q is None


def test_q_counts_the_variables_that_are_not_masked(numeric_frames):
    data = Microdata.from_frame(numeric_frames[0])
    data = data.with_schema(data.schema.replace_variable("a", masked=False))
    reading = MEASURE.compute(released(data, RWN(k=5, q=1.0), 3))
    assert reading.detail.share.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert reading.value == reading.baseline == 0.75


MARGINALS = MEASURES["marginals"]
FEW = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(FEW, FEW)
def test_kolmogorov_smirnov_against_every_threshold(one, other):
    found = kolmogorov_smirnov(distribution_steps(np.sort(one)), np.sort(other))
    thresholds = [t + shift for t in range(-1, 8) for shift in (0.0, 0.5)]
    expected = max(
        abs(sum(v <= t for v in one) / len(one) - sum(v <= t for v in other) / len(other))
        for t in thresholds
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_counts_means_and_missing_values(compare):
    assert distributions.total_variation(np.array([1, 1, 0]), np.array([10, 0, 10])) == 0.5
    assert distributions.total_variation(np.array([1, 2]), np.array([50, 100])) == 0.0
    original = pd.DataFrame({"x": [0.0, 0.5, 2.25, np.nan], "g": ["a", "b", None, "a"]})
    masked = pd.DataFrame({"x": [0.5, np.nan, np.nan, 0.5], "g": ["a", "a", "a", "a"]})
    reading = MARGINALS.compute(compare(original, masked))
    x, g = reading.detail.variables["x"], reading.detail.variables["g"]
    assert (x.edges is None, g.edges is None) == (False, True)
    assert (x.original.sum(), x.released.sum()) == (3, 2)
    assert x.missing == (1, 2)
    assert x.mean == pytest.approx((2.75 / 3, 0.5))
    assert x.sd == pytest.approx((original["x"].std(), 0.0))
    assert x.difference == pytest.approx(1 / 3)
    assert g.levels == ["a", "b"]
    assert (g.original.tolist(), g.released.tolist()) == ([2, 1], [4, 0])
    assert g.difference == pytest.approx(1 / 3)
    assert g.missing == (1, 0)
    assert reading.value == pytest.approx(1 / 3)


def test_bins_widen_for_values_outside_the_original_range(compare):
    original = pd.DataFrame({"x": np.linspace(0.0, 1.0, 50)})
    masked = pd.DataFrame({"x": np.r_[-3.0, 7.0, 1.0, np.linspace(0.0, 1.0, 47)]})
    shown = MARGINALS.compute(compare(original, masked)).detail.variables["x"]
    assert (shown.edges[0], shown.edges[-1]) == (-3.0, 7.0)
    assert (np.diff(shown.edges) > 0).all()
    assert shown.original[[0, -1]].tolist() == [0, 0]
    assert shown.released[[0, -1]].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 3.0, 5.0], [1.5, 2.5, 3.5, 4.5, 5.5]),
        ([7.5, 7.5], [7.0, 8.0]),
        ([1e150 * 1.5, 1e150 * 1.5], [1.485e150, 1.515e150]),
    ],
)
def test_bin_edges(values, expected):
    assert distributions.bin_edges(np.array(values)) == pytest.approx(expected)


def test_a_rounded_release_has_whole_steps_in_each_bin(compare):
    """Else bins with two steps are towers, and bins with none are false holes."""
    values = np.linspace(0.0, 100.0, 601)
    original = pd.DataFrame({"x": values})
    step = 3.0
    masked = pd.DataFrame({"x": step * np.round(values / step)})
    shown = MARGINALS.compute(compare(original, masked)).detail.variables["x"]
    widths = np.diff(shown.edges)
    assert widths == pytest.approx(np.full(len(widths), step))
    for side, frame in (("original", original), ("released", masked)):
        expected, _ = np.histogram(frame["x"], shown.edges)
        np.testing.assert_array_equal(getattr(shown, side), expected)
    assert shown.released == pytest.approx(shown.original, abs=1), "nothing but rounding"


QUESTION = Question(response="y", predictors=("a", "b"))


def compared(gaps: int, n: int = 120) -> Comparison:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["y"] = frame["a"] + frame["b"] + rng.normal(size=n)
    frame.loc[rng.choice(n, gaps, replace=False), "b"] = np.nan
    data = rwn.Microdata.from_frame(frame)
    masked = rwn.Microdata(frame.assign(a=frame["a"] + rng.normal(size=n)), data.schema)
    return Comparison(original=data, masked=masked, question=QUESTION)


def test_gaps_in_a_predictor_and_random_rows_are_told() -> None:
    comparison = compared(70)
    fits = ("regression", "ci_overlap", "mahalanobis_linkage", "cooks_distance")
    for key in (*fits, *fits):  # also where the fit is remembered
        reading = MEASURES[key].read(comparison)
        assert (reading.used, reading.total) == (50, 120)
        assert MEASURES[key].reading_title(reading).endswith("(50 of 120 rows)")
    whole = MEASURES["regression"].read(compared(0))
    assert whole.used is None
    assert "rows)" not in MEASURES["regression"].reading_title(whole)
    large = MEASURES["distance_linkage"].read(compared(0, n=7000), bare=True)
    assert large.used == len(large.detail.records) < large.total == 7000


def test_the_audit_prints_rows_in_the_terminal_the_notebook_and_records() -> None:
    found = read_all(compared(70), ["regression", "distance_linkage"])
    assert "(50 of 120 rows)" in readings_table(found.records())
    assert "(50 of 120 rows)" in repr(found)
    rows = found.frame().set_index("measure")
    assert rows.loc["regression", ["used", "total"]].tolist() == [50, 120]
    assert rows["used"].isna()["distance_linkage"]


SURE = (  # of a file in which every row is a true row of one person
    "bayes_linkage",
    "linked_over_half",
    "intruder_levels",
    "whole_file_linkage",
    "abstaining_linkage",
    "distance_linkage",
    "interval_disclosure",
    "attribute_inference",
    "uniqueness",
    "k_anonymity",
    "l_diversity",
    "suda",
)
BEYOND = ("attribute_gain", "true_matches", "linkability", "inference")  # beyond a guess
OF_PEOPLE = {
    # chances of people, not shares of rows: who is left out is part of the chance
    "membership",
    "extremes",
    "queries",
    "differential_privacy",
    "misclassification",
    "repeated_releases",
    "homogeneity",
    "neighborhood_size",
    "cells_changed",
    "posterior_odds",
    # of rows that are complete in both files, of attacks, or of no share
    "mahalanobis_linkage",
    "singling_out",
    "nearest_distance",
    "cooks_distance",
    "mahalanobis",
}


def table(n: int, seed: int = 3) -> Microdata:
    """Three keys and a confidential number, all with many values."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(50, 9, size=(n, 3)), columns=["a", "b", "c"])
    frame["s"] = draw.normal(100, 20, n).round(1)
    return described(frame, a="key", b="key", c="key", s="confidential")


def sampled(n: int, left_out: float) -> Comparison:
    return released(table(n), RandomSample(left_out=left_out))


def test_a_sample_of_true_rows_breaks_the_limits() -> None:
    n, left_out = 1000, 0.96
    comparison = sampled(n, left_out)
    policy = Policy()
    readings = {key: MEASURES[key].read(comparison) for key in policy.measures}
    linkage = readings["bayes_linkage"]
    assert linkage.value == pytest.approx(1.0)  # of all records it would be 4 %
    assert linkage.released_share == pytest.approx(1 - left_out, abs=1 / n)
    assert {"bayes_linkage", "linked_over_half"} <= set(policy.judge(readings).broken)
    said = MEASURES["bayes_linkage"].sentence(linkage, n)
    assert "40 of 40 records" in said
    assert "Only 40 of 1,000 records" in said


def test_what_is_sure_of_every_row_is_sure_of_a_sample() -> None:
    samples = {"half": sampled(400, 0.5), "few": sampled(400, 0.95)}

    def sure(key: str, sample: str) -> None:
        assert MEASURES[key].read(samples[sample]).value > 0.95

    hold(sure, SURE, samples)
    whole, part = sampled(600, 0.0), sampled(600, 0.9)

    def beyond(key: str) -> None:
        # a share of all records would be a tenth of it
        assert MEASURES[key].read(part).value > 0.8 * MEASURES[key].read(whole).value > 0.5

    hold(beyond, BEYOND)


def test_every_measure_of_risk_says_of_what_its_share_is() -> None:
    """A new measure is a share of the rows that leave, or stands in the list with its reason."""
    risks = {key for key, measure in MEASURES.items() if measure.side == "risk"}
    of_released = {key for key in risks if MEASURES[key].of_released}
    assert of_released | OF_PEOPLE == risks
    assert not of_released & OF_PEOPLE


@pytest.mark.parametrize("params", [NBRS2015(epsilon=0.6, q=1.0), RandomSample(left_out=0.5)])
def test_right_links_are_counted_among_the_rows_that_leave(params: object) -> None:
    """An independent count: the best belief of each row that leaves, from the posteriors."""
    release = released(table(250), params, 2)
    leaves = ~release.masked.frame.isna().all(axis=1).to_numpy()
    assert 0 < leaves.sum() < 250
    belief = posteriors(release.law, release.masked, np.arange(250)).toarray()
    by_hand = belief.max(axis=0)[leaves].mean()
    reading = MEASURES["bayes_linkage"].read(release)
    assert reading.detail.row_by_row == pytest.approx(by_hand)
    assert reading.detail.row_by_row != pytest.approx(belief.max(axis=0).mean(), rel=0.05)
    np.testing.assert_array_equal(reading.detail.records, np.flatnonzero(leaves))
    assert reading.detail.top1 <= 1.0


def test_all_rows_together_count_the_same_rows() -> None:
    """With the truth certain for rows that leave and unknown for the others: all, not a part."""
    comparison = sampled(60, 0.5)
    belief = posteriors(comparison.law, comparison.masked, np.arange(60))
    leaves = np.isin(np.arange(60), released_rows(comparison.original, comparison.masked))
    share, truth = all_rows(belief, blocks(belief), leaves=leaves)
    assert share == pytest.approx(1.0)
    np.testing.assert_allclose(truth[leaves], 1.0)
    assert all_rows(belief, blocks(belief))[0] < 0.6  # among all rows, as before


def test_a_row_with_one_value_left_is_a_row_that_leaves() -> None:
    data = table(40)
    release = mask(data, LocalSuppression(k=2), seed=1)
    rows = released_rows(data, release.masked)
    assert len(rows) == data.n  # the confidential value stays
    empty = data.frame.copy()
    empty.iloc[3:5] = np.nan
    missing = Microdata(empty, data.schema)
    assert released_rows(data, missing).tolist() == [*range(3), *range(5, 40)]
    assert len(released_rows(missing, missing)) == 40  # nothing was lost
    everything = Microdata(data.frame * np.nan, data.schema)
    assert len(released_rows(data, everything)) == 40  # nothing is in such a file


def test_an_unknown_measure_is_refused_with_the_nearest_and_where_all_are() -> None:
    assert "bayes_linkage" in no_measure("linkage")
    assert no_measure("nope").endswith("docs/reference/measures.md lists all.")
    for key in ("corelation", "linkage", "nope", ""):
        assert sum(known in no_measure(key) for known in MEASURES) < 10
    assert rwn.METHODS.get("typo") is None
    assert "typo" not in rwn.METHODS


def table_of_ends(n: int, seed: int = 0) -> rwn.Microdata:
    """Coarse keys and a confidential answer that nearly all give alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"name": [f"p{i}" for i in range(n)], "group": rng.choice(list("abc"), n)})
    frame["age"] = rng.integers(0, 4, n)
    frame["ill"] = rng.choice(["no", "yes"], n, p=[0.97, 0.03])
    return described(frame, name="identifier", group="key", age="key", ill="confidential")


def read(data: rwn.Microdata, measure: str) -> dict[str, float]:
    return dict(MEASURES[measure].ends(Comparison(original=data, masked=data)))


def test_the_law_of_the_unmasked_file_changes_nothing() -> None:
    data = table_of_ends(50)
    masked, law = unmasked(data)
    assert masked.frame.equals(data.frame[["group", "age", "ill"]])
    assert law.rows_unchanged() == pytest.approx(np.ones(50))
    of_rwn = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).law
    for name in masked.names:
        ours, values = law.table(name)
        theirs, others = of_rwn.table(name)
        assert values == others
        assert np.array_equal(ours.toarray(), theirs.toarray())


def test_linkage_of_the_unmasked_file_is_counted_by_hand() -> None:
    data = table_of_ends(60)
    classes = len(data.frame[["group", "age", "ill"]].drop_duplicates())
    assert read(data, "bayes_linkage") == pytest.approx({UNMASKED: classes / 60, UNRELATED: 1 / 60})
    assert read(data, "distance_linkage")[UNMASKED] == pytest.approx(classes / 60)


def test_where_no_relation_is_left_correlations_are_lost_and_columns_are_whole() -> None:
    data = rwn.load_demo("bodyfat")
    matrix = np.abs(np.corrcoef(data.matrix(data.numeric_names), rowvar=False))
    lost = matrix[np.triu_indices(len(matrix), 1)].mean()
    assert read(data, "correlation") == {UNMASKED: 0.0, UNRELATED: pytest.approx(lost, abs=0.02)}
    for measure in ("marginals", "quantiles"):  # no limit on them is empty
        assert read(data, measure) == {UNMASKED: 0.0}
    # a planted wrong end: shuffled rows, whose relations are whole
    rows = Comparison(original=data, masked=data.take(np.random.default_rng(0).permutation(data.n)))
    assert MEASURES["correlation"].read(rows, bare=True).value < 0.1 * lost
    donors = shuffled_donors(table_of_ends(400), SecretKey.from_seed(0))
    assert np.array_equal(np.sort(donors, axis=0), np.tile(np.arange(400), (3, 1)).T)
    assert abs(np.corrcoef(donors, rowvar=False)[0, 1]) < 0.2


def test_each_end_is_read_once_for_all_releases_weights_and_slices() -> None:
    data = table_of_ends(80)
    calls = []

    def compute(comparison: Comparison) -> Reading:
        calls.append(comparison)
        return Reading(value=float(len(calls)), detail=Detail())

    made_up = replace(MEASURES["correlation"], key="made up", compute=compute, begin=None)
    first = Comparison(original=data, masked=data)
    found = made_up.ends(first)
    assert len(calls) == 1 + SHUFFLES
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    sliced = data.with_weights({"age": 4.0}).with_slices([("group", "ill")])
    assert made_up.ends(first.with_masked(release.masked, release.law)) == found
    assert made_up.ends(Comparison(original=sliced, masked=sliced)) == found
    assert len(calls) == 1 + SHUFFLES
    another = table_of_ends(80, 1)
    made_up.ends(Comparison(original=another, masked=another))
    assert len(calls) == 2 * (1 + SHUFFLES)


def test_every_measure_can_be_asked_at_both_ends(small_forests: None) -> None:
    tables, again = ({str(n): table_of_ends(n) for n in (3, 40)} for _ in range(2))

    def rule(measure: str, n: str) -> None:
        found = read(tables[n], measure)
        assert set(found) <= {UNMASKED, UNRELATED}
        assert all(np.isfinite(value) for value in found.values())
        assert found == read(again[n], measure), "the same table, the same ends"

    hold(rule, MEASURES, tables)


def test_what_an_audit_shares_with_the_ends_reads_as_each_alone(small_forests: None) -> None:
    def fresh() -> rwn.Microdata:
        data = table_of_ends(60)
        return described(data.frame.assign(size=np.sqrt(np.arange(60.0))), name="identifier")

    data = fresh()
    release = rwn.mask(data, rwn.RWN(k=4), seed=1)
    together = rwn.audit(data, release)

    def rule(measure: str) -> None:
        given = Comparison(original=fresh(), masked=release.masked, law=release.law)
        alone = MEASURES[measure].read(given)
        found = together[measure]
        if not isinstance(found, Reading):
            assert not isinstance(alone, Reading)
            return
        assert isinstance(alone, Reading)
        assert found.value == pytest.approx(alone.value, rel=1e-12)
        assert found.ends == pytest.approx(alone.ends, rel=1e-12)

    hold(rule, MEASURES)


@pytest.mark.parametrize("end", ["unmasked", "shuffled"])
def test_the_ends_of_the_propensity_score_are_those_of_the_whole_model(end: str) -> None:
    data = rwn.load_demo("bodyfat")
    table = unmasked(data)[0]
    if end == "shuffled":
        table = copy_from_donors(data, shuffled_donors(data, SecretKey.from_seed(0)))
    measure = MEASURES["pmse"]
    assert measure.of_ends is not None
    comparison = Comparison(original=data, masked=table)
    found = measure.of_ends(comparison)
    assert found.value == pytest.approx(measure.compute(comparison).value, rel=1e-12)
    constant = Microdata.from_frame(pd.DataFrame({"x": np.ones(5)}))
    with pytest.raises(rwn.NotApplicable, match="No variable varies"):
        measure.of_ends(Comparison(original=constant, masked=constant))


T = np.array([[0.9, 0.06, 0.04], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])
COUNTS = np.array([140, 50, 10])


def odds_of(prepared: Prepared) -> Reading[PosteriorOdds]:
    masked = prepared.release(SecretKey.from_seed(1)).masked
    compared = Comparison(original=prepared.microdata, masked=masked, law=prepared.law)
    return MEASURES["posterior_odds"].compute(compared)


def test_posterior_odds_are_those_of_the_formula():
    g = np.repeat(["a", "b", "c"], COUNTS)
    data = Microdata.from_frame(pd.DataFrame({"g": g, "x": np.arange(200.0)}))
    pram = PRAM(matrices={"g": T.tolist()}, invariant=False).prepare(data)
    v = COUNTS / COUNTS.sum()
    odds = np.array([T[k, k] * v[k] / (T[:, k] @ v - T[k, k] * v[k]) for k in range(3)])
    found = odds_of(pram)
    assert found.detail.names == ("g",)
    assert found.detail.chances[0] == pytest.approx(odds / (1 + odds))
    assert found.value == pytest.approx(odds[2] / (1 + odds[2]))
    assert found.baseline == 0.05
    # noise leaves categories alone: each shown one is true
    assert odds_of(AdditiveNoise().prepare(pram.microdata)).value == 1.0
    # among all others within reach, the own category is only as likely as without the file
    assert odds_of(RWN(k=199).prepare(pram.microdata)).value == pytest.approx(0.05, abs=0.006)


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
    "looks harmless",
    "what it protects",
    "costs and protects",
    "looks safe",
    "anonymous for this recipient because",  # the steward's own words follow
    "does not make it acceptable",
    "is acceptable when *every* limit holds",
    "rounding alone protects little",
    "not shown as fine",
    "fine quantiles",
    "protects nobody",
    "sampling protects only by the doubt",
    "what each costs and protects",
    "tuned to the same loss, and see which protects best.",
    "has no inverse, so nobody can estimate true counts",
    "password-protected",
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


def said_table() -> Microdata:
    """Keys of every kind, a confidential number and a confidential category, some missing."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "s"])
    frame["g"], frame["t"] = rng.choice(list("xyz"), N), rng.choice(["u", "v"], N)
    frame.loc[3, "s"] = np.nan
    return described(frame, a="key", b="key", g="key", s="confidential", t="confidential")


@pytest.fixture(scope="module")
def found() -> dict[str, Reading]:
    data = said_table()
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
    own = ["value", "baseline"]
    if not hasattr(reading.detail, "unit_words"):
        own.append("unit_words")
    fields = {name: changes.pop(name) for name in own if name in changes}
    return replace(with_parts(reading, **changes), **fields)


A_LEVEL = Finding(attack="merge", words="a merge", kind="attribute", right=8.0, named=8.0,
                  people=13.0, base=0.1, score=0.5, secret="flag", level="yes")  # fmt: skip
KNOWN = KnownSets((("a",),), 1, 0, 10, 10)
FEW_KNOWN = {"known": KNOWN, "people": [3], "shares": [0.44], "worst": 0, "few": 0}
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
        FEW_KNOWN, {**FEW_KNOWN, "unit_words": "households"},
    ],
    "uniqueness": [{"baseline": 0.83}],
}  # fmt: skip


def test_a_radius_without_effect_and_a_neighborhood_of_nearly_all_are_warned_of():
    measure = MEASURES["neighborhood_size"]
    for epsilon, words in (
        (0.01, "The radius plays no part for 100 % of the records"),
        (9.0, "The typical neighborhood is more than half the file"),
    ):
        reading = measure.read(released(said_table(), RWN(epsilon=epsilon, k=3), 2))
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
