"""The draw by weights follows its weights, and the battery rejects faults planted in it.

The expected weights are computed here, from the table, by code that rwn_core does not share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN, SoftRWN, mask
from rwn_core.neighbors import Neighborhoods
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey
from tests.conformance.battery import ALPHA, Evidence, _uniformity, refuted, verdicts
from tests.conformance.replicates import replicate_draws, replicate_keys, replicate_sources
from tests.oracles.record_chain import RecordChain
from tests.oracles.soft_weights import balanced_by_projections, capped_row, log_kernel

RELEASES = 4000
BALANCED = SoftRWN(kernel="gaussian", balance=1.0, width=0.5, q=0.6)
SETTINGS = {
    "gaussian": SoftRWN(kernel="gaussian", width=0.5, q=0.6),
    "balanced": BALANCED,
    "exponential": SoftRWN(kernel="exponential", width=0.6, cap=0.2, q=0.6, bandwidth="fixed"),
}


@cache
def table() -> Microdata:
    """Numbers with ties and two far records that lie together."""
    values = np.random.default_rng(3).lognormal(sigma=0.8, size=(60, 4))
    values[:, 3] = values[:, 3].round()
    values[:2, 0] = 30.0
    return Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))


@cache
def weights(params: RWN) -> np.ndarray:
    """W by bisection or by projections, shape (n, n)."""
    values = table().frame.to_numpy()
    scaled = (values - values.mean(0)) / values.std(0, ddof=1)
    away = np.sqrt(((scaled[:, None] - scaled) ** 2).sum(2))
    shape, kernel = params.kernel, params.ball.kernel
    fixed = params.bandwidth == "fixed"
    logs = np.array(log_kernel(away, shape, kernel.width, nearest=10, fixed=fixed, own=params.own))
    if params.balance:
        return balanced_by_projections(np.exp(logs), kernel.cap, rounds=20_000)
    return np.array([capped_row(row, kernel.cap)[0] for row in logs])


def expected(params: RWN) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The possible donors of each record, by number, and their weights."""
    found = weights(params)
    members = [np.flatnonzero(row > 1e-12) for row in found]
    return members, [row[each] / row[each].sum() for row, each in zip(found, members, strict=True)]


def neighborhoods(params: RWN) -> Neighborhoods:
    return params.neighborhoods(table())


@pytest.fixture(scope="module")
def draws(key_base: str) -> RecordChain:
    return replicate_draws(replicate_keys(f"weights {key_base}", RELEASES), 60, 4)


@pytest.mark.parametrize("name", SETTINGS)
def test_SOFT_7_the_weighted_draw_is_not_refuted(
    name: str, draws: RecordChain, record_property: Any
) -> None:
    params = SETTINGS[name]
    sources = replicate_sources(neighborhoods(params), draws, params.q)
    members, each = expected(params)
    result = verdicts(sources, members, params.q, each)
    record_property("probabilities", result)
    assert min(result.values()) >= ALPHA, result
    statistic, degrees = np.sum(list(_uniformity(Evidence(sources, members, 0.6, each))), axis=0)
    assert statistic / degrees == pytest.approx(1.0, abs=5 * np.sqrt(2 / degrees))


def test_a_draw_with_own_donors_follows_its_weights(draws: RecordChain) -> None:
    """With the record among its donors a kept cell and one drawn from itself look the same."""
    params = SoftRWN(kernel="exponential", own=True, width=0.7, q=0.8, balance=1.0)
    sources = replicate_sources(neighborhoods(params), draws, params.q)
    law = 0.2 * np.eye(60) + 0.8 * weights(params)
    counts = np.zeros((60, 60))
    for column in np.moveaxis(sources, 2, 0):
        for release in column:
            counts[np.arange(60), release] += 1

    def probability(chances: np.ndarray) -> float:
        mean = chances * RELEASES * 4
        often = mean >= 5
        rest = np.where(often, 0, counts).sum(1), np.where(often, 0, mean).sum(1)
        some = rest[1] > 0
        statistic = (((counts - mean)[often] ** 2) / mean[often]).sum()
        statistic += ((rest[0] - rest[1])[some] ** 2 / rest[1][some]).sum()
        return float(stats.chi2.sf(statistic, often.sum() + some.sum() - 60))

    assert probability(law) > ALPHA
    assert probability(0.8 * weights(params) + 0.2 * np.roll(np.eye(60), 1, axis=1)) < ALPHA
    assert probability(0.2 * np.eye(60) + 0.8 * weights(replace(params, own=False))) < ALPHA


