from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.measures.utility.prediction import LEARNERS, learner_error


def sample(n: int = 200, *, classify: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    features = rng.normal(size=(n, 3))
    signal = 2 * features[:, 0] + 0.2 * rng.normal(size=n)
    return features, (signal > 0).astype(int) if classify else signal


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_finds_what_is_there(learner, classify):
    train, test = sample(classify=classify), sample(150, classify=classify)
    assert learner_error(learner, train, test, classify=classify) < 0.25


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_constant_and_doubled_features_are_no_trouble(learner, classify):
    features, response = sample(classify=classify)
    features = np.column_stack([features, features[:, 0], np.ones(len(features))])
    features[::7, 1] = np.nan
    error = learner_error(learner, (features, response), (features, response), classify=classify)
    assert 0 <= error < 0.3


def test_a_forest_of_classes_learns_no_single_records():
    """Of features that say nothing it learns the largest class; leaves of 1 are wrong for .44."""
    rng = np.random.default_rng(4)
    features, classes = rng.normal(size=(1600, 3)), rng.choice(4, 1600, p=[0.6, 0.2, 0.1, 0.1])
    train, test = (features[:800], classes[:800]), (features[800:], classes[800:])
    assert learner_error("random forest", train, test, classify=True) < (test[1] > 0).mean() + 0.02


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_class_is_predicted_as_such(learner):
    features, _ = sample(classify=True)
    train = features, np.zeros(len(features), dtype=int)
    test = features, np.arange(len(features)) % 2
    assert learner_error(learner, train, test, classify=True) == 0.5


def test_all_learners_on_a_holdout():
    data = rwn.load_demo("pima").take(np.arange(250))
    trial = predict_on_holdout(data, rwn.RWN(k=5), seed=1, repeats=2)
    found = trial.differences()
    assert [name for name, *_ in found] == list(LEARNERS)
    original, released = (errors[:, 0] for errors in trial.errors)
    assert found[0][1] == pytest.approx(original.mean())
    change = released - original
    assert found[0][3:] == pytest.approx((change.mean(), change.std(ddof=1) / 2**0.5))
