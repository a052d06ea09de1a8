"""Statistics: what a forecast states is what a release shows, and where the others fall."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.draws import draws
from rwn_core.evaluation.forecast import forecast
from rwn_core.evaluation.forecast.curve import expected_curve
from rwn_core.evaluation.forecast.statistic import KINDS, Statistic, available_statistics
from rwn_core.measures.comparison import Comparison

RELEASES = 200


def all_of(data: Microdata) -> list[Statistic]:
    pairs = (("x", "y"), ("g", "h"), ("x", "g"))
    found = {each for pair in pairs for each in available_statistics(data, *pair)}
    assert {statistic.kind for statistic in found} == set(KINDS)
    return sorted(found, key=lambda statistic: statistic.words)


def people(n: int = 150) -> Microdata:
    rng = np.random.default_rng(8)
    x = rng.normal(size=n)
    data = Microdata.from_frame(
        pd.DataFrame(
            {
                "x": x,
                "y": x + rng.normal(size=n),
                "z": rng.normal(size=n) - x,
                "g": rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1]),
                "h": np.where(rng.random(n) < 0.3, "yes", "no"),
            }
        )
    )
    schema = data.schema
    for name in ("y", "z"):  # what everybody may know, from one donor
        schema = schema.replace_variable(name, role=Role.KEY, group="known")
    # light enough that a neighborhood crosses from one category to another
    return data.with_schema(schema).with_weights({"g": 0.1, "h": 0.1})


def test_means_rows_and_cells_by_hand():
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    expected = forecast(data, rwn.RWN(k=1, q=0.5))
    # each cell keeps its value with 1/2: (0 + 1) / 2, (1 + 0) / 2, (4 + 1) / 2
    assert Statistic(kind="mean", names=("x",)).expected(expected, data) == pytest.approx(3.5 / 3)
    assert Statistic(kind="rows").expected(expected, data) == pytest.approx(1.5)
    assert Statistic(kind="cells").expected(expected, data) == pytest.approx(0.5)
    release = Microdata.from_frame(pd.DataFrame({"x": [1.0, 1.0, 1.0]}))
    seen = Comparison(original=data, masked=release)
    assert Statistic(kind="mean", names=("x",)).realized(seen) == 1.0
    assert Statistic(kind="sd", names=("x",)).realized(seen) == 0.0
    assert Statistic(kind="rows").realized(seen) == 1.0
    assert Statistic(kind="cells").realized(seen) == pytest.approx(1 / 3)


def test_categories_and_subgroups_by_hand():
    frame = pd.DataFrame({"g": ["a", "a", "b", "b"], "h": ["u", "v", "v", "v"]})
    seen = Comparison(
        original=Microdata.from_frame(frame),
        masked=Microdata.from_frame(frame.assign(h=["v", "v", "v", "u"])),
    )
    assert Statistic(kind="category", names=("g",), levels=("a",)).realized(seen) == 0.5
    both = Statistic(kind="subgroup", names=("g", "h"), levels=("b", "u"))
    assert both.realized(seen) == 1.0
    assert both.words == "records with g = b and h = u"


@pytest.fixture(scope="module")
def simulated() -> tuple[Microdata, rwn.RWN, list[Comparison]]:
    data, params = people(), rwn.RWN(k=6, q=0.7)
    first = compare(data, data)
    drawn = [first.with_masked(work.masked, work.law) for work in draws(data, params, RELEASES, 31)]
    return data, params, drawn


def test_the_mean_of_many_releases_is_what_was_expected(simulated):
    """Plug-in statistics, made of covariances, are allowed the term of order 1/n that they omit."""
    data, params, drawn = simulated
    right, wrong = (forecast(data, each) for each in (params, rwn.RWN(k=60, q=1.0)))
    for statistic in all_of(data):
        values = np.array([statistic.realized(one) for one in drawn])
        expected = statistic.expected(right, data)
        error = values.std(ddof=1) / np.sqrt(len(values))
        exact = statistic.kind in {"mean", "category", "subgroup", "cells", "rows", "fragments"}
        # a mean change adds the draw's own noise to what the setting does, so it is never below
        slack = 0.0 if exact else 3 / data.n
        if statistic.kind == "change":
            assert values.mean() > expected - slack
            slack = 0.06
        assert abs(values.mean() - expected) < 4 * error + slack, statistic.words
        if statistic.kind not in {"mean", "category"}:  # which hardly depend on the setting
            other = statistic.expected(wrong, data)
            assert abs(values.mean() - other) > 4 * error + slack, statistic.words


@pytest.mark.parametrize("axis", ["epsilon", "k", "q"])
def test_a_curve_over_any_parameter_is_the_forecast_at_each_value(axis):
    data, params = people(), rwn.RWN(epsilon=0.8, k=4, q=0.6)
    values = {"epsilon": [0.0, 0.8, 1.5], "k": [2, 4, 9], "q": [0.0, 0.6, 1.0]}[axis]
    itself, statistics = Comparison(original=data, masked=data), all_of(data)
    for statistic in statistics if axis == "q" else statistics[:2]:
        found = expected_curve(data, params, values, axis=axis, statistic=statistic)
        assert found.detail.expected[1] == pytest.approx(found.value)
        assert found.detail.now == values[1]
        assert found.baseline == pytest.approx(statistic.realized(itself), nan_ok=False)
        if axis == "q":  # nothing is changed at q = 0
            assert found.detail.expected[0] == pytest.approx(found.baseline, abs=1e-9)
            assert found.detail.changed[0] == pytest.approx(0.0, abs=1e-12)


def test_fragments_are_forecast_where_the_keys_share_a_donor():
    data = people()
    apart = data.with_schema(data.schema.replace_variable("y", group=None))
    fragments = Statistic(kind="fragments")
    assert fragments in available_statistics(data, "x", "y")
    assert fragments not in available_statistics(apart, "x", "y")
    with pytest.raises(NotApplicable, match="key variables share a donor"):
        fragments.expected(forecast(apart, rwn.RWN(k=3)), apart)
    with pytest.raises(NotApplicable, match="has no value here"):
        fragments.realized(Comparison(original=apart, masked=apart))


def test_what_is_no_moment():
    with pytest.raises(ParameterError, match="one of: change"):
        Statistic(kind="median")
    with pytest.raises(ParameterError, match="1 names and 1 levels"):
        Statistic(kind="category", names=("g",))
    flat = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": 1.0}))
    pair = Statistic(kind="correlation", names=("x", "y"))
    with pytest.raises(NotApplicable, match="correlation of x and y"):
        pair.expected(forecast(flat, rwn.RWN(k=1)), flat)
    with pytest.raises(NotApplicable, match="correlation of x and y"):
        pair.realized(Comparison(original=flat, masked=flat))
