"""Total correlation, loadings and R squared: by hand, and what tries to deceive them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.utility.relations import (
    loading_changes,
    near_neighbors,
    normal_scores,
    total_correlation,
)


def normal(n: int, seed: int, common: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1)) * common
    return pd.DataFrame(shared * [1, 1, 1, 0.5] + rng.normal(size=(n, 4)), columns=list("yabc"))


def value(key: str, before: pd.DataFrame, after: pd.DataFrame) -> float:
    tables = (Microdata.from_frame(each) for each in (before, after))
    original, masked = tables
    question = Question(response="y", predictors=("a", "b"))
    return (
        MEASURES[key].compute(Comparison(original=original, masked=masked, question=question)).value
    )


def test_by_hand():
    pair = np.array([[1.0, 0.6], [0.6, 1.0]])
    assert total_correlation(pair, "") == pytest.approx(-0.5 * np.log(1 - 0.36))
    scores = normal_scores(np.array([[7.0], [9.0], [7.0]]))[:, 0]  # ranks 1.5, 3, 1.5 of 3
    assert scores == pytest.approx([-0.318639, 0.674490, -0.318639], abs=1e-6)
    one, other = np.array([[0.6, 0.0], [0.8, 1.0]]), np.array([[-0.8, 0.0], [-0.6, 1.0]])
    assert loading_changes(one, other) == pytest.approx([0.2, 0.0])  # the sign is turned back
    assert near_neighbors(np.array([2.0, 1.9, 0.1]), 200, 2) == 1  # 0.1 < 2 sqrt(2 / 200) = 0.2


def test_total_correlation_of_normal_variables_is_the_known_one():
    frame = normal(20_000, 1)
    covariance = np.outer([1, 1, 1, 0.5], [1, 1, 1, 0.5]) + np.eye(4)
    spread = np.sqrt(np.diag(covariance))
    truth = -0.5 * np.linalg.slogdet(covariance / np.outer(spread, spread))[1]
    unrelated = pd.DataFrame(
        {name: np.random.default_rng(i).permutation(frame[name]) for i, name in enumerate("yabc")}
    )
    assert value("total_correlation", frame, unrelated) == pytest.approx(truth, abs=0.02)


def test_a_variable_made_constant_loses_its_relations():
    frame = normal(400, 4)
    lost = value("total_correlation", frame, frame.assign(y=1.0, a=1.0, b=1.0))
    kept = total_correlation(np.corrcoef(normal_scores(frame.to_numpy()).T), "")
    assert lost == pytest.approx(kept)
    assert value("loadings", frame, frame.assign(y=1.0)) > 0.05


def test_a_total_correlation_without_limit_is_refused():
    frame = normal(50, 6)
    for before, after, where in (
        (frame.assign(c=frame["a"] ** 3), frame, "original"),
        (frame, frame.assign(c=frame["a"]), "release"),
    ):
        with pytest.raises(NotApplicable, match=f"In the {where} some variables follow"):
            value("total_correlation", before, after)
