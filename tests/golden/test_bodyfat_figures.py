"""The paper's body fat file: published figures of the original and of its releases.

The releases are checked against means over 2,000 releases by an independent program in R; each
statistic must also tell the method apart from a wrong one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import rwn_core
from benchmarks.papers.replay import SOURCES, Published, published
from rwn_core import MEASURES, RWN, Comparison, Microdata, SecretKey, coordinates
from rwn_core.evaluation.figure_curves import CURVES, PAPER_FIGURES
from rwn_core.laws.cell_law import CellLaw
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import neighbor_table
from tests.check_values import check_values

PUBLISHED = check_values("measure")["BF-1"]["expected"]
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


def case_number(record: int) -> int:
    """The record's case number in the raw file of 252, from 1.

    The cleaning leaves out 11 cases and keeps the order of the others.
    """
    kept = [case for case in range(1, 253) if case not in PUBLISHED["dropped_cases"]]
    return kept[record]


@pytest.fixture(scope="module")
def bodyfat() -> Microdata:
    return rwn_core.load_demo("bodyfat")


@pytest.fixture(scope="module")
def original(bodyfat: Microdata) -> Callable[[str], Reading]:
    """What each measure reads of the file itself."""
    itself = Comparison(original=bodyfat, masked=bodyfat)
    return lambda key: MEASURES[key].compute(itself)


def test_original_regression(original, bodyfat):
    assert (bodyfat.n, bodyfat.p) == (PUBLISHED["n"], 15)
    detail = original("regression").detail
    ols = PUBLISHED["ols"]
    assert detail.terms == ["(intercept)", *SLOPES]
    np.testing.assert_allclose(detail.coefficient_original, ols["coef"], atol=1e-6)
    np.testing.assert_allclose(detail.se_original, ols["se"], atol=1e-6)
    assert detail.r2_original == pytest.approx(ols["r2"], abs=1e-12)
    detail = original("cooks_distance").detail
    assert detail.max_original == pytest.approx(ols["cook_max"], abs=1e-9)
    assert case_number(detail.argmax_original) == ols["cook_case"] == 39


def test_original_mahalanobis(original):
    detail = original("mahalanobis").detail
    assert detail.max_original == pytest.approx(PUBLISHED["maha"]["max"], abs=1e-9)
    assert detail.max_original**2 == pytest.approx(118.08, abs=0.005)
    assert case_number(detail.argmax_original) == PUBLISHED["maha"]["case"] == 39
    assert detail.rank.original == 15


def test_original_principal_components(original):
    detail = original("principal_components").detail
    published = PUBLISHED["pca"]
    found = detail.sd1_original, detail.share_original[0], detail.cumulative5_original
    assert found == pytest.approx([published[each] for each in ("sd1", "pv1", "cum5")], abs=1e-9)


def test_original_nearest_distance(original):
    reading = original("nearest_distance")
    published = PUBLISHED["mindist"]
    distances = reading.detail.original
    found = distances.min(), reading.baseline, distances.max()
    assert found == pytest.approx([published[each] for each in ("min", "median", "max")], abs=1e-9)
    assert case_number(int(distances.argmax())) == published["argmax_case"] == 39


def test_original_neighborhood_size(bodyfat):
    table = neighbor_table(coordinates(bodyfat), k=5, epsilon=6.0)
    for epsilon in (1, 2, 3, 4):
        found = table.cut(k=5, epsilon=float(epsilon))
        law = CellLaw(bodyfat, found, np.ones(15))
        compared = Comparison(original=bodyfat, masked=bodyfat, law=law)
        detail = MEASURES["neighborhood_size"].compute(compared).detail
        published = PUBLISHED[f"eps_nbr_counts_{epsilon}"]
        assert found.within.mean() == pytest.approx(published["mean"])
        assert (found.within == 0).sum() == published["empty"]
        assert detail.governed_by_k.tolist() == (found.within < 5).tolist()


Simulated = dict[str, np.ndarray]


def grouped(data: Microdata) -> Microdata:
    """The same table, of which every record takes all its values from one donor."""
    return data.with_slices([data.names])


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


@pytest.mark.parametrize("epsilon", REFERENCE)
def test_releases_agree_with_the_reference(simulate, epsilon):
    published = REFERENCE[epsilon]
    found = simulate(RWN(epsilon=epsilon, k=5))
    assert len(published) == 20
    wrong = {
        name: found[name].mean() for name in published if not agrees(found[name], published[name])
    }
    assert wrong == {}


def test_each_statistic_tells_a_wrong_mechanism(simulate):
    """One donor for a whole record, every second cell kept, far donors: one of them must show."""
    blind = {*REFERENCE[0.0]}
    for epsilon in (0.0, 2.0):
        for found in (
            simulate(RWN(epsilon=epsilon, k=5), True),
            simulate(RWN(epsilon=epsilon, k=5, q=0.5)),
            simulate(RWN(epsilon=6.0, k=5)),
        ):
            blind &= {name for name in blind if agrees(found[name], REFERENCE[epsilon][name])}
    assert blind == set()
    # and a wide radius tells one donor for a record
    found = simulate(RWN(epsilon=6.0, k=5), True)
    for name in ("correlation change", "first component"):
        assert not agrees(found[name], REFERENCE[6.0][name])
