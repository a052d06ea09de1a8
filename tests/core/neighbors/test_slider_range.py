"""The sliders' ends: exact quantiles of the sampled distances, however they are found."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.measures.comparison import Comparison
from rwn_core.neighbors import slider_range


@pytest.mark.parametrize("step", [0.0, 1.0])  # all different; hardly anything but ties
def test_a_rank_is_found_without_sorting_everything(monkeypatch, step):
    monkeypatch.setattr(slider_range, "GUESSED", 50)
    values = np.random.default_rng(8).exponential(2.0, (20, 300))
    values = np.round(values / step) if step else values
    values[:, 7] = np.inf
    ascending = np.sort(values, axis=None)
    distances = slider_range._Distances(values.ravel())
    for rank in (0, 1, 59, 60, 3000, 5600, values.size - 21):
        assert distances._at(rank) == ascending[rank]


def test_a_rank_that_the_guess_misses_is_found_among_all(monkeypatch):
    monkeypatch.setattr(slider_range, "GUESSED", 400)
    values = np.tile([0.0, 1.0, 2.0, 3.0], 4000)  # every fortieth is 0
    distances = slider_range._Distances(values)
    assert [distances._at(rank) for rank in (0, 3999, 4000, 8000, 15_999)] == [0, 0, 1, 2, 3]


def test_a_radius_stays_between_its_ends():
    values = np.arange(1.0, 101.0) ** 2
    distances = slider_range._Distances(values)
    assert distances.radius_of_mean_size(0.2) == 21.0
    for least, most in [(0.0, 30.0), (0.0, 21.0), (21.0, 30.0), (20.5, 21.5)]:
        assert distances.radius_of_mean_size(0.2, least, most) == 21.0
    assert distances.radius_of_mean_size(0.2, most=4.5) == 4.5
    assert distances.radius_of_mean_size(0.2, 35.5, 40.0) == 35.5


def test_the_low_distance_is_that_of_records_that_are_apart():
    squared = np.square(np.random.default_rng(9).integers(0, 40, (10, 500)) / 7.0)
    squared[:, 3] = np.inf
    apart = squared[(squared > 0) & np.isfinite(squared)]
    expected = np.sqrt(np.quantile(apart, 0.01))
    assert slider_range._Distances(squared.ravel()).low() == expected
    assert slider_range._Distances(np.zeros(6)).low() == 1.0


@pytest.mark.parametrize(
    ("records", "stored", "end"),
    [
        (241, 12_000_000, 100),
        (90, 12_000_000, 89),
        (9_000, 6_000_000, 150),
        (12_000, 3_000_000, 120),
        (12_000, 100_000, 60),
    ],
)
def test_k_goes_as_far_as_its_neighbors_are_stored(records, stored, end):
    points = np.random.default_rng(3).normal(size=(records, 2))
    assert slider_range.find_slider_range(points, stored).k == end


@pytest.mark.parametrize(
    # each lever and each table by the day: one rule gives both ends
    ("demo", "lever"),
    [
        ("randhie", "epsilon"),
        ("cps1988", "k"),
        pytest.param("randhie", "k", marks=pytest.mark.nightly),
        pytest.param("cps1988", "epsilon", marks=pytest.mark.nightly),
    ],
)
def test_the_end_of_a_slider_keeps_the_limit_of_linkage(demo, lever):
    """In this release, by the upper bound of so large a table and not only by what is known."""
    data = rwn.load_demo(demo)
    ranges = rwn.RWN(k=5, q=1.0).preview(data).ranges
    release = rwn.mask(data, rwn.RWN(**({"k": 5} | {lever: ranges[lever].high}), q=1.0), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    linked = rwn.MEASURES["bayes_linkage"].read(comparison)
    limit = rwn.Policy().limit("bayes_linkage")
    assert linked.value <= linked.detail.at_most <= limit.at_most
