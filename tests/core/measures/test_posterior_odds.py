"""Posterior odds of PRAM by the paper's formula, and as often as releases show it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.masking import PRAM, RWN, AdditiveNoise
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.values import category_chances
from rwn_core.randomness import SecretKey

T = np.array([[0.9, 0.06, 0.04], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])
COUNTS = np.array([140, 50, 10])


@pytest.fixture(scope="module")
def made():
    g = np.repeat(["a", "b", "c"], COUNTS)
    data = Microdata.from_frame(pd.DataFrame({"g": g, "x": np.arange(200.0)}))
    return PRAM(matrices={"g": T.tolist()}, invariant=False).prepare(data)


def reading(made, seed: int = 1):
    masked = made.release(SecretKey.from_seed(seed)).masked
    return MEASURES["posterior_odds"].compute(
        Comparison(original=made.microdata, masked=masked, law=made.law)
    ), masked


def test_the_odds_are_those_of_the_formula(made):
    v = COUNTS / COUNTS.sum()
    odds = [T[k, k] * v[k] / sum(T[j, k] * v[j] for j in range(3) if j != k) for k in range(3)]
    found, masked = reading(made)
    assert found.detail.names == ["g"]
    assert found.detail.odds[0] == pytest.approx(odds)
    assert found.value == pytest.approx(odds[2] / (1 + odds[2]))
    assert (found.detail.worst, found.baseline) == (0, 0.05)
    of_row = dict(zip("abc", found.detail.chances[0], strict=True))
    assert found.detail.row_chances[0].tolist() == [of_row[g] for g in masked.frame["g"]]


def test_a_shown_category_is_true_as_often_as_said(made):
    """A law of matrices that change half as much is rejected."""
    own, shown, true = made.microdata.frame["g"].to_numpy(), np.zeros(3), np.zeros(3)
    for seed in range(300):
        drawn = made.release(SecretKey.from_seed(seed)).masked.frame["g"].to_numpy()
        shown += [(drawn == level).sum() for level in "abc"]
        true += [((drawn == level) & (own == level)).sum() for level in "abc"]
    said = category_chances(made.law, "g")[0]
    error = np.sqrt(said * (1 - said) / shown)
    assert (np.abs(true / shown - said) < 4 * error).all()
    milder = PRAM(matrices={"g": ((T + np.eye(3)) / 2).tolist()}, invariant=False)
    planted = category_chances(milder.prepare(made.microdata).law, "g")[0]
    assert (np.abs(true / shown - planted) > 10 * error).all()


def test_an_unmasked_category_is_certain_and_has_no_odds(made):
    for same in (PRAM(change=0), AdditiveNoise()):  # noise leaves categories alone
        found, _ = reading(same.prepare(made.microdata))
        assert found.value == 1.0
        assert found.detail.odds[0] == [None] * 3


def test_a_random_order_says_no_more_than_the_shares(made):
    """Among all others within reach, the own category is only as likely as without the file."""
    found, _ = reading(RWN(k=199).prepare(made.microdata))
    assert found.detail.chances[0] == pytest.approx((COUNTS - 1) / 199)


def test_numbers_have_none():
    data = Microdata.from_frame(pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5]}))
    with pytest.raises(NotApplicable, match="No variable has categories"):
        reading(RWN(k=2).prepare(data))
