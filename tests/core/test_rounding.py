"""Release precision: the rounded values, their law, and what it does to the worst case."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core
from rwn_core.coordinates import coordinates
from rwn_core.errors import ParameterError
from rwn_core.intruder.posterior import link
from rwn_core.intruder.simulation import simulate
from rwn_core.masking import RWN
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import find_neighborhoods
from rwn_core.rounding import rounded, rounded_values
from rwn_core.schema import Kind


def test_multiples_of_the_step():
    values = np.array([1.26, -1.26, 2.5, np.nan, 0.0, -0.1])
    found = rounded_values(values, 0.5)
    np.testing.assert_array_equal(found, [1.5, -1.5, 2.5, np.nan, 0.0, 0.0])
    assert not np.signbit(found[-1])


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e16, 1e300])
def test_rounding_twice_changes_nothing_more(size):
    values = np.random.default_rng(1).normal(size=50) * size
    for step in (0.25 * size, 0.1 * size, 3e-17 * size):
        once = rounded_values(values, step)
        assert np.isfinite(once).all()
        assert len(np.unique(once)) <= len(np.unique(values))
        np.testing.assert_allclose(once, values, atol=0.5 * step * (1 + 1e-9))


def test_types_stay():
    frame = pd.DataFrame(
        {"n": [1, 4, 8], "m": pd.array([1, None, 8], "Int64"), "x": [0.26, 1.0, np.nan]}
    )
    data = Microdata.from_frame(frame.assign(g=["a", "b", "c"]))
    found = rounded(data, {"n": 5, "m": 5.0, "x": 0.5}).frame
    assert found["n"].tolist() == [0, 5, 10]
    assert found["n"].dtype == "int64"
    assert found["m"].tolist()[::2] == [0, 10]
    assert found["m"].isna().tolist() == [False, True, False]
    assert found["x"].tolist()[:2] == [0.5, 1.0]
    assert found["g"].tolist() == ["a", "b", "c"]
    assert rounded(data, {}) is data


@pytest.mark.parametrize(
    ("precision", "message"),
    [({"g": 1.0}, "Only numbers"), ({"nowhere": 1.0}, "Only numbers"), ({"x": 0.0}, "above 0"),
     ({"x": np.inf}, "above 0"), ({"x": True}, "above 0"), ({"x": "a"}, "above 0")],
)  # fmt: skip
def test_refusals(precision, message):
    data = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]}))
    with pytest.raises(ParameterError, match=message):
        rounded(data, precision)


@pytest.fixture(scope="module")
def bodyfat():
    return rwn_core.load_demo("bodyfat")


def steps(data: Microdata, share: float) -> dict[str, float]:
    return {
        name: share * float(data.values(name).std(ddof=1))
        for name in data.numeric_names
        if data.schema.variable(name).kind in (Kind.CONTINUOUS, Kind.COUNT)
    }


def test_the_law_after_rounding_is_the_law_of_rounded_values(bodyfat):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=5, epsilon=2.0)
    law = RWN(epsilon=2.0, k=5, q=0.6).law(bodyfat, neighborhoods)
    coarse = law.rounded({"weight": 10.0})
    fine_table, fine_values = law.table("weight")
    table, values = coarse.table("weight")
    assert len(values) < len(fine_values)
    to = np.searchsorted(values, rounded_values(np.array(fine_values), 10.0))
    merged = np.zeros(table.shape)
    np.add.at(merged.T, to, fine_table.toarray().T)
    np.testing.assert_allclose(table.toarray(), merged, atol=1e-14)
    np.testing.assert_allclose(coarse.table("age")[0].toarray(), law.table("age")[0].toarray())
    assert law.rounded({}) is law


PUBLISHED = {
    5: {0.0: 0.998, 0.25: 0.981, 0.5: 0.871, 1.0: 0.606},
    25: {0.0: 0.956, 0.25: 0.464, 0.5: 0.289, 1.0: 0.189},
}
"""R_MAP of bodyfat at q = 1, all columns, by k and rounding in standard deviations."""


@pytest.mark.parametrize("k", PUBLISHED)
def test_BF_5_rounding_lowers_the_worst_case(bodyfat, k):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=k, epsilon=0.0)
    law = RWN(k=k, q=1.0).law(bodyfat, neighborhoods)
    masked = simulate(law, np.random.default_rng(6))
    found = {}
    for share in PUBLISHED[k]:
        precision = steps(bodyfat, share) if share else {}
        links = link(law.rounded(precision), rounded(masked, precision))
        found[share] = links.success
        # the law knows what it is: its own expectation agrees with the luck of the draw
        error = (links.top1 - links.best).std() / np.sqrt(bodyfat.n)
        assert abs((links.top1 - links.best).mean()) <= max(3 * error, 1e-9)
    # another rounding grid and another table of 14 or 15 variables: the second digit may differ
    for share, expected in PUBLISHED[k].items():
        assert found[share] == pytest.approx(expected, abs=0.06)
    assert list(found.values()) == sorted(found.values(), reverse=True)
