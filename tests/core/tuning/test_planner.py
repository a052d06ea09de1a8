"""The planner: what it offers, what it refuses, and that its parameters can be used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets import dataset_plan
from rwn_core.datasets.dataset_plan import plan_large
from rwn_core.errors import ParameterError


@pytest.fixture(scope="module")
def table() -> rwn.Microdata:
    values = np.random.default_rng(2).normal(size=(4_000, 3))
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=["a", "b", "c"]))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_plan, "_SIZES", (2_100, 3_000))


def test_the_offers_are_the_exact_method_and_a_sample(table) -> None:
    offers = plan_large(rwn.RWN(epsilon=0.2, k=3), microdata=table)
    assert [offer.params.neighbors for offer in offers] == ["exact", "sample"]
    exact = offers[0]
    assert exact.candidate_share == 1.0
    found = exact.params.neighborhoods(table)
    assert exact.fall_back == pytest.approx((found.within < 3).mean(), abs=0.12)
    assert exact.radius == pytest.approx(np.median(found.radius), rel=0.2)
    for offer in offers:
        rwn.mask(table, offer.params, seed=1)
    for offer in offers:
        assert offer.seconds >= 0
        assert offer.bytes > 0
    for offer in offers[1:]:
        assert offer.candidate_share < 1.0 or offer.params.neighbors == "sample"
        assert offer.fall_back >= exact.fall_back


def test_a_larger_table_takes_longer(table) -> None:
    params = rwn.RWN(epsilon=0.2, k=3)
    small, large = (plan_large(params, microdata=table, n=n)[0] for n in (4_000, 400_000))
    assert large.seconds > 10 * small.seconds
    assert large.bytes > 50 * small.bytes
    assert large.fall_back < small.fall_back


@pytest.mark.parametrize("wrong", [{}, {"n": 10_000}, {"n": 100, "p": 3}, {"n": 10_000, "p": 0}])
def test_what_cannot_be_planned_is_refused(wrong: dict) -> None:
    with pytest.raises(ParameterError):
        plan_large(rwn.RWN(k=3), **wrong)
    with pytest.raises(ParameterError, match="random candidates"):
        plan_large(rwn.NBRS2015(epsilon=2.0), n=10_000, p=5)
    assert len(plan_large(rwn.RWN(epsilon=0.5, k=3), n=50_000, p=2)) == 2


def test_a_setting_of_k_alone_or_of_a_radius_alone_is_forecast() -> None:
    distances = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 6.0]])  # of 2 of 4 records, to the others
    nearest = dataset_plan._neighborhoods(distances, rwn.RWN(k=2), 4, 1.0)
    assert nearest == (1.0, 3.5, 2.0)
    assert dataset_plan._neighborhoods(distances / 4, rwn.RWN(k=1), 4, 1.0) == (1.0, 0.5, 1.0)
    assert dataset_plan._neighborhoods(distances, rwn.RWN(epsilon=2.5), 4, 1.0) == (0.5, 2.75, 1.5)


def test_the_exact_method_is_chosen_unless_it_is_much_slower(table) -> None:
    points = rwn.RWN(k=3).points(table)
    exact, sample, *_ = plan_large(rwn.RWN(k=3), microdata=table)
    for times, chosen in ((20.0, exact), (20.1, sample)):
        offers = [replace(exact, seconds=times), replace(sample, seconds=1.0)]
        assert dataset_plan.choose(offers, points).offer.title == chosen.title
    assert dataset_plan.effective_dimensions(points) == pytest.approx(3.0, abs=0.1)
    wide = np.random.default_rng(1).normal(size=(500, 25))
    assert dataset_plan.choose([exact, sample], wide).offer is sample


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.123, "0.12 seconds"),
        (119.4, "119 seconds"),
        (120, "2 minutes"),
        (7190, "120 minutes"),
        (7200, "2 hours"),
        (400_000, "111 hours"),
    ],
)
def test_a_time_is_said_in_whole_numbers(seconds: float, words: str) -> None:
    assert dataset_plan._time(seconds) == words
