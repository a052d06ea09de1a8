"""Several releases: the bound, the simulation above it, and what modes and donors reveal."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.averaging import distinct_donors, mode_is_own
from rwn_core.measures.attacks.repeated_releases import (
    bhattacharyya,
    bounds_of_records,
    success_after,
)
from rwn_core.measures.attacks.simulation import simulate, simulated_donors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk import repeated_releases
from rwn_core.mechanism.row_mixture import RowMixtureLaw
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
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
    assert mode_is_own(0.5, 5, releases) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("releases", [1, 2, 3, 5, 10, 20])
def test_MODE_2_distinct_donors(check_values, releases):
    expected = check_values["MODE-2"][str(releases)]
    assert distinct_donors(5, releases) == pytest.approx(expected, abs=1e-9)


SETTINGS = [
    ("bodyfat", ("age", "weight", "height"), 0.0, 5, 1.0),
    ("bodyfat", None, 4.0, 5, 1.0),
    ("bodyfat", ("age", "weight", "height"), 4.0, 5, 0.5),
    ("bodyfat", None, 6.0, 25, 1.0),
    ("bodyfat", ("siri", "neck"), 2.0, 10, 0.8),
    ("pima", ("pregnant", "bmi", "age"), 2.0, 5, 1.0),
    ("pima", None, 1.0, 5, 1.0),
    ("pima", None, 3.0, 5, 0.8),
    ("pima", ("bmi", "age"), 1.5, 10, 0.5),
    ("pima", ("glucose", "bmi", "age"), 2.5, 25, 1.0),
]
"""Table, keys, epsilon, k, q: five settings of each table."""


@pytest.mark.parametrize(("name", "keys", "epsilon", "k", "q"), SETTINGS)
def test_BF_4_the_bound_is_never_above_the_simulation(request, name, keys, epsilon, k, q):
    data = request.getfixturevalue(name)
    neighborhoods = find_neighborhoods(coordinates(data), k=k, epsilon=epsilon)
    law = RWN(epsilon=epsilon, k=k, q=q).law(data, neighborhoods)
    generator = np.random.default_rng(11)
    times = (1, 2, 3, 5)
    success = success_after(law, [simulate(law, generator) for _ in range(5)], keys)
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
    success = success_after(law, [simulate(law, generator) for _ in range(5)], keys)
    np.testing.assert_allclose(success[[0, 1, 2, 4]], [0.67, 0.94, 0.98, 0.997], atol=0.03)


def test_the_simulation_draws_what_the_law_says(e1_law):
    law = e1_law(0.5)
    generator = np.random.default_rng(5)
    donors = np.stack([simulated_donors(law, generator) for _ in range(2000)])
    kept = (donors == np.arange(6)[None, :, None]).mean(axis=0)
    np.testing.assert_allclose(kept, 0.5, atol=0.06)
    for record in range(6):
        members = set(law.neighborhoods.members(record).tolist()) | {record}
        assert set(donors[:, record].ravel().tolist()) == members


def test_the_bound_says_when_it_has_no_answer(e1, e1_points, monkeypatch, e1_law):
    neighborhoods = find_neighborhoods(e1_points, k=2, epsilon=1.0)
    mixture = RowMixtureLaw(e1, neighborhoods, np.ones(2, bool), 0.5)
    with pytest.raises(NotApplicable, match="independently"):
        coincidence(mixture)
    monkeypatch.setattr("rwn_core.measures.attacks.repeated_releases.LARGEST_PAIRS", 35)
    with pytest.raises(NotApplicable, match="At most 35 pairs"):
        bhattacharyya(e1_law(0.5))


def test_a_sample_of_records_is_compared_with_all(bodyfat, monkeypatch):
    """A table too large for all pairs: the bound of a stated random sample, and its error."""
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=1)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    whole = MEASURES["repeated_releases"].compute(comparison)
    assert not whole.detail["sampled"]
    assert whole.interval is None
    monkeypatch.setattr(repeated_releases, "LARGEST_PAIRS", 241 * 120)
    some = MEASURES["repeated_releases"].compute(comparison)
    assert some.detail["sampled"]
    assert len(some.detail["records"]) == 120
    assert some.interval[0] <= whole.value <= some.interval[1]
    alike = bhattacharyya(release.law, whole.detail["names"])
    part = bhattacharyya(release.law, whole.detail["names"], some.detail["records"])
    np.testing.assert_allclose(part, alike[some.detail["records"]])
    monkeypatch.setattr(repeated_releases, "LARGEST_PAIRS", 241 * 40)
    with pytest.raises(NotApplicable, match="At least 50 records"):
        MEASURES["repeated_releases"].compute(comparison)
