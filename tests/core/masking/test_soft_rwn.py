"""RWN with soft kernels: the draw, its exact law, balance over releases, and what is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import rwn_core as rwn
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.masking import RWN, SoftRWN, fixed_options, lever_values
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods
from rwn_core.neighbors.table import Neighborhoods, complete_table
from rwn_core.randomness import SecretKey
from tests.check_values import check_values

Array = NDArray[np.float64]
BALANCED = SoftRWN(kernel="gaussian", balance=1.0)
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


def test_variables_of_a_slice_share_a_donor() -> None:
    sliced = skewed().with_slices([("a", "b")])
    together = BALANCED.prepare(sliced).release(SecretKey.from_seed(1)).donors
    assert (together[:, 0] == together[:, 1]).all()
    assert (together[:, 0] != together[:, 2]).any()


def test_SOFT_8_even_weights_are_the_record_chain_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    table = complete_table(rng.normal(size=(40, 2)))
    even = table.cut(k=39, epsilon=None)
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
    entry = check_values("kernel")["SOFT-6"]
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
        setting = SoftRWN(kernel="gaussian", balance=balance)
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
    law = SoftRWN(kernel="gaussian", width=0.3).prepare(skewed()).law
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
    assert max(_largest_z(SoftRWN(kernel="gaussian")).values()) > 5


def test_what_is_not_derived_is_refused_with_the_reason() -> None:
    prepared = SoftRWN(kernel="gaussian").prepare(skewed())
    with pytest.raises(NotApplicable, match="one more record changes all weights"):
        prepared.law.outside(skewed())
    with pytest.raises(ParameterError, match="cap must be at least 1/49"):
        SoftRWN(kernel="gaussian", cap=0.01).prepare(skewed()).release(SecretKey.from_seed(1))


def test_levers_of_a_soft_kernel_are_width_balance_and_q() -> None:
    assert [each.name for each in SoftRWN(kernel="gaussian").levers] == ["width", "balance", "q"]
    assert [each.name for each in RWN(k=5).levers] == ["epsilon", "k", "q"]
    assert SoftRWN(kernel="gaussian").strength == "width"
    prepared = SoftRWN(kernel="gaussian").prepare(skewed())
    assert prepared.ranges["width"].high == 4.0
    assert prepared.with_levers(width=2.0).params == SoftRWN(kernel="gaussian", width=2.0)
    moved = prepared.with_levers(balance=1.0)
    donors = moved.release(SecretKey.from_seed(7)).donors
    np.testing.assert_array_equal(donors[:6], KNOWN)  # a move is the setting prepared anew


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


def test_each_method_has_its_own_neutral_levers() -> None:
    assert set(neutral_levers(RWN)) == {"epsilon", "k", "q"}
    made = SoftRWN(kernel="exponential", **neutral_levers(SoftRWN) | {"balance": 1.0})
    assert lever_values(made) == {"width": 1.0, "balance": 1.0, "q": 1.0}
    assert fixed_options(made) == {"kernel": "exponential"}


@pytest.mark.parametrize("name", ["kernel", "width", "bandwidth_k", "cap", "own", "balance"])
def test_what_soft_neighborhoods_take_is_refused_by_rwn_with_their_name(name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        RWN(**{"k": 5, name: "gaussian"})
    assert (
        str(caught.value) == f"RWN has no parameter {name}; rwn.SoftRWN (--kernel gaussian) has it."
    )


FORMER: dict[str, tuple[dict[str, Any], Any]] = {
    "written with defaults": (
        {"q": 0.9, "scale": "sd", "neighbors": "exact", "fresh": False, "kernel": "gaussian",
         "width": 0.5, "bandwidth": "adaptive", "own": False, "balance": 1.0},
        SoftRWN(q=0.9, width=0.5, balance=1.0),
    ),
    "what differs alone": ({"kernel": "exponential", "own": True},
                           SoftRWN(kernel="exponential", own=True)),
    "even": ({"k": 5, "kernel": "even", "bandwidth": "adaptive", "own": False, "balance": 0.0},
             RWN(k=5)),
    "with what is left out": ({"k": None, "epsilon": None, "m": None, "kernel": "gaussian"},
                              SoftRWN()),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMER)
def test_a_setting_that_was_written_as_rwn_with_a_kernel_is_read(name: str) -> None:
    written, now = FORMER[name]
    assert rwn.Setting.of("rwn", written).params == now
    plain = {"method": "rwn", "parameters": written, "weights": {}}
    assert rwn.Setting.from_dict(plain).params == now


def test_kernels_with_a_radius_or_random_candidates_were_never_a_setting() -> None:
    for more in ({"k": 5}, {"epsilon": 1.0}, {"neighbors": "sample", "m": 9}):
        with pytest.raises(ParameterError, match="SoftRWN has no parameter"):
            rwn.Setting.of("rwn", {"kernel": "gaussian", **more})
    with pytest.raises(ParameterError, match="balance; rwn"):
        rwn.Setting.of("rwn", {"kernel": "even", "k": 5, "balance": 1.0})


KNOWN_BYTES = {
    "written with defaults": "eaccef7e66010254",
    "what differs alone": "e2d7a4ebdaad7fa7",
    "even": "1ae3e8e6b8c86042",
    "with what is left out": "00d149f354559594",
}


def test_a_file_of_a_kernel_has_the_bytes_that_it_had() -> None:
    """The releases of the demo table that earlier versions made of RWN with these kernels."""
    data, found = rwn.load_demo("bodyfat"), {}
    for name, made in FORMER.items():
        release = rwn.mask(data, made[1], seed=7)
        found[name] = hashlib.sha256(release.to_bytes("csv")).hexdigest()[:16]
    assert found == KNOWN_BYTES


def test_what_is_done_to_the_probabilities_of_a_law_changes_no_release() -> None:
    data = rwn.load_demo("bodyfat")
    prepared = rwn.SoftRWN(kernel="gaussian", balance=1.0).prepare(data)
    before = prepared.release(SecretKey.from_seed(3))
    shares = before.law.probabilities
    shares.sort_indices()  # as scipy does within max and others
    shares.data[:] = 0.0
    after = prepared.release(SecretKey.from_seed(3))
    assert after.masked.fingerprint == before.masked.fingerprint
    assert after.law.probabilities.sum() == pytest.approx(data.n)
