"""Transition matrices: published risks and promises of privacy."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.laws.transition_matrix import (
    check_transition,
    privacy_epsilon,
)
from tests.check_values import check_values
from tests.oracles.transition_matrices import merged_first, misclassification_risk

ENTRIES = check_values("risk")


def test_MIS_1_risk_under_misclassification():
    given, matrix = (
        ENTRIES["MIS-1"]["expected"],
        ENTRIES["MIS-1"]["input"]["T_rows_true_cols_released"],
    )
    exact, approximate = misclassification_risk(
        np.array(matrix), np.array(given["F"], float), given["pi"]
    )
    np.testing.assert_allclose(exact, given["exact"], rtol=1e-9)
    np.testing.assert_allclose(approximate, given["approx_pi0"], rtol=1e-9)
    identity, _ = misclassification_risk(np.eye(3), np.array([1.0, 3.0, 6.0]), 0.1)
    np.testing.assert_allclose(identity, given["no_mis"])


def test_REC_1_recoding_has_no_epsilon():
    matrix = merged_first(5, 3)
    np.testing.assert_array_equal(matrix.T, ENTRIES["REC-1"]["expected"])
    square = np.eye(3)
    assert privacy_epsilon(square)[0] == np.inf


def test_KPRAM_1_resampling_in_groups_has_no_epsilon():
    """k-PRAM keeps every value in its group: a release excludes the other groups for certain."""
    _, groups = ENTRIES["KPRAM-1"]["expected"]
    same = np.equal.outer(groups, groups).astype(float)
    matrix = same / same.sum(axis=1, keepdims=True)
    assert privacy_epsilon(matrix)[0] == np.inf


def test_a_category_nobody_releases_plays_no_part():
    matrix = np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.5, 0.5, 0.0]])
    assert privacy_epsilon(matrix)[0] == pytest.approx(np.log(1.5))


@pytest.mark.parametrize("matrix", [np.ones((2, 3)) / 3, np.array([[0.5, 0.6], [0.5, 0.5]]),
                                    np.array([[1.5, -0.5], [0.0, 1.0]])])  # fmt: skip
def test_refusals(matrix):
    with pytest.raises(ParameterError):
        check_transition(matrix)
