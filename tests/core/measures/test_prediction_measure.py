"""Prediction on records that were never masked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES

MEASURE = MEASURES["prediction"]


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
    return MEASURE.read(
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
    for seed in range(5):
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
    known = reading(compare, frames, "group").value
    new = holdout.assign(group=holdout["group"].where(holdout.index >= 40, "new"))
    found = reading(compare, (original, masked, new), "group").value
    assert found >= 0.5 >= known / 2


@pytest.mark.parametrize(
    ("response", "words"),
    [("nothing", "The response nothing is not among the variables of a release: x, group, ill")],
)
def test_unknown_responses(compare, frames, response, words):
    found = reading(compare, frames, response)
    assert isinstance(found, NotApplicable)
    assert words in found.reason


def test_a_constant_holdout_has_no_r2(compare, frames):
    original, masked, holdout = frames
    found = reading(compare, (original, masked, holdout.assign(cost=1.0)), "cost")
    assert isinstance(found, NotApplicable)
    assert "constant in the held-out records" in found.reason


def test_very_many_levels(compare):
    frame = pd.DataFrame({"y": np.arange(600.0), "id": [f"p{i}" for i in range(600)]})
    found = reading(compare, (frame, frame, frame), "y", ("id",))
    assert isinstance(found, NotApplicable)
    assert found.reason.startswith("The predictors have 600 levels and numbers together")
