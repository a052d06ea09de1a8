"""Donors: the record chain, its uniformity and stability, and copying whole values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question, Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import (
    NO_DONOR,
    Draws,
    copy_from_donors,
    draw_donors,
    masked_columns,
    random_streams,
    released_schema,
)
from rwn_core.masking import RWN
from rwn_core.neighbors import find_neighborhoods
from rwn_core.randomness import SecretKey, uniforms
from tests.oracles.record_chain import RecordChain

KEY = SecretKey.from_seed(7)
POINTS = np.random.default_rng(1).integers(0, 6, (130, 3)).astype(float)


def chain_rank(record: int, stream: int, size: int) -> int:
    """The record chain for one cell, step by step."""
    place, step = 1, 1
    while True:
        draws = uniforms(KEY, np.array([record]), stream, step // 8)[:, 0]
        following = math.floor(place / draws[step % 8]) + 1
        if following > size:
            return place
        place, step = following, step + 1


def test_ranks_follow_the_record_chain():
    draws = RecordChain(KEY, np.arange(40), (0, 5))
    for size in (1, 2, 3, 10, 1000, 2**31 - 2):
        ranks = draws.ranks(np.full(40, size))
        for record in range(40):
            for column, stream in enumerate((0, 5)):
                assert ranks[record, column] == chain_rank(record, stream, size)


def test_an_empty_neighborhood_gives_nobody():
    neighborhoods = find_neighborhoods(np.array([[0.0], [1.0], [9.0]]), epsilon=1.0)
    donors = draw_donors(neighborhoods, Draws(KEY, np.arange(3), (0, 1)), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(donors, [[1, 0], [0, 1], [NO_DONOR, 2]])


def test_variables_of_a_group_share_a_stream():
    variables = [
        Variable(name="id", kind=Kind.COUNT, role=Role.IDENTIFIER),
        Variable(name="a", kind=Kind.COUNT),
        Variable(name="b", kind=Kind.COUNT, group="g"),
        Variable(name="c", kind=Kind.COUNT, group="h"),
        Variable(name="d", kind=Kind.COUNT, group="g"),
    ]
    frame = pd.DataFrame({v.name: range(5) for v in variables})
    microdata = Microdata.from_frame(frame, Schema(variables=tuple(variables)))
    assert random_streams(microdata) == (0, 1, 2, 1)
    assert masked_columns(microdata).tolist() == [True] * 4


COLUMNS = {
    "int64": pd.Series([1, 2, 3, 4], dtype="int64"),
    "int8": pd.Series([1, 2, 3, 4], dtype="int8"),
    "uint16": pd.Series([1, 2, 3, 4], dtype="uint16"),
    "float64": pd.Series([1.5, 2.5, np.nan, 4.5]),
    "float32": pd.Series([1.5, 2.5, 3.5, 4.5], dtype="float32"),
    "bool": pd.Series([True, False, True, True]),
    "string": pd.Series(["a", "b", None, "d"], dtype="string"),
    "text": pd.Series(["a", "b", "c", "d"]),
    "category": pd.Series(["a", "b", "c", "a"], dtype="category"),
    "ordered": pd.Series(pd.Categorical(list("abca"), categories=list("cba"), ordered=True)),
    "datetime": pd.Series(pd.date_range("2020-01-01", periods=4)),
    "zoned": pd.Series(pd.date_range("2020-01-01", periods=4, tz="Europe/Rome")),
    "Int64": pd.Series([1, None, 3, 4], dtype="Int64"),
    "boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "Float64": pd.Series([1.5, None, 3.5, 4.5], dtype="Float64"),
}
WITH_MISSING = {"int64": "Int64", "int8": "Int8", "uint16": "UInt16", "bool": "boolean"}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_copied_with_their_type(name):
    column = COLUMNS[name].rename(name)
    microdata = Microdata.from_frame(column.to_frame())
    donors = np.array([3, 3, 0, 1])
    copied = copy_from_donors(microdata, donors[:, None]).frame[name]
    expected = column.iloc[donors].reset_index(drop=True)
    pd.testing.assert_series_equal(copied, expected)


@pytest.mark.parametrize("name", COLUMNS)
def test_lost_values_are_missing_in_a_type_that_can_hold_them(name):
    column = COLUMNS[name].rename(name)
    microdata = Microdata.from_frame(column.to_frame())
    donors = np.array([3, NO_DONOR, 0, NO_DONOR])
    masked = copy_from_donors(microdata, donors[:, None])
    copied = masked.frame[name]
    assert copied.dtype == WITH_MISSING.get(name, column.dtype)
    assert copied.isna().tolist() == [False, True, False, True]
    assert copied.iloc[[0, 2]].tolist() == column.iloc[[3, 0]].tolist()
    if masked.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        assert masked.codes(name)[0].tolist().count(-1) == 2
    else:
        assert np.isnan(masked.values(name)).tolist() == [False, True, False, True]


def test_a_column_may_lose_every_value():
    for name, column in COLUMNS.items():
        microdata = Microdata.from_frame(column.rename(name).to_frame())
        masked = copy_from_donors(microdata, np.full((4, 1), NO_DONOR))
        assert masked.frame[name].isna().all()


def test_a_whole_number_beyond_float_precision_survives():
    large = 2**53 + 1
    microdata = Microdata.from_frame(pd.DataFrame({"x": [large, large + 2, 5]}))
    copied = copy_from_donors(microdata, np.array([[1], [NO_DONOR], [0]])).frame["x"]
    assert copied.tolist()[0] == large + 2
    assert copied.tolist()[2] == large


def test_a_release_has_no_identifier_and_no_question_about_one():
    schema = Schema(
        variables=(
            Variable(name="id", kind=Kind.COUNT, role=Role.IDENTIFIER),
            Variable(name="x", kind=Kind.COUNT),
        ),
        question=Question(response="x", predictors=("id",)),
    )
    released = released_schema(schema)
    assert released.names == ("x",)
    assert released.question is None
    microdata = Microdata.from_frame(pd.DataFrame({"id": [1, 2], "x": [3, 4]}), schema)
    assert copy_from_donors(microdata, np.array([[1], [0]])).names == ("x",)


def test_rules_of_a_schema_are_not_released():
    x, y = (Variable(name=name, kind=Kind.COUNT) for name in ("x", "y"))
    schema = Schema(variables=(x, y), edit_rules=("x <= y",))
    assert not released_schema(schema).edit_rules


@pytest.mark.parametrize("q", [0, 1, 0.0, 1.0, 0.5, np.float64(0.25), np.int64(1)])
def test_probabilities_are_admitted(q):
    assert RWN(k=1, q=q).q == q


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, math.inf, "0.5", True, None, 1j])
def test_other_things_are_no_probability(q):
    with pytest.raises(ParameterError, match=r"q must be a (number|fraction) from 0"):
        RWN(k=1, q=q)
