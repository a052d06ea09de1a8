"""Soft kernels, their lists of donors and balance."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from rwn_core import Microdata, ParameterError, SecretKey, SoftRWN
from rwn_core.neighbors import find_neighborhoods, soft_lists
from rwn_core.neighbors.compressed_rows import Entries
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import list_both_ways, list_neighbors, ranked_lists, to_rank
from rwn_core.neighbors.soft_neighborhoods import scale, weigh
from rwn_core.neighbors.table import NeighborTable, complete_table
from rwn_core.neighbors.weight_kernel import (
    _bound_of_largest,
    _sort_largest,
    bit_equal_exp,
    fill_log,
)
from rwn_core.parallel.threads import work
from tests.check_values import check_values
from tests.core.neighbors.brute_force import callable_here
from tests.lanes import lanes
from tests.oracles.soft_weights import capped_row, log_kernel

bit_equal_exp, _sort_largest, _bound_of_largest = callable_here(
    bit_equal_exp, _sort_largest, _bound_of_largest
)

ENTRIES = check_values("kernel")
SIX = np.array(ENTRIES["SOFT-1"]["input"]["W"], dtype=np.float64)
ADAPTIVE = Kernel(shape="gaussian", bandwidth_k=2, cap=1.0)


def matrix(points: NDArray[np.float64], kernel: Kernel) -> NDArray[np.float64]:
    """The weights of all pairs, shape (n, n)."""
    scaled = scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k))
    table = scaled.table
    found = weigh(kernel, scaled)
    weights = np.zeros((table.n, table.n))
    weights[np.repeat(np.arange(table.n), np.diff(table.offsets)), table.records] = found.weights
    return weights


def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def test_SOFT_1_adaptive_gaussian_without_a_cap():
    expected = ENTRIES["SOFT-1"]["expected"]
    lists = ranked_lists(complete_table(SIX), ADAPTIVE.bandwidth_k)
    np.testing.assert_allclose(ADAPTIVE.scales(lists.scaling), expected["s"], rtol=1e-11)
    np.testing.assert_allclose(matrix(SIX, ADAPTIVE), expected["weights"], rtol=0, atol=1e-10)


def test_SOFT_2_no_weight_above_the_cap():
    weights = matrix(SIX, replace(ADAPTIVE, cap=0.4))
    np.testing.assert_allclose(
        weights, ENTRIES["SOFT-2"]["expected"]["weights"], rtol=0, atol=1e-10
    )


def test_SOFT_3_the_smallest_cap_is_even_over_all_others():
    weights = matrix(SIX, replace(ADAPTIVE, cap=0.2))
    np.testing.assert_allclose(weights, (1 - np.eye(6)) / 5, rtol=0, atol=1e-12)
    with pytest.raises(ParameterError, match=r"cap must be at least 1/5 = 0\.2 here"):
        matrix(SIX, replace(ADAPTIVE, cap=0.19))
    assert matrix(SIX, replace(ADAPTIVE, cap=1 / 6, own=True)) == pytest.approx(1 / 6, abs=1e-12)


def test_SOFT_4_exponential_with_the_own_record():
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
def test_rows_agree_with_bisection(shape, bandwidth):
    for number, points in enumerate(hard_tables(10)):
        if (number < 5) != (shape == "gaussian"):  # every kind of table for each shape
            continue
        own = number % 2 == 1
        cap = (0.1, 0.06, 1.0)[number % 3]
        width = (0.4, 1.0, 2.5)[number % 3]
        kernel = Kernel(
            shape=shape, width=width, bandwidth=bandwidth, bandwidth_k=4, cap=cap, own=own
        )
        nearest = None if bandwidth == "absolute" else 4
        logs = log_kernel(
            distances(points), shape, width, nearest=nearest, fixed=bandwidth == "fixed", own=own
        )
        expected = [capped_row(row, cap)[0] for row in logs]
        np.testing.assert_allclose(matrix(points, kernel), expected, rtol=0, atol=3e-8)


def test_exp_and_log_are_exact_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-690, 40, 20_001), -np.logspace(-18, 2, 999), [0.0]])
    found = [bit_equal_exp(value) for value in x]
    np.testing.assert_allclose(found, np.exp(x), rtol=4.5e-16)
    assert [bit_equal_exp(-691.0), bit_equal_exp(-1e300)] == [0.0, 0.0]
    x = np.concatenate([np.logspace(-300, 300, 9_999), np.linspace(0.5, 1.5, 9_999)])
    found = np.empty_like(x)
    fill_log(x, found)
    np.testing.assert_allclose(found, np.log(x), rtol=4.5e-16, atol=2.3e-16)


def test_exp_and_log_have_the_same_bits_everywhere():
    """Their bits are part of what a key means: they must never change."""
    x = -(np.arange(1, 6) ** 2) / 7
    log = np.empty(5)
    fill_log(-x, log)
    assert " ".join(bit_equal_exp(value).hex() for value in x) == EXP_BITS
    assert " ".join(value.hex() for value in log.tolist()) == LOG_BITS


EXP_BITS = (
    "0x1.bbd76b8a1ab98p-1 0x1.2122bbd2f6b6ep-1 0x1.1b1681e89d3a1p-2 0x1.a091a39e7818ap-4 "
    "0x1.cca59fc825a87p-6"
)
LOG_BITS = (
    "-0x1.f2272ae325a58p+0 -0x1.1e85f5e7040d1p-1 0x1.015891c9eaef9p-2 0x1.a74269f84330ep-1 "
    "0x1.45e1141a8c010p+0"
)


ROWS = ("offsets", "records", "squared")


def tables() -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(6)
    coarse = np.column_stack([rng.integers(0, 4, (2300, 3)) / 3.7, rng.integers(0, 2, 2300) / 7])
    heavy = rng.lognormal(0, 2, (2200, 3))
    heavy[0] = 500.0  # few list it, but it lists others
    return {"ties": coarse, "heavy tails": heavy, "numbers": rng.normal(size=(2100, 6))}


@pytest.fixture(params=lanes("ties", "heavy tails", "numbers"))
def points(request: pytest.FixtureRequest) -> NDArray[np.float64]:
    return tables()[request.param]


def test_three_records_by_hand():
    """0 and 1 are nearest to each other; 2 lists 1, so that 1 lists 2."""
    near = NeighborTable(
        offsets=np.arange(4),
        records=np.array([1, 0, 1], np.int32),
        squared=np.array([1.0, 1.0, 4.0]),
        k=1,
        epsilon=0.0,
    )
    back = Entries(near.records, np.arange(3, dtype=np.int32), near.squared)
    both = list_both_ways(near, back, near.squared, 1).table
    assert both.offsets.tolist() == [0, 1, 3, 4]
    assert both.records.tolist() == [1, 0, 2, 1]
    assert both.squared.tolist() == [1.0, 1.0, 4.0, 4.0]


def test_lists_are_those_of_all_pairs(points):
    """Each record's 200 nearest with their ties, and whoever has it among theirs."""
    lists = list_neighbors(points, 10)
    n = len(points)
    near = complete_table(points).cut(k=200, epsilon=None)
    listed = [set(near.members(i).tolist()) for i in range(n)]
    back: list[set[int]] = [set() for _ in range(n)]
    for record, members in enumerate(listed):
        for member in members:
            back[member].add(record)
    for record in range(n):
        start, stop = lists.table.offsets[record : record + 2]
        assert set(lists.table.records[start:stop].tolist()) == listed[record] | back[record]
        assert (np.diff(lists.table.squared[start:stop]) >= 0).all()
    np.testing.assert_array_equal(lists.scaling, to_rank(complete_table(points), 10))
    assert lists.least == min(map(len, listed))


