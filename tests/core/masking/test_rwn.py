"""The 2022 method as a whole: its parameters, its law, its redraw."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.forecast import forecast_law
from rwn_core.masking import RWN, mask
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey
from tests.oracles.exact_cells import exact_probability


@pytest.fixture(scope="module")
def people() -> Microdata:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 70),
            "income": np.exp(rng.normal(10, 1, 70)),
            "town": rng.choice(["north", "south", "west"], 70),
            "weight": rng.normal(80, 9, 70),
        }
    )
    return Microdata.from_frame(frame)


def test_a_release_does_not_show_its_secrets(people):
    shown = repr(mask(people, RWN(k=3), seed=7))
    assert "donors" not in shown
    assert "order" not in shown
    assert "north" not in shown


def test_scale_and_encoding_reach_the_distance(people):
    found = {
        (scale, encoding): mask(people, RWN(k=3, scale=scale, encoding=encoding), seed=7).donors
        for scale in ("sd", "range")
        for encoding in ("dummies", "matching")
    }
    for (scale, encoding), donors in found.items():
        points = coordinates(people, scale, encoding)
        neighborhoods = find_neighborhoods(points, k=3)
        for record in range(70):
            assert set(donors[record]) <= set(neighborhoods.members(record).tolist())
    assert not np.array_equal(found["sd", "dummies"], found["range", "dummies"])
    assert not np.array_equal(found["sd", "dummies"], found["sd", "matching"])


def test_q_of_each_variable(people):
    assert RWN(k=1, q=0.3).draw_probability(people).tolist() == [0.3] * 4
    schema = people.schema.replace_variable("town", masked=False)
    drawn = RWN(k=1, q=0.3).draw_probability(people.with_schema(schema))
    assert drawn.tolist() == [0.3, 0.3, 0.0, 0.3]
    law = mask(people.with_schema(schema), RWN(k=3, q=0.3), seed=7).law
    assert (law.modification("age"), law.modification("town")) == (0.3, 0.0)
    own = people.frame["town"].iloc[0]
    assert exact_probability(law, 0, "town", own) == 1


def test_clones_give_a_value_its_own_probability():
    """Cells whose donors all hold the same value cannot change, whatever q is."""
    microdata = Microdata.from_frame(pd.DataFrame({"x": [1.0, 1.0, 5.0, 5.0]}))
    law = mask(microdata, RWN(epsilon=0.0, k=1), seed=7).law
    assert exact_probability(law, 0, "x", 1.0) == Fraction(1)
    assert law.rows_unchanged().tolist() == [1.0] * 4


def test_moments_near_a_large_mean_keep_their_digits():
    """Years, amounts: the variance within a neighborhood must not drown in the square."""
    near = np.random.default_rng(1).normal(size=40)
    laws = [
        mask(Microdata.from_frame(pd.DataFrame({"x": near + shift})), RWN(k=4), seed=7).law
        for shift in (0.0, 2.0**30)
    ]
    plain, shifted = (forecast_law(law).mean_variances for law in laws)
    np.testing.assert_allclose(shifted, plain, rtol=1e-5)


def test_variables_of_a_group_vary_together(people):
    """The expected covariance counts the common donor; without it, it would be far off."""
    frame = people.frame[["age", "weight"]].assign(total=lambda t: t["age"] + t["weight"])
    schema = Microdata.from_frame(frame).schema
    for name in ("age", "total"):
        schema = schema.replace_variable(name, group="g")
    grouped, params = Microdata.from_frame(frame, schema), RWN(k=8, q=0.4)
    forecast = forecast_law(mask(grouped, params, seed=0).law).covariances
    names = list(forecast.columns)
    prepared = params.prepare(grouped)
    releases = [prepared.release(SecretKey.from_seed(seed)).masked for seed in range(300)]
    drawn = np.array([each.matrix(names) for each in releases])
    found = np.array([np.cov(table, rowvar=False) for table in drawn])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - forecast) < 5 * error).all(axis=None)
    alone = forecast_law(mask(Microdata.from_frame(frame), params, seed=0).law).covariances
    pair = (names.index("age"), names.index("total"))
    assert abs(found.mean(axis=0)[pair] - alone.loc["age", "total"]) > 10 * error[pair]
