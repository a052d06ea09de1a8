"""The planner: what it offers, what it refuses, and that its parameters can be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets import planner
from rwn_core.datasets.planner import plan_large
from rwn_core.errors import ParameterError


@pytest.fixture(scope="module")
def table() -> rwn.Microdata:
    values = np.random.default_rng(2).normal(size=(4_000, 3))
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=["a", "b", "c"]))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "_SIZES", (2_100, 3_000))
    monkeypatch.setattr(planner, "_SMALLER", (500, 1_000))


def test_the_offers_are_the_exact_method_and_three_samplings(table) -> None:
    shares: list[float] = []
    offers = plan_large(rwn.RWN(epsilon=0.2, k=3), microdata=table, progress=shares.append)
    assert [offer.params.neighbors for offer in offers] == ["exact", "sample", "pairs", "partition"]
    assert shares[-1] == 1.0
    exact = offers[0]
    assert exact.kept == 1.0
    found = exact.params.neighborhoods(table)
    assert exact.fall_back == pytest.approx((found.within < 3).mean(), abs=0.12)
    assert exact.radius == pytest.approx(np.median(found.radius), rel=0.2)
    for offer in offers[:2]:
        rwn.mask(table, offer.params, seed=1)
    for offer in offers:
        assert offer.seconds >= 0
        assert offer.bytes > 0
    for offer in offers[1:]:
        assert offer.kept < 1.0 or offer.params.neighbors == "sample"
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
    assert len(plan_large(rwn.RWN(epsilon=0.5, k=3), n=50_000, p=2)) == 4
