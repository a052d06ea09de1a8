from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.two_way import two_way
from rwn_core.measures.comparison import Comparison


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(list("uv"), 80), "c": 1.0})
    frame["y"] = frame["x"] + rng.normal(size=80)
    frame.loc[3, "y"] = np.nan
    data = Microdata.from_frame(frame)
    return compare(data, rwn.mask(data, rwn.RWN(k=4), seed=1))


def test_two_numbers(comparison):
    found = two_way(comparison, "x", "y")
    original = comparison.original.frame[["x", "y"]].dropna()
    assert found.detail.original.shape == (79, 2)
    assert found.detail.correlation_original == pytest.approx(original.corr().iloc[0, 1])
    assert found.value == pytest.approx(
        abs(found.detail.correlation_released - found.detail.correlation_original)
    )


def test_a_constant_has_no_correlation(comparison):
    found = two_way(comparison, "x", "c")
    assert found.detail.correlation_original is None
    assert found.value == 0.0


def test_a_category_makes_a_table(comparison):
    found = two_way(comparison, "g", "y")
    assert found.detail.kind == "table"
    assert found.detail.original.sum() == 80
    assert "(missing)" in found.detail.columns
    itself = Comparison(original=comparison.original, masked=comparison.original)
    assert two_way(itself, "g", "y").value == 0.0


def test_one_variable_is_not_two(comparison):
    with pytest.raises(NotApplicable, match="different"):
        two_way(comparison, "x", "x")
