"""Predictions of a confidential value from the keys, fitted to the release (finding A6c)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.masking import RWN
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.attribute_attack import PREDICTIONS, STRATEGIES
from rwn_core.measures.attacks.attribute_guesses import _grow
from rwn_core.measures.comparison import Comparison
from tests.core.measures.attacks.attribute_tables import reading, released, table, value


def line(seed: int, n: int = 600) -> pd.DataFrame:
    """Finding A6c: a number that the keys predict."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) * [1, 5, 0.2] + [10, 90, 3], columns=list("abc"))
    spread = rng.normal(size=n)
    frame["y"] = 50 + 2 * frame["a"] + 0.3 * frame["b"] - 4 * frame["c"] + 0.05 * spread
    return frame


def least_squares(comparison: Comparison, noise: float | None) -> float:
    """Share of people predicted within the stated tolerance, by numpy alone."""
    frame, shown = comparison.original.frame, comparison.masked.frame
    keys, y = frame[list("abc")].to_numpy(), frame["y"].to_numpy()
    both = np.cov(shown[[*"abc", "y"]].to_numpy().T)
    if noise is not None:
        both = both - np.diag((noise * frame[[*"abc", "y"]].std().to_numpy()) ** 2)
    slopes = np.linalg.solve(both[:3, :3], both[:3, 3])
    means = shown[list("abc")].mean().to_numpy()
    predicted = shown["y"].mean() + (keys - means) @ slopes
    low, high = np.quantile(y, (0.25, 0.75))
    reach = np.minimum(0.1 * min(y.std(ddof=1), high - low), 0.05 * np.abs(y))
    return float((np.abs(predicted - y) <= reach).mean())


@pytest.mark.parametrize(
    ("params", "noise"),
    [
        (RWN(epsilon=0, k=5, q=1.0), None),
        (rwn.AdditiveNoise(size=0.5), 0.5),
        (rwn.AdditiveNoise(size=0.3), None),
        (rwn.CorrelatedNoise(size=0.5), None),
    ],
)
def test_a_regression_on_the_release_is_tried(params, noise):
    """Finding A6c: what numpy predicts from the keys is no better than the worst case."""
    comparison = released(table(line(2), list("abc"), ["y"]), params)
    found = reading("attribute_inference", comparison)
    assert found.value >= least_squares(comparison, noise) - 0.02
    assert found.detail.strategies[0] in PREDICTIONS
    said = MEASURES["attribute_inference"].sentence(found, 600)
    assert STRATEGIES[found.detail.strategies[0]] in said
    assert "people outside of the file" in said


def test_a_prediction_that_fits_people_outside_as_well_is_no_gain():
    """Finding A6c: with a control group the same strategy outside is the baseline."""
    frame = line(7, 900)
    data = table(frame.iloc[:600].reset_index(drop=True), list("abc"), ["y"])
    held = rwn.Microdata(frame.iloc[600:].reset_index(drop=True), data.schema)
    comparison = released(data, rwn.AdditiveNoise(size=0.5), holdout=held)
    found = reading("attribute_inference", comparison)
    assert found.detail.strategies[0] in PREDICTIONS
    assert found.value > 0.7
    assert value("attribute_gain", comparison) < 0.05
    assert value("attribute_gain", released(data, rwn.AdditiveNoise(size=0.5))) > 0.5


def test_the_tree_is_that_of_scikit_learn():
    """As much of the spread is explained as by a tree of the same size."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    columns = rng.normal(size=(300, 4)).round(1)
    target = np.sign(columns[:, 0]) * (columns[:, 1] > 0.3) + 0.2 * rng.normal(size=300)
    leaf = _grow(columns, target[:, np.newaxis]).leaf(columns)
    means = np.bincount(leaf, target) / np.maximum(np.bincount(leaf), 1)
    theirs = DecisionTreeRegressor(max_depth=5, min_samples_leaf=5, random_state=0)
    left = ((target - theirs.fit(columns, target).predict(columns)) ** 2).sum()
    assert ((target - means[leaf]) ** 2).sum() == pytest.approx(left, rel=0.02)
    assert np.bincount(leaf)[np.unique(leaf)].min() >= 5
