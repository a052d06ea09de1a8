"""All rows at once: exact marginals, their approximation, and the most likely assignment."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.assignment import blocks, most_likely, scaled
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison
from tests.core.measures.attacks.intruder_examples import number
from tests.oracles.exact_assignments import exact_marginals, permanent, sinkhorn

RELEASE = [[1, 0], [0, 0], [1, 0], [0, 0], [11, 0], [10, 1]]


@pytest.fixture
def likelihood(e1_law, e1_rows):
    scaled, logs = likelihoods(e1_law(0.5), e1_rows(RELEASE), np.arange(6))
    return (scaled.toarray() * np.exp(logs)).T


def test_ATT_4_likelihood_and_permanent(likelihood, check_values):
    expected = check_values["ATT-4"]
    np.testing.assert_allclose(likelihood, expected["likelihood_matrix"], atol=1e-14)
    assert permanent(likelihood) == pytest.approx(number(expected["permanent"]), rel=1e-12)


def test_ATT_4_joint_marginals(likelihood, check_values):
    expected = [[number(p) for p in row] for row in check_values["ATT-4"]["joint_marginals"]]
    np.testing.assert_allclose(exact_marginals(likelihood), expected, atol=1e-12)


def test_ATT_4_single_record_posteriors(likelihood, check_values):
    expected = check_values["ATT-4"]["single_record_posteriors"]
    found = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, [[number(p) for p in row] for row in expected], atol=1e-12)


def test_ATT_4_sinkhorn_limit(likelihood, e1_law, e1_rows, check_values):
    expected = check_values["ATT-4"]["sinkhorn_limit"]
    np.testing.assert_allclose(sinkhorn(likelihood), expected, atol=2e-6)
    belief = posteriors(e1_law(0.5), e1_rows(RELEASE), np.arange(6))
    found = scaled(belief, blocks(belief), steps=2000).toarray().T
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_ATT_4_most_likely_assignment(likelihood, e1_law, e1_rows, check_values):
    linked = _assigned(posteriors(e1_law(0.5), e1_rows(RELEASE), np.arange(6)))
    best = _best_product(likelihood)
    published = np.array(check_values["ATT-4"]["joint_MAP_assignment_1based_one_optimum"]) - 1
    for order in (linked, published):
        assert np.prod(likelihood[np.arange(6), order]) == pytest.approx(best)


def _assigned(belief):
    n = belief.shape[0]
    return most_likely(belief, blocks(belief), (np.arange(n), np.arange(n)))


def _best_product(likelihood):
    n = len(likelihood)
    return max(np.prod(likelihood[np.arange(n), list(o)]) for o in permutations(range(n)))


def test_the_most_likely_assignment_by_trying_all_of_them():
    """Of 200 sparse tables with n <= 7, also where the truth is not possible."""
    rng = np.random.default_rng(5)
    split = 0
    for number_of_table in range(200):
        n = int(rng.integers(2, 8))
        likelihood = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
        order = np.arange(n) if number_of_table % 4 else rng.permutation(n)
        likelihood[np.arange(n), order] = rng.random(n) + 1e-3
        belief = sparse.csc_array(likelihood.T)
        split += len(blocks(belief).sizes) > 1
        found = np.prod(likelihood[np.arange(n), _assigned(belief)])
        assert found == pytest.approx(_best_product(likelihood), rel=1e-7)
    assert split > 50


def test_blocks_are_the_pairs_of_some_assignment():
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(2, 7))
        likelihood = (0.1 + rng.random((n, n))) * (rng.random((n, n)) < 0.35)
        likelihood[np.diag_indices(n)] = 0.5
        parts = blocks(sparse.csc_array(likelihood.T))
        inside = (parts.block_of[:, None] == parts.block_of) & (likelihood > 0)
        np.testing.assert_array_equal(inside, exact_marginals(likelihood) > 1e-6)
        marginals = scaled(sparse.csc_array(likelihood.T), parts, steps=2000).toarray()
        np.testing.assert_allclose(marginals.sum(axis=0), 1, atol=1e-6)
        np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-6)


def test_a_row_that_no_record_can_release_takes_what_is_left(e1, e1_law, e1_rows):
    rows = e1.frame.to_numpy(dtype=float).copy()
    rows[2] = [99, 99]
    masked = e1_rows(rows)
    linked = _assigned(posteriors(e1_law(0.1), masked, np.arange(6)))
    assert sorted(linked) == list(range(6))
    found = worst_case(Comparison(original=e1, masked=masked, law=e1_law(0.1)))
    assert found.matched == 1.0
    assert found.links.success < 1.0


def test_BF_3_the_whole_file_helps_on_three_keys(bodyfat):
    found = []
    for seed in range(6):
        release = mask(bodyfat, RWN(epsilon=0.0, k=5), seed=seed)
        comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
        found.append(worst_case(comparison, ("age", "weight", "height")))
    assert np.mean([each.links.success for each in found]) == pytest.approx(0.69, abs=0.03)
    assert np.mean([each.matched for each in found]) == pytest.approx(0.90, abs=0.04)


def test_the_whole_file_needs_one_row_each_and_a_moderate_size(e1, e1_law, e1_rows, monkeypatch):
    law = e1_law(0.5)
    short = Comparison(original=e1, masked=e1_rows(RELEASE[:4]), law=law)
    with pytest.raises(NotApplicable, match="another number of records"):
        MEASURES["whole_file_linkage"].compute(short)
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 2)
    with pytest.raises(NotApplicable, match="lower bound"):
        MEASURES["whole_file_linkage"].compute(
            Comparison(original=e1, masked=e1_rows(RELEASE), law=law)
        )
