"""A radius of its own for each record."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, mask
from rwn_core.neighbors import Radii, find_neighborhoods, nearest_radii, neighbor_table
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import complete_table
from tests.core.neighbors.brute_force import hard_table, squared_pairs
from tests.core.neighbors.searched import searched_table


def expected_sets(points: np.ndarray, radii: np.ndarray, k: int | None) -> list[set[int]]:
    squared = squared_pairs(points)
    edge = radii**2
    if k is not None:
        edge = np.maximum(edge, np.sort(squared, axis=1)[:, k - 1])
    return [set(np.flatnonzero(row).tolist()) for row in squared <= edge[:, None] * (1 + 1e-9)]


@pytest.mark.parametrize("number", range(0, 100, 9))
@pytest.mark.parametrize("k", [None, 1])
def test_every_engine_gives_each_record_its_own_radius(number, k):
    points = hard_table(number)
    squared = squared_pairs(points)
    radii = np.sqrt(
        np.random.default_rng(number).choice(squared[np.isfinite(squared)], len(points))
    )
    expected = expected_sets(points, radii, k)
    index, ball = build_index(points, epsilon=radii), RadiusAndK(k=k, epsilon=radii)
    direct, _ = Search(index, ball=ball).neighborhoods()
    tables = [
        complete_table(points).cut(k=k, epsilon=Radii(radii)),
        searched_table(points, k=k, epsilon=radii).cut(k=k, epsilon=radii),
        find_neighborhoods(points, k=k, epsilon=Radii(radii)),
        direct,
    ]
    for result in tables:
        assert [set(result.members(i).tolist()) for i in range(result.n)] == expected
        np.testing.assert_array_equal(result.radius, tables[0].radius)


def test_one_radius_for_all_is_the_same_as_equal_radii():
    points = np.random.default_rng(1).normal(size=(2100, 3)).round(1)
    one = find_neighborhoods(points, k=3, epsilon=0.3)
    all_ = find_neighborhoods(points, k=3, epsilon=np.full(2100, 0.3))
    np.testing.assert_array_equal(one.pairs()[1], all_.pairs()[1])
    np.testing.assert_array_equal(one.radius, all_.radius)


def test_a_table_covers_radii_record_by_record():
    points = np.random.default_rng(1).normal(size=(30, 2))
    radii = np.linspace(0.1, 2.0, 30)
    table = searched_table(points, k=1, epsilon=radii)
    assert table.covers(k=1, epsilon=0.9 * radii)
    assert not table.covers(k=1, epsilon=radii[::-1].copy())
    assert not table.covers(k=1, epsilon=1.0)


def test_a_quantile_of_the_nearest_distances():
    points = np.random.default_rng(2).normal(size=(300, 2))
    distance = np.sqrt(np.sort(squared_pairs(points), axis=1)[:, :20])
    radii = nearest_radii(points, neighbors=20, quantile=0.5)
    np.testing.assert_allclose(radii.values, np.quantile(distance, 0.5, axis=1), rtol=1e-12)
    sizes = find_neighborhoods(points, epsilon=radii).sizes
    assert (sizes == 10).all()


def test_a_release_with_radii_of_its_own():
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(80, 3)), columns=list("abc"))
    data = Microdata.from_frame(frame)
    params = RWN(epsilon=np.linspace(0.1, 2.0, 80), k=2)
    assert isinstance(params.epsilon, Radii)
    assert params == RWN(epsilon=Radii(np.linspace(0.1, 2.0, 80)), k=2)
    assert hash(params) == hash(RWN(epsilon=np.linspace(0.1, 2.0, 80), k=2))
    assert params != RWN(epsilon=np.linspace(0.1, 2.1, 80), k=2)
    release = mask(data, params, seed=7)
    sizes = release.law.neighborhoods.sizes
    assert sizes[:20].mean() < sizes[-20:].mean()
    assert "0.1 to 2" in repr(params)
    assert pickle.loads(pickle.dumps(params)) == params


@pytest.mark.parametrize(
    "radii", [np.array([]), np.array([[1.0]]), np.array([1.0, -1.0]), np.array([1.0, np.nan])]
)
def test_other_arrays_are_no_radii(radii):
    with pytest.raises(ParameterError, match="epsilon must be a number of at least 0"):
        RWN(epsilon=radii, k=1)


def test_radii_of_another_table_are_refused():
    with pytest.raises(ParameterError, match="one for each of the 10 records; 9 are given"):
        neighbor_table(np.arange(10.0)[:, None], k=1, epsilon=np.ones(9))


def test_a_variable_that_stays_inside_multiplies_the_radius():
    """The bytes of the same radii as numbers, also beside other settings and in a sample."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    frame["own"] = rng.choice([0.5, 1.0, 3.0], 60)
    data = Microdata.from_frame(frame)
    data = data.with_schema(data.schema.replace_variable("own", role=rwn.Role.IDENTIFIER))
    by_name = RWN(epsilon=0.4, k=2, radius_variable="own")
    by_number = RWN(epsilon=0.4 * frame["own"].to_numpy(), k=2)
    expected = mask(data, by_number, seed=3).masked.frame
    assert mask(data, by_name, seed=3).masked.frame.equals(expected)
    assert not mask(data, RWN(epsilon=0.4, k=2), seed=3).masked.frame.equals(expected)
    wider = RWN(epsilon=0.8, k=2, radius_variable="own")
    moved = by_name.prepare(data, settings=[wider]).with_levers(epsilon=0.8)
    sizes = moved.law.neighborhoods.sizes
    assert (sizes == mask(data, wider, seed=3).law.neighborhoods.sizes).all()
    assert by_name.prepare(data).resampled(np.r_[5:30, 5:30]).law.neighborhoods.sizes.size == 50
    frame.loc[7, "own"] = np.nan
    for broken, message in (("own", "in every record"), ("z", "not z")):
        with pytest.raises(ParameterError, match=message):
            mask(Microdata.from_frame(frame), RWN(epsilon=1, radius_variable=broken), seed=1)
    for wrong in ({"k": 2}, {"epsilon": np.ones(60)}):
        with pytest.raises(ParameterError, match="radius_variable needs"):
            RWN(radius_variable="own", **wrong)
