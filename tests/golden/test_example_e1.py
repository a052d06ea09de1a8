"""The worked example E1 against values from implementations that share no code with this one."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rwn_core import NBRS2015, Microdata, coordinates, mask
from rwn_core.laws.cell_law import CellLaw
from rwn_core.neighbors import Neighborhoods, find_neighborhoods, neighbor_table
from tests.core.laws.cell_probability import probability
from tests.oracles.exact_cells import donor_load, exact_probability
from tests.oracles.expected_moments import expected_moments

GOLDEN = json.loads((Path(__file__).parent / "example_e1.json").read_text())
RECORDS = range(6)
VARIABLES = ("x", "y")


def expected(check: str) -> Any:
    return GOLDEN["values"][check]["expected"]


def numbered(neighborhoods: Neighborhoods) -> list[list[int]]:
    """Members as the golden file counts them, from 1."""
    return [sorted((neighborhoods.members(i) + 1).tolist()) for i in RECORDS]


def law(e1: Microdata, e1_points: np.ndarray, q: float) -> CellLaw:
    neighborhoods = find_neighborhoods(e1_points, k=2, epsilon=1.0)
    return CellLaw(e1, neighborhoods, np.full(2, q))


def test_RWN_1_union_of_radius_and_nearest(e1_points):
    assert numbered(find_neighborhoods(e1_points, k=2, epsilon=1.0)) == expected("RWN-1")


def test_RWN_2_strict_and_closed_radius(e1_points):
    table = neighbor_table(e1_points, k=None, epsilon=1.2)
    found = {
        "strict_1_0": numbered(table.cut(k=None, epsilon=1.0, strict=True)),
        "strict_1_2": numbered(table.cut(k=None, epsilon=1.2, strict=True)),
        "nonstrict_1_0": numbered(table.cut(k=None, epsilon=1.0)),
    }
    assert found == expected("RWN-2")


@pytest.mark.parametrize(("id_", "q"), [("RWN-3", 0.5), ("RWN-4", 1.0)])
def test_RWN_3_and_4_cell_law(e1, e1_points, id_, q):
    cells = law(e1, e1_points, q)
    values = {name: np.unique(e1.values(name)) for name in VARIABLES}
    for record, rows in enumerate(expected(id_)):
        for name, row in zip(VARIABLES, rows, strict=True):
            for value in values[name]:
                exact = Fraction(row.get(f"{value:g}", "0"))
                assert exact_probability(cells, record, name, value) == exact
                assert probability(cells, record, name, value) == pytest.approx(float(exact))


@pytest.mark.parametrize(("key", "q"), [("q_half", 0.5), ("q_one", 1.0)])
def test_RWN_5_rows_intact(e1, e1_points, key, q):
    cells = law(e1, e1_points, q)
    exact = [
        exact_probability(cells, i, "x", e1.values("x")[i])
        * exact_probability(cells, i, "y", e1.values("y")[i])
        for i in RECORDS
    ]
    assert exact == [Fraction(text) for text in expected("RWN-5")[key]]
    np.testing.assert_allclose(cells.rows_unchanged(), np.array(exact, dtype=float), rtol=1e-14)


@pytest.mark.parametrize(("key", "q"), [("q_half", 0.5), ("q_one", 1.0)])
def test_RWN_6_donor_load(e1, e1_points, key, q):
    loads = [float(Fraction(text)) for text in expected("RWN-6")[key]]
    for name in VARIABLES:
        load = donor_load(law(e1, e1_points, q), name)
        np.testing.assert_allclose(load, loads, rtol=1e-14)
        assert load.sum() == pytest.approx(6)


@pytest.mark.parametrize(("id_", "q"), [("RWN-7-q0.5", 0.5), ("RWN-7-q1.0", 1.0)])
def test_RWN_7_moments(e1, e1_points, id_, q):
    found = expected_moments(law(e1, e1_points, q))
    moments = expected(id_)
    tight = {"rtol": 1e-12, "atol": 1e-12}  # eight multiplications of numbers up to 121
    np.testing.assert_allclose(found.means, moments["expected_mean"], **tight)
    np.testing.assert_allclose(found.covariances, moments["expected_cov"], **tight)
    np.testing.assert_allclose(found.mean_variances, moments["var_of_released_mean"], **tight)


def test_RWN_8_moments_of_the_original(e1, e1_points):
    found = expected_moments(law(e1, e1_points, 0.0))
    np.testing.assert_allclose(found.means, expected("RWN-8")["mean"], rtol=1e-14)
    np.testing.assert_allclose(found.covariances, expected("RWN-8")["cov"], rtol=1e-14)
    assert not found.mean_variances.any()


def test_NBRS_1_scaled_distances(e1):
    points = coordinates(e1)
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.testing.assert_allclose(distances, expected("NBRS-1")["D"], atol=5e-7)  # six decimals


@pytest.mark.parametrize(("key", "epsilon"), [("eps_0_3", 0.3), ("eps_2_2", 2.2)])
def test_NBRS_1_strict_neighborhoods(e1, key, epsilon):
    found = NBRS2015(epsilon=epsilon).rule(e1).find(e1)
    assert numbered(found) == expected("NBRS-1")[key]


def test_NBRS_1_records_without_neighbors_become_missing(e1):
    release = mask(e1, NBRS2015(epsilon=0.3), seed=1)
    assert (release.donors[3:] == -1).all()
    assert release.masked.frame.isna().all(axis=1).tolist() == [False] * 3 + [True] * 3
