"""Weights that shrink with the table for categories, and each variable's share of the distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, mask
from rwn_core.neighbors.metric import Metric, coordinates, discretely_weighted


def table(n: int) -> Microdata:
    rng = np.random.default_rng(n)
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n)})
    frame["town"] = rng.choice(["a", "b", "c"], n)
    return Microdata.from_frame(frame)


def test_shares_are_those_of_all_pairs():
    data = table(60)
    points = coordinates(data)
    squared = np.square(points[:, None] - points[None]).sum(axis=(0, 1))
    shares = Metric.fit(data).shares(data)
    assert list(shares) == ["x", "y", "town"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["x"] == pytest.approx(squared[0] / squared.sum())
    assert shares["town"] == pytest.approx(squared[2:].sum() / squared.sum())


def test_categories_weigh_less_in_a_larger_table_and_numbers_as_much():
    factors = []
    for n in (50, 5000):
        weighted = discretely_weighted(table(n)).schema
        assert weighted.variable("x").weight == 1.0
        factors.append(weighted.variable("town").weight)
        assert factors[-1] == pytest.approx(n ** (-1 / 6))
    assert factors[1] < factors[0] < 1


def test_a_neighborhood_crosses_categories_more_easily():
    data = table(1500)
    towns = data.codes("town")[0]
    crossed = {}
    for weights in ("schema", "discrete"):
        params = RWN(k=10, weights=weights)
        release = mask(data, params, seed=7)
        crossed[weights] = (towns[release.donors[:, 2]] != towns).mean()
        assert params.metric(data).shares(data)["town"] > 0
    assert crossed["schema"] < crossed["discrete"]
    plain, discrete = RWN(k=1), RWN(k=1, weights="discrete")
    assert discrete.metric(data).shares(data)["town"] < plain.metric(data).shares(data)["town"]


def test_other_weights_are_refused():
    with pytest.raises(ParameterError, match="weights must be one of: schema, discrete"):
        RWN(k=1, weights="equal")
