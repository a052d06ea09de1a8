"""The steward's regression, against statsmodels; every measure on degenerate tables."""

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.charts import serialise
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.disclosure import disclose_release, worst_records
from rwn_core.laws.donors import released_schema
from rwn_core.measures.measure import plain
from rwn_ui.panel.parts import measure_tables
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import view as risk_view
from rwn_ui.risk import warnings as risk_warnings
from tests.core.measures.attacks.attribute_tables import released
from tests.holding import hold
from tests.tables import described

REGRESSION, MEASURE = rwn.MEASURES["regression"], rwn.MEASURES["cooks_distance"]


def test_agrees_with_statsmodels(compare, numeric_frames):
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.outliers_influence import OLSInfluence

    original, masked = numeric_frames
    comparison = compare(original, masked, "d", ("a", "b", "c"))
    detail = REGRESSION.compute(comparison).detail
    cooks = MEASURE.compute(comparison)
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
    hidden = made.original.schema.replace_variable("one", role=rwn.Role.IDENTIFIER)
    named = made.masked.schema.replace_variable("one", kind=rwn.Kind.CATEGORICAL)
    cases = {
        "no question": compare(*ut_frames),
        "an unknown variable": compare(*ut_frames, "two", ("three",)),
        "an identifier": rwn.Comparison(
            original=made.original.with_schema(hidden),
            masked=rwn.Microdata(ut_frames[1][["two"]], released_schema(hidden)),
            question=made.question,
        ),
        "a variable of another kind": made.with_masked(rwn.Microdata(made.masked.frame, named)),
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
    with pytest.raises(rwn.NotApplicable, match="explain d exactly in the released table"):
        MEASURE.compute(compare(original, exact, "d", ("a",)))


PREDICTION = rwn.MEASURES["prediction"]


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    group = rng.choice(["p", "q", "r"], n)
    ill = (x + (group == "q") + rng.normal(scale=0.5, size=n) > 0.5).astype(int)
    return pd.DataFrame({"x": x, "group": group, "ill": ill, "cost": 3 * x + ill})


@pytest.fixture
def frames():
    return table(120, 1), table(120, 1).sample(frac=1, random_state=2), table(80, 3)


def reading(compare, frames, response, predictors=("x",)):
    original, masked, holdout = frames
    return PREDICTION.read(
        compare(original, masked, response, predictors, holdout=rwn.Microdata.from_frame(holdout))
    )


def features(frame: pd.DataFrame, response: str) -> np.ndarray:
    dummies = {level: (frame["group"] == level).astype(float) for level in ("p", "q", "r")}
    columns = {"x": frame["x"], **dummies, "ill": frame["ill"], "cost": frame["cost"]}
    return np.column_stack([values for name, values in columns.items() if name != response])


def test_a_number_is_predicted_with_one_minus_r2(compare, frames):
    from sklearn.ensemble import RandomForestRegressor

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
    from sklearn.ensemble import RandomForestClassifier

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


RISKS = [key for key, measure in rwn.MEASURES.items() if measure.side == "risk"]
FITS = ("regression", "ci_overlap", "standard_errors")
"""Measures of the steward's linear regression."""

RNG = np.random.default_rng(21)
A, B, NOISE = RNG.normal(size=(3, 40))
PLAIN = pd.DataFrame({"y": A + NOISE, "a": A, "b": B})
PEOPLE = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["a", "b", "c"])
GAPS = pd.DataFrame({"g": RNG.choice(["u", "v", "w"], 40), "x": RNG.normal(size=40),
                     "n": RNG.integers(0, 5, 40) * 1.0,
                     "s": RNG.choice(["yes", "no"], 40)})  # fmt: skip
