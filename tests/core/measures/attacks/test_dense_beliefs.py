"""Plain arrays and sparse ones say the same of donors and of masses: only their speed differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import rwn_core as rwn
from rwn_core.measures.attacks import donor_belief, likeliest_value
from rwn_core.measures.attacks.donor_belief import beliefs
from rwn_core.measures.attacks.likeliest_value import ReleasedValues
from rwn_core.measures.attacks.scaled_columns import times
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
        monkeypatch.setattr(donor_belief, "DENSE", share)
        assert made.law is not None
        asked = (made.law, made.masked, np.arange(data.n), KEYS, SECRETS, people)
        found.append(beliefs(*asked).donor[0].toarray())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-15)
    assert 0 < np.count_nonzero(found[0]) < found[0].size


def test_the_mass_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 30, 80).astype(float)
    released = ReleasedValues(np.arange(80), values, 2.0)
    weights = rng.random((50, 80)) * (rng.random((50, 80)) < 0.6)
    weights[7] = 0.0  # of whom nothing is known
    truth, found = rng.integers(0, 30, 50).astype(float), []
    for share in (ALWAYS, NEVER):
        monkeypatch.setattr(likeliest_value, "DENSE", share)
        found.append(released.right(released.masses(sparse.csr_array(weights)), truth))
    np.testing.assert_array_equal(found[0], found[1])
    # by hand: the value with most mass within 2 is named
    near = [[weights[i, np.abs(values - v) <= 2].sum() for v in values] for i in range(50)]
    for person in (0, 1, 20):
        named = values[int(np.argmax(near[person]))]
        assert found[0][person] == float(abs(named - truth[person]) <= 2)
    assert np.isnan(found[0][7])


def test_columns_are_multiplied_and_zeros_are_not_stored() -> None:
    matrix = sparse.csc_array(np.array([[1.0, 2.0], [0.0, 1e-300]]))
    product = times(matrix, np.array([3.0, 1e-300]))
    np.testing.assert_array_equal(product.toarray(), [[3.0, 2e-300], [0.0, 0.0]])
    assert product.nnz == 2
    assert matrix.nnz == 3
