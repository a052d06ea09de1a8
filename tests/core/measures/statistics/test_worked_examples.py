"""Small examples of statistics, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.measures.risk.nearness import changed_cells, governed_by_k
from rwn_core.measures.risk.outliers import mahalanobis_distances
from rwn_core.measures.statistics.association import (
    association_matrix,
    correlation_matrix,
    rank_correlation_matrix,
    relation_loss,
)
from rwn_core.measures.statistics.distributions import (
    grid_edges,
    grid_step,
    hellinger,
    total_variation,
    wasserstein,
)
from rwn_core.measures.statistics.formula import Formula
from rwn_core.measures.statistics.intervals import (
    exact_interval,
    excess_interval,
    newcombe,
    prediction_interval,
    range_words,
    share_interval,
)
from rwn_core.measures.utility.distributions import distribution_steps, kolmogorov_smirnov
from rwn_core.measures.utility.regressions import interval_overlap
from rwn_core.measures.utility.relations import component_variances

COUNTS = np.array([5, 3, 2]), np.array([4, 4, 2])
LINE = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
PAIR = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
ENDS = [(np.array([0.0]), np.array([10.0])), (np.array([5.0]), np.array([15.0]))]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (association_matrix(np.arange(4.0)[:, None], [np.array([0, 0, 1, 1])])[0, 1], 0.8367),
        (correlation_matrix(LINE), np.ones((2, 2))),
        (rank_correlation_matrix(np.array([[1, 2], [2, 4], [3, 90.0]])), np.ones((2, 2))),
        (total_variation(*COUNTS), 0.1),
        (hellinger(*COUNTS), 0.07985),
        (wasserstein(np.array([1.0, 2.0]), np.array([4.0, 1.0])), 1.0),
        (grid_step(np.array([-5.0, 10.0, 15.0])), 5.0),
        (grid_step(np.array([0.0, 1.0, 2.5])), 0.0),
        (grid_edges(0.0, 10.0, 5.0), [-2.5, 2.5, 7.5, 12.5]),
        (prediction_interval([1.0, 2.0, 3.0]), [-2.97, 6.97]),
        (prediction_interval(np.arange(39.0)), [1.0, 37.0]),
        (newcombe((56, 70), (48, 80)), [0.0524, 0.3339]),
        (share_interval([5, 0], [10, 0]), [[0.237, 0.763], [0.0, 1.0]]),
        (exact_interval(0, 400), [0.0, 0.0092]),
        (excess_interval((0.5, 0.4, 0.6), (0.2, 0.13, 0.29)), [0.22, 0.51]),
        (relation_loss(*PAIR, np.full((2, 2), 0.1)).value, 0.75),
        (interval_overlap(*ENDS), [0.5]),
        (kolmogorov_smirnov(distribution_steps(np.array([1.0, 2.0])), np.array([1.0, 3.0])), 0.5),
        (component_variances(LINE), [2.0, 0.0]),
        (changed_cells(np.array([1, np.nan, 3]), np.array([1, np.nan, np.nan])), [0, 0, 1]),
        (mahalanobis_distances(np.array([[0.0], [1.0], [2.0]]))[0], [1.0, 0.0, 1.0]),
        (governed_by_k(np.array([0, 5, 9]), 5), [1, 0, 0]),
    ],
)
def test_a_statistic_gives_the_number_worked_out_by_hand(found, expected):
    digits = max(len(text.partition(".")[2]) for text in map(str, np.ravel(expected)))
    assert (
        np.round(np.asarray(found, dtype=float), digits).tolist() == np.asarray(expected).tolist()
    )


def test_a_product_of_terms_adds_both_and_their_product():
    terms = Formula.parse("y ~ a * log(b)").terms
    assert [":".join(map(str, term)) for term in terms] == ["a", "log(b)", "a:log(b)"]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (59, "range of 59 releases: 9 of 10 fall in it"),
        (2, "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"),
        (1, "one release, without a range"),
    ],
)
def test_a_range_says_what_it_holds(count, words):
    assert range_words(count) == words