ALIKE = pd.DataFrame({"g": ["a"] * 12 + ["b"], "x": [1.0] * 12 + [2.0], "s": ["y"] * 13})
FITTED: Mapping[str, tuple[pd.DataFrame, tuple[str, ...]]] = {
    "constant column": (PLAIN.assign(fixed=7.0), ("a", "fixed")),
    "collinear regressors": (PLAIN.assign(double=2 * A), ("a", "double")),
    "one-class outcome": (PLAIN.assign(y="same"), ("a", "b")),
    "n < p": (pd.DataFrame(RNG.normal(size=(5, 7)), columns=list("yabcdef")), tuple("abcdef")),
    "leverage 1": (PLAIN.assign(only=(np.arange(40) == 0) * 1.0), ("a", "only")),
    "empty category": (
        PLAIN.assign(g=pd.Categorical(["north", "south"] * 20, ["north", "south", "nobody"])),
        ("a", "g"),
    ),
}
"""Tables with the predictors of y."""
LINKED: Mapping[str, tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]] = {
    "singular": (PEOPLE.assign(d=PEOPLE["a"] + PEOPLE["b"], e=2 * PEOPLE["a"]), tuple("abd"), "e"),
    "unique key": (PEOPLE.assign(id=[f"person {i}" for i in range(40)]), ("id",), ("a",)),
    "one level": (PEOPLE.assign(land="here"), ("land",), ("a",)),
    "gaps": (GAPS.mask(RNG.random(GAPS.shape) < 0.25), ("g", "x", "n"), ("s",)),
    "identical": (ALIKE, ("g", "x"), ("s",)),
    "two": (pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]}), ("x",), ("s",)),
    "two alike": (pd.DataFrame({"x": [1.0, 1, 1, 2], "s": ["a"] * 4}), ("x",), ("s",)),
}
"""Tables with their keys and what is confidential."""
WAYS = ("rwn", "count", "bernoulli")
"""The 2015 method's open balls are empty for some records, or for all."""


@cache
def degenerate(name: str) -> rwn.Microdata:
    if name in FITTED:
        frame, predictors = FITTED[name]
        data = rwn.Microdata.from_frame(frame)
        question = rwn.Question(response="y", predictors=predictors)
        return data.with_schema(rwn.Schema(variables=data.schema.variables, question=question))
    frame, keys, secrets = LINKED[name]
    roles = dict.fromkeys(keys, "key") | dict.fromkeys(secrets, "confidential")
    return described(frame, **dict.fromkeys(frame, "other") | roles)


def setting(way: str, n: int) -> Any:
    if way == "rwn":
        return rwn.RWN(k=1 if n < 5 else 3, epsilon=0.1, q=0.6)
    return rwn.NBRS2015(epsilon=0.7, q=1.0 if way == "count" else 0.6, record_selection=way)


@cache
def comparison(name: str, way: str = "rwn") -> rwn.Comparison:
    data = degenerate(name)
    release = rwn.mask(data, setting(way, data.n), seed=3)
    return compare(data, release, holdout=data.take(np.arange(data.n)[::2]))


def numbers(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in numbers(part)]
    if isinstance(value, list | tuple | np.ndarray):
        parts = np.asarray(value, dtype=object).ravel()
        inside = [part for part in parts if isinstance(part, float | list | tuple | dict)]
        return [leaf for part in inside for leaf in numbers(part)]
    return [value] if isinstance(value, float) else []


def holds_numbers(key: str, reading: rwn.Reading) -> None:
    """Hold that a reading is finite, within its measure's bounds and its own interval."""
    low, high = rwn.MEASURES[key].bounds
    assert low <= reading.value <= high
    assert math.isfinite(reading.value)
    assert reading.baseline is None or math.isfinite(reading.baseline)
    begin, end = reading.interval or (reading.value, reading.value)
    assert begin <= reading.value + 1e-12
    assert reading.value <= end + 1e-12
    if key in RISKS:
        assert all(math.isfinite(number) for number in numbers(plain(reading.detail)))


@pytest.mark.usefixtures("small_forests")
@pytest.mark.parametrize("name", [*FITTED, *LINKED])
def test_a_finite_number_or_a_reason(name: str) -> None:
    def rule(key: str, way: str) -> None:
        found = rwn.MEASURES[key].read(comparison(name, way))
        if isinstance(found, rwn.NotApplicable):
            assert found.reason[0].isupper()
            assert found.reason.endswith(".")
        else:
            holds_numbers(key, found)

    if name in FITTED:
        hold(rule, [key for key in rwn.MEASURES if key not in RISKS], ["rwn"])
    else:
        hold(rule, RISKS, WAYS if name in ("gaps", "two") else ["rwn"])


