"""Distributions against SciPy, brute force and published check values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.utility.distributions import (
    bin_edges,
    distribution_steps,
    kolmogorov_smirnov,
    total_variation,
)

MEASURE = MEASURES["marginals"]
FEW = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(FEW, FEW)
def test_kolmogorov_smirnov_against_every_threshold(one, other):
    found = kolmogorov_smirnov(distribution_steps(np.sort(one)), np.sort(other))
    thresholds = [t + shift for t in range(-1, 8) for shift in (0.0, 0.5)]
    expected = max(
        abs(sum(v <= t for v in one) / len(one) - sum(v <= t for v in other) / len(other))
        for t in thresholds
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_total_variation_of_files_of_different_sizes():
    assert total_variation(np.array([1, 1, 0]), np.array([10, 0, 10])) == 0.5
    assert total_variation(np.array([1, 2]), np.array([50, 100])) == 0.0


def test_counts_means_and_missing_values(compare):
    original = pd.DataFrame({"x": [0.0, 0.5, 2.25, np.nan], "g": ["a", "b", None, "a"]})
    masked = pd.DataFrame({"x": [0.5, np.nan, np.nan, 0.5], "g": ["a", "a", "a", "a"]})
    reading = MEASURE.compute(compare(original, masked))
    x, g = reading.detail.variables["x"], reading.detail.variables["g"]
    assert (x.edges is None, g.edges is None) == (False, True)
    assert x.original.sum() == 3
    assert x.released.sum() == 2
    assert (x.missing_original, x.missing_released) == (1, 2)
    assert x.mean_original == pytest.approx(2.75 / 3)
    assert x.sd_original == pytest.approx(original["x"].std())
    assert (x.mean_released, x.sd_released) == (0.5, 0.0)
    assert x.difference == pytest.approx(1 / 3)
    assert g.levels == ["a", "b"]
    assert (g.original.tolist(), g.released.tolist()) == ([2, 1], [4, 0])
    assert g.difference == pytest.approx(1 / 3)
    assert (g.missing_original, g.missing_released) == (1, 0)
    assert reading.value == pytest.approx(1 / 3)


def test_bins_widen_for_values_outside_the_original_range(compare):
    original = pd.DataFrame({"x": np.linspace(0.0, 1.0, 50)})
    masked = pd.DataFrame({"x": np.r_[-3.0, 7.0, 1.0, np.linspace(0.0, 1.0, 47)]})
    shown = MEASURE.compute(compare(original, masked)).detail.variables["x"]
    assert shown.edges[0] == -3.0
    assert shown.edges[-1] == 7.0
    assert (np.diff(shown.edges) > 0).all()
    assert shown.original[0] == shown.original[-1] == 0
    assert shown.released[0] == shown.released[-1] == 1
    assert shown.original.sum() == shown.released.sum() == 50


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 3.0, 5.0], [1.5, 2.5, 3.5, 4.5, 5.5]),
        ([7.5, 7.5], [7.0, 8.0]),
        ([1e150 * 1.5, 1e150 * 1.5], [1.485e150, 1.515e150]),
    ],
)
def test_bin_edges(values, expected):
    assert bin_edges(np.array(values)) == pytest.approx(expected)


def test_a_variable_that_lost_all_values_is_named(compare, numeric_frames):
    original, masked = numeric_frames
    with pytest.raises(NotApplicable, match=r"variable b is missing in the released table\."):
        MEASURE.compute(compare(original, masked.assign(b=np.nan)))


def test_a_rounded_release_has_whole_steps_in_each_bin(compare):
    """Else bins with two steps are towers, and bins with none are false holes."""
    values = np.linspace(0.0, 100.0, 601)
    original, step = pd.DataFrame({"x": values}), 3.0
    masked = pd.DataFrame({"x": step * np.round(values / step)})
    shown = MEASURE.compute(compare(original, masked)).detail.variables["x"]
    widths = np.diff(shown.edges)
    assert widths == pytest.approx(np.full(len(widths), step))
    assert shown.original.sum() == shown.released.sum() == 601
    for side, frame in (("original", original), ("released", masked)):
        expected, _ = np.histogram(frame["x"], shown.edges)
        np.testing.assert_array_equal(getattr(shown, side), expected)
    assert shown.released == pytest.approx(shown.original, abs=1), "nothing but rounding"