def test_some_rows_are_those_of_all(points, monkeypatch):
    everyone = list_neighbors(points, 10)
    some = np.sort(np.random.default_rng(1).permutation(len(points))[:150])
    expected, _ = everyone.table.for_records(some)
    for rows, threads in ((50_000, 1), (700, 2)):  # in parts, and in threads
        monkeypatch.setattr(soft_lists, "AT_ONCE", rows)
        with work(threads=threads):
            lists = list_neighbors(points, 10, some)
        for name in (*ROWS, "numbers"):
            assert getattr(lists.table, name).tobytes() == getattr(expected, name).tobytes()
        assert lists.scaling.tobytes() == everyone.scaling.tobytes()
        assert lists.least == everyone.least


def test_a_scale_beyond_the_list_is_searched_for():
    points = tables()["numbers"]
    lists = list_neighbors(points, 250)
    assert lists.least >= 250
    np.testing.assert_array_equal(lists.scaling, to_rank(complete_table(points), 250))


HALF = {"balance": 0.5}
GIVEN: list[dict[str, Any]] = [{}, {"balance": 1.0}, {"own": True, "bandwidth": "fixed"}]


@pytest.mark.parametrize(
    ("n", "given"),
    [
        *((n, given) for given in GIVEN for n in (300, 2300)),
        (300, HALF),
        # half a minute of scaling; 300 records scale to one half too, and 2,300 to the whole
        pytest.param(2300, HALF, marks=pytest.mark.nightly),
    ],
)
def test_records_that_are_shown_have_the_donors_of_the_release(n, given):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.lognormal(size=(n, 3)), columns=list("abc"))
    frame["d"] = rng.integers(0, 3, n)
    data = Microdata.from_frame(frame)
    key = SecretKey.from_seed(3)
    setting = SoftRWN(kernel="gaussian", **given)
    everyone = setting.prepare(data).release(key)
    shown = setting.preview(data, most=120)
    assert len(shown.records) == 120
    np.testing.assert_array_equal(shown.release(key).donors, everyone.donors[shown.records])
    wider = replace(setting, width=1.5)
    moved = shown.with_levers(width=1.5).release(key)
    released = wider.prepare(data).release(key)
    np.testing.assert_array_equal(moved.donors, released.donors[shown.records])
    assert (moved.donors != everyone.donors[shown.records]).any()
    back = shown.with_levers(width=1.5).with_levers(width=1.0).release(key)
    np.testing.assert_array_equal(back.donors, everyone.donors[shown.records])
    some = shown.records[5:40]
    alone = setting.prepare(data, records=some).release(key)
    np.testing.assert_array_equal(alone.donors, everyone.donors[some])


