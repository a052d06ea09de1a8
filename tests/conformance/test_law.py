"""The drawn releases against the exact law, with planted faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rwn_core import NBRS2015, RWN, Microdata, SecretKey, SoftRWN, mask
from rwn_core.neighbors import Neighborhoods
from tests.conformance import battery
from tests.conformance.battery import ALPHA
from tests.oracles.exact_cells import exact_probability
from tests.oracles.record_chain import RecordChain
from tests.oracles.soft_weights import balanced_by_projections, capped_row, log_kernel

RELEASES_NBRS = 1500
Q_NBRS = 0.6  # of six records: three when counted

# strict neighborhoods of E1 on z-scores within 2.2 (check value NBRS-1), records from 0
MEMBERS = [[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 5], [0, 1, 2, 5], [3, 4]]


@pytest.fixture(scope="module", params=["count", "bernoulli"])
def sample(request, e1, key_base):
    """The way to select, the chance of a record to be selected, and donors, shape (R, 6, 2)."""
    params = NBRS2015(epsilon=2.2, q=Q_NBRS, record_selection=request.param)
    prepared = params.prepare(e1)
    keys = battery.replicate_keys(f"nbrs2015 {request.param} {key_base}", RELEASES_NBRS)
    donors = [prepared.release(SecretKey(key)).donors for key in keys]
    chance = 3 / 6 if request.param == "count" else Q_NBRS
    return request.param, chance, np.array(donors)


def row_law(record: int, chance: float) -> dict[tuple[int, ...], float]:
    """P(row of donors): kept as a whole, or every cell from an independent member."""
    size = len(MEMBERS[record])
    law = dict.fromkeys(product(MEMBERS[record], repeat=2), chance / size**2)
    return {(record, record): 1 - chance, **law}


def cell_law(record: int, chance: float) -> dict[tuple[int, ...], float]:
    """P(row of donors) by the method of 2022, with the same chance for each cell."""
    size = len(MEMBERS[record])
    cell = {record: 1 - chance, **dict.fromkeys(MEMBERS[record], chance / size)}
    return {pair: prod(cell[d] for d in pair) for pair in product(cell, repeat=2)}


def fit_nbrs(donors: np.ndarray, laws: list[dict[tuple[int, ...], float]]) -> float:
    """Probability of rows that deviate as much from their laws, over all records."""
    worst = []
    for record, law in enumerate(laws):
        seen = Counter(map(tuple, donors[:, record].tolist()))
        if not seen.keys() <= law.keys():
            return 0.0
        expected = np.array([law[row] for row in law]) * len(donors)
        worst.append(stats.chisquare([seen[row] for row in law], expected).pvalue)
    return min(1.0, len(worst) * min(worst))


def test_rows_follow_the_mixture_and_no_other_law(sample):
    _, chance, donors = sample
    assert fit_nbrs(donors, [row_law(record, chance) for record in range(6)]) > ALPHA
    assert fit_nbrs(donors, [cell_law(record, chance) for record in range(6)]) < ALPHA
    assert fit_nbrs(donors, [row_law(record, chance + 0.1) for record in range(6)]) < ALPHA


def test_records_and_pairs_of_them_are_selected_as_drawn(sample):
    """Without replacement, two records are both selected with probability m(m-1)/(n(n-1))."""
    way, _, donors = sample
    selected = (donors != np.arange(6)[:, None]).any(axis=2).astype(int)
    counts = np.bincount(selected.sum(axis=1), minlength=7)
    if way == "count":
        assert counts[3] == RELEASES_NBRS  # floor(6 * 0.6)
    else:
        expected = stats.binom.pmf(np.arange(7), 6, Q_NBRS) * RELEASES_NBRS
        assert stats.chisquare(counts, expected).pvalue > ALPHA
    together = (selected.T @ selected)[np.triu_indices(6, 1)]
    chance = 3 * 2 / (6 * 5) if way == "count" else Q_NBRS**2
    worst = min(stats.binomtest(int(seen), RELEASES_NBRS, chance).pvalue for seen in together)
    assert len(together) * worst > ALPHA


def test_the_law_of_a_release_is_that_of_its_draws(sample, e1):
    """Every cell of the law that comes with a release, against the donors that were drawn."""
    way, chance, donors = sample
    release = mask(e1, NBRS2015(epsilon=2.2, q=Q_NBRS, record_selection=way), seed=1)
    assert release.law.row_share == chance
    worst = []
    for column, name in enumerate(("x", "y")):
        values = e1.values(name)[donors[:, :, column]]
        for record in range(6):
            known = release.law.table(name)[1]
            seen = np.array([(values[:, record] == value).sum() for value in known])
            exact = [exact_probability(release.law, record, name, value) for value in known]
            assert sum(exact) == 1
            law = np.array([float(p) for p in exact]) * RELEASES_NBRS
            possible = law > 0
            assert not seen[~possible].any()
            if possible.sum() > 1:
                worst.append(stats.chisquare(seen[possible], law[possible]).pvalue)
    assert len(worst) * min(worst) > ALPHA


RELEASES = 4000  # the fewest that refute 10 percent more for the nearest
BALANCED = SoftRWN(kernel="gaussian", balance=1.0, width=0.5, q=0.6)
OWN = SoftRWN(kernel="exponential", own=True, width=0.7, q=0.8, balance=1.0)
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
    shape = params.kernel
    kernel = params.ball.kernel
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


def soft(params: RWN, **changes: object) -> Neighborhoods:
    return replace(params, **changes).rule(table()).find(table())


@pytest.fixture(scope="module")
def draws(key_base: str) -> RecordChain:
    keys = battery.replicate_keys(f"weights {key_base}", RELEASES)
    return battery.replicate_draws(keys, 60, 4)


@pytest.mark.parametrize("name", SETTINGS)
def test_SOFT_7_the_weighted_draw_is_not_refuted_and_is_that_of_the_public_call(
    name, draws, key_base
):
    params = SETTINGS[name]
    sources = battery.replicate_sources(soft(params), draws, params.q)
    members, each = expected(params)
    result = battery.verdicts(sources, members, params.q, each)
    assert min(result.values()) >= ALPHA, result
    evidence = battery.Evidence(sources, members, 0.6, each)
    statistic, degrees = np.sum(list(battery.uniformity(evidence)), axis=0)
    assert statistic / degrees == pytest.approx(1.0, abs=5 * np.sqrt(2 / degrees))
    for number, key in enumerate(battery.replicate_keys(f"weights {key_base}", 10)):
        release = mask(table(), params, seed=SecretKey(key))
        np.testing.assert_array_equal(release.donors, sources[number])


def test_a_draw_with_own_donors_follows_its_weights(draws):
    """With the record among its donors a kept cell and one drawn from itself look the same."""
    sources = battery.replicate_sources(soft(OWN), draws, OWN.q)
    counts = np.zeros((60, 60))
    np.add.at(counts, (np.arange(60)[None, :, None], sources), 1)

    def probability(kept: np.ndarray, params: RWN) -> float:
        mean = (0.2 * kept + 0.8 * weights(params)) * RELEASES * 4
        often = mean >= 5
        rest = np.where(often, 0, counts).sum(1), np.where(often, 0, mean).sum(1)
        some = rest[1] > 0
        statistic = (((counts - mean)[often] ** 2) / mean[often]).sum()
        statistic += ((rest[0] - rest[1])[some] ** 2 / rest[1][some]).sum()
        return float(stats.chi2.sf(statistic, often.sum() + some.sum() - 60))

    own = np.eye(60)
    assert probability(own, OWN) > ALPHA
    assert probability(np.roll(own, 1, axis=1), OWN) < ALPHA
    assert probability(own, replace(OWN, own=False)) < ALPHA


def by_rank(found: Neighborhoods) -> np.ndarray:
    """The weights of all others, nearest first, shape (n, n - 1)."""
    return found.shares.reshape(60, 59).copy()


def with_weights(change: Callable[[np.ndarray], np.ndarray]) -> Neighborhoods:
    """The balanced neighborhoods with other weights, scaled to sum 1."""
    rows = change(by_rank(soft(BALANCED)))
    return replace(soft(BALANCED), shares=(rows / rows.sum(1, keepdims=True)).ravel())


FAULTS: dict[str, Callable[[], Neighborhoods]] = {
    "the nearest 10 percent more": lambda: with_weights(
        lambda rows: rows * np.where(np.arange(59) == 0, 1.1, 1.0)
    ),
    "layers without acceptance": lambda: with_weights(
        lambda rows: np.maximum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    ),
    "weights of the next record": lambda: with_weights(lambda rows: np.roll(rows, 1, axis=0)),
    "equal weights": lambda: with_weights(np.ones_like),
    "the cap ignored": lambda: soft(BALANCED, cap=1.0),
    "the column's factor dropped": lambda: soft(BALANCED, balance=0.0),
    "another bandwidth": lambda: soft(BALANCED, bandwidth="fixed"),
}


def test_planted_faults_of_the_weights_are_refuted(draws):
    members, each = expected(BALANCED)

    def failed(found: Neighborhoods) -> dict[str, float]:
        sources = battery.replicate_sources(found, draws, BALANCED.q)
        return battery.refuted(sources, members, BALANCED.q, each)

    assert [name for name, fault in FAULTS.items() if not failed(fault())] == []
    assert not failed(with_weights(lambda rows: rows)), "without a fault they pass"
    # one of the far twins, which would give the other all
    assert by_rank(soft(BALANCED))[0].max() == pytest.approx(0.1, abs=1e-12)
    sources = battery.replicate_sources(soft(BALANCED), draws, 1.0)
    modified = draws.modify.reshape(sources.shape) < BALANCED.q
    shared = np.where(modified, sources[..., :1], np.arange(60)[:, None])
    one_donor = battery.refuted(shared, members, BALANCED.q, each)
    assert "donors_are_independent_across_columns" in one_donor
