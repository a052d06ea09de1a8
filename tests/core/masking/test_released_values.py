"""What leaves the house: fresh columns, no levels that nobody has, no identifier, no formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ReleaseError
from rwn_core.masking.release import Release


def table(n: int = 40) -> Microdata:
    number = np.arange(n, dtype=float)
    frame = pd.DataFrame(
        {
            "id": [f"person {i}" for i in range(n)],
            "x": number,
            "g": pd.Categorical(["a", "b"] * (n // 2), categories=["a", "b", "Zaphod"]),
            "t": ["=1+1", "plain"] * (n // 2),
        },
        index=pd.Index([f"row {i}" for i in range(n)], name="Zaphod"),
    )
    frame.attrs["source"] = "/home/Zaphod"
    data = Microdata.from_frame(frame)
    return data.with_schema(data.schema.replace_variable("id", role=Role.IDENTIFIER))


def release(data: Microdata | None = None) -> Release:
    return rwn.mask(data or table(), rwn.RWN(k=5), seed=3)


def test_no_unused_level_and_no_name_of_a_row_is_left() -> None:
    published = release().published()
    assert list(published.frame["g"].cat.categories) == ["a", "b"]
    assert "Zaphod" not in published.schema.to_toml()
    assert published.frame.attrs == {}
    assert published.frame.index.equals(pd.RangeIndex(40))
    assert published.frame.index.name is None
    assert published.notices == ()


def test_levels_of_an_ordered_variable_that_nobody_has_are_not_named() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "s": ["low", "high", "low", "high"]})
    data = Microdata.from_frame(frame)
    schema = data.schema.replace_variable("s", kind="ordered", levels=("low", "mid", "high"))
    data = data.with_schema(schema)
    published = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).published()
    assert published.schema.variable("s").levels == ("low", "high")


def test_columns_are_fresh() -> None:
    made = release()
    published = made.published("original")
    for name in published.names:
        if published.schema.variable(name).kind == "continuous":
            assert not np.shares_memory(published.array(name), made.masked.array(name))


def test_an_identifier_is_impossible() -> None:
    made = release()
    assert "id" not in made.published().names
    planted = replace(made, masked=table())  # a method that forgot to leave it out
    with pytest.raises(ReleaseError, match="direct identifier"):
        planted.published()


def test_rows_are_shuffled_by_the_key() -> None:
    data = rwn.load_demo("bodyfat")
    one = rwn.mask(data, rwn.RWN(k=5, q=0.0))
    two = rwn.mask(data, rwn.RWN(k=5, q=0.0))
    positions = np.argsort(one.order)
    assert sorted(one.order) == list(range(data.n))
    assert abs(np.corrcoef(positions, np.arange(data.n))[0, 1]) < 0.4
    assert (one.order != two.order).any()
    assert one.to_bytes("csv") != two.to_bytes("csv")


def test_every_release_has_a_random_number_of_its_own() -> None:
    one, two = release(), release()
    assert one.id != two.id  # also with one seed: two files, two numbers
    assert len(one.id) == 32


def test_a_cell_that_a_spreadsheet_would_run_is_written_as_text() -> None:
    frame = pd.DataFrame(
        {
            "x": [-1.5, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0],
            "t": ["=cmd", "@sum", "+1", "-", "\tx", "+a", "b-c"],
        }
    )
    made = rwn.mask(Microdata.from_frame(frame), rwn.RWN(k=1, q=0.0), seed=1)
    text = made.to_bytes("csv", "original").decode()
    assert text.splitlines() == [
        "x,t", "-1.5,'=cmd", "-2.0,'@sum", "-3.0,+1", "-4.0,-", "-5.0,'\tx", "-6.0,'+a", "-7.0,b-c",
    ]  # fmt: skip
    assert made.guarded("csv") == {"t": 4}
    # parquet keeps types: no program runs its texts
    assert made.guarded("parquet") == {}
    assert b"'=cmd" not in made.to_bytes("parquet")


def test_categories_are_guarded_too() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "g": pd.Categorical(["=a", "b", "=a"])})
    made = rwn.mask(Microdata.from_frame(frame), rwn.RWN(k=1, q=0.0), seed=1)
    assert made.to_bytes("csv", "original").decode().splitlines()[1] == "1.0,'=a"
    assert made.guarded("csv") == {"g": 2}
