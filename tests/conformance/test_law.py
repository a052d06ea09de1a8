"""The exact cell law: 20,000 releases of the worked example E1 follow it, cell by cell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from rwn_core.evaluation.forecast import forecast_law
from rwn_core.laws.cell_law import CellLaw
from rwn_core.neighbors import find_neighborhoods
from tests.conformance.replicates import replicate_draws, replicate_keys, replicate_sources
from tests.oracles.record_chain import assigned

ALPHA = 1e-6
RELEASES = 20_000
Q = 0.5


@pytest.fixture(scope="module")
def neighborhoods(e1_points):
    return find_neighborhoods(e1_points, k=2, epsilon=1.0)


@pytest.fixture(scope="module")
def law(e1, neighborhoods):
    return CellLaw(e1, neighborhoods, np.full(2, Q))


@pytest.fixture(scope="module")
def draws(key_base):
    return replicate_draws(replicate_keys(f"law of {key_base}", RELEASES), 6, 2)


def released(e1_points, sources):
    """The released tables, shape (R, 6, 2)."""
    return e1_points[sources, np.arange(2)]


@pytest.fixture(scope="module")
def values(draws, neighborhoods, e1_points):
    return released(e1_points, replicate_sources(neighborhoods, draws, Q))


def table_fit(counts: np.ndarray, probabilities: np.ndarray) -> tuple[float, int]:
    """Chi-square statistic of counts against a law; infinite for what the law rules out."""
    possible = probabilities > 1e-12
    if counts[~possible].any():
        return np.inf, 1
    expected = counts.sum() * probabilities[possible]
    return float(((counts[possible] - expected) ** 2 / expected).sum()), int(possible.sum()) - 1


def fit(tables: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The probability of counts that deviate as much, over all tables."""
    statistic, degrees = np.sum([table_fit(*table) for table in tables], axis=0)
    return float(stats.chi2.sf(statistic, degrees))


def cell_tables(law, values):
    """Counts and law of each cell."""
    for column, name in enumerate("xy"):
        probabilities, levels = law.table(name)
        for record, row in enumerate(probabilities.toarray()):
            yield (values[:, record, column][:, None] == levels).sum(0), row


def pair_tables(law, values, pairs):
    """Counts and product law of pairs of cells, each a (record, column)."""
    for (one, first), (two, second) in pairs:
        laws = [law.table("xy"[column]) for column in (first, second)]
        rows = [
            table.toarray()[record] for (table, _), record in zip(laws, (one, two), strict=True)
        ]
        seen_one = values[:, one, first][:, None] == laws[0][1]
        seen_two = values[:, two, second][:, None] == laws[1][1]
        counts = seen_one.T.astype(int) @ seen_two.astype(int)
        yield counts.ravel(), np.outer(*rows).ravel()


WITHIN_ROWS = [((record, 0), (record, 1)) for record in range(6)]
ACROSS_ROWS = [((a, column), (b, column)) for a, b in pairwise(range(6)) for column in (0, 1)]


def test_cells_follow_the_law(law, values):
    assert fit(list(cell_tables(law, values))) > ALPHA


@pytest.mark.parametrize("pairs", [WITHIN_ROWS, ACROSS_ROWS], ids=["one row", "two rows"])
def test_cells_are_independent(law, values, pairs):
    assert fit(list(pair_tables(law, values, pairs))) > ALPHA


def test_moments_follow_the_forecast(law, values):
    """Means within six standard errors; the covariance within six of its own, by simulation."""
    forecast = forecast_law(law)
    means = values.mean(axis=1)
    error = np.sqrt(forecast.mean_variances / RELEASES)
    assert (np.abs(means.mean(0) - forecast.means) < 6 * error).all()
    centered = values - means[:, None]
    covariances = np.einsum("rij,rik->rjk", centered, centered) / 5
    error = covariances.std(axis=0) / np.sqrt(RELEASES)
    assert (np.abs(covariances.mean(0) - forecast.covariances) < 6 * error).all(axis=None)


@pytest.mark.parametrize("q", [0.46, 0.54])
def test_another_q_is_refuted(law, draws, neighborhoods, e1_points, q):
    values = released(e1_points, replicate_sources(neighborhoods, draws, q))
    assert fit(list(cell_tables(law, values))) < ALPHA


def test_other_neighborhoods_are_refuted(law, draws, e1_points):
    other = find_neighborhoods(e1_points, k=3, epsilon=1.0)
    values = released(e1_points, replicate_sources(other, draws, Q))
    assert fit(list(cell_tables(law, values))) < ALPHA


def test_one_coin_for_a_row_is_refuted_by_pairs_alone(law, draws, neighborhoods, e1_points):
    """Every single cell follows the law; only pairs of cells show the fault."""
    always = replicate_sources(neighborhoods, draws, 1.0)
    coin = (draws.modify[:, :1] < Q).reshape(RELEASES, 6, 1)
    values = released(e1_points, np.where(coin, always, np.arange(6)[:, None]))
    assert fit(list(cell_tables(law, values))) > ALPHA
    assert fit(list(pair_tables(law, values, WITHIN_ROWS))) < ALPHA
    assert fit(list(pair_tables(law, values, ACROSS_ROWS))) > ALPHA


def test_one_donor_for_a_row_is_refuted_by_pairs_alone(law, draws, neighborhoods, e1_points):
    ranks = np.repeat(draws.ranks(neighborhoods.sizes[draws.records])[:, :1], 2, axis=1)
    donors = assigned(neighborhoods, draws.records, draws.modify, lambda _: ranks, Q)
    values = released(e1_points, donors.reshape(RELEASES, 6, 2))
    assert fit(list(cell_tables(law, values))) > ALPHA
    assert fit(list(pair_tables(law, values, WITHIN_ROWS))) < ALPHA
