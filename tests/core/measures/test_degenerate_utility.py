"""Degenerate inputs: every utility measure gives a value or a reason that names the columns.

The table of the promise: a constant column, collinear regressors, an outcome of one class, fewer
records than variables, a record of leverage one, an empty category.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.forecast import forecast
from rwn_core.evaluation.forecast.statistic import available_statistics
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.evaluation.repeated_draws import ensemble
from rwn_core.evaluation.standard_errors import standard_error_validity
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

UTILITY = [key for key, measure in MEASURES.items() if measure.side == "utility"]
FITS = ("regression", "ci_overlap", "standard_errors")
"""Measures of the steward's linear regression."""


def plain(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(21)
    a, b = rng.normal(size=n), rng.normal(size=n)
    return pd.DataFrame({"y": a + rng.normal(size=n), "a": a, "b": b})


def constant() -> pd.DataFrame:
    return plain().assign(fixed=7.0)


def collinear() -> pd.DataFrame:
    return plain().assign(double=lambda f: 2 * f["a"])


def one_class() -> pd.DataFrame:
    return plain().assign(y="same")


def few() -> pd.DataFrame:
    rng = np.random.default_rng(22)
    return pd.DataFrame(rng.normal(size=(5, 7)), columns=["y", "a", "b", "c", "d", "e", "f"])


def leverage() -> pd.DataFrame:
    return plain().assign(only=lambda f: (f.index == 0).astype(float))


def empty_category() -> pd.DataFrame:
    levels = ["north", "south", "nobody"]
    values = ["north", "south"] * 20
    return plain().assign(g=pd.Categorical(values, levels))


TABLES: Mapping[str, tuple[Callable[[], pd.DataFrame], tuple[str, ...]]] = {
    "constant column": (constant, ("a", "fixed")),
    "collinear regressors": (collinear, ("a", "double")),
    "one-class outcome": (one_class, ("a", "b")),
    "n < p": (few, ("a", "b", "c", "d", "e", "f")),
    "leverage 1": (leverage, ("a", "only")),
    "empty category": (empty_category, ("a", "g")),
}
NAMED = {
    ("constant column", FITS): "fixed",
    ("collinear regressors", FITS): "double",
    ("collinear regressors", ("eigenvalues",)): "double",
    ("one-class outcome", (*FITS, "generalized_regression")): "y",
}
"""Whose reason must name which column."""


def table(name: str) -> Microdata:
    make, predictors = TABLES[name]
    data = Microdata.from_frame(make())
    question = Question(response="y", predictors=predictors)
    schema = Schema(variables=data.schema.variables, question=question)
    return data.with_schema(schema)


@cache
def comparison(name: str) -> Comparison:
    data = table(name)
    release = mask(data, RWN(k=2, q=0.9), seed=3)
    holdout = data.take(np.arange(max(data.n // 4, 2)))
    return Comparison(original=data, masked=release.masked, law=release.law, holdout=holdout)


@pytest.mark.parametrize("key", UTILITY)
@pytest.mark.parametrize("name", TABLES)
def test_a_finite_value_or_a_reason(name: str, key: str) -> None:
    found = MEASURES[key].read(comparison(name))
    if isinstance(found, Reading):
        low, high = MEASURES[key].bounds
        assert low <= found.value <= high
        assert np.isfinite(found.value)
        return
    assert found.reason.endswith(".")
    assert found.reason[0].isupper()


@pytest.mark.parametrize(
    ("name", "key", "column"),
    [(name, key, column) for (name, keys), column in NAMED.items() for key in keys],
)
def test_what_cannot_be_fitted_is_named(name: str, key: str, column: str) -> None:
    found = MEASURES[key].read(comparison(name))
    assert isinstance(found, NotApplicable)
    assert re.search(rf"\b{column}\b", found.reason)


@pytest.mark.parametrize("key", FITS)
@pytest.mark.parametrize("name", ["leverage 1", "empty category"])
def test_what_can_be_fitted_is(name: str, key: str) -> None:
    data = table(name)
    released = data.frame.assign(y=data.frame["y"] + 0.01 * np.arange(data.n))
    seen = Comparison(original=data, masked=Microdata(released, data.schema))
    assert isinstance(MEASURES[key].read(seen), Reading)


def answer(work: Callable[[], object]) -> object:
    """What the work finds; a reason as its text."""
    try:
        return work()
    except NotApplicable as reason:
        return reason.reason


@pytest.mark.parametrize("name", TABLES)
def test_the_rest_of_the_page_has_an_answer_or_a_reason(name: str) -> None:
    data, params = table(name), RWN(k=2, q=0.9)
    expected, seen = forecast(data, params), comparison(name)
    names = [variable.name for variable in data.schema.released]
    found: list[object] = []
    for statistic in available_statistics(data, names[0], names[-1]):
        found.append(answer(partial(statistic.expected, expected, data)))
        found.append(answer(partial(statistic.realized, seen)))
    check = answer(partial(standard_error_validity, data, params, repeats=10, seed=1))
    found += [check] if isinstance(check, str) else list(check.inflation)
    keys = [key for key in UTILITY if key != "prediction"]
    made = ensemble(data, params, repeats=2, measures=keys, seed=1)
    found += [value for values in made.values.values() for value in values]
    for one in found:
        assert one.endswith(".") if isinstance(one, str) else np.isfinite(one)


def test_an_analysis_plan_names_the_columns_too() -> None:
    registered = AnalysisPlan(
        analyses=(
            Analysis(name="flat", kind="linear", tolerance=1, formula="y ~ a + fixed"),
            Analysis(name="mean", kind="means", tolerance=1, variables=("fixed", "a")),
        )
    )
    for verdict in registered.judge(comparison("constant column")):
        assert not verdict.passed
        assert "fixed" in verdict.reason
    twice = Analysis(name="twice", kind="linear", tolerance=1, formula="y ~ a + double")
    (verdict,) = AnalysisPlan(analyses=(twice,)).judge(comparison("collinear regressors"))
    assert "double" in verdict.reason
    logit = Analysis(name="logit", kind="logistic", tolerance=1, formula="y ~ a")
    (verdict,) = AnalysisPlan(analyses=(logit,)).judge(comparison("one-class outcome"))
    assert "y" in verdict.reason.split()
