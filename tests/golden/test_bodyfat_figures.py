"""The paper's body fat file: published figures of the original and of its releases.

The releases are checked against means over 2,000 releases by an independent program in R; each
statistic must also tell the method apart from a wrong one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwn_core
from benchmarks.papers.replay import SOURCES, Published, published
from rwn_core import MEASURES, RWN, Comparison, Microdata, SecretKey, coordinates
from rwn_core.evaluation.figure_curves import CURVES, PAPER_FIGURES
from rwn_core.laws.cell_law import CellLaw
from rwn_core.neighbors import NeighborTable, neighbor_table

PUBLISHED = {
    entry["id"]: entry["expected"]
    for entry in json.loads(
        (Path(__file__).parent / "measure_check_values.json").read_text(encoding="utf-8")
    )
}["BF-1"]
SLOPES = ("bmi", "neck", "chest", "abdomen", "hip")
RELEASES = 40
ERRORS = 4.0  # Monte Carlo standard errors


def reference() -> dict[float, dict[str, Published]]:
    """Means over releases of an independent program, by radius and statistic."""
    found: dict[float, dict[str, Published]] = {0.0: {}, 2.0: {}, 6.0: {}}
    for number in range(2, 10):
        for each in published(f"rwn2022-figure-{number}"):
            name, _, epsilon = each.name.partition(", epsilon ")
            if epsilon and float(epsilon) in found and each.source == SOURCES["program"]:
                found[float(epsilon)][name] = each
    return found


def statistics(comparison: Comparison) -> dict[str, float]:
    """What figures 2 to 9 show of one release."""
    found = {"correlation change": float(MEASURES["correlation"].compute(comparison).value)}
    for figure in (PAPER_FIGURES[number] for number in CURVES):
        found |= figure.read(MEASURES[figure.measure].compute(comparison), "released")
    return found


REFERENCE = reference()


@pytest.fixture(scope="module")
def bodyfat() -> Microdata:
    return rwn_core.load_demo("bodyfat")


@pytest.fixture(scope="module")
def table(bodyfat: Microdata) -> NeighborTable:
    return neighbor_table(coordinates(bodyfat), k=5, epsilon=6.0)


def case_number(record: int) -> int:
    """The record's case number in the raw file of 252, from 1.

    The cleaning leaves out 11 cases and keeps the order of the others.
    """
    kept = [case for case in range(1, 253) if case not in PUBLISHED["dropped_cases"]]
    return kept[record]


def read(key: str, comparison: Comparison) -> Any:
    return MEASURES[key].compute(comparison)


@pytest.fixture(scope="module")
def itself(bodyfat: Microdata) -> Comparison:
    return Comparison(original=bodyfat, masked=bodyfat)


def test_original_size(bodyfat):
    assert (bodyfat.n, bodyfat.p) == (PUBLISHED["n"], 15)


def test_original_regression(itself):
    detail = read("regression", itself).detail
    assert detail.terms == ["(intercept)", *SLOPES]
    ols = PUBLISHED["ols"]
    np.testing.assert_allclose(detail.coefficient_original, ols["coef"], atol=1e-6)
    np.testing.assert_allclose(detail.se_original, ols["se"], atol=1e-6)
    assert detail.r2_original == pytest.approx(ols["r2"], abs=1e-12)


def test_original_cooks_distance(itself):
    detail = read("cooks_distance", itself).detail
    assert detail.max_original == pytest.approx(PUBLISHED["ols"]["cook_max"], abs=1e-9)
    assert case_number(detail.argmax_original) == PUBLISHED["ols"]["cook_case"] == 39


def test_original_mahalanobis(itself):
    detail = read("mahalanobis", itself).detail
    assert detail.max_original == pytest.approx(PUBLISHED["maha"]["max"], abs=1e-9)
    assert detail.max_original**2 == pytest.approx(118.08, abs=0.005)
    assert case_number(detail.argmax_original) == PUBLISHED["maha"]["case"] == 39
    assert detail.rank.original == 15


def test_original_principal_components(itself):
    detail = read("principal_components", itself).detail
    assert detail.sd1_original == pytest.approx(PUBLISHED["pca"]["sd1"], abs=1e-9)
    assert detail.share_original[0] == pytest.approx(PUBLISHED["pca"]["pv1"], abs=1e-9)
    assert detail.cumulative5_original == pytest.approx(PUBLISHED["pca"]["cum5"], abs=1e-9)


def test_original_nearest_distance(itself):
    reading = read("nearest_distance", itself)
    distances = reading.detail.original
    published = PUBLISHED["mindist"]
    assert distances.min() == pytest.approx(published["min"], abs=1e-9)
    assert reading.baseline == pytest.approx(published["median"], abs=1e-9)
    assert distances.max() == pytest.approx(published["max"], abs=1e-9)
    assert case_number(int(distances.argmax())) == published["argmax_case"] == 39


@pytest.mark.parametrize("epsilon", [1, 2, 3, 4])
def test_original_neighborhood_size(bodyfat, table, epsilon):
    neighborhoods = table.cut(k=5, epsilon=float(epsilon))
    law = CellLaw(bodyfat, neighborhoods, np.ones(15))
    detail = read("neighborhood_size", Comparison(original=bodyfat, masked=bodyfat, law=law)).detail
    published = PUBLISHED[f"eps_nbr_counts_{epsilon}"]
    assert neighborhoods.within.mean() == pytest.approx(published["mean"])
    assert (neighborhoods.within == 0).sum() == published["empty"]
    assert detail.governed_by_k.tolist() == (neighborhoods.within < 5).tolist()


Simulated = dict[str, np.ndarray]


def grouped(data: Microdata) -> Microdata:
    """The same table, of which every record takes all its values from one donor."""
    schema = data.schema
    for name in schema.names:
        schema = schema.replace_variable(name, group="all")
    return data.with_schema(schema)


@pytest.fixture(scope="module")
def simulate(bodyfat: Microdata, key_base: str) -> Callable[[RWN, bool], Simulated]:
    """The statistics of many releases, each shape (RELEASES,)."""
    start = Comparison(original=bodyfat, masked=bodyfat)

    @cache
    def run(params: RWN, one_donor: bool = False) -> Simulated:
        prepared = params.prepare(grouped(bodyfat) if one_donor else bodyfat, settings=[params])
        rows = []
        for number in range(RELEASES):
            label = f"{key_base} bodyfat {params} {one_donor} {number}"
            key = SecretKey(hashlib.sha256(label.encode()).digest())
            work = prepared.release(key)
            rows.append(statistics(start.with_masked(work.masked, work.law)))
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    return run


def agrees(found: np.ndarray, published: Published) -> bool:
    """Whether the mean lies within Monte Carlo error and rounding of the reference."""
    own = float(found.std(ddof=1))
    other = own if published.sd is None else published.sd
    error = np.hypot(own / RELEASES**0.5, other / published.runs**0.5)
    return bool(abs(found.mean() - published.low) <= ERRORS * error + published.rounding)


def test_the_reference_has_all_that_the_program_reports():
    assert {epsilon: len(table) for epsilon, table in REFERENCE.items()} == {0: 20, 2: 20, 6: 20}


CHECKS = [(epsilon, name) for epsilon, table in REFERENCE.items() for name in table]


@pytest.mark.parametrize(("epsilon", "name"), CHECKS)
def test_releases_agree_with_the_reference(simulate, epsilon, name):
    found = simulate(RWN(epsilon=epsilon, k=5))[name]
    assert agrees(found, REFERENCE[epsilon][name]), (found.mean(), found.std(ddof=1))


@pytest.mark.parametrize("name", REFERENCE[0.0])
def test_each_statistic_tells_a_wrong_mechanism(simulate, name):
    """One donor for a whole record, every second cell kept, far donors: one of them must show."""
    wrong = [
        (epsilon, found[name])
        for epsilon in (0.0, 2.0)
        for found in (
            simulate(RWN(epsilon=epsilon, k=5), True),
            simulate(RWN(epsilon=epsilon, k=5, q=0.5)),
            simulate(RWN(epsilon=6.0, k=5)),
        )
    ]
    assert not all(agrees(found, REFERENCE[epsilon][name]) for epsilon, found in wrong)


@pytest.mark.parametrize("name", ["correlation change", "first component"])
def test_a_wide_radius_tells_one_donor_for_a_record(simulate, name):
    found = simulate(RWN(epsilon=6.0, k=5), True)[name]
    assert not agrees(found, REFERENCE[6.0][name])
