"""Several releases: the bound, the simulation above it, and what modes and donors reveal."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.disclosure import distinct_donors, mode_is_own
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking import RWN, RandomSwapping, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk import repeated_releases
from rwn_core.measures.risk.repeated_releases import (
    bhattacharyya,
    bounds_of_records,
    simulate,
    success_of_rows,
)
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from rwn_core.tuning import Limit, Policy
from tests.oracles.exact_cells import coincidence


def test_ATT_5_bhattacharyya(e1_law, check_values):
    np.testing.assert_allclose(bhattacharyya(e1_law(0.5)), check_values["ATT-5"], atol=1e-6)


def test_ATT_8_two_releases_coincide(e1_law):
    law = e1_law(0.5)
    found = coincidence(law)
    tables = [law.table(name)[0].toarray() for name in ("x", "y")]
    np.testing.assert_allclose(found, np.prod([(t**2).sum(axis=1) for t in tables], axis=0))
    generator = np.random.default_rng(8)
    one, two = (
        np.stack([simulate(law, generator).matrix(["x", "y"]) for _ in range(600)])
        for _ in range(2)
    )
    share = (one == two).all(axis=2).mean(axis=0)
    assert (np.abs(share - found) < 4 * np.sqrt(found * (1 - found) / 600) + 1e-12).all()


@pytest.mark.parametrize("releases", [1, 2, 3, 5, 10, 20])
def test_MODE_1_the_mode_reveals_the_own_value(check_values, releases):
    expected = check_values["MODE-1"][str(releases)]
    assert mode_is_own(0.5, np.full(5, 0.1), releases) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("releases", [1, 2, 3, 5, 10, 20])
def test_MODE_2_distinct_donors(check_values, releases):
    expected = check_values["MODE-2"][str(releases)]
    assert distinct_donors(np.full(5, 0.2), releases) == pytest.approx(expected, abs=1e-9)


def test_the_mode_of_unequal_chances_by_counting_all_sequences():
    chances = np.array([0.3, 0.4, 0.2, 0.1])  # the own value first
    for releases in (1, 2, 4, 5):
        total = 0.0
        for sequence in product(range(4), repeat=releases):
            counts = np.bincount(sequence, minlength=4)
            if counts[0] == counts.max():
                total += chances[list(sequence)].prod() / (counts == counts[0]).sum()
        assert mode_is_own(0.3, chances[1:], releases) == pytest.approx(total, abs=1e-12)
    # of equal chances, a planted fault, the own value would come first too often
    assert mode_is_own(0.3, np.full(3, 0.7 / 3), 5) > total + 0.02


SETTINGS = [
    ("bodyfat", ("age", "weight", "height"), 0.0, 5, 1.0),
    ("bodyfat", None, 6.0, 25, 1.0),
    ("bodyfat", ("siri", "neck"), 2.0, 10, 0.8),
    ("pima", ("bmi", "age"), 1.5, 10, 0.5),
]
"""Table, keys, epsilon, k, q."""


@pytest.mark.parametrize(("name", "keys", "epsilon", "k", "q"), SETTINGS)
def test_BF_4_the_bound_is_never_above_the_simulation(request, name, keys, epsilon, k, q):
    data = request.getfixturevalue(name)
    neighborhoods = find_neighborhoods(coordinates(data), k=k, epsilon=epsilon)
    law = RWN(epsilon=epsilon, k=k, q=q).law(data, neighborhoods)
    generator = np.random.default_rng(11)
    times = (1, 2, 3, 5)
    success = success_of_rows(law, [simulate(law, generator) for _ in range(5)], keys).mean(axis=1)
    found = success[[m - 1 for m in times]]
    bounds = bounds_of_records(bhattacharyya(law, keys), times).mean(axis=1)
    assert (bounds <= found + 1e-9).all()
    assert (np.diff(bounds) >= 0).all()
    assert bounds[0] < 0.9


def test_BF_4_published_values_of_three_keys(bodyfat):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=5, epsilon=0.0)
    law = RWN(k=5, q=1.0).law(bodyfat, neighborhoods)
    keys = ("age", "weight", "height")
    bounds = bounds_of_records(bhattacharyya(law, keys), (1, 2, 3, 5)).mean(axis=1)
    np.testing.assert_allclose(bounds, [0.09, 0.80, 0.95, 0.993], atol=0.006)
    generator = np.random.default_rng(12)
    success = success_of_rows(law, [simulate(law, generator) for _ in range(5)], keys).mean(axis=1)
    np.testing.assert_allclose(success[[0, 1, 2, 4]], [0.67, 0.94, 0.98, 0.997], atol=0.03)


def test_the_bound_says_when_it_has_no_answer(e1, e1_points, monkeypatch, e1_law):
    neighborhoods = find_neighborhoods(e1_points, k=2, epsilon=1.0)
    mixture = RowMixtureLaw(e1, neighborhoods, np.ones(2, bool), 0.5)
    with pytest.raises(NotApplicable, match="independently"):
        coincidence(mixture)
    monkeypatch.setattr("rwn_core.measures.risk.repeated_releases.ATTACKED_PAIRS", 35)
    with pytest.raises(NotApplicable, match="At most 35 pairs"):
        bhattacharyya(e1_law(0.5))


def four_normals(seed, n=300):
    drawn = np.random.default_rng(seed).multivariate_normal(
        np.zeros(4), 0.6 * np.eye(4) + 0.4, size=n
    )
    variables = tuple(
        Variable(name=name, kind="continuous", role="confidential" if name == "s" else "key")
        for name in "abcs"
    )
    return Microdata.from_frame(
        pd.DataFrame(drawn, columns=list("abcs")), Schema(variables=variables)
    )


def drawn_by_hand(x, k, releases, generator):
    """Donors among the k nearest by a plain loop; log-likelihoods of rows by people, (M, n, n)."""
    points = (x - x.mean(0)) / x.std(0, ddof=1)
    near = [set(np.argsort(((points - p) ** 2).sum(1))[1 : k + 1].tolist()) for p in points]
    member = np.array([[j in near[i] for j in range(len(x))] for i in range(len(x))])
    logs = np.zeros((releases, len(x), len(x)))
    for each in range(releases):
        for _ in range(3):  # the keys, each with a donor of its own
            donors = [generator.choice(sorted(near[i])) for i in range(len(x))]
            with np.errstate(divide="ignore"):
                logs[each] += np.log(member[:, donors].T)  # values have no ties
    return logs


def linked_by(logs):
    """Right links row by row, and of the likeliest assignment."""
    equally = np.exp(logs - logs.max(axis=1, keepdims=True))
    alone = (equally.max(axis=1) / equally.sum(axis=1)).mean()
    mixed = np.random.default_rng(9).permutation(len(logs))  # ties are settled by the order
    cost = np.where(np.isfinite(logs), -logs, 1e6)[:, mixed]
    return alone, np.mean(mixed[linear_sum_assignment(cost)[1]] == np.arange(len(logs)))


@pytest.mark.parametrize("k", [60, 20])
def test_three_releases_in_one_order_are_not_far_too_low(k):
    """Finding A7a: the number is that of an own simulation, and no bound far below it."""
    data = four_normals(0)
    release = mask(data, RWN(k=k, q=1.0), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    found = MEASURES["repeated_releases"].compute(comparison)
    generator = np.random.default_rng(3)
    logs = drawn_by_hand(data.frame.to_numpy(), k, 3, generator).cumsum(axis=0)
    alone, together = np.transpose([linked_by(each) for each in logs])
    drawn = [simulate(release.law, generator) for _ in range(3)]
    named = success_of_rows(release.law, drawn, ("a", "b", "c")).mean(axis=1)
    np.testing.assert_allclose(named, alone, atol=0.05)
    shown = np.asarray(found.detail["same_order"])[:3]
    assert (shown >= together - 0.08).all()  # the assignment is no better than weighing all rows
    assert (shown >= alone - 0.05).all()
    assert found.detail["standing"] == "worst"
    assert found.value == shown[2] > 0.5
    verdict = Policy(limits=(Limit(measure="repeated_releases", at_most=0.05),)).judge_readings(
        {"repeated_releases": found}
    )
    assert not verdict.kept


def test_a_lower_bound_keeps_no_limit(bodyfat):
    """Finding A7a: a method whose releases cannot be drawn again has a bound only."""
    release = mask(bodyfat, RandomSwapping(share=0.5), seed=1)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    found = MEASURES["repeated_releases"].compute(comparison)
    assert found.detail["standing"] == "at least"
    limit = Limit(measure="repeated_releases", at_most=max(found.value, 0.99))
    verdict = Policy(limits=(limit,)).judge_readings({"repeated_releases": found})
    assert not verdict.kept
    assert "lower bound" in verdict.unread["repeated_releases"]


def test_a_sample_of_records_is_compared_with_all(bodyfat, monkeypatch):
    """A table too large for all pairs: a stated random sample, row by row, is a lower bound."""
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=1)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    whole = MEASURES["repeated_releases"].compute(comparison)
    assert not whole.detail["sampled"]
    assert whole.interval is None
    alike = bhattacharyya(release.law, whole.detail["names"])
    monkeypatch.setattr(repeated_releases, "ATTACKED_PAIRS", 241 * 120)
    some = MEASURES["repeated_releases"].compute(comparison)
    assert some.detail["sampled"]
    assert some.detail["standing"] == "at least"
    assert len(some.detail["records"]) == 120
    assert some.interval[0] <= whole.value
    assert some.interval[0] <= some.value <= some.interval[1]
    part = bhattacharyya(release.law, whole.detail["names"], some.detail["records"])
    np.testing.assert_allclose(part, alike[some.detail["records"]])
    monkeypatch.setattr(repeated_releases, "ATTACKED_PAIRS", 241 * 40)
    with pytest.raises(NotApplicable, match="At least 50 records"):
        MEASURES["repeated_releases"].compute(comparison)


def test_draws_in_some_order_follow_the_law_and_not_the_order(e1_law):
    law = e1_law(0.5)
    generator = np.random.default_rng(5)
    order = np.array([3, 0, 5, 1, 4, 2])
    drawn = [simulate(law, generator, order).matrix(["x", "y"]) for _ in range(4000)]
    values = np.stack(drawn)
    for place, name in enumerate(("x", "y")):
        chances, possible = law.table(name)
        for column, value in enumerate(possible):
            if value is not None:
                shares = (values[:, :, place] == value).mean(axis=0)
                np.testing.assert_allclose(shares, chances.toarray()[:, column], atol=0.04)
