"""The lesson on edges and balance: its numbers by loops, and each of its sentences by releases."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import edges as lesson
from rwn_core.randomness import SecretKey

HARD = rwn.RWN(epsilon=1.0, k=lesson.NEAREST)
SOFT = rwn.RWN(kernel="gaussian", width=1.0)
BALANCED = rwn.RWN(kernel="gaussian", width=1.0, balance=1.0)
RELEASES = 300


@cache
def releases(setting: rwn.RWN, *, together: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Donors (R, n, 2) and released values (R, n, 2) of many releases."""
    prepared = setting.prepare(lesson.table(together=together))
    made = [prepared.release(SecretKey.from_seed(seed)) for seed in range(RELEASES)]
    donors = np.stack([one.donors for one in made if one.donors is not None])
    return donors, np.stack([one.masked.matrix(["x", "y"]) for one in made])


def z(sample: np.ndarray, truth: float | np.ndarray) -> float:
    """The largest difference of means from the truth, in standard errors."""
    error = sample.std(axis=0, ddof=1) / np.sqrt(len(sample))
    return float(np.abs((sample.mean(axis=0) - truth) / error).max())


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("setting", [HARD, SOFT, BALANCED])
def test_numbers_by_loops_over_the_law(setting: rwn.RWN, together: bool) -> None:
    data = lesson.table(together=together)
    law = setting.prepare(data).law
    assert law is not None
    shares = law.probabilities.toarray()
    n, columns = data.n, data.matrix(["x", "y"])
    found = lesson.edges(data, setting, record=7)
    np.testing.assert_allclose(found.weights, shares[7], rtol=0, atol=1e-15)
    loads = [sum(shares[i, l] for i in range(n)) for l in range(n)]  # noqa: E741
    np.testing.assert_allclose(found.loads, loads, rtol=0, atol=1e-12)
    missed = np.ones(n)
    apart = np.ones(n)
    for row in shares:
        missed *= 1 - row
        apart *= 1 - (row if together else row**2)
    assert found.paired == pytest.approx(1 - apart.mean())
    ends = [l for j in range(2) for place, l in enumerate(np.argsort(columns[:, j]))  # noqa: E741
            if place < 5 or place >= n - 5]  # fmt: skip
    assert found.extremes == pytest.approx(1 - missed[ends].mean())


def test_a_released_value_excludes_records_under_the_hard_edge_only() -> None:
    data = lesson.table()
    for setting, excludes in ((HARD, True), (SOFT, False), (BALANCED, False)):
        law = setting.prepare(data).law
        assert law is not None
        possible = law.probabilities.toarray() > 0
        np.fill_diagonal(possible, True)
        assert possible.all() != excludes
        donors, _ = releases(setting)
        rows = np.broadcast_to(np.arange(data.n)[:, None], donors.shape[1:])
        assert all(possible[rows, each].all() for each in donors)


def test_balance_makes_loads_means_and_products_of_a_slice_right_on_average() -> None:
    data = lesson.table(together=True)
    x, y = data.matrix(["x", "y"]).T
    truth = np.array([x.mean(), y.mean(), (x * x).mean(), (x * y).mean(), (x > 1).mean()])
    far = np.argsort(np.hypot(*lesson.edges(data, HARD).points.T))[-5:]
    off = {}
    for name, setting in (("hard", HARD), ("soft", SOFT), ("balanced", BALANCED)):
        donors, values = releases(setting, together=True)
        u, v = values[..., 0], values[..., 1]
        sums = np.column_stack(
            [each.mean(axis=1) for each in (u, v, u * u, u * v, (u > 1).astype(float))]
        )
        off[name] = z(sums, truth)
        counts = np.stack([np.bincount(each[:, 0], minlength=data.n) for each in donors])
        given = lesson.edges(data, setting).loads
        assert np.abs(counts.mean(axis=0) - given).max() < 5 / np.sqrt(RELEASES)
        if name == "balanced":
            np.testing.assert_allclose(given, 1.0, rtol=0, atol=1e-6)
        else:
            assert counts[..., far].mean() < 0.7  # so that spreads shrink
            assert u.std(axis=1).mean() < 0.95 * x.std()
    assert off["balanced"] < 3.5
    assert off["soft"] > 10
    assert off["hard"] > 20


def test_extremes_and_look_ups_of_releases_are_the_law_s_and_rise() -> None:
    data = lesson.table(together=True)
    ends = lesson.extremes(data)
    seen = {}
    for name, setting in (("hard", HARD), ("soft", SOFT), ("balanced", BALANCED)):
        donors, _ = releases(setting, together=True)
        shown = np.stack([np.bincount(each[:, 0], minlength=data.n) > 0 for each in donors])
        found = lesson.edges(data, setting)
        assert z(shown[:, ends].mean(axis=1), found.extremes) < 3.5
        assert z(shown.mean(axis=1), found.paired) < 3.5
        seen[name] = shown[:, ends].mean(), shown.mean()
    assert seen["hard"][0] + 0.1 < seen["soft"][0] < seen["balanced"][0] - 0.05
    assert seen["hard"][1] + 0.005 < min(seen["soft"][1], seen["balanced"][1])
    assert seen["balanced"][0] > 1 - np.exp(-1)


def test_a_slope_across_slices_is_not_helped_and_one_within_a_slice_is() -> None:
    for width in (0.5, 1.0, 2.0):
        hard = rwn.RWN(epsilon=width, k=lesson.NEAREST)
        soft = rwn.RWN(kernel="gaussian", width=width)
        full = rwn.RWN(kernel="gaussian", width=width, balance=1.0)
        (truth, one), (_, two), (_, three) = (
            lesson.edges(lesson.table(), each).slope for each in (hard, soft, full)
        )
        assert three - two < 0.02 * truth
        assert abs(three - truth) > abs(one - truth)  # RWN as published shrinks both, x and y
        inside = lesson.edges(lesson.table(together=True), full).slope
        assert inside[1] == pytest.approx(inside[0], abs=0.005)
    data = lesson.table()
    _, values = releases(BALANCED)
    moments = np.stack([np.cov(each, rowvar=False)[0] for each in values])
    expected = lesson.edges(data, BALANCED)
    variance = (expected.spread * data.values("x").std(ddof=1)) ** 2
    assert z(moments, np.array([variance, expected.slope[1] * variance])) < 3.5
