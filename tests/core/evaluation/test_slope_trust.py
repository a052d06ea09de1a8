"""Slopes are trusted if intervals of many releases hold the original's, and not by one release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import statsmodels.api as sm

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.evaluation.draws import draws
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.evaluation.validity import misses, slope_trust, turns

FORMULA = "siri ~ age + abdomen + weight + height"


def plan(formula: str, kind: str = "linear") -> AnalysisPlan:
    return AnalysisPlan(analyses=(Analysis(name="a", kind=kind, tolerance=2.0, formula=formula),))


def test_biased_slopes_of_bodyfat_are_never_called_fine() -> None:
    """Finding N2: 95 % intervals hold the slope of abdomen in none of 60 releases."""
    data = rwn.load_demo("bodyfat")
    (found,) = slope_trust(data, rwn.RWN(epsilon=2.0, k=5), plan=plan(FORMULA), seed=100)
    by_name = dict(zip(found.names, found.coverage, strict=True))
    assert (found.drawn, found.releases) == (60, 60)
    assert by_name["abdomen"] == by_name["weight"] == 0.0
    record = found.to_record()
    assert {"abdomen", "weight", "age", "height"} == set(misses(record))
    assert turns(record) == ["weight"]


def test_coverage_is_that_of_an_independent_simulation() -> None:
    """Releases by the public function and least squares by numpy, with the normal equations."""
    data = rwn.load_demo("bodyfat")
    names = ["age", "abdomen", "weight", "height"]

    def fitted(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        x = np.column_stack([np.ones(len(frame)), frame[names].to_numpy(float)])
        y = frame["siri"].to_numpy(float)
        inverse = np.linalg.inv(x.T @ x)
        slopes = inverse @ x.T @ y
        rest = y - x @ slopes
        return slopes, np.sqrt(np.diag(inverse) * (rest @ rest) / (len(x) - x.shape[1]))

    own = fitted(data.frame)[0]
    held = []
    for seed in range(5000, 5080):
        slopes, errors = fitted(rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=seed).masked.frame)
        held.append(np.abs(slopes - own) <= 1.96 * errors)
    simulated = np.mean(held, axis=0)[1:]
    (found,) = slope_trust(data, rwn.RWN(epsilon=2.0, k=5), plan=plan(FORMULA), repeats=80, seed=1)
    spread = np.sqrt(0.25 / 80 * 2)
    np.testing.assert_allclose(found.coverage, simulated, atol=4 * spread)


def linear(n: int = 400, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    frame = pd.DataFrame({"x": x, "z": z, "g": rng.choice(list("ab"), n)})
    frame["y"] = x - 2 * z + (frame["g"] == "b") + rng.normal(size=n)
    data = Microdata.from_frame(frame)
    question = Question(response="y", predictors=("x", "z", "g"))
    return data.with_schema(replace(data.schema, question=question))


def test_an_unmasked_file_is_trusted_and_one_without_relations_is_not() -> None:
    data = linear()
    (same,) = slope_trust(data, rwn.RWN(k=1, q=0.0), repeats=5, seed=1)
    assert same.names == ("x", "z", "g")
    assert same.coverage == same.signs == (1.0, 1.0, 1.0)
    assert misses(same.to_record()) == turns(same.to_record()) == []
    (gone,) = slope_trust(data, rwn.RWN(epsilon=1e6, k=399), repeats=40, seed=1)
    assert set(misses(gone.to_record())) == {"x", "z", "g"}
    assert set(turns(gone.to_record())) >= {"x", "z"}


def test_terms_belong_to_variables_and_levels_are_not_named() -> None:
    data = linear()
    (found,) = slope_trust(data, rwn.RWN(k=3, q=0.1), plan=plan("y ~ x * z + g"), repeats=4, seed=1)
    assert found.names == ("x", "z", "g")
    assert found.response == "y"


def test_without_a_regression_nothing_is_judged() -> None:
    table = Microdata.from_frame(pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}))
    assert slope_trust(table, rwn.RWN(k=3)) == ()


def test_a_regression_that_releases_cannot_fit_is_not_to_be_trusted() -> None:
    record = {
        "response": "y", "names": ["x"], "coverage": [1.0], "signs": [1.0], "shift": [0.0],
        "releases": 47, "drawn": 60,
    }  # fmt: skip
    assert misses(record) == ["x"]
    assert misses({**record, "releases": 48}) == []


def test_intervals_of_thirty_records_are_those_of_student() -> None:
    """The coverage is that of fits by statsmodels; with 1.96 it is another one, as planted."""
    data = linear(30)
    (found,) = slope_trust(data, rwn.RWN(k=3, q=0.3), repeats=60, seed=4)

    def fitted(table: Microdata) -> sm.regression.linear_model.RegressionResults:
        frame = table.frame
        dummy = frame["g"].astype(str).eq("b").to_numpy(float)
        return sm.OLS(
            frame["y"], np.column_stack([np.ones(30), frame["x"], frame["z"], dummy])
        ).fit()

    own, held, by_normal = fitted(data).params.to_numpy(), [], []
    for work in draws(data, rwn.RWN(k=3, q=0.3), 60, 4):
        fit = fitted(work.masked)
        low, high = fit.conf_int().to_numpy().T
        held.append((low <= own) & (own <= high))
        by_normal.append(np.abs(fit.params.to_numpy() - own) <= 1.96 * fit.bse.to_numpy())
    np.testing.assert_allclose(found.coverage, np.mean(held, axis=0)[1:])
    assert np.abs(np.mean(by_normal, axis=0)[1:] - found.coverage).max() > 0
