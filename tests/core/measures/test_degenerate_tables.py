"""Every measure on tables that break careless code: a number, or a reason that names the columns.

A constant column, collinear regressors, an outcome of one class, fewer records than variables, a
record of leverage one, an empty category; keys that are unique, identical, of one level or missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core import NBRS2015, RWN, Microdata, NotApplicable, Question, Schema, forecast, mask
from rwn_core.charts import serialise
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.disclosure import disclose_release, worst_records
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading, plain
from rwn_ui.panel.parts import measure_tables
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import view as risk_view
from rwn_ui.risk import warnings as risk_warnings
from tests.core.measures.attacks.attribute_tables import released
from tests.holding import hold
from tests.tables import described

RISKS = [key for key, measure in MEASURES.items() if measure.side == "risk"]
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
def table(name: str) -> Microdata:
    if name in FITTED:
        frame, predictors = FITTED[name]
        data = Microdata.from_frame(frame)
        question = Question(response="y", predictors=predictors)
        return data.with_schema(Schema(variables=data.schema.variables, question=question))
    frame, keys, secrets = LINKED[name]
    roles = dict.fromkeys(keys, "key") | dict.fromkeys(secrets, "confidential")
    return described(frame, **dict.fromkeys(frame, "other") | roles)


def setting(way: str, n: int) -> Any:
    if way == "rwn":
        return RWN(k=1 if n < 5 else 3, epsilon=0.1, q=0.6)
    return NBRS2015(epsilon=0.7, q=1.0 if way == "count" else 0.6, record_selection=way)


@cache
def comparison(name: str, way: str = "rwn") -> Comparison:
    data = table(name)
    release = mask(data, setting(way, data.n), seed=3)
    return compare(data, release, holdout=data.take(np.arange(data.n)[::2]))


def numbers(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in numbers(part)]
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for part in np.asarray(value, dtype=object).ravel() for leaf in
                ([part] if isinstance(part, float) else numbers(part) if
                 isinstance(part, list | tuple | dict) else [])]  # fmt: skip
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("name", [*FITTED, *LINKED])
def test_a_finite_number_or_a_reason(name: str) -> None:
    def rule(key: str, way: str) -> None:
        found = MEASURES[key].read(comparison(name, way))
        if isinstance(found, NotApplicable):
            assert found.reason[0].isupper()
            assert found.reason.endswith(".")
            return
        low, high = MEASURES[key].bounds
        assert low <= found.value <= high
        assert math.isfinite(found.value)
        assert found.baseline is None or math.isfinite(found.baseline)
        begin, end = found.interval or (found.value, found.value)
        assert begin <= found.value + 1e-12
        assert found.value <= end + 1e-12
        if key in RISKS:
            assert all(math.isfinite(number) for number in numbers(plain(found.detail)))

    if name in FITTED:
        hold(rule, [key for key in MEASURES if key not in RISKS], ["rwn"])
    else:
        hold(rule, RISKS, WAYS if name in ("gaps", "two") else ["rwn"])


def test_what_is_expected_of_it_is_finite() -> None:
    def rule(name: str) -> None:
        data = table(name)
        expected = forecast(data, setting("rwn", data.n))
        known = ~np.isnan(data.matrix(data.numeric_names)).all(axis=0)
        assert (np.isfinite(expected.means) == known).all()
        assert all(each.sum() <= data.n + 1e-9 for each in expected.category_counts.values())

    hold(rule, FITTED)


NAMED = {
    ("constant column", FITS): "fixed",
    ("collinear regressors", (*FITS, "eigenvalues")): "double",
    ("one-class outcome", (*FITS, "generalized_regression")): "y",
}
"""Whose reason must name which column."""


def test_what_cannot_be_fitted_is_named_and_what_can_is_fitted() -> None:
    for (name, keys), column in NAMED.items():
        for key in keys:
            found = MEASURES[key].read(comparison(name))
            assert isinstance(found, NotApplicable), key
            assert re.search(rf"\b{column}\b", found.reason), key
    for name in ("leverage 1", "empty category"):
        data = table(name)
        released = data.frame.assign(y=data.frame["y"] + 0.01 * np.arange(data.n))
        seen = Comparison(original=data, masked=Microdata(released, data.schema))
        assert all(isinstance(MEASURES[key].read(seen), Reading) for key in FITS)


def test_an_analysis_plan_names_the_columns_too() -> None:
    cases = {
        "constant column": ("linear", {"formula": "y ~ a + fixed"}, "fixed"),
        "collinear regressors": ("linear", {"formula": "y ~ a + double"}, "double"),
        "one-class outcome": ("logistic", {"formula": "y ~ a"}, "y"),
    }
    for name, (kind, given, column) in cases.items():
        plan = AnalysisPlan(analyses=(Analysis(name="one", kind=kind, tolerance=1, **given),))
        (verdict,) = plan.judge(comparison(name))
        assert not verdict.passed
        assert re.search(rf"\b{column}\b", verdict.reason)


def test_everybody_is_found_in_an_unmasked_table_and_nobody_among_identical_records() -> None:
    seen = released(table("unique key"), RWN(k=3, q=0.0))
    for key in ("bayes_linkage", "intruder_levels", "whole_file_linkage", "distance_linkage",
                "membership", "uniqueness", "suda"):  # fmt: skip
        assert MEASURES[key].read(seen).value == pytest.approx(1.0), key
    found = MEASURES["bayes_linkage"].read(released(table("identical"), RWN(k=3, q=0.0)))
    assert found.value == pytest.approx(2 / 13)


@pytest.mark.parametrize(("name", "way"), [("gaps", "count"), ("two", "rwn")])
def test_the_risk_page_has_words_and_pictures_for_it(name: str, way: str) -> None:
    """Everything the page shows of such a table: no NaN in a sentence, a tile or a picture."""
    data = table(name)
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
        seen = released(Microdata.from_frame(given), RWN(k=5))
        assert (seen.masked.frame.dtypes == given.dtypes).all()
        found.append({key: measure.read(seen) for key, measure in MEASURES.items()})
    for key in MEASURES:
        one, other = (getattr(each[key], "value", str(each[key])) for each in found)
        assert one == pytest.approx(other, nan_ok=True), key
