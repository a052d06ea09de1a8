"""Bounds of what any intruder can link, against exact posteriors over all assignments."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.certificate import (
    certified_share,
    linkage_bounds,
    ratios_a_priori,
    ratios_of_law,
    ratios_of_release,
    unit_bounds,
)
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.metric import shared_metric
from rwn_core.neighbors.soft_lists import ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, weigh
from rwn_core.neighbors.table import complete_table
from tests.check_values import check_values
from tests.oracles.whole_file_beliefs import whole_file_beliefs

Array = NDArray[np.float64]
ENTRIES = check_values("kernel")


def weights_of(points: Array, kernel: Kernel) -> tuple[Array, Array]:
    """The weights of all pairs, and the logarithms of the rows' factors."""
    scaled = scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k))
    table, found = scaled.table, weigh(kernel, scaled)
    weights = np.zeros((table.n, table.n))
    weights[np.repeat(np.arange(table.n), np.diff(table.offsets)), table.records] = found.weights
    return weights, found.row


def distances(points: Array) -> Array:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def everyone(n: int) -> NDArray[np.int32]:
    return np.tile(np.arange(n, dtype=np.int32), (n, 1))


def values_of(weights: Array, codes: NDArray[np.int64]) -> Array:
    """P(each record releases each value), shape (n, V)."""
    return weights @ np.eye(codes.max() + 1)[codes]


def test_CERT_1_six_records_and_two_slices() -> None:
    given = ENTRIES["CERT-1"]
    points = np.array(given["input"]["W"], dtype=np.float64)
    kernel = Kernel(shape="exponential", width=2, bandwidth="absolute", cap=1.0, own=True)
    weights, factors = weights_of(points, kernel)
    codes = [np.unique(column, return_inverse=True)[1] for column in points.T]
    slices = [values_of(weights, each) for each in codes]
    donors = [np.array(given["input"][f"donors of column {j}"]) - 1 for j in (1, 2)]
    logs = sum(
        np.log(table[:, own[donor]]).T
        for table, own, donor in zip(slices, codes, donors, strict=True)
    )
    near = everyone(6)
    a_priori = ratios_a_priori(
        factors[:, None], factors[near], distances(points), width=2, slices=2, capped=False
    )
    found = {
        "exact beliefs (rows of the release x records)": whole_file_beliefs(np.exp(logs)),
        "bound by release": linkage_bounds(logs, ratios_of_release(logs, near), near),
        "bound by law": linkage_bounds(logs, ratios_of_law(slices, near), near),
        "bound a priori (distances and row factors)": linkage_bounds(logs, a_priori, near),
    }
    for name, expected in given["expected"].items():
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("slices", [1, 2])
def test_CERT_5_bodyfat(slices: int) -> None:
    expected = ENTRIES["CERT-5"]["expected"]
    data = rwn.load_demo("bodyfat")
    points = shared_metric(data, "sd", "dummies", "schema").coded(data)
    kernel = Kernel(shape="exponential", width=4, bandwidth="absolute", cap=1.0, own=True)
    weights, factors = weights_of(points, kernel)
    n, near = data.n, everyone(data.n)
    columns = np.array_split(data.frame.to_numpy(dtype=np.float64), slices, axis=1)
    codes = [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in columns]
    law = ratios_of_law([values_of(weights, each) for each in codes], near)
    far = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    a_priori = ratios_a_priori(
        factors[:, None], factors[near], far, width=4, slices=slices, capped=False
    )
    for name, ratios in (("mean over i of sum_k M_ik (law)", law), ("the same a priori", a_priori)):
        value = expected[f"{slices} slice(s): {name}"]
        assert np.exp(ratios).sum() / n == pytest.approx(value, rel=1e-4)


class Beliefs:
    """Random small releases: their exact beliefs and the bounds of them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def release(self, n: int) -> tuple[Array, dict[str, Array]]:
        """Log-likelihoods of a release's rows, and the ratios by each way."""
        rng = self.rng
        points = rng.normal(size=(n, 3))
        if rng.random() < 0.3:
            points[1] = points[0]
        if rng.random() < 0.2:
            points = np.round(points)
        width, slices = float(rng.choice([0.7, 1.5, 4.0])), int(rng.integers(1, 4))
        cap, balance = ((1.0, 0.0), (1.0, 1.0), (0.4, 0.0), (0.4, 1.0))[rng.integers(4)]
        kernel = Kernel(
            shape="exponential",
            width=width,
            bandwidth="absolute",
            cap=cap,
            own=True,
            balance=balance,
        )
        weights, factors = weights_of(points, kernel)
        columns = np.array_split(points, slices, axis=1)
        codes = [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in columns]
        tables = [values_of(weights, each) for each in codes]
        total = weights.cumsum(axis=1)
        logs = np.zeros((n, n))
        for own, table in zip(codes, tables, strict=True):
            donor = (total < rng.random(n)[:, None]).sum(axis=1).clip(max=n - 1)
            logs += np.log(table[:, own[donor]]).T
        near = everyone(n)
        ratios = {
            "release": ratios_of_release(logs, near),
            "law": ratios_of_law(tables, near),
            "a priori": ratios_a_priori(
                factors[:, None],
                factors[near],
                distances(points),
                width=width,
                slices=slices,
                capped=cap < 1,
            ),
        }
        return logs, ratios


