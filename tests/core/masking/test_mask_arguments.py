"""All that makes a release is given to one call: weights, slices, roles and a regression."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import rwn_core as rwn

METHOD = rwn.RWN(epsilon=2.0, k=5)


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def test_weights_and_slices_give_the_bytes_of_a_table_that_has_them(data: rwn.Microdata) -> None:
    slices = [["age", "weight"], ["hip", "thigh"]]
    one = rwn.mask(data, METHOD, weights={"age": 2, "siri": 0}, slices=slices, seed=3)
    other = data.with_weights({"age": 2, "siri": 0}).with_slices(slices)
    two = rwn.mask(other, METHOD, seed=3)
    assert one.to_bytes("csv") == two.to_bytes("csv")
    assert one.original.schema == other.schema
    plain = rwn.mask(data, METHOD, seed=3)
    assert one.to_bytes("csv") != plain.to_bytes("csv")


def test_no_slice_and_no_weight_change_nothing(data: rwn.Microdata) -> None:
    same = rwn.mask(data, METHOD, weights={}, slices=None, seed=3)
    assert same.to_bytes("csv") == rwn.mask(data, METHOD, seed=3).to_bytes("csv")
    sliced = data.with_slices([["age", "weight"]])
    alone = rwn.mask(sliced, METHOD, slices=[], seed=3)
    assert alone.original.schema.slices == ()


def test_a_data_frame_takes_all_of_it_in_one_call(data: rwn.Microdata) -> None:
    release = rwn.mask(
        data.frame,
        METHOD,
        weights={"age": 2},
        slices=[["age", "weight"]],
        confidential=["siri"],
        as_is=["wrist"],
        seed=3,
    )
    schema = release.original.schema
    assert schema.slices == (("age", "weight"),)
    assert schema.variable("siri").role == rwn.Role.CONFIDENTIAL
    same = release.masked.frame["wrist"].to_numpy() == data.frame["wrist"].to_numpy()
    assert same.all()


def test_a_regression_is_named_in_the_audit(data: rwn.Microdata) -> None:
    release = rwn.mask(data, METHOD, seed=3)
    asked = rwn.Question(response="weight", predictors=("age", "height"))
    one: Any = rwn.audit(data, release, question=asked, measures=["regression"])
    two: Any = rwn.audit(
        data, release, response="weight", predictors=["age", "height"], measures=["regression"]
    )
    assert one["regression"].value == two["regression"].value
    usual: Any = rwn.audit(data, release, measures=["regression"])
    assert usual["regression"].value != two["regression"].value


def test_a_response_alone_is_explained_by_all_other_numbers() -> None:
    frame = pd.DataFrame({"y": range(80), "x": [i % 7 for i in range(80)], "g": ["a", "b"] * 40})
    data = rwn.Microdata.from_frame(frame.astype({"y": float}))
    schema = data.schema.asking("y")
    assert schema.question == rwn.Question(response="y", predictors=("x",))
    assert data.schema.asking(None) is data.schema
