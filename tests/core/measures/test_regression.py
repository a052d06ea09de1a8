"""The steward's regression, Cook's distance and predictions, against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.outliers_influence import OLSInfluence

from rwn_core import MEASURES, Comparison, Kind, Microdata, NotApplicable, Role
from rwn_core.laws.donors import released_schema

REGRESSION, MEASURE = MEASURES["regression"], MEASURES["cooks_distance"]


def test_agrees_with_statsmodels(compare, numeric_frames):
    original, masked = numeric_frames
    comparison = compare(original, masked, "d", ("a", "b", "c"))
    detail, cooks = REGRESSION.compute(comparison).detail, MEASURE.compute(comparison)
    for side, frame in (("original", original), ("released", masked)):
        x = np.column_stack([np.ones(60), frame[["a", "b", "c"]]])
        fit = OLS(frame["d"].to_numpy(), x).fit()
        np.testing.assert_allclose(getattr(detail, f"coefficient_{side}"), fit.params, rtol=1e-8)
        np.testing.assert_allclose(getattr(detail, f"se_{side}"), fit.bse, rtol=1e-8)
        assert getattr(detail, f"r2_{side}") == pytest.approx(fit.rsquared, abs=1e-12)
        influence = OLSInfluence(fit).cooks_distance[0]
        np.testing.assert_allclose(getattr(cooks.detail, side), influence, rtol=1e-8)
    difference = np.abs(detail.coefficient_released - detail.coefficient_original)
    np.testing.assert_allclose(detail.standardized_difference, difference / detail.se_original)
    assert detail.terms == ["(intercept)", "a", "b", "c"]
    assert cooks.value == cooks.detail.max_released == cooks.detail.released.max()
    assert cooks.baseline == cooks.detail.max_original


def test_categories_become_treatment_dummies_of_the_original_levels(compare):
    original = pd.DataFrame({"y": [1.0, 2, 4, 6, 9, 11, 3, 5], "g": list("bbaaccba")})
    masked = original.assign(y=[1.0, 3, 4, 5, 9, 12, 2, 5])
    detail = REGRESSION.compute(compare(original, masked, "y", ("g",))).detail
    means = original.groupby("g")["y"].mean()
    assert detail.terms == ["(intercept)", "g = b", "g = c"]
    expected = [means["a"], means["b"] - means["a"], means["c"] - means["a"]]
    np.testing.assert_allclose(detail.coefficient_original, expected, atol=1e-12)


def test_an_ordered_predictor_counts_its_levels(compare):
    size = pd.Categorical(["s", "m", "l", "s", "m", "l"], ["s", "m", "l"], ordered=True)
    original = pd.DataFrame({"y": [1.0, 2, 3, 2, 3, 4], "size": size})
    # the release lost the level s: the others must keep their numbers
    masked = original.assign(size=size[[1, 1, 2, 1, 1, 2]])
    detail = REGRESSION.compute(compare(original, masked, "y", ("size",))).detail
    assert detail.coefficient_original == pytest.approx([1.5, 1.0])
    assert detail.coefficient_released == pytest.approx([0.5, 1.5])


def test_why_there_is_no_regression(compare, ut_frames, numeric_frames, sentences):
    """A reason names the variable, the file and what to do."""
    original, masked = numeric_frames
    total = original.assign(total=original["a"] + 3 * original["b"])
    loose = total.assign(total=total["total"] + np.arange(60))
    words = pd.DataFrame({"g": ["a", "b", "a"], "x": [1.0, 2, 4], "w": [1.0, 5, 2]})
    levels = pd.DataFrame({"y": [1.0, 2, 4, 6, 9, 11], "g": ["a", "a", "a", "b", "b", "c"]})
    exact = ut_frames[0].assign(three=lambda f: 2 * f["one"] + 1)
    many = pd.DataFrame({"y": np.arange(900.0) % 7, "id": [f"p{i}" for i in range(900)]})
    made = compare(*ut_frames, "two", ("one",))
    hidden = made.original.schema.replace_variable("one", role=Role.IDENTIFIER)
    named = made.masked.schema.replace_variable("one", kind=Kind.CATEGORICAL)
    cases = {
        "no question": compare(*ut_frames),
        "an unknown variable": compare(*ut_frames, "two", ("three",)),
        "an identifier": Comparison(
            original=made.original.with_schema(hidden),
            masked=Microdata(ut_frames[1][["two"]], released_schema(hidden)),
            question=made.question,
        ),
        "a variable of another kind": made.with_masked(Microdata(made.masked.frame, named)),
        "a categorical response": compare(words, words, "g", ("x",)),
        "a lost level": compare(levels, levels.assign(g=list("aaabbb")), "y", ("g",)),
        "collinear": compare(total, loose, "d", ("a", "b", "total")),
        "collinear in the release": compare(loose, total, "d", ("a", "b", "total")),
        "a constant predictor": compare(original, masked.assign(a=5.0), "d", ("a", "b")),
        "a constant response": compare(original, masked.assign(a=5.0), "a", ("d",)),
        "few records": compare(original.head(3), masked.head(3), "d", ("a", "b")),
        "no values": compare(original, masked.assign(a=np.nan), "d", ("a",)),
        "an exact fit": compare(exact, exact, "three", ("one",)),
        "very many levels": compare(many, many, "y", ("id",)),
    }
    sentences("regression", {case: [REGRESSION.read(each).reason] for case, each in cases.items()})


def test_records_keep_their_numbers(compare, numeric_frames):
    original, masked = (frame.copy() for frame in numeric_frames)
    original.loc[[0, 1], "a"] = np.nan
    original.loc[40, "d"] = 1000.0
    masked.loc[[5], "c"] = np.nan  # not in the regression
    detail = MEASURE.compute(compare(original, masked, "d", ("a", "b"))).detail
    assert detail.records_original.tolist() == list(range(2, 60))
    assert len(detail.records_released) == 60
    assert detail.argmax_original == 40
    assert detail.names == ["a", "b"]


def test_a_record_that_alone_decides_a_coefficient_and_an_exact_fit(compare, numeric_frames):
    original, masked = numeric_frames
    group = pd.Series(["u"] * 59 + ["v"])
    loose = pd.Series(["u"] * 30 + ["v"] * 30)
    comparison = compare(original.assign(g=loose), masked.assign(g=group), "d", ("a", "g"))
    assert MEASURE.read(comparison).reason == (
        "Single records alone decide the coefficient of g = v in the released table (leverage 1); "
        "take it out of the regression."
    )
    assert np.isfinite(REGRESSION.compute(comparison).value)
    exact = masked.assign(d=3 * masked["a"])
    with pytest.raises(NotApplicable, match="explain d exactly in the released table"):
        MEASURE.compute(compare(original, exact, "d", ("a",)))


PREDICTION = MEASURES["prediction"]


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, group = rng.normal(size=n), rng.choice(["p", "q", "r"], n)
    ill = (x + (group == "q") + rng.normal(scale=0.5, size=n) > 0.5).astype(int)
    return pd.DataFrame({"x": x, "group": group, "ill": ill, "cost": 3 * x + ill})


@pytest.fixture
def frames():
    return table(120, 1), table(120, 1).sample(frac=1, random_state=2), table(80, 3)


def reading(compare, frames, response, predictors=("x",)):
    original, masked, holdout = frames
    return PREDICTION.read(
        compare(original, masked, response, predictors, holdout=Microdata.from_frame(holdout))
    )


def features(frame: pd.DataFrame, response: str) -> np.ndarray:
    dummies = {level: (frame["group"] == level).astype(float) for level in ("p", "q", "r")}
    columns = {"x": frame["x"], **dummies, "ill": frame["ill"], "cost": frame["cost"]}
    return np.column_stack([values for name, values in columns.items() if name != response])


def test_a_number_is_predicted_with_one_minus_r2(compare, frames):
    found = reading(compare, frames, "cost")
    original, _, holdout = frames
    errors = []
    for seed in range(3):
        forest = RandomForestRegressor(
            n_estimators=100, random_state=seed, max_features=1 / 3, min_samples_leaf=5
        )
        forest.fit(features(original, "cost"), original["cost"])
        left = holdout["cost"] - forest.predict(features(holdout, "cost"))
        errors.append((left**2).sum() / ((holdout["cost"] - holdout["cost"].mean()) ** 2).sum())
    assert found.detail.error_name == "1 - R2"
    assert min(errors) / 2 < found.baseline < max(errors) * 2
    assert found.value == found.detail.errors.released[0]


def test_two_valued_counts_are_classes(compare, frames):
    found = reading(compare, frames, "ill")
    original, _, holdout = frames
    forest = RandomForestClassifier(n_estimators=100, random_state=9)
    forest.fit(features(original, "ill"), original["ill"])
    wrong = (forest.predict(features(holdout, "ill")) != holdout["ill"]).mean()
    assert found.detail.error_name == "misclassification rate"
    assert abs(found.baseline - wrong) < 0.1
    assert (found.detail.n_train, found.detail.n_test) == (120, 80)


def test_a_release_without_relations_predicts_worse(compare, frames):
    original, _, holdout = frames
    rng = np.random.default_rng(5)
    broken = original.apply(lambda column: rng.permutation(column))
    for response, worst in (("cost", 0.5), ("ill", 0.25)):
        found = reading(compare, (original, broken, holdout), response)
        assert found.value > worst > found.baseline


def test_a_class_that_the_original_never_has_counts_as_wrong(compare, frames):
    original, masked, holdout = frames
    new = holdout.assign(group=holdout["group"].where(holdout.index >= 40, "new"))
    assert reading(compare, (original, masked, new), "group").value >= 0.5


def test_why_nothing_is_predicted(compare, frames):
    original, masked, holdout = frames
    many = pd.DataFrame({"y": np.arange(600.0), "id": [f"p{i}" for i in range(600)]})
    constant = (original, masked, holdout.assign(cost=1.0))
    unknown = "The response nothing is not among the variables"
    for given, response, predictors, words in (
        (frames, "nothing", ("x",), f"{unknown} of a release: x, group, ill"),
        (constant, "cost", ("x",), "constant in the held-out records"),
        ((many, many, many), "y", ("id",), "The predictors have 600 levels and numbers together"),
    ):
        assert words in reading(compare, given, response, predictors).reason
