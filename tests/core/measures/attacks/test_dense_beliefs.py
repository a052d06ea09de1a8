"""Plain arrays and sparse ones say the same of donors and of values: only their speed differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import rwn_core as rwn
from rwn_core.measures.attacks import attribute_attack
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.likeliest_value import ReleasedValues, Tolerance
from rwn_core.measures.attacks.posterior import times
from rwn_core.randomness import SecretKey

ALWAYS, NEVER = -1.0, 2.0
KEYS, SECRETS = ("age", "weight", "height"), ("siri",)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_beliefs_in_donors(monkeypatch: pytest.MonkeyPatch, q: float) -> None:
    data = rwn.load_demo("bodyfat")
    made = rwn.RWN(epsilon=3.0, k=10, q=q).prepare(data).release(SecretKey.from_seed(2))
    people = np.arange(0, data.n, 3)
    found: list[Any] = []
    for share in (ALWAYS, NEVER):
        monkeypatch.setattr(attribute_attack, "DENSE", share)
        assert made.law is not None
        asked = (made.law, made.masked, np.arange(data.n), KEYS, SECRETS, people)
        found.append(beliefs(*asked).donor[0].toarray())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-15)
    assert 0 < np.count_nonzero(found[0]) < found[0].size


@pytest.mark.parametrize("share", [0.6, 0.03])
@pytest.mark.parametrize("reach", [2.0, 0.0])
def test_the_value_with_most_mass_within_reach_is_named(share: float, reach: float) -> None:
    """By all pairs; whether most values have a mass, or so few that only they are looked at."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 60, 150).astype(float)
    values[::20] = np.nan
    released = ReleasedValues(np.arange(150) // 2, values, Tolerance(reach))
    weights = rng.integers(1, 5, (50, 75)) * (rng.random((50, 75)) < share) / 4
    weights[7] = 0.0  # of whom nothing is known
    truth = values[2 * weights.argmax(axis=1) + 1]
    found = released.named(sparse.csr_array(weights)).right(truth, released.near)
    known = ~np.isnan(values)
    for person in range(50):
        each = np.repeat(weights[person], 2)
        said = np.unique(values[known & (each > 0)])
        near = np.array([each[np.abs(values - v) <= reach].sum() for v in said])
        right = np.abs(said[near == near.max(initial=0)] - truth[person]) <= reach
        assert found[person] == right.mean() if said.size else np.isnan(found[person])
    assert 0 < np.nanmean(found) < 1
    assert np.isnan(found[7])


def test_columns_are_multiplied_and_zeros_are_not_stored() -> None:
    matrix = sparse.csc_array(np.array([[1.0, 2.0], [0.0, 1e-300]]))
    product = times(matrix, np.array([3.0, 1e-300]))
    np.testing.assert_array_equal(product.toarray(), [[3.0, 2e-300], [0.0, 0.0]])
    assert product.nnz == 2
    assert matrix.nnz == 3