@pytest.mark.parametrize("name", SETTINGS)
def test_replicates_are_the_public_call_under_as_many_keys(
    name: str, draws: RecordChain, key_base: str
) -> None:
    params = SETTINGS[name]
    fast = replicate_sources(neighborhoods(params), draws, params.q)
    for number, key in enumerate(replicate_keys(f"weights {key_base}", 15)):
        release = mask(table(), params, seed=SecretKey(key))
        np.testing.assert_array_equal(release.donors, fast[number])


def by_rank(found: Neighborhoods) -> np.ndarray:
    """Return the weights of all others, nearest first, shape (n, n - 1)."""
    assert found.shares is not None
    return found.shares.reshape(60, 59).copy()


def with_weights(found: Neighborhoods, rows: np.ndarray) -> Neighborhoods:
    """Return neighborhoods with other weights, scaled to sum 1."""
    return replace(found, shares=(rows / rows.sum(1, keepdims=True)).ravel())


def nearest_10_percent_more(params: RWN) -> Neighborhoods:
    rows = by_rank(neighborhoods(params))
    rows[:, 0] *= 1.1
    return with_weights(neighborhoods(params), rows)


def layers_without_acceptance(params: RWN) -> Neighborhoods:
    rows = by_rank(neighborhoods(params))
    falling = np.maximum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    return with_weights(neighborhoods(params), falling)


def cap_ignored(params: RWN) -> Neighborhoods:
    return neighborhoods(replace(params, cap=1.0))


def column_factor_dropped(params: RWN) -> Neighborhoods:
    return neighborhoods(replace(params, balance=0.0))


def weights_of_the_next_record(params: RWN) -> Neighborhoods:
    found = neighborhoods(params)
    return with_weights(found, np.roll(by_rank(found), 1, axis=0))


def another_bandwidth(params: RWN) -> Neighborhoods:
    return neighborhoods(replace(params, bandwidth="fixed"))


def equal_weights(params: RWN) -> Neighborhoods:
    return with_weights(neighborhoods(params), np.ones((60, 59)))


FAULTS: tuple[Callable[[RWN], Neighborhoods], ...] = (
    nearest_10_percent_more,
    layers_without_acceptance,
    cap_ignored,
    column_factor_dropped,
    weights_of_the_next_record,
    another_bandwidth,
    equal_weights,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_of_the_weights_is_refuted(
    fault: Callable[[RWN], Neighborhoods], draws: RecordChain
) -> None:
    sources = replicate_sources(fault(BALANCED), draws, BALANCED.q)
    members, each = expected(BALANCED)
    assert refuted(sources, members, BALANCED.q, each)


def test_faults_are_planted_in_weights_that_pass(draws: RecordChain) -> None:
    rows = by_rank(neighborhoods(BALANCED))
    right = with_weights(neighborhoods(BALANCED), rows)
    sources = replicate_sources(right, draws, BALANCED.q)
    members, each = expected(BALANCED)
    assert not refuted(sources, members, BALANCED.q, each)
    points = coordinates(table())  # the far twins, of which each would else give the other all
    assert np.sqrt(((points[0] - points[1]) ** 2).sum()) < 3
    assert rows[0].max() == pytest.approx(0.1, abs=1e-12)


def test_one_donor_for_a_row_is_refuted(draws: RecordChain) -> None:
    sources = replicate_sources(neighborhoods(BALANCED), draws, 1.0)
    modified = draws.modify.reshape(sources.shape) < BALANCED.q
    shared = np.where(modified, sources[..., :1], np.arange(60)[:, None])
    members, each = expected(BALANCED)
    failed = refuted(shared, members, BALANCED.q, each)
    assert "donors_are_independent_across_columns" in failed
