"""Slices: which variables of a table share a donor, checked and always written alike."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.schema import Schema, as_slices, slice_words, slices_words, verbatim_words
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def test_one_partition_is_written_in_one_way() -> None:
    slices = (("age", "weight"), ("hip", "knee"))
    assert as_slices([["knee", "hip"], ["weight", "age"]]) == slices
    assert as_slices(each for each in slices) == slices  # of a generator, too
    assert slices_words(slices) == "age + weight travel together, hip + knee travel together"
    assert slices_words(()) == ""


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        ([["age"]], "two variables or more"),
        ([["age", "age"]], "age twice"),
        ([["age", "hip"], ["hip", "knee"]], "hip twice"),
        (["age,hip"], "lists of names"),
        ("age", "lists of names"),
        ([["age", 3]], "lists of names"),
    ],
)
def test_what_are_no_slices_is_refused_in_a_sentence(slices: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        as_slices(slices)


def test_the_groups_of_a_schema_are_its_slices() -> None:
    data = rwn.load_demo("randhie")
    (health,) = data.schema.slices
    assert len(health) == 3
    assert data.schema.with_slices([health]) is data.schema
    assert data.with_slices(()).schema.slices == ()
    assert Schema.from_toml(data.with_slices(()).schema.to_toml()).slices == ()


def test_exactly_these_variables_travel_together(bodyfat) -> None:
    schema = bodyfat.schema.with_slices([["weight", "age"], ["hip", "knee", "neck"]])
    assert schema.slices == (("age", "weight"), ("hip", "knee", "neck"))
    assert Schema.from_toml(schema.to_toml()) == schema
    other = schema.with_slices([["age", "neck"]])
    assert other.slices == (("age", "neck"),)
    assert [v.name for v in other.variables if v.group] == ["age", "neck"]


@pytest.mark.parametrize("change", [{"role": Role.IDENTIFIER}, {"masked": False}])
def test_only_masked_variables_of_the_release_can_travel(bodyfat, change) -> None:
    schema = bodyfat.schema.replace_variable("age", **change)
    with pytest.raises(ParameterError, match="age, which is no masked variable"):
        schema.with_slices([["age", "weight"]])
    with pytest.raises(ParameterError, match="nowhere, which is no masked variable"):
        bodyfat.schema.with_slices([["nowhere", "weight"]])


def test_unmasked_variables_that_share_a_group_are_no_slice(bodyfat) -> None:
    unmasked = {"group": "g", "masked": False}
    variables = tuple(
        replace(v, **unmasked) if v.name in ("age", "neck") else v for v in bodyfat.schema.variables
    )
    assert Schema(variables=variables).slices == ()


def test_the_checked_values_are_shared(bodyfat) -> None:
    sliced = bodyfat.with_slices([["age", "weight"]])
    assert sliced.values("hip") is bodyfat.values("hip")
    assert sliced.fingerprint == bodyfat.fingerprint
    pd.testing.assert_frame_equal(sliced.frame, bodyfat.frame)


def test_of_a_slice_of_five_two_are_named_in_a_short_line() -> None:
    assert slice_words("abcd", short=True) == slice_words("abcd") == "a + b + c + d"
    assert slice_words("abcde", short=True) == "a + b + 3 more"
    assert slice_words("abcde") == "a + b + c + d + e"


def test_what_a_row_shows_of_one_person_is_said_for_each_slice() -> None:
    first, second = verbatim_words((("age", "sex"), ("a", "b", "c")))
    assert first.startswith("A row shows age and sex of one person verbatim")
    assert "who knows two of them may read the other" in second
