"""Several releases: the bound, the simulation above it, and what modes and donors reveal."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

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


def test_a_lower_bound_keeps_no_limit(bodyfat):
    """Finding A7a: a method whose releases cannot be drawn again has a bound only."""
    release = mask(bodyfat, RandomSwapping(share=0.5), seed=1)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    found = MEASURES["repeated_releases"].compute(comparison)
    assert found.detail.standing == "at least"
    limit = Limit(measure="repeated_releases", at_most=max(found.value, 0.99))
    verdict = Policy(limits=(limit,)).judge({"repeated_releases": found})
    assert not verdict.kept
    assert "lower bound" in verdict.unread["repeated_releases"]


def test_a_sample_of_records_is_compared_with_all(bodyfat, monkeypatch):
    """A table too large for all pairs: a stated random sample, row by row, is a lower bound."""
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=1)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    whole = MEASURES["repeated_releases"].compute(comparison)
    assert not whole.detail.sampled
    assert whole.interval is None
    alike = bhattacharyya(release.law, whole.detail.names)
    monkeypatch.setattr(repeated_releases, "ATTACKED_PAIRS", 241 * 120)
    some = MEASURES["repeated_releases"].compute(comparison)
    assert some.detail.sampled
    assert some.detail.standing == "at least"
    assert len(some.detail.records) == 120
    assert some.interval[0] <= whole.value
    assert some.interval[0] <= some.value <= some.interval[1]
    part = bhattacharyya(release.law, whole.detail.names, some.detail.records)
    np.testing.assert_allclose(part, alike[some.detail.records])
    monkeypatch.setattr(repeated_releases, "ATTACKED_PAIRS", 241 * 40)
    with pytest.raises(NotApplicable, match="At least 50 records"):
        MEASURES["repeated_releases"].compute(comparison)


def test_draws_in_some_order_follow_the_law_and_not_the_order(e1_law):
    law = e1_law(0.5)
    generator = np.random.default_rng(5)
    order = np.array([3, 0, 5, 1, 4, 2])
    values = np.stack([simulate(law, generator, order).matrix(["x", "y"]) for _ in range(1000)])
    for place, name in enumerate(("x", "y")):
        chances, possible = law.table(name)
        for column, value in enumerate(possible):
            if value is not None:
                shares = (values[:, :, place] == value).mean(axis=0)
                said = chances.toarray()[:, column]
                assert (np.abs(shares - said) <= 4 * np.sqrt(said * (1 - said) / 1000)).all()
