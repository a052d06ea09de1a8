"""Distances inside each file, in the original's standard deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.statistics.nearest_points import (
    LIVE_RECORDS,
    SAMPLE,
    nearest_others,
    spread_sample,
)

MEASURE = MEASURES["nearest_distance"]


def slow_nearest(points: np.ndarray) -> list[float]:
    return [
        min(
            sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)) ** 0.5
            for j in range(len(points))
            if j != i
        )
        for i in range(len(points))
    ]


def test_check_value_ut_mindist_x(compare, check_values, ut_frames):
    reading = MEASURE.compute(compare(*ut_frames))
    expected = check_values["UT-mindist_X"]["expected"]
    np.testing.assert_allclose(reading.detail.original, expected, rtol=1e-12)
    assert reading.baseline == pytest.approx(np.median(expected))


def test_both_files_in_the_original_units(compare, numeric_frames):
    original, masked = numeric_frames
    detail = MEASURE.compute(compare(original, masked)).detail
    for side, frame in (("original", original), ("released", masked)):
        points = ((frame - original.mean()) / original.std()).to_numpy()
        np.testing.assert_allclose(getattr(detail, side), slow_nearest(points), rtol=1e-10)
    assert not detail.sampled
    assert detail.of == 60


def test_a_clone_is_at_distance_zero_and_self_never_counts():
    points = np.array([[0.0], [0.0], [3.0], [7.0], [7.0], [7.0]])
    assert nearest_others(points, np.arange(6)).tolist() == [0, 0, 3, 0, 0, 0]


def test_categories_count_as_dummies_in_standard_deviations(compare):
    frame = pd.DataFrame({"g": ["a", "a", "b", "b", "b", "c"]})
    dummies = pd.get_dummies(frame["g"]).astype(float)
    points = ((dummies - dummies.mean()) / dummies.std()).to_numpy()
    found = MEASURE.compute(compare(frame, frame)).detail.original
    np.testing.assert_allclose(found, slow_nearest(points), atol=1e-12)


def test_records_that_lost_every_value_are_left_out(compare, numeric_frames):
    original, masked = numeric_frames
    masked = masked.copy()
    masked.loc[[0, 30], :] = np.nan
    detail = MEASURE.compute(compare(original, masked)).detail
    assert detail.records_released.tolist() == [i for i in range(60) if i not in (0, 30)]
    points = ((masked.dropna() - original.mean()) / original.std()).to_numpy()
    np.testing.assert_allclose(detail.released, slow_nearest(points), rtol=1e-10)


def test_an_original_without_variation(compare):
    frame = pd.DataFrame({"x": [1.0, 1.0, 1.0]})
    with pytest.raises(NotApplicable, match="No variable of the original varies"):
        MEASURE.compute(compare(frame, frame))


def test_a_large_file_is_sampled_evenly(compare):
    n = LIVE_RECORDS + 1
    original = pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2)), columns=["x", "y"])
    detail = MEASURE.compute(compare(original, original)).detail
    assert detail.sampled
    assert detail.of == n
    records = detail.records_original
    assert len(records) == SAMPLE
    assert set(np.diff(records)) <= {6, 7}
    points = ((original - original.mean()) / original.std()).to_numpy()
    for record, distance in list(zip(records, detail.original, strict=True))[::100]:
        others = np.delete(points, record, axis=0)
        assert distance == pytest.approx(np.linalg.norm(others - points[record], axis=1).min())
    assert len(spread_sample(np.arange(LIVE_RECORDS))) == LIVE_RECORDS
