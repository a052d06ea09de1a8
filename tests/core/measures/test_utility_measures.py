"""What the utility measures owe beyond the contract: blind spots, units, degenerate tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

UTILITY = [key for key, measure in MEASURES.items() if measure.side == "utility"]


def pair(before: pd.DataFrame, after: pd.DataFrame, question: Question | None = None) -> Comparison:
    original = Microdata.from_frame(before)
    masked = Microdata(after.reset_index(drop=True), original.schema)
    return Comparison(original=original, masked=masked, question=question)


def correlated(n: int = 300, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    values = shared + 0.7 * rng.normal(size=(n, 4))
    frame = pd.DataFrame(values, columns=["y", "a", "b", "c"])
    return frame.assign(g=np.where(frame["a"] > 0.5, "high", "low"))


def test_the_main_effects_blind_spot_of_pmse_is_caught_by_pairs():
    """A permuted column has the same distribution, and no relation to the others."""
    before = correlated()
    after = before.assign(b=np.roll(before["b"].to_numpy(), 7))
    found = MEASURES["pmse"].compute(pair(before, after))
    assert found.detail.main.pmse < 1e-12  # blind
    assert found.detail.main.ratio < 1e-6
    assert found.value > 4  # twice what a fresh sample would give
    assert found.detail.standardized > 5
    assert found.detail.specks > 0.2


def test_two_independent_samples_are_twice_the_null():
    ratios = [
        MEASURES["pmse"].compute(pair(correlated(seed=s), correlated(seed=s + 100))).value
        for s in range(12)
    ]
    assert 1.6 < np.mean(ratios) < 2.5


@pytest.fixture(scope="module")
def in_two_units() -> tuple[Comparison, Comparison]:
    data = rwn.load_demo("pima")
    masked = rwn.mask(data, rwn.RWN(epsilon=1.0, k=4), seed=3).masked
    factors = {"bmi": 1000.0, "diabetes": 1e-6}

    def scaled(table: Microdata) -> Microdata:
        changes = {name: 7.0 + table.frame[name] * by for name, by in factors.items()}
        return Microdata(table.frame.assign(**changes), table.schema)

    question = Question(response="test", predictors=("bmi", "diabetes", "age"))
    one = Comparison(original=data, masked=masked, question=question)
    return one, Comparison(original=scaled(data), masked=scaled(masked), question=question)


@pytest.mark.parametrize("key", UTILITY)
def test_units_do_not_matter(key, in_two_units):
    one, other = (read(key, each) for each in in_two_units)
    assert type(one) is type(other)
    if isinstance(one, Reading):
        assert other.value == pytest.approx(one.value, rel=1e-6, abs=1e-9)


def poisson_table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    x = rng.normal(size=n)
    g = rng.choice(["p", "q", "r"], n)
    mean = np.exp(0.4 + 0.3 * x + 0.5 * (g == "r"))
    return pd.DataFrame(
        {
            "count": rng.poisson(mean),
            "yes": np.where(rng.random(n) < 1 / (1 + np.exp(-x)), "yes", "no"),
            "x": 100 + 5 * x,
            "g": g,
        }
    )


@pytest.mark.parametrize("family", ["poisson", "logistic"])
def test_generalized_regression_is_that_of_statsmodels(family):
    frame = poisson_table()
    response = "count" if family == "poisson" else "yes"
    question = Question(response=response, predictors=("x", "g"))
    reading = MEASURES["generalized_regression"].compute(pair(frame, frame, question))
    assert reading.detail.family == family
    given = frame.assign(yes=(frame["yes"] == "yes").astype(float))
    if family == "poisson":
        wanted = smf.poisson("count ~ x + g", given).fit(disp=False, tol=1e-10)
    else:
        wanted = smf.logit("yes ~ x + g", given).fit(disp=False, tol=1e-10)
    order = ["Intercept", "x", "g[T.q]", "g[T.r]"]
    assert reading.detail.terms == ["(intercept)", "x", "g = q", "g = r"]
    found = reading.detail
    assert found.coefficient_original == pytest.approx(wanted.params[order], rel=1e-6)
    assert found.se_original == pytest.approx(wanted.bse[order], rel=1e-5)


def reason(key: str, comparison: Comparison) -> str:
    found = read(key, comparison)
    assert isinstance(found, NotApplicable)
    return found.reason


def test_generalized_regression_names_what_it_cannot_fit():
    frame = poisson_table().assign(same="one", copy=lambda f: 2 * f["x"])
    frame["tell"] = (frame["yes"] == "yes") * 3.0 + frame["x"] / 1000
    key = "generalized_regression"

    def of(response: str, *predictors: str) -> str:
        question = Question(response=response, predictors=predictors)
        return reason(key, pair(frame, frame, question))

    assert "constant" in of("same", "x")
    assert "same" in of("same", "x")
    assert "copy" in of("yes", "x", "copy")
    assert "tell" in of("yes", "tell")
    assert "continuous" in of("x", "g")
    assert "categorical" in of("g", "x")


def test_subgroups_tell_that_the_small_one_vanished():
    frame = correlated().assign(g=lambda f: np.where(f.index < 20, "rare", "common"))
    found = MEASURES["subgroups"].compute(pair(frame, frame.assign(g="common")))
    place = found.detail.names.index("g rare")
    assert found.detail.original[place] == 20
    assert found.detail.released[place] == 0
    assert found.detail.vanished == 1


def test_quantiles_by_hand():
    before = pd.DataFrame({"x": np.arange(101.0)})
    found = MEASURES["quantiles"].compute(pair(before, before + 10))
    assert found.value == pytest.approx(10 / before["x"].std())
    assert found.detail.original[0] == pytest.approx([5, 10, 25, 50, 75, 90, 95])


def test_tables_of_three_ways_by_hand():
    """The three two-way tables are kept, and half of the records change their three-way cell."""
    before = pd.DataFrame({"a": list("uuvv") * 2, "b": list("xyxy") * 2, "c": list("pqqp") * 2})
    after = before.assign(c=list("pqqpqppq"))
    found = MEASURES["contingency"].compute(pair(before, after))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.detail.triples == [["a", "b", "c"]]
    assert found.detail.mean_three == pytest.approx(0.5)


def test_clusters_far_apart_are_found_again():
    rng = np.random.default_rng(4)
    centers = rng.normal(scale=30, size=(5, 3))
    values = centers[np.arange(200) % 5] + rng.normal(size=(200, 3))
    frame = pd.DataFrame(values, columns=list("abc"))
    noisy = frame + rng.normal(size=frame.shape)
    assert MEASURES["clustering"].compute(pair(frame, noisy)).value > 0.95
    blurred = pd.DataFrame(
        frame.mean().to_numpy() + rng.normal(size=frame.shape), columns=list("abc")
    )
    assert MEASURES["clustering"].compute(pair(frame, blurred)).value < 0.9


@pytest.mark.parametrize(
    "params",
    [rwn.AdditiveNoise(size=0.5), rwn.RecordSwapping(variables="siri,bmi")],
    ids=lambda params: params.method,
)
def test_small_groups_are_counted_without_donors_drawn_apart(params) -> None:
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, params, seed=1)
    reading = MEASURES["subgroups"].read(
        Comparison(original=data, masked=release.masked, law=release.law)
    )
    assert reading.detail.expected is None
    plain = MEASURES["subgroups"].read(Comparison(original=data, masked=release.masked))
    assert reading.value == plain.value
