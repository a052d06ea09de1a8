"""Weighted estimates and their errors by hand, and what a survey's roles do to measures."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.open_questions import asks_population
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import SchemaError
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.statistics.key_variables import key_names
from rwn_core.measures.utility.survey_estimates import (
    SamplingDesign,
    mean_error,
    slope_errors,
    weighted_slopes,
)

ROLES = {"w": Role.SAMPLING_WEIGHT, "home": Role.HOUSEHOLD, "h": Role.STRATUM, "year": Role.TIME}
FRAME = pd.DataFrame(
    {
        "w": [1.0, 2.0, 1.0, 4.0, 2.0, 2.0],
        "home": list("aabbcd"),
        "h": list("sssstt"),
        "year": ["20", "20", "21", "21", "21", "20"],
        "y": [1.0, 2.0, 4.0, 3.0, 5.0, 1.0],
    }
)


def table(frame=FRAME, roles=ROLES):
    kinds = {"w": Kind.CONTINUOUS, "y": Kind.CONTINUOUS}
    variables = (
        rwn.Variable(
            name=name, kind=kinds.get(name, Kind.CATEGORICAL), role=roles.get(name, Role.OTHER)
        )
        for name in frame.columns
    )
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=tuple(variables)))


def read(before, after):
    masked = after.take(np.arange(after.n))
    frame = masked.frame.drop(columns="home")
    released = rwn.Microdata(frame, rwn.Schema(variables=before.schema.released))
    return MEASURES["survey_estimates"].compute(Comparison(original=before, masked=released))


def test_a_weighted_mean_and_its_error_by_hand():
    """Mean 32/12; clusters a, b in stratum s, c and d in t; z = w (y - mean) / 12 by cluster."""
    found = read(table(), table(FRAME.assign(y=[1.0, 2.0, 4.0, 3.0, 5.0, 4.0]))).detail
    place = found.names.index("mean of y")
    mean = 33 / 12
    assert found.original[place] == pytest.approx(mean)
    assert found.released[place] == pytest.approx(39 / 12)
    a = (1 * (1 - mean) + 2 * (2 - mean)) / 12
    b = (1 * (4 - mean) + 4 * (3 - mean)) / 12
    c, d = 2 * (5 - mean) / 12, 2 * (1 - mean) / 12
    error = sqrt((a - b) ** 2 + (c - d) ** 2)  # two in a stratum: 2 / 1 times half of the square
    assert found.errors[place] == pytest.approx(error)
    assert found.change[place] == pytest.approx(0.5 / error)
    assert found.people.original == 12
    when = found.names.index("mean of y, year 20")
    assert found.original[when] == pytest.approx((1 + 4 + 2) / 5)
    assert found.released[when] == pytest.approx((1 + 4 + 8) / 5)


def test_slopes_are_those_of_records_repeated_by_their_weights():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 40))
    weights = rng.integers(1, 5, 40)
    many = np.repeat(np.arange(40), weights)
    ones = np.ones(len(many))
    found = weighted_slopes(x[:, None], y, weights.astype(float))
    assert found == pytest.approx(weighted_slopes(x[many, None], y[many], ones))
    # repeated records are one cluster: the same error as weights give
    design = SamplingDesign(
        weights=weights.astype(float), strata=np.zeros(40, int), clusters=np.arange(40)
    )
    same = SamplingDesign(weights=ones, strata=np.zeros(len(many), int), clusters=many)
    assert slope_errors(x[:, None], y, design) == pytest.approx(
        slope_errors(x[many, None], y[many], same)
    )
    assert mean_error(y, design) == pytest.approx(mean_error(y[many], same))


def test_errors_cover_the_truth_of_a_clustered_survey_and_naive_ones_do_not():
    rng = np.random.default_rng(3)
    covered, naive = 0, 0
    for _ in range(300):
        values = np.repeat(rng.normal(size=40), 5) + rng.normal(size=200) / 2
        clusters, ones = np.repeat(np.arange(40), 5), np.ones(200)
        nothing = np.zeros(200, int)
        error = mean_error(values, SamplingDesign(weights=ones, strata=nothing, clusters=clusters))
        alone = mean_error(
            values, SamplingDesign(weights=ones, strata=nothing, clusters=np.arange(200))
        )
        covered += abs(values.mean()) < 1.96 * error
        naive += abs(values.mean()) < 1.96 * alone
    assert covered > 270 > 240 > naive


def test_the_role_gives_risk_its_weights_and_is_no_key():
    data = table()
    said = Comparison(original=data, masked=data)
    assert said.sampling == Sampling(weights="w")
    assert "w" not in key_names(said)
    named = table(roles={**ROLES, "w": Role.OTHER})
    stated = Comparison(original=named, masked=named, sampling=Sampling(weights="w"))
    keys = ("h",)
    values = []
    for each in (said, stated):
        schema = each.original.schema.replace_variable(keys[0], role=Role.KEY)
        one = each.original.with_schema(schema)
        again = Comparison(original=one, masked=one, sampling=each.sampling)
        values.append(MEASURES["individual_risk"].compute(again).value)
    assert values[0] == values[1]


def test_weights_that_count_no_people_are_named_and_left_out_of_risk():
    data = table(FRAME.assign(w=[0.5, 2, 1, 4, 2, 2]))
    assert any("w is a sampling weight, but not" in notice for notice in data.notices)
    assert Comparison(original=data, masked=data).sampling == Sampling()
    with pytest.raises(SchemaError, match="Variables w and y both have the role sampling weight"):
        data.schema.replace_variable("y", role=Role.SAMPLING_WEIGHT)


def test_normalised_weights_leave_the_population_open_until_it_is_stated() -> None:
    """Two records with weights around 1: 40 people, so each record stands for 20."""
    frame = pd.DataFrame({"x": [1.0, 2.0], "w": [0.5, 1.5]})
    variables = (
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="w", kind=Kind.CONTINUOUS, role=Role.SAMPLING_WEIGHT),
    )
    data = Microdata.from_frame(frame, Schema(variables=variables))
    assert "How many people are in it?" in str(asks_population(data.frame, data.schema))
    assert Sampling.of_schema(data) == Sampling()
    stated = data.with_schema(replace(data.schema, population=40))
    assert asks_population(stated.frame, stated.schema) is None
    assert Sampling.of_schema(stated) == Sampling(population=40.0)
    assert Sampling.of_schema(stated).record_weights(stated, stated).tolist() == [20.0, 20.0]
    assert not any("the whole population" in notice for notice in stated.notices)
    assert Schema.from_toml(stated.schema.to_toml()) == stated.schema
    for wrong in (0, 2.5, True, "many"):
        with pytest.raises(SchemaError, match="whole number of people"):
            replace(data.schema, population=wrong)
