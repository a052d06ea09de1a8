"""All rows at once: exact marginals, their approximation, and the most likely assignment."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from intruder_examples import number

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import whole_file_links
from rwn_core.measures.attacks.likelihood import likelihoods
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


def test_ATT_4_sinkhorn_limit(likelihood, check_values):
    np.testing.assert_allclose(
        sinkhorn(likelihood), check_values["ATT-4"]["sinkhorn_limit"], atol=2e-6
    )


def test_ATT_4_most_likely_assignment(likelihood, e1_law, e1_rows, check_values):
    linked = whole_file_links(e1_law(0.5), e1_rows(RELEASE), None)
    best = max(
        np.prod([likelihood[row, record] for row, record in enumerate(order)])
        for order in permutations(range(6))
    )
    published = np.array(check_values["ATT-4"]["joint_MAP_assignment_1based_one_optimum"]) - 1
    for order in (linked, published):
        assert np.prod(likelihood[np.arange(6), order]) == pytest.approx(best)


def test_permanent_by_its_definition():
    matrix = np.random.default_rng(1).random((5, 5))
    slow = sum(np.prod(matrix[np.arange(5), list(order)]) for order in permutations(range(5)))
    assert permanent(matrix) == pytest.approx(slow)
    assert permanent(np.empty((0, 0))) == 1
    with pytest.raises(NotApplicable, match="at most 12"):
        permanent(np.ones((13, 13)))
    with pytest.raises(NotApplicable, match="No assignment"):
        exact_marginals(np.zeros((2, 2)))


def test_BF_3_the_whole_file_helps_on_three_keys(bodyfat):
    from rwn_core.masking import RWN, mask
    from rwn_core.measures.attacks.posterior import link

    release = mask(bodyfat, RWN(epsilon=0.0, k=5), seed=2)
    keys = ("age", "weight", "height")
    alone = link(release.law, release.masked, keys).success
    linked = whole_file_links(release.law, release.masked, keys)
    assert alone == pytest.approx(0.69, abs=0.03)
    assert (linked == np.arange(bodyfat.n)).mean() == pytest.approx(0.90, abs=0.04)


def test_the_whole_file_needs_one_row_each_and_a_moderate_size(e1_law, e1_rows, monkeypatch):
    with pytest.raises(NotApplicable, match="another number of records"):
        whole_file_links(e1_law(0.5), e1_rows(RELEASE[:4]), None)
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 5)
    with pytest.raises(NotApplicable, match="lower bound"):
        whole_file_links(e1_law(0.5), e1_rows(RELEASE), None)
