"""Principal components against hand computation and a power iteration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.utility.relations import component_variances

MEASURE = MEASURES["principal_components"]


def slow_variances(frame: pd.DataFrame) -> list[float]:
    """Eigenvalues of the correlation matrix by power iteration and deflation."""
    rest = frame.corr().to_numpy()
    found = []
    for _ in range(len(rest)):
        vector = np.linspace(1.0, 2.0, len(rest))
        for _ in range(5000):
            vector = rest @ vector
            vector /= np.linalg.norm(vector)
        found.append(vector @ rest @ vector)
        rest = rest - found[-1] * np.outer(vector, vector)
    return found


def test_two_variables_have_the_components_one_plus_and_minus_r(compare, ut_frames):
    detail = MEASURE.compute(compare(*ut_frames)).detail
    for side, frame in zip(("original", "released"), ut_frames, strict=True):
        r = frame["one"].corr(frame["two"])
        halves = [(1 + r) / 2, (1 - r) / 2]
        assert getattr(detail, f"share_{side}") == pytest.approx(halves, abs=1e-12)
        assert getattr(detail, f"sd1_{side}") == pytest.approx((1 + r) ** 0.5, abs=1e-12)
        assert getattr(detail, f"cumulative5_{side}") == pytest.approx(1.0)


def test_the_value_is_the_largest_change_of_the_cumulative_share(compare, numeric_frames):
    reading = MEASURE.compute(compare(*numeric_frames))
    before = np.cumsum(reading.detail.share_original)
    after = np.cumsum(reading.detail.share_released)
    assert reading.value == max(abs(b - a) for a, b in zip(before, after, strict=True))


def test_incomplete_records_are_dropped_and_counted(compare, numeric_frames):
    original, masked = (frame.copy() for frame in numeric_frames)
    original.loc[4, "c"] = np.nan
    detail = MEASURE.compute(compare(original, masked)).detail
    assert (detail.n_original, detail.n_released) == (59, 60)
    expected = np.array(slow_variances(original.dropna())) / 4
    np.testing.assert_allclose(detail.share_original, expected, atol=1e-7)


def test_a_variable_that_does_not_vary_is_left_out_of_both(compare, numeric_frames):
    original, masked = numeric_frames
    detail = MEASURE.compute(compare(original, masked.assign(b=1.0))).detail
    assert detail.names == ["a", "c", "d"]
    expected = component_variances(original[["a", "c", "d"]].to_numpy()) / 3
    np.testing.assert_allclose(detail.share_original, expected)


def test_no_two_variables_that_vary(compare):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 3.0]})
    with pytest.raises(NotApplicable, match="at least two continuous or count"):
        MEASURE.compute(compare(frame, frame))
