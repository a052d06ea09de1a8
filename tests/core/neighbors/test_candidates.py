"""Neighbors among random candidates: Methods 1, 2, 3(1) and 3(2), and what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, mask
from rwn_core.neighbors.candidates import (
    Scheme,
    random_others,
    random_pairs,
    random_parts,
    restricted_table,
    restriction_cost,
)
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.record_draws import random_order
from rwn_core.parallel.threads import work
from rwn_core.randomness import SAMPLE_STREAM, SecretKey
from tests.core.neighbors.brute_force import squared_pairs
from tests.oracles.fresh_sample import fresh_sample_law

KEY = SecretKey.from_seed(7)
SMALL = np.random.default_rng(1).integers(0, 9, (150, 3)).astype(float)
LARGE = np.random.default_rng(2).normal(size=(2600, 3)).round(1)
SCHEMES = {
    "sample": Scheme(neighbors="sample", m=60),
    "fresh sample": Scheme(neighbors="sample", m=60, fresh=True),
    "pairs": Scheme(neighbors="pairs", m=12),
    "partition": Scheme(neighbors="partition", u=4),
    "partition of pairs": Scheme(neighbors="partition", u=4, m=20),
}


def candidates(scheme: Scheme, n: int) -> list[set[int]]:
    """Who may be a neighbor of each record."""
    if scheme.neighbors == "sample" and scheme.fresh:
        others = random_others(KEY, np.arange(n), n, scheme.m, 2**32 - 4)
        return [set(row) for row in others.tolist()]
    if scheme.neighbors == "sample":
        sample = set(random_order(KEY, n, SAMPLE_STREAM)[: scheme.m].tolist())
        return [sample - {record} for record in range(n)]
    if scheme.neighbors == "pairs":
        return partners(KEY, n, scheme.m)
    result: list[set[int]] = [set() for _ in range(n)]
    for number, part in enumerate(random_parts(KEY, n, scheme.u)):
        if scheme.m is not None:
            own = partners(KEY.derived(f"part {number}"), len(part), scheme.m)
        for place, record in enumerate(part.tolist()):
            if scheme.m is None:
                result[record] = set(part.tolist()) - {record}
            else:
                result[record] = set(part[list(own[place])].tolist())
    return result


def partners(key: SecretKey, n: int, m: int) -> list[set[int]]:
    result: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(*(side.tolist() for side in random_pairs(key, n, n * m // 2)), strict=True):
        result[i].add(j)
        result[j].add(i)
    assert all(result), "a table without isolated records was meant"
    return result


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize(
    ("points", "k", "epsilon"),
    [(SMALL, 5, 1.0), (SMALL, 3, None), (SMALL, None, 1.5), (LARGE, 5, 1.0)],
    ids=["both", "k", "epsilon", "large"],
)
def test_members_are_those_of_the_method_among_the_candidates(points, name, k, epsilon):
    table = restricted_table(points, RadiusAndK(k=k, epsilon=epsilon), SCHEMES[name], KEY)
    result = table.cut(k=k, epsilon=epsilon)
    squared = squared_pairs(points[:600]) if len(points) <= 600 else None
    for record, allowed in enumerate(candidates(SCHEMES[name], len(points))):
        if len(points) > 600 and record % 37:
            continue
        others = np.array(sorted(allowed))
        distance = (
            squared[record, others]
            if squared is not None
            else np.square(points[others] - points[record]).sum(axis=1)
        )
        edge = -1.0 if epsilon is None else epsilon**2
        if k is not None:
            edge = max(edge, np.sort(distance)[min(k, len(others)) - 1])
        expected = others[distance <= edge * (1 + 1e-9)]
        assert set(result.members(record).tolist()) == set(expected.tolist())


@pytest.mark.parametrize("name", SCHEMES)
def test_large_and_small_code_agree(name, monkeypatch):
    """The same candidates and ranks, whether compiled code finds them or numpy does."""
    points = SMALL
    ball = RadiusAndK(k=4, epsilon=1.0)
    reference = restricted_table(points, ball, SCHEMES[name], KEY)
    monkeypatch.setattr("rwn_core.neighbors.candidates.LARGEST_DENSE", 100)
    fast = restricted_table(points, ball, SCHEMES[name], KEY)
    one, two = reference.cut(k=4, epsilon=1.0), fast.cut(k=4, epsilon=1.0)
    np.testing.assert_array_equal(one.sizes, two.sizes)
    np.testing.assert_array_equal(one.pairs()[1], two.pairs()[1])


def test_the_law_of_a_fresh_sample():
    """M1-1, and its donors by simulation: n = 6, m = 3, without ties."""
    assert [str(p) for p in fresh_sample_law(6, 3, 1)] == ["3/5", "3/10", "1/10", "0", "0"]
    assert [str(p) for p in fresh_sample_law(6, 3, 2)] == ["3/10", "3/10", "1/4", "3/20", "0"]
    for n, m, k in ((9, 4, 3), (30, 29, 5), (12, 5, 5)):
        assert sum(fresh_sample_law(n, m, k)) == 1
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 2.1, 3.3, 4.6, 6.0]}))
    for k in (1, 2):
        params = RWN(k=k, neighbors="sample", m=3, fresh=True)
        prepared = params.prepare(data)
        donors = [prepared.release(SecretKey.from_seed(s)).donors[0, 0] for s in range(1000)]
        law = np.array([float(Fraction(p)) for p in fresh_sample_law(6, 3, k)])
        counts = np.bincount(donors, minlength=6)[1:]
        assert counts[law == 0].sum() == 0
        assert stats.chisquare(counts[law > 0], 1000 * law[law > 0]).pvalue > 1e-6


def test_isolated_records_are_given_partners():
    """With m = 1 every third record is in no pair; it gets max(1, k) others, they not it."""
    points = SMALL
    for k in (None, 4):
        ball = RadiusAndK(k=k, epsilon=None if k else 0.0)
        table = restricted_table(points, ball, Scheme(neighbors="pairs", m=1), KEY)
        i, j = random_pairs(KEY, len(points), len(points) // 2)
        degree = np.bincount(np.concatenate((i, j)), minlength=len(points))
        assert (degree == 0).any()
        lengths = np.diff(table.offsets)
        np.testing.assert_array_equal(lengths, np.where(degree, degree, max(1, k or 0)))
        result = table.cut(k=k or 1, epsilon=None)
        assert (result.sizes >= np.minimum(lengths, k or 1)).all()


@pytest.mark.parametrize(("n", "m"), [(5, 4), (40, 5)])
def test_random_others_are_different_and_uniform(n, m):
    records = np.repeat(np.arange(n), 1)
    counts = np.zeros((n, n))
    for seed in range(400):
        others = random_others(SecretKey.from_seed(seed), records, n, m, 3)
        assert all(len(set(row)) == m for row in others.tolist())
        np.add.at(counts, (np.repeat(records, m), others.ravel()), 1)
    assert (np.diag(counts) == 0).all()
    off = counts[~np.eye(n, dtype=bool)]
    expected = 400 * m / (n - 1)
    spread = expected * (1 - m / (n - 1))
    assert ((off - expected) ** 2).sum() <= spread * len(off) * 1.6 + 1e-9


def test_progress_counts_the_parts_that_are_done():
    told = list[float]()
    ball, scheme = RadiusAndK(k=2, epsilon=None), Scheme(neighbors="partition", u=4)
    with work(progress=told.append):
        restricted_table(SMALL, ball, scheme, KEY)
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_others_do_not_depend_on_the_batch():
    whole = random_others(KEY, np.arange(50), 1000, 20, 3)
    for record in (0, 7, 49):
        alone = random_others(KEY, np.array([record]), 1000, 20, 3)
        np.testing.assert_array_equal(alone[0], whole[record])


def test_parts_are_of_equal_size_and_everybody_is_in_one():
    parts = random_parts(KEY, 103, 4)
    assert sorted(len(part) for part in parts) == [25, 26, 26, 26]
    assert sorted(np.concatenate(parts).tolist()) == list(range(103))


@pytest.mark.parametrize("name", SCHEMES)
def test_a_release_repeats_for_its_key_on_any_number_of_threads(name):
    scheme = SCHEMES[name]
    data = Microdata.from_frame(pd.DataFrame(LARGE, columns=list("abc")))
    params = RWN(
        k=3, epsilon=0.4, neighbors=scheme.neighbors, m=scheme.m, u=scheme.u, fresh=scheme.fresh
    )
    one, two = (mask(data, params, seed=5, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.donors, two.donors)
    other = mask(data, params, seed=6)
    assert (other.donors != one.donors).mean() > 0.5
    again = params.neighborhoods(data, SecretKey.from_seed(5))
    for record in range(0, 2600, 130):
        assert set(one.donors[record].tolist()) <= set(again.members(record).tolist())
    if scheme.neighbors == "sample" and not scheme.fresh:
        assert len(np.unique(one.donors)) <= scheme.m


@pytest.mark.parametrize("points", [SMALL, LARGE], ids=["small", "large"])
def test_the_cost_is_stated(points):
    ball, one_part = RadiusAndK(k=5, epsilon=1.0), Scheme(neighbors="partition", u=1)
    exact = restricted_table(points, ball, one_part, KEY).cut(k=5, epsilon=1.0)
    cost = restriction_cost(points, exact)
    assert cost.recall == 1.0
    assert cost.effective_radius == cost.exact_radius
    assert cost.governed_by_k == cost.exact_governed_by_k
    assert cost.compared == min(1000, len(points))
    table = restricted_table(points, ball, SCHEMES["sample"], KEY)
    cost = restriction_cost(points, table.cut(k=5, epsilon=1.0))
    assert 0 < cost.recall < 1
    assert cost.governed_by_k > cost.exact_governed_by_k
    assert cost.effective_radius >= cost.exact_radius
    assert "fall back to k" in str(cost)


@pytest.mark.parametrize(
    "options",
    [
        {"neighbors": "sample", "m": 5},
        {"neighbors": "sample", "m": 151},
        {"neighbors": "pairs", "m": 150},
        {"neighbors": "partition", "u": 40},
        {"neighbors": "partition", "u": 10, "m": 15},
    ],
)
def test_numbers_that_do_not_fit_the_table_are_refused(options):
    data = Microdata.from_frame(pd.DataFrame(SMALL, columns=list("abc")))
    with pytest.raises(ParameterError, match="for this table and k"):
        mask(data, RWN(k=5, **options), seed=1)


def test_random_candidates_need_a_key():
    data = Microdata.from_frame(pd.DataFrame(SMALL, columns=list("abc")))
    with pytest.raises(ParameterError, match="depends on the key"):
        RWN(k=5, neighbors="sample", m=20).neighborhoods(data)


def test_pairs_that_would_not_fit_are_refused(monkeypatch):
    monkeypatch.setenv("RWN_MEMORY", "0.001")
    pairs = Scheme(neighbors="pairs", m=20)
    with pytest.raises(ParameterError, match="Ranking these pairs needs about"):
        restricted_table(LARGE, RadiusAndK(k=3, epsilon=None), pairs, KEY)