@pytest.mark.parametrize(("n", "releases"), [(4, 900), (5, 900), (6, 1500), (7, 150), (8, 60)])
def test_CERT_4_no_belief_is_above_a_bound(n: int, releases: int) -> None:
    """Over all parameters more than 100,000 beliefs, each held against three or four bounds."""
    draws, near = Beliefs(seed=n), everyone(n)
    fewer = np.stack([[i, (i + 1) % n, (i + 3) % n] for i in range(n)]).astype(np.int32)
    checked, gained = 0, []
    for _ in range(releases):
        logs, ratios = draws.release(n)
        exact = whole_file_beliefs(np.exp(logs))
        for each in ratios.values():
            bounds = linkage_bounds(logs, each, near)
            assert (exact <= bounds + 1e-12).all()
            gained.append(1 - certified_share(bounds))
        part = np.take_along_axis(ratios["release"], fewer, axis=1)
        assert (exact <= linkage_bounds(logs, part, fewer) + 1e-12).all()
        checked += exact.size
    assert checked == releases * n * n
    assert np.mean(gained) > 0.05  # the bounds say something


@pytest.mark.parametrize("n", [4, 6, 7])
def test_no_rule_links_a_larger_share_than_is_certified(n: int) -> None:
    """The best rule of all, which takes the likeliest record of each row."""
    draws, near, below = Beliefs(seed=50 + n), everyone(n), 0
    for _ in range(100):
        logs, ratios = draws.release(n)
        best = float(whole_file_beliefs(np.exp(logs)).max(axis=1).mean())
        for each in ratios.values():
            bounds = linkage_bounds(logs, each, near)
            share = certified_share(bounds)
            assert best <= share + 1e-12
            assert share <= bounds.max(axis=1).mean() + 1e-12
            below += int(share < bounds.max(axis=1).mean() - 1e-9)
    assert below or n == 4


def test_a_record_that_may_have_every_row_has_one() -> None:
    """By hand: the first record's bounds are 1 in all of four rows, the others' are .3."""
    bounds = np.full((4, 4), 0.3)
    bounds[:, 0] = 1.0
    assert certified_share(bounds) == pytest.approx(0.3 + 1 / 4)
    # twins of a kind have a row each, and rows that are alike count as often
    assert certified_share(bounds[:, :2], np.array([1, 3])) == pytest.approx(0.3 + 1 / 4)
    assert certified_share(bounds[:1], None, np.array([4])) == pytest.approx(0.3 + 1 / 4)
    # of several records that are counted each adds its row
    bounds[:, 1] = 0.9
    assert certified_share(bounds) == pytest.approx(0.3 + 2 / 4)
    assert certified_share(np.full((4, 4), 0.25)) == 0.25
    # of two rows of four a record is all of one
    bounds[:, 1] = 0.3
    assert certified_share(bounds[:2], share=0.5) == pytest.approx(0.3 + 1 / 2)


def test_CERT_3_a_unit_of_two_records() -> None:
    draws = Beliefs(seed=33)
    for n in (5, 6, 7):
        units = np.array([0, 0, *range(1, n - 1)])
        member = np.eye(n - 1)[units]
        for _ in range(40):
            logs, ratios = draws.release(n)
            exact = whole_file_beliefs(np.exp(logs)) @ member
            assert (exact <= unit_bounds(logs, ratios["release"], units) + 1e-12).all()


def test_ratios_that_are_too_large_are_found_out() -> None:
    """The planted fault: without the minimum over rows the bounds fail."""
    draws, near, above = Beliefs(seed=9), everyone(5), 0
    for _ in range(60):
        logs, _ = draws.release(5)
        bounds = linkage_bounds(logs, np.zeros((5, 5)), near)
        above += int((whole_file_beliefs(np.exp(logs)) > bounds + 1e-9).any())
    assert above > 20


def test_CERT_6_a_law_with_zeros_certifies_nothing() -> None:
    table = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    with pytest.raises(NotApplicable, match="nothing is certified"):
        ratios_of_law([table], everyone(3))
    with pytest.raises(ValueError, match="among those near it"):
        linkage_bounds(np.zeros((2, 2)), np.zeros((2, 1)), np.array([[1], [0]], dtype=np.int32))
