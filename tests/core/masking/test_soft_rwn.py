"""RWN with soft kernels: the draw, its exact law, balance over releases, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import rwn_core as rwn
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.masking import RWN, fixed_options, lever_values
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import list_neighbors, ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods
from rwn_core.neighbors.table import Neighborhoods, complete_table
from rwn_core.randomness import SecretKey

Array = NDArray[np.float64]
BALANCED = RWN(kernel="gaussian", balance=1.0)
SETTINGS = {
    "gaussian": RWN(kernel="gaussian"),
    "balanced": BALANCED,
    "exponential with own": RWN(kernel="exponential", own=True, cap=0.3, width=0.7),
    "fixed": RWN(kernel="gaussian", bandwidth="fixed", q=0.6),
}
LEAST = 1e-6  # a correct draw is refuted so seldom


@cache
def skewed() -> rwn.Microdata:
    """Numbers with outliers and ties, and a category."""
    rng = np.random.default_rng(8)
    columns: dict[str, Any] = {
        "a": rng.lognormal(size=50),
        "b": rng.integers(0, 5, size=50).astype(np.float64),
        "c": rng.normal(size=50),
        "d": np.where(rng.random(50) < 0.3, "x", "y"),
    }
    return rwn.Microdata.from_frame(pd.DataFrame(columns))


@cache
def far_apart() -> rwn.Microdata:
    """Numbers with one record far on either side, whose weightiest donor is also its farthest."""
    rng = np.random.default_rng(5)
    values = np.vstack([rng.normal(size=(48, 3)), np.full(3, 9.0), np.full(3, -9.0)])
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))


def counts(params: RWN, releases: int, data: rwn.Microdata | None = None) -> tuple[Array, Array]:
    """How often each record was the donor of each, and the same expected."""
    data = skewed() if data is None else data
    prepared = params.prepare(data)
    found = np.zeros((data.n, data.n))
    for seed in range(releases):
        donors = prepared.release(SecretKey.from_seed(seed)).donors
        for column in donors.T:
            np.add.at(found, (np.arange(data.n), column), 1)
    law = (1 - params.q) * np.eye(data.n) + params.q * prepared.law.probabilities.toarray()
    return found, law * releases * donors.shape[1]


def p_value(found: Array, expected: Array) -> float:
    """Chi-square over the donors of each record, rare ones taken together."""
    total, freedom = 0.0, 0
    for row, mean in zip(found, expected, strict=True):
        often = mean >= 5
        seen = np.append(row[often], row[~often].sum())
        awaited = np.append(mean[often], mean[~often].sum())
        seen, awaited = seen[awaited > 0], awaited[awaited > 0]
        total += ((seen - awaited) ** 2 / awaited).sum()
        freedom += len(awaited) - 1
    return float(chi2.sf(total, freedom))


@pytest.mark.parametrize("name", SETTINGS)
def test_SOFT_7_donors_are_drawn_by_the_law(name: str) -> None:
    assert p_value(*counts(SETTINGS[name], 600)) > LEAST


def test_the_farthest_donor_may_weigh_most() -> None:
    found, expected = counts(BALANCED, 600, far_apart())
    assert expected[48, 49] >= 0.999 * expected[48].max()
    assert expected[48].min() < 0.5 * expected[48].max()
    assert p_value(found, expected) > LEAST
    fault = expected.copy()  # planted: the two far records draw evenly from all others
    fault[48:] = expected[48:].sum(axis=1, keepdims=True) / 49
    fault[[48, 49], [48, 49]] = 0.0
    assert p_value(found, fault) < LEAST


def test_wrong_draws_are_refuted() -> None:
    """Planted faults: every rank accepted, no cap, no balance, another width."""
    drawn = replace(BALANCED, cap=0.03)
    found, expected = counts(drawn, 600)
    each = expected.sum(axis=1, keepdims=True)
    table = complete_table(BALANCED.points(skewed()))
    law = drawn.prepare(skewed()).law.probabilities.toarray()
    ranked = np.take_along_axis(law, table.records.reshape(50, 49), axis=1)
    accepted = np.zeros_like(law)
    envelope = np.maximum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(accepted, table.records.reshape(50, 49).astype(int), envelope, axis=1)
    accepted /= accepted.sum(axis=1, keepdims=True)
    others = (
        BALANCED,
        replace(drawn, balance=0.0),
        replace(drawn, width=0.8),
    )
    wrong = [other.prepare(skewed()).law.probabilities.toarray() for other in others]
    for fault in (accepted, *wrong):
        assert p_value(found, fault * each) < LEAST


def test_cells_of_a_row_are_independent_unless_they_share_a_slice() -> None:
    prepared = BALANCED.prepare(skewed())
    donors = np.stack([prepared.release(SecretKey.from_seed(s)).donors for s in range(400)])
    same = (donors[:, :, 0] == donors[:, :, 1]).mean()
    law = prepared.law.probabilities.toarray()
    expected = (law**2).sum(axis=1)
    error = np.sqrt((expected * (1 - expected)).mean() / same.size / donors[:, :, 0].size)
    assert abs(same - expected.mean()) < 4 * max(error, 1e-4) + 2e-3
    sliced = skewed().with_slices([("a", "b")])
    together = BALANCED.prepare(sliced).release(SecretKey.from_seed(1)).donors
    assert (together[:, 0] == together[:, 1]).all()
    assert (together[:, 0] != together[:, 2]).any()


def test_SOFT_8_even_weights_are_the_record_chain_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    table = complete_table(rng.normal(size=(40, 2)))
    even = table.narrow(k=39, epsilon=None)
    shares = np.full(len(table.records), 1 / 39)
    soft = Neighborhoods(
        table=table,
        sizes=even.sizes,
        within=even.sizes,
        radius=even.radius,
        k=None,
        epsilon=None,
        shares=shares,
    )
    q = np.array([1.0, 0.5, 0.0])
    for seed in range(5):
        draws = Draws(SecretKey.from_seed(seed), np.arange(40), (0, 1, 2))
        np.testing.assert_array_equal(draw_donors(soft, draws, q), draw_donors(even, draws, q))


def test_SOFT_6_a_reach_and_a_rank_within_it_are_the_weights() -> None:
    entry = next(
        each
        for each in json.loads(
            (Path(__file__).parents[2] / "golden" / "kernel_check_values.json").read_text()
        )["values"]
        if each["id"] == "SOFT-6"
    )
    weights = np.array(entry["input"]["weights by rank"])
    layers = np.array(entry["expected"]["layer probabilities (size 1..4)"])
    within = np.array([[1 / s if t <= s else 0 for t in range(1, 5)] for s in range(1, 5)])
    np.testing.assert_allclose(layers @ within, weights, atol=1e-12)
    table = complete_table(np.array([[0.0], [1.0], [2.1], [4.4], [9.3]]))
    soft = Neighborhoods(
        table=table,
        sizes=np.full(5, 4),
        within=np.full(5, 4),
        radius=np.ones(5),
        k=None,
        epsilon=None,
        shares=np.tile(weights, 5),
    )
    records = np.zeros(20_000, dtype=np.int64)
    draws = Draws(SecretKey.from_seed(2), records[:1], tuple(range(20_000)))
    donors = draw_donors(soft, draws, np.ones(20_000))[0]
    found = np.bincount(donors, minlength=5)[1:] / 20_000
    np.testing.assert_allclose(found, weights, atol=4 * np.sqrt(0.24 / 20_000))


def test_a_step_of_the_width_changes_at_most_a_tenth_of_the_cells() -> None:
    data, key = rwn.load_demo("bodyfat"), SecretKey.from_seed(5)
    for balance in (0.0, 1.0):
        setting = RWN(kernel="gaussian", balance=balance)
        prepared = setting.prepare(data)
        before = prepared.release(key).donors
        after = prepared.with_levers(width=1.05).release(key).donors
        assert (before != after).mean() < 0.1


def test_some_records_alone_have_the_donors_of_all() -> None:
    points = np.random.default_rng(4).normal(size=(60, 3))
    kernel, lists = Kernel(shape="gaussian"), ranked_lists(complete_table(points), 10)
    found = soft_neighborhoods(kernel, scale(kernel, lists))
    key, q = SecretKey.from_seed(1), np.ones(4)
    everyone = draw_donors(found, Draws(key, np.arange(60), (0, 1, 2, 3)), q)
    some = np.array([3, 17, 40, 59])
    np.testing.assert_array_equal(
        draw_donors(found, Draws(key, some, (0, 1, 2, 3)), q), everyone[some]
    )


def test_simulated_releases_follow_the_weights() -> None:
    law = RWN(kernel="gaussian", width=0.3).prepare(skewed()).law
    generator, found = np.random.default_rng(3), np.zeros((50, 50))
    for _ in range(500):
        np.add.at(found, (np.arange(50), simulated_donors(law, generator)[:, 0]), 1)
    assert p_value(found, law.probabilities.toarray() * 500) > LEAST


@cache
def releases_of(params: RWN, count: int) -> list[Array]:
    data = _three_slices()
    prepared = params.prepare(data)
    return [
        prepared.release(SecretKey.from_seed(seed)).masked.frame.to_numpy(dtype=np.float64)
        for seed in range(count)
    ]


def _three_slices() -> rwn.Microdata:
    rng = np.random.default_rng(9)
    base = rng.lognormal(0, 0.7, size=(150, 1))
    values = base + rng.gamma(1.0, size=(150, 6)) * 0.5
    values[:, 5] = values[:, 5] > 1.2
    data = rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abcdef")))
    return data.with_slices([("a", "b"), ("c", "d"), ("e", "f")])


def _largest_z(params: RWN) -> dict[str, float]:
    """Largest standardized difference of statistics inside slices over 300 releases."""
    original = _three_slices().frame.to_numpy(dtype=np.float64)

    def statistics(table: Array) -> dict[str, Array]:
        centered = table - original.mean(axis=0)
        products = [centered[:, j] * centered[:, j + 1] for j in (0, 2, 4)]
        crossed = [(table[:, 4] > 2) & (table[:, 5] == level) for level in (0, 1)]
        return {
            "means": table.mean(axis=0),
            "second moments": (table**2).mean(axis=0),
            "products": np.array([each.mean() for each in products]),
            "cross table": np.array([each.mean() for each in crossed]),
        }

    drawn = [statistics(table) for table in releases_of(params, 300)]
    result = {}
    for name, expected in statistics(original).items():
        found = np.array([each[name] for each in drawn])
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        result[name] = float(np.abs((found.mean(axis=0) - expected) / error).max())
    return result


@pytest.mark.parametrize("q", [1.0, 0.6])
def test_BAL_7_balanced_releases_are_unbiased_inside_slices(q: float) -> None:
    assert max(_largest_z(replace(BALANCED, q=q)).values()) < 3.5


def test_BAL_7_even_and_unbalanced_releases_are_far_outside() -> None:
    assert min(_largest_z(RWN(k=20)).values()) > 5
    assert max(_largest_z(RWN(kernel="gaussian")).values()) > 5


def test_BAL_5_expected_moments_of_bodyfat() -> None:
    entry = next(
        each
        for each in json.loads(
            (Path(__file__).parents[2] / "golden" / "kernel_check_values.json").read_text()
        )["values"]
        if each["id"] == "BAL-5"
    )
    data = rwn.load_demo("bodyfat")
    values = data.frame.to_numpy(dtype=np.float64)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    settings = {"gauss": RWN(kernel="gaussian"), "balanced": BALANCED, "even k=40": RWN(k=40)}
    original = np.corrcoef(values.T)
    pairs = np.triu_indices(values.shape[1], 1)
    for name, params in settings.items():
        weights = params.prepare(data).law.probabilities
        means, squares = weights @ standard, (weights @ standard**2).mean(axis=0)
        drift, sds = means.mean(axis=0), np.sqrt(squares - means.mean(axis=0) ** 2)
        for words, count in (("each alone", values.shape[1]), ("4 slices", 4)):
            expected = entry["expected"][f"{name}, {words}"]
            slice_of = np.repeat(np.arange(count), [len(x) for x in np.array_split(drift, count)])
            together = (weights @ (standard[:, pairs[0]] * standard[:, pairs[1]])).mean(axis=0)
            apart = (means[:, pairs[0]] * means[:, pairs[1]]).mean(axis=0)
            same = slice_of[pairs[0]] == slice_of[pairs[1]]
            second = np.where(same, together, apart) - drift[pairs[0]] * drift[pairs[1]]
            change = np.abs(second / (sds[pairs[0]] * sds[pairs[1]]) - original[pairs]).mean()
            found = [np.abs(drift).mean(), np.abs(sds - 1).mean(), change]
            np.testing.assert_allclose(found, list(expected.values()), rtol=0, atol=2e-6)


def test_a_large_table_lists_the_nearest_both_ways() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(2300, 3))
    points[0] = 40.0  # few list it, but it lists others
    lists = list_neighbors(points, 10)
    table = lists.table
    rows = np.repeat(np.arange(table.n), np.diff(table.offsets))
    there = set(zip(rows.tolist(), table.records.tolist(), strict=True))
    assert all((member, record) in there for record, member in there)
    assert np.diff(table.offsets).min() >= 200
    assert (np.diff(table.squared)[np.diff(rows) == 0] >= 0).all()
    kernel = Kernel(shape="gaussian", balance=1.0)
    found = soft_neighborhoods(kernel, scale(kernel, lists))
    sums = found.probabilities().sum(axis=0)
    assert abs(sums - 1).max() <= 1e-6


def test_a_large_table_is_masked_and_read_by_its_law() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(2100, 2)), columns=["x", "y"])
    frame["z"] = rng.integers(0, 3, size=2100)
    data = rwn.Microdata.from_frame(frame)
    release = rwn.mask(data, BALANCED, seed=1)
    assert release.law is not None
    table, values = release.law.table("z")
    assert abs(table.sum(axis=1) - 1).max() < 1e-9
    expected = np.bincount(data.codes("z")[0]) / 2100
    assert values
    np.testing.assert_allclose(table.sum(axis=0) / 2100, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kernel": "gaussian", "k": 5}, "has a width in place of epsilon and k"),
        ({"kernel": "exponential", "epsilon": 1.0}, "has a width in place of epsilon and k"),
        ({"kernel": "round"}, "kernel must be one of: even, gaussian, exponential"),
        ({"k": 5, "width": 1.0}, "width needs kernel to be gaussian or exponential"),
        ({"k": 5, "cap": 0.2}, "cap needs kernel to be gaussian or exponential"),
        ({"k": 5, "balance": 1.0}, "balance needs kernel to be gaussian or exponential"),
        ({"k": 5, "own": True}, "own needs kernel to be gaussian or exponential"),
        ({"kernel": "gaussian", "width": -1.0}, "width must be a number above 0"),
        ({"kernel": "gaussian", "neighbors": "sample", "m": 5}, "needs neighbors to be exact"),
        ({"kernel": "gaussian", "balance": 2}, "balance must be a number from 0 to 1"),
    ],
)
def test_a_wrong_combination_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        RWN(**given)


def test_what_is_not_derived_is_refused_with_the_reason() -> None:
    prepared = RWN(kernel="gaussian").prepare(skewed())
    with pytest.raises(NotApplicable, match="one more record changes all weights"):
        prepared.law.outside(skewed())
    with pytest.raises(ParameterError, match="cap must be at least 1/49"):
        RWN(kernel="gaussian", cap=0.01).prepare(skewed()).release(SecretKey.from_seed(1))


def test_levers_of_a_soft_kernel_are_width_balance_and_q() -> None:
    assert [each.name for each in RWN(kernel="gaussian").levers] == ["width", "balance", "q"]
    assert [each.name for each in RWN(k=5).levers] == ["epsilon", "k", "q"]
    assert RWN(kernel="gaussian").strength == "width"
    prepared = RWN(kernel="gaussian").prepare(skewed())
    assert prepared.ranges["width"].high == 4.0
    assert prepared.with_levers(width=2.0).params == RWN(kernel="gaussian", width=2.0)
    moved = prepared.with_levers(balance=1.0)
    donors = moved.release(SecretKey.from_seed(7)).donors
    np.testing.assert_array_equal(donors[:6], KNOWN)  # a move is the setting prepared anew


def test_known_bytes_of_a_balanced_release() -> None:
    """Equal keys, equal donors, on every platform."""
    donors = BALANCED.prepare(skewed()).release(SecretKey.from_seed(7)).donors
    assert donors[:6].tolist() == KNOWN


KNOWN = [
    [35, 35, 30, 39],
    [20, 18, 10, 43],
    [29, 0, 11, 30],
    [27, 16, 46, 13],
    [32, 46, 26, 45],
    [6, 47, 44, 43],
]


def test_balance_that_is_not_reached_is_said() -> None:
    data = skewed()
    law = BALANCED.prepare(data).law
    assert BALANCED.remarks(data, law) == []
    law.neighborhoods = replace(law.neighborhoods, imbalance=0.03)
    (remark,) = BALANCED.remarks(data, law)
    assert remark.startswith("balance is not reached: some records give 0.03 more or less often")


def test_levers_follow_the_kernel_among_the_options() -> None:
    assert set(neutral_levers(RWN)) == {"epsilon", "k", "q"}
    options = {"kernel": "gaussian"}
    made = RWN(**options, **neutral_levers(RWN, options) | {"balance": 1.0})
    assert made == BALANCED
    assert lever_values(made) == {"width": 1.0, "balance": 1.0, "q": 1.0}
    assert fixed_options(made) == options


def test_cautions_of_soft_kernels() -> None:
    plain, balanced = RWN(kernel="gaussian").cautions(), BALANCED.cautions()
    assert balanced[: len(plain)] == plain
    assert "extremes survive more often" in balanced[len(plain)]
    assert any("attribute attack gains more" in each for each in plain)
    assert any("a rare category" in each for each in plain)
    assert any("never publish" in each for each in plain)
    assert "own donors" in RWN(kernel="gaussian", own=True).cautions()[0]
    assert "exchange nearly all" in RWN(kernel="gaussian", cap=1.0).cautions()[-1]


def test_what_is_done_to_the_probabilities_of_a_law_changes_no_release() -> None:
    data = rwn.load_demo("bodyfat")
    prepared = rwn.RWN(kernel="gaussian", balance=1.0).prepare(data)
    before = prepared.release(SecretKey.from_seed(3))
    shares = before.law.probabilities
    shares.sort_indices()  # as scipy does within max and others
    shares.data[:] = 0.0
    after = prepared.release(SecretKey.from_seed(3))
    assert after.masked.fingerprint == before.masked.fingerprint
    assert after.law.probabilities.sum() == pytest.approx(data.n)