NAMED = {
    ("constant column", FITS): "fixed",
    ("collinear regressors", (*FITS, "eigenvalues")): "double",
    ("one-class outcome", (*FITS, "generalized_regression")): "y",
}
"""Whose reason must name which column."""


def test_what_cannot_be_fitted_is_named_and_what_can_is_fitted() -> None:
    for (name, keys), column in NAMED.items():
        for key in keys:
            found = rwn.MEASURES[key].read(comparison(name))
            assert isinstance(found, rwn.NotApplicable), key
            assert re.search(rf"\b{column}\b", found.reason), key
    for name in ("leverage 1", "empty category"):
        data = degenerate(name)
        released = data.frame.assign(y=data.frame["y"] + 0.01 * np.arange(data.n))
        seen = rwn.Comparison(original=data, masked=rwn.Microdata(released, data.schema))
        assert all(isinstance(rwn.MEASURES[key].read(seen), rwn.Reading) for key in FITS)


def test_an_analysis_plan_names_the_columns_too() -> None:
    cases = {
        "constant column": ("linear", {"formula": "y ~ a + fixed"}, "fixed"),
        "collinear regressors": ("linear", {"formula": "y ~ a + double"}, "double"),
        "one-class outcome": ("logistic", {"formula": "y ~ a"}, "y"),
    }
    for name, (kind, given, column) in cases.items():
        plan = rwn.AnalysisPlan(
            analyses=(rwn.Analysis(name="one", kind=kind, tolerance=1, **given),)
        )
        (verdict,) = plan.judge(comparison(name))
        assert not verdict.passed
        assert re.search(rf"\b{column}\b", verdict.reason)


def test_everybody_is_found_in_an_unmasked_table_and_nobody_among_identical_records() -> None:
    seen = released(degenerate("unique key"), rwn.RWN(k=3, q=0.0))
    for key in ("bayes_linkage", "intruder_levels", "whole_file_linkage", "distance_linkage",
                "membership", "uniqueness", "suda"):  # fmt: skip
        assert rwn.MEASURES[key].read(seen).value == pytest.approx(1.0), key
    found = rwn.MEASURES["bayes_linkage"].read(
        released(degenerate("identical"), rwn.RWN(k=3, q=0.0))
    )
    assert found.value == pytest.approx(2 / 13)


@pytest.mark.parametrize(("name", "way"), [("gaps", "count"), ("two", "rwn")])
def test_the_risk_page_has_words_and_pictures_for_it(name: str, way: str) -> None:
    """Everything the page shows of such a table: no NaN in a sentence, a tile or a picture."""
    data = degenerate(name)
    params = setting(way, data.n)
    found = disclose_release(data, params, seed=1)
    shown: list[Any] = list(risk_sentences.rows(found.readings, data.n))
    shown += risk_warnings.warnings(params, found.readings, digits=True, separate=15)
    shown += [part["rows"] for part in measure_tables("tables of keys", found.readings, data.n)]
    for chart in risk_view.cards(found):
        drawn = orjson.loads(serialise(chart))
        assert drawn["title"]
        shown.append(drawn["note"] + drawn["alt"])
    assert "nan" not in str(shown).lower().replace("meaning", "")
    assert all(0 <= row["truth"] <= 1 for row in worst_records(found.readings))


def test_numbers_of_half_precision_are_judged_like_any_others() -> None:
    """Pandas cannot group or index them; their type survives the masking."""
    values = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float16)
    values[3, 1] = np.nan
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    found = []
    for given in (frame, frame.astype(np.float32)):
        seen = released(rwn.Microdata.from_frame(given), rwn.RWN(k=5))
        assert (seen.masked.frame.dtypes == given.dtypes).all()
        found.append({key: measure.read(seen) for key, measure in rwn.MEASURES.items()})
    for key in rwn.MEASURES:
        one, other = (getattr(each[key], "value", str(each[key])) for each in found)
        assert one == pytest.approx(other, nan_ok=True), key
