"""The law of the 2015 method: a mixture over the row, in both ways to select records."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from scipy import stats

from rwn_core.masking import NBRS2015, mask
from rwn_core.randomness import SecretKey
from tests.conformance.replicates import replicate_keys
from tests.oracles.exact_cells import exact_probability

ALPHA = 1e-6
RELEASES = 1500
Q = 0.6  # of six records: three when counted

# strict neighborhoods of E1 on z-scores within 2.2 (check value NBRS-1), records from 0
MEMBERS = [[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 5], [0, 1, 2, 5], [3, 4]]


@pytest.fixture(scope="module", params=["count", "bernoulli"])
def sample(request, e1, key_base):
    """The way to select, the chance of a record to be selected, and donors, shape (R, 6, 2)."""
    params = NBRS2015(epsilon=2.2, q=Q, record_selection=request.param)
    prepared = params.prepare(e1)
    keys = replicate_keys(f"nbrs2015 {request.param} {key_base}", RELEASES)
    donors = [prepared.release(SecretKey(key)).donors for key in keys]
    chance = 3 / 6 if request.param == "count" else Q
    return request.param, chance, np.array(donors)


def row_law(record: int, chance: float) -> dict[tuple[int, ...], float]:
    """P(row of donors): kept as a whole, or every cell from an independent member."""
    size = len(MEMBERS[record])
    law = dict.fromkeys(product(MEMBERS[record], repeat=2), chance / size**2)
    return {(record, record): 1 - chance, **law}


def fit(donors: np.ndarray, laws: list[dict[tuple[int, ...], float]]) -> float:
    """Probability of rows that deviate as much from their laws, over all records."""
    worst = []
    for record, law in enumerate(laws):
        seen = Counter(map(tuple, donors[:, record].tolist()))
        if not seen.keys() <= law.keys():
            return 0.0
        expected = np.array([law[row] for row in law]) * len(donors)
        worst.append(stats.chisquare([seen[row] for row in law], expected).pvalue)
    return min(1.0, len(worst) * min(worst))


def test_rows_follow_the_mixture(sample):
    _, chance, donors = sample
    assert fit(donors, [row_law(record, chance) for record in range(6)]) > ALPHA


def test_independent_cells_are_refuted(sample):
    """The law of the 2022 method, with the same chance for each cell, does not fit."""
    _, chance, donors = sample
    laws = []
    for record in range(6):
        size = len(MEMBERS[record])
        cell = {record: 1 - chance, **dict.fromkeys(MEMBERS[record], chance / size)}
        laws.append({pair: prod(cell[d] for d in pair) for pair in product(cell, repeat=2)})
    assert fit(donors, laws) < ALPHA


def test_another_chance_is_refuted(sample):
    _, chance, donors = sample
    assert fit(donors, [row_law(record, chance + 0.1) for record in range(6)]) < ALPHA


def test_number_of_selected_records(sample):
    way, _, donors = sample
    selected = (donors != np.arange(6)[:, None]).any(axis=2)
    counts = np.bincount(selected.sum(axis=1), minlength=7)
    if way == "count":
        assert counts[3] == RELEASES  # floor(6 * 0.6)
    else:
        expected = stats.binom.pmf(np.arange(7), 6, Q) * RELEASES
        assert stats.chisquare(counts, expected).pvalue > ALPHA


def test_pairs_of_records_are_selected_as_drawn(sample):
    """Without replacement, two records are both selected with probability m(m-1)/(n(n-1))."""
    way, _, donors = sample
    selected = (donors != np.arange(6)[:, None]).any(axis=2).astype(int)
    together = (selected.T @ selected)[np.triu_indices(6, 1)]
    chance = 3 * 2 / (6 * 5) if way == "count" else Q**2
    worst = min(stats.binomtest(int(seen), RELEASES, chance).pvalue for seen in together)
    assert len(together) * worst > ALPHA


def test_the_law_of_a_release_is_that_of_its_draws(sample, e1, key_base):
    """Every cell of the law that comes with a release, against the donors that were drawn."""
    way, chance, donors = sample
    release = mask(e1, NBRS2015(epsilon=2.2, q=Q, record_selection=way), seed=1)
    assert release.law.row_share == chance
    worst = []
    for column, name in enumerate(("x", "y")):
        values = e1.values(name)[donors[:, :, column]]
        for record in range(6):
            known = release.law.table(name)[1]
            seen = np.array([(values[:, record] == value).sum() for value in known])
            exact = [exact_probability(release.law, record, name, value) for value in known]
            assert sum(exact) == 1
            law = np.array([float(p) for p in exact]) * RELEASES
            possible = law > 0
            assert not seen[~possible].any()
            if possible.sum() > 1:
                worst.append(stats.chisquare(seen[possible], law[possible]).pvalue)
    assert len(worst) * min(worst) > ALPHA
