"""Rows of numbers are numbered in ascending order, however many numbers a row has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data import microdata
from rwn_core.data.microdata import Microdata, codes_together, numbered
from rwn_core.data.variable import is_missing


@pytest.mark.parametrize(
    ("columns", "highest"), [(1, 9), (3, 4), (4, 1), (7, 2**12), (3, 2**40)], ids=str
)
def test_rows_are_numbered_as_they_sort(columns: int, highest: int) -> None:
    rng = np.random.default_rng(columns)
    some = rng.integers(-1, highest, (60, columns))
    cells = some[rng.integers(0, 60, 400)]
    distinct = sorted(set(map(tuple, cells.tolist())))
    assert numbered(cells).tolist() == [distinct.index(tuple(row)) for row in cells.tolist()]


def test_as_many_levels_as_one_number_holds_are_told_apart(monkeypatch) -> None:
    cells = np.array([[2**31 - 2, 2**31 - 3], [2**31 - 2, -1], [-1, 2**31 - 3], [2**31 - 2, -1]])
    expected = [2, 1, 0, 1]
    assert numbered(cells).tolist() == expected
    monkeypatch.setattr(microdata, "_LARGEST_NUMBER", 0.0)
    assert numbered(cells).tolist() == expected


@pytest.mark.parametrize("names", [("x",), ("x", "y")])
def test_a_value_that_the_original_lacks_has_the_code_of_a_missing_one(names) -> None:
    original = Microdata.from_frame(pd.DataFrame({"x": [5, 3, 5], "y": [1, 1, 1]}))
    masked = Microdata.from_frame(pd.DataFrame({"x": [3, 4, 5], "y": [1, 1, 1]}))
    codes, released = codes_together(original, masked, names, np.array([0, 1, 2]))
    assert codes.tolist() == [1, 0, 1]
    assert released.tolist() == [0, -1, 1]


def test_a_code_is_missing_if_it_is_declared_or_within_a_declared_range() -> None:
    declared = (-9, "x", (97.0, 99.0))
    found = [
        code for code in (-9, -8, "x", "y", 96.9, 97, 98.5, 99, 100) if is_missing(code, declared)
    ]
    assert found == [-9, "x", 97, 98.5, 99]
