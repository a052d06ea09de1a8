"""Mahalanobis distances against the definition and published values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES

MEASURE = MEASURES["mahalanobis"]


def slow_distances(values: np.ndarray, inverse=np.linalg.inv) -> list[float]:
    center = values.mean(axis=0)
    inverted = inverse(np.cov(values, rowvar=False))
    return [float((row - center) @ inverted @ (row - center)) ** 0.5 for row in values]


def test_check_values_ut_maha2(compare, check_values, ut_frames):
    found = MEASURE.compute(compare(*ut_frames)).detail.original
    np.testing.assert_allclose(found**2, check_values["UT-maha2_X"]["expected"], rtol=1e-9)
    assert (found**2).sum() == pytest.approx(check_values["UT-maha2_sum"]["expected"])


def test_each_file_in_its_own_covariance(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MEASURE.compute(compare(original, masked))
    for side, frame in (("original", original), ("released", masked)):
        expected = slow_distances(frame.to_numpy())
        np.testing.assert_allclose(getattr(reading.detail, side), expected, rtol=1e-9)
        assert getattr(reading.detail, f"argmax_{side}") == int(np.argmax(expected))
    assert reading.value == reading.detail.max_released == reading.detail.released.max()
    assert reading.baseline == reading.detail.max_original
    assert (reading.detail.rank, len(reading.detail.names)) == ((4, 4), 4)


def test_a_singular_covariance_is_inverted_where_it_can_be(compare, numeric_frames):
    original, masked = numeric_frames
    double = original.assign(e=original["a"] + original["b"], f=7.0)
    detail = MEASURE.compute(compare(double, masked.assign(e=0.0, f=7.0))).detail
    assert (detail.rank, len(detail.names)) == ((4, 4), 6)
    np.testing.assert_allclose(detail.original, slow_distances(original.to_numpy()), rtol=1e-6)
    np.testing.assert_allclose(
        detail.original, slow_distances(double.to_numpy(), np.linalg.pinv), rtol=1e-6
    )


def test_incomplete_records_are_dropped(compare, numeric_frames):
    original, masked = (frame.copy() for frame in numeric_frames)
    original.loc[[2, 9], "b"] = np.nan
    detail = MEASURE.compute(compare(original, masked)).detail
    assert len(detail.original) == len(detail.records_original) == 58
    assert set(detail.records_original) == set(range(60)) - {2, 9}


def test_no_numbers(compare):
    frame = pd.DataFrame({"g": ["a", "b"]})
    with pytest.raises(NotApplicable, match="no continuous or count variable"):
        MEASURE.compute(compare(frame, frame))


def test_no_complete_record(compare, numeric_frames):
    original, masked = numeric_frames
    with pytest.raises(NotApplicable, match="released table has 0 records"):
        MEASURE.compute(compare(original, masked.assign(a=np.nan)))