@pytest.mark.parametrize(("balance", "table"), [(0.0, "heavy tails"), (1.0, "heavy tails")])
def test_equal_keys_give_equal_bytes_on_any_number_of_threads(balance, table, monkeypatch):
    data = Microdata.from_frame(pd.DataFrame(tables()[table]).add_prefix("x"))
    setting = SoftRWN(kernel="gaussian", balance=balance)
    digests = set()
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("RWN_THREADS", threads)
        donors = setting.prepare(data).release(SecretKey.from_seed(5)).donors
        digests.add(hashlib.sha256(donors.tobytes()).hexdigest())
    assert len(digests) == 1


BALANCED = Kernel(shape="gaussian", bandwidth_k=2, cap=1.0, balance=1.0)


@pytest.mark.parametrize(("entry", "cap"), [("BAL-1", 1.0), ("BAL-2", 0.4)])
def test_BAL_1_and_2_six_records(entry, cap):
    weights = matrix(SIX, replace(BALANCED, cap=cap))
    np.testing.assert_allclose(weights, ENTRIES[entry]["expected"]["weights"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(weights, weights.T, atol=1e-7)  # the kernel is symmetric


def test_BAL_4_two_far_twins_exchange_at_most_the_cap():
    lattice = [[column, row] for column in range(5) for row in range(4)]
    points = np.array([*lattice, [500, 500], [501, 500]], dtype=np.float64)
    kernel = Kernel(shape="gaussian", balance=1.0)
    weights = matrix(points, kernel)
    assert weights[20, 21] == pytest.approx(0.1, abs=1e-12)
    assert abs(weights.sum(axis=0) - 1).max() <= 1e-6
    assert (weights[20] > 0.1 - 1e-9).sum() == 5
    assert (weights[0] ** 2).sum() == pytest.approx(0.06076799, abs=1e-7)
    assert matrix(points, replace(kernel, cap=1.0))[20, 21] == pytest.approx(1.0, abs=1e-6)


def _loads(points: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    return matrix(points, Kernel(shape="gaussian", balance=share)).sum(axis=0)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_share_of_balance_moves_loads_by_that_share(share):
    points = np.random.default_rng(6).lognormal(size=(80, 2))
    unbalanced = _loads(points, 0.0)
    assert abs(unbalanced - 1).max() > 0.3, "the planted fault: without balance all would fail"
    expected = (1 - share) * unbalanced + share
    np.testing.assert_allclose(_loads(points, share), expected, rtol=0, atol=1e-6)


def test_members_of_a_row_share_its_probability():
    points = np.array([[0.0], [1.0], [3.0], [3.5]])
    found = find_neighborhoods(points, k=1, epsilon=2.0)
    assert found.sizes.tolist() == [1, 2, 2, 1]
    assert found.weights(1).tolist() == [1.0, 1.0]
    assert found.total.tolist() == [1.0, 2.0, 2.0, 1.0]
    expected = [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]]
    assert found.probabilities().toarray().tolist() == expected


def test_clones_share_the_floor_of_the_scale():
    points = np.array([[0.0]] * 4 + [[1.0], [3.0], [7.0], [8.0]])
    kernel = Kernel(shape="gaussian", bandwidth_k=1)
    near = to_rank(complete_table(points), 1)
    np.testing.assert_allclose(kernel.scales(near), [0.05] * 4 + [1, 2, 1, 1], rtol=1e-15)
    assert kernel.scales(to_rank(complete_table(np.zeros((5, 1))), 1)).tolist() == [1.0] * 5


UNEVEN = {
    "even": lambda rng: rng.random(300),
    "far numbers": lambda rng: np.append(rng.random(298), [-1e300, 1e300]),
    "few values": lambda rng: rng.integers(0, 3, 300).astype(float),
    "one value": lambda rng: np.zeros(300),
    "none": lambda rng: np.where(rng.random(300) < 0.5, -np.inf, rng.random(300)),
    "crowded at the top": lambda rng: -(rng.random(300) ** 40),
}


@pytest.mark.parametrize("kind", UNEVEN)
def test_the_largest_are_sorted_however_unevenly_numbers_lie(kind):
    numbers = UNEVEN[kind](np.random.default_rng(3))
    top = np.empty(300)
    for count in (33, 150, 300):
        _sort_largest(numbers, 0, 300, top, count, np.empty(300, np.int64))
        np.testing.assert_array_equal(top[:count], np.sort(numbers)[::-1][:count])


@pytest.mark.parametrize("kind", UNEVEN)
def test_enough_numbers_reach_the_bound_and_of_even_ones_few_more(kind):
    numbers = UNEVEN[kind](np.random.default_rng(3))
    for count in (1, 33, 150, 300):
        reached = int((numbers >= _bound_of_largest(numbers, 0, 300, count)).sum())
        assert reached >= count
        if kind == "even":
            assert reached <= count + count // 4 + 8
