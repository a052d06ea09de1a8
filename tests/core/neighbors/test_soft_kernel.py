"""Weights of soft kernels: check values, a slow twin, faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.masking import SoftRWN
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import ranked_lists, to_rank
from rwn_core.neighbors.soft_neighborhoods import scale, weigh
from rwn_core.neighbors.table import complete_table
from rwn_core.neighbors.weight_kernel import bit_equal_exp, fill_log
from tests.check_values import check_values
from tests.core.neighbors.callable_kernels import callable_here
from tests.oracles.soft_weights import capped_row, log_kernel

(bit_equal_exp,) = callable_here(bit_equal_exp)

ENTRIES = check_values("kernel")
SIX = np.array(ENTRIES["SOFT-1"]["input"]["W"], dtype=np.float64)
ADAPTIVE = Kernel(shape="gaussian", bandwidth_k=2, cap=1.0)


def matrix(points: NDArray[np.float64], kernel: Kernel) -> NDArray[np.float64]:
    """The weights of all pairs, shape (n, n)."""
    scaled = scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k))
    table, found = scaled.table, weigh(kernel, scaled)
    weights = np.zeros((table.n, table.n))
    weights[np.repeat(np.arange(table.n), np.diff(table.offsets)), table.records] = found.weights
    return weights


def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def test_SOFT_1_adaptive_gaussian_without_a_cap() -> None:
    expected = ENTRIES["SOFT-1"]["expected"]
    lists = ranked_lists(complete_table(SIX), ADAPTIVE.bandwidth_k)
    np.testing.assert_allclose(ADAPTIVE.scales(lists.scaling), expected["s"], rtol=1e-11)
    np.testing.assert_allclose(matrix(SIX, ADAPTIVE), expected["weights"], rtol=0, atol=1e-10)


def test_SOFT_2_no_weight_above_the_cap() -> None:
    weights = matrix(SIX, replace(ADAPTIVE, cap=0.4))
    np.testing.assert_allclose(
        weights, ENTRIES["SOFT-2"]["expected"]["weights"], rtol=0, atol=1e-10
    )


def test_SOFT_3_the_smallest_cap_is_even_over_all_others() -> None:
    weights = matrix(SIX, replace(ADAPTIVE, cap=0.2))
    np.testing.assert_allclose(weights, (1 - np.eye(6)) / 5, rtol=0, atol=1e-12)
    with pytest.raises(ParameterError, match=r"cap must be at least 1/5 = 0\.2 here"):
        matrix(SIX, replace(ADAPTIVE, cap=0.19))
    assert matrix(SIX, replace(ADAPTIVE, cap=1 / 6, own=True)) == pytest.approx(1 / 6, abs=1e-12)


def test_SOFT_4_exponential_with_the_own_record() -> None:
    kernel = Kernel(shape="exponential", width=2, bandwidth="absolute", cap=1.0, own=True)
    expected = ENTRIES["SOFT-4"]["expected"]
    np.testing.assert_allclose(matrix(SIX, kernel), expected["weights"], rtol=0, atol=1e-10)
    factors = np.exp(
        weigh(kernel, scale(kernel, ranked_lists(complete_table(SIX), kernel.bandwidth_k))).row
    )
    np.testing.assert_allclose(factors, expected["factor_x"], rtol=0, atol=1e-10)


def hard_tables(count: int, seed: int = 20) -> list[NDArray[np.float64]]:
    """Tables of 20 to 45 records with outliers, clones, integers and heavy tails."""
    rng = np.random.default_rng(seed)
    tables = []
    for number in range(count):
        n = int(rng.integers(20, 46))
        points = rng.normal(size=(n, 3))
        kind = number % 5
        if kind == 1:
            points[:2] = [[100, 0, 0], [100, 0, 0.01]]
        elif kind == 2:
            points[: n // 3] = points[0]
        elif kind == 3:
            points = rng.integers(0, 3, size=(n, 3)).astype(np.float64)
        elif kind == 4:
            points = rng.lognormal(0, 2, size=(n, 3))
        tables.append(points)
    return tables


@pytest.mark.parametrize("shape", ["gaussian", "exponential"])
@pytest.mark.parametrize("bandwidth", ["adaptive", "fixed", "absolute"])
def test_rows_agree_with_bisection(shape: Any, bandwidth: Any) -> None:
    for number, points in enumerate(hard_tables(10)):
        own = number % 2 == 1
        cap, width = (0.1, 0.06, 1.0)[number % 3], (0.4, 1.0, 2.5)[number % 3]
        kernel = Kernel(
            shape=shape, width=width, bandwidth=bandwidth, bandwidth_k=4, cap=cap, own=own
        )
        nearest = None if bandwidth == "absolute" else 4
        logs = log_kernel(
            distances(points), shape, width, nearest=nearest, fixed=bandwidth == "fixed", own=own
        )
        expected = [capped_row(row, cap)[0] for row in logs]
        np.testing.assert_allclose(matrix(points, kernel), expected, rtol=0, atol=3e-8)


def test_exp_and_log_are_exact_to_two_units_in_the_last_place() -> None:
    x = np.concatenate([np.linspace(-690, 40, 20_001), -np.logspace(-18, 2, 999), [0.0]])
    found = [bit_equal_exp(value) for value in x]
    np.testing.assert_allclose(found, np.exp(x), rtol=4.5e-16)
    assert [bit_equal_exp(-691.0), bit_equal_exp(-1e300)] == [0.0, 0.0]
    x = np.concatenate([np.logspace(-300, 300, 9_999), np.linspace(0.5, 1.5, 9_999)])
    found = np.empty_like(x)
    fill_log(x, found)
    np.testing.assert_allclose(found, np.log(x), rtol=4.5e-16, atol=2.3e-16)


def test_exp_and_log_have_the_same_bits_everywhere() -> None:
    """Their bits are part of what a key means: they must never change."""
    x = -(np.arange(1, 6) ** 2) / 7
    log = np.empty(5)
    fill_log(-x, log)
    assert [bit_equal_exp(value).hex() for value in x] == EXP_BITS
    assert [value.hex() for value in log.tolist()] == LOG_BITS


EXP_BITS = [
    "0x1.bbd76b8a1ab98p-1",
    "0x1.2122bbd2f6b6ep-1",
    "0x1.1b1681e89d3a1p-2",
    "0x1.a091a39e7818ap-4",
    "0x1.cca59fc825a87p-6",
]
LOG_BITS = [
    "-0x1.f2272ae325a58p+0",
    "-0x1.1e85f5e7040d1p-1",
    "0x1.015891c9eaef9p-2",
    "0x1.a74269f84330ep-1",
    "0x1.45e1141a8c010p+0",
]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kernel": "round"}, "kernel must be one of: gaussian, exponential"),
        ({"bandwidth": "wide"}, "bandwidth must be one of: adaptive, fixed, absolute"),
        ({"width": 0}, "width must be a number above 0"),
        ({"width": float("inf")}, "width must be a number above 0"),
        ({"width": True}, "width must be a number above 0"),
        ({"bandwidth_k": 0}, "bandwidth_k must be a whole number"),
        ({"bandwidth_k": 2.0}, "bandwidth_k must be a whole number"),
        ({"cap": 0.0}, "cap must be a number above 0, at most 1"),
        ({"cap": 1.1}, "cap must be a number above 0, at most 1"),
        ({"own": 1}, "own must be true or false"),
        ({"balance": -0.1}, "balance must be a number from 0 to 1"),
        ({"balance": float("nan")}, "balance must be a number from 0 to 1"),
    ],
)
def test_a_wrong_attribute_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        SoftRWN(**values)


def test_clones_share_the_floor_of_the_scale() -> None:
    points = np.array([[0.0]] * 4 + [[1.0], [3.0], [7.0], [8.0]])
    kernel = Kernel(shape="gaussian", bandwidth_k=1)
    near = to_rank(complete_table(points), 1)
    np.testing.assert_allclose(kernel.scales(near), [0.05] * 4 + [1, 2, 1, 1], rtol=1e-15)
    assert kernel.scales(to_rank(complete_table(np.zeros((5, 1))), 1)).tolist() == [1.0] * 5
