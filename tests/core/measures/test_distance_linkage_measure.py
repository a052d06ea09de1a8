"""Linking released records to their nearest originals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.statistics.nearest_points import (
    LIVE_RECORDS,
    distinct_points,
    linkage_scores,
)

MEASURE = MEASURES["distance_linkage"]


def slow_scores(original: np.ndarray, released: np.ndarray) -> list[float]:
    scores = []
    for i, row in enumerate(released):
        squared = [float(((row - other) ** 2).sum()) for other in original]
        tied = [j for j, d in enumerate(squared) if d <= min(squared) * (1 + 1e-9)]
        scores.append(1 / len(tied) if i in tied else 0.0)
    return scores


def test_against_a_slow_computation(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MEASURE.compute(compare(original, masked))
    mean, sd = original.mean(), original.std()
    expected = slow_scores(((original - mean) / sd).to_numpy(), ((masked - mean) / sd).to_numpy())
    assert reading.detail.score.tolist() == expected
    assert 0 < reading.value < 1


def test_ties_share_their_link():
    rng = np.random.default_rng(4)
    original = rng.integers(0, 3, size=(80, 2)).astype(float)
    released = rng.integers(0, 3, size=(80, 2)) + rng.choice([0.0, 0.5], size=(80, 2))
    released[:20] = original[:20]
    found = linkage_scores(distinct_points(original), released, original)
    np.testing.assert_allclose(found, slow_scores(original, released))
    assert 0 < found[:20].max() < 1


def test_rounding_does_not_break_a_tie():
    original = np.array([[0.1 + 0.2], [0.3], [5.0]])  # the first is farther by rounding
    found = linkage_scores(distinct_points(original), np.array([[0.0]]), original[:1])
    assert found.tolist() == [0.5]


def test_clones_of_the_original_share(compare):
    frame = pd.DataFrame({"x": [1.0, 1.0, 1.0, 4.0], "y": [2.0, 2.0, 2.0, 0.0]})
    score = MEASURE.compute(compare(frame, frame)).detail.score
    assert score == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])


def test_an_empty_record_links_to_nobody(compare, numeric_frames):
    original, masked = numeric_frames
    masked = original.copy()
    masked.loc[7, :] = np.nan
    found = MEASURE.compute(compare(original, masked)).detail
    assert 7 not in found.records  # it is not in the file that leaves
    assert (found.score > 0).all()
    assert MEASURE.compute(compare(original, masked * np.nan)).value == 0


def test_a_large_file_is_sampled(compare):
    n = LIVE_RECORDS + 500
    rng = np.random.default_rng(2)
    original = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "y", "z"])
    masked = original + rng.normal(scale=0.05, size=original.shape)
    detail = MEASURE.compute(compare(original, masked)).detail
    assert detail.sampled
    assert len(detail.score) == len(detail.records) == 1000
    for record, score in list(zip(detail.records, detail.score, strict=True))[::50]:
        gaps = ((original - masked.loc[record]) / original.std()).to_numpy()
        assert score == float((gaps**2).sum(axis=1).argmin() == record)


def test_another_number_of_records(compare, numeric_frames):
    original, masked = numeric_frames
    with pytest.raises(NotApplicable, match="true sources are unknown"):
        MEASURE.compute(compare(original, masked.head(10)))
