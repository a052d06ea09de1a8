"""Release precision: the rounded values, their law, and what it does to the worst case."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rwn_core
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import (
    given_steps,
    precision_words,
    readable_step,
    rounded,
    rounded_values,
    steps_by_name,
)
from rwn_core.data.variable import Kind
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates


def test_multiples_of_the_step():
    values = np.array([1.26, -1.26, 2.5, np.nan, 0.0, -0.1])
    result = rounded_values(values, 0.5)
    np.testing.assert_array_equal(result, [1.5, -1.5, 2.5, np.nan, 0.0, 0.0])
    assert not np.signbit(result[-1])


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e16, 1e300])
def test_rounding_twice_changes_nothing_more(size):
    values = np.random.default_rng(1).normal(size=50) * size
    for step in (0.25 * size, 0.1 * size, 3e-17 * size):
        once = rounded_values(values, step)
        assert np.isfinite(once).all()
        assert len(np.unique(once)) <= len(np.unique(values))
        np.testing.assert_allclose(once, values, atol=0.5 * step * (1 + 1e-9))


@pytest.mark.parametrize("step", [0.1, 0.3, 0.05, 0.002, 1e-7, 2.5, 12.25, 5.0, 1e5, 1e22])
def test_multiples_are_the_numbers_that_a_person_would_write(step):
    places = np.concatenate((np.arange(-300, 301), [10**6 + 1, 123_456_789]))
    written = [float(Decimal(str(step)) * int(place)) for place in places]
    near = np.array(written) + 0.2 * step * np.sin(places)
    np.testing.assert_array_equal(rounded_values(near, step), written)
    np.testing.assert_array_equal(rounded_values(np.array(written), step), written)


@given(
    st.floats(1e-12, 1e12),
    st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=20).map(np.array),
)
def test_any_step_gives_a_multiple_that_is_near_and_stays(step, values):
    once = rounded_values(values, step)
    np.testing.assert_array_equal(rounded_values(once, step), once)
    ulp = np.spacing(np.abs(values) + step)
    assert (np.abs(once - values) <= 0.5 * step + 4 * ulp).all()


def test_whole_numbers_too_large_for_their_type_become_real_ones():
    frame = pd.DataFrame({"n": [2**62, 2**62 + 2**40, 3], "x": [1.0, 2.0, 4.0]})
    result = rounded(Microdata.from_frame(frame), {"n": 1e19}).frame["n"]
    assert result.tolist() == [0, 0, 0]
    result = rounded(Microdata.from_frame(frame), {"n": 9e18}).frame["n"]
    assert result.tolist() == [9e18, 9e18, 0]


def test_types_stay():
    frame = pd.DataFrame(
        {"n": [1, 4, 8], "m": pd.array([1, None, 8], "Int64"), "x": [0.26, 1.0, np.nan]}
    )
    data = Microdata.from_frame(frame.assign(g=["a", "b", "c"]))
    result = rounded(data, {"n": 5, "m": 5.0, "x": 0.5}).frame
    assert result["n"].tolist() == [0, 5, 10]
    assert result["n"].dtype == "int64"
    assert result["m"].tolist()[::2] == [0, 10]
    assert result["m"].isna().tolist() == [False, True, False]
    assert result["x"].tolist()[:2] == [0.5, 1.0]
    assert result["g"].tolist() == ["a", "b", "c"]
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
    result = {}
    for share in PUBLISHED[k]:
        precision = steps(bodyfat, share) if share else {}
        links = link(law.rounded(precision), rounded(masked, precision))
        result[share] = links.success
        # the law knows what it is: its own expectation agrees with the luck of the draw
        error = (links.top1 - links.best).std() / np.sqrt(bodyfat.n)
        assert abs((links.top1 - links.best).mean()) <= max(3 * error, 1e-9)
    # another rounding grid and another table of 14 or 15 variables: the second digit may differ
    for share, expected in PUBLISHED[k].items():
        assert result[share] == pytest.approx(expected, abs=0.06)
    assert list(result.values()) == sorted(result.values(), reverse=True)


@pytest.mark.parametrize(
    ("size", "step"),
    [(3.4, 5.0), (0.08, 0.1), (1.3, 1.0), (17.0, 20.0), (0.0021, 0.002), (9, 10.0)],
)
def test_steps_that_a_person_can_read(size, step):
    assert readable_step(size) == step


def test_steps_by_name_are_sorted_numbers():
    assert steps_by_name({"b": 2, "a": np.float64(0.5)}) == (("a", 0.5), ("b", 2.0))
    assert steps_by_name(None) == steps_by_name({}) == ()


def test_a_precision_in_words():
    assert precision_words(()) == ""
    assert precision_words((("age", 5.0), ("income", 1000000.0))) == (
        "age in steps of 5, income in steps of 1000000"
    )


def test_whole_numbers_get_no_step_that_rounds_nothing():
    frame = pd.DataFrame({"n": np.arange(10), "x": np.arange(10) / 3})
    data = Microdata.from_frame(frame)
    assert given_steps(data, 0.25) == {"x": 0.2}
    assert given_steps(data, 1.0) == {"n": 2.0, "x": 1.0}
    assert set(given_steps(Microdata.from_frame(frame.assign(c=3.5)), 1.0)) == {"n", "x"}


def test_steps_of_every_number(bodyfat):
    steps = given_steps(bodyfat, 0.25)
    assert set(steps) == set(bodyfat.numeric_names)
    for name, step in steps.items():
        assert 0.15 < step / bodyfat.values(name).std(ddof=1) < 0.4
    assert given_steps(bodyfat, 0.0) == {}
