"""The sliders' ends: exact quantiles of the sampled distances, however they are found."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.neighbors import slider_range


@pytest.mark.parametrize("step", [0.0, 1.0])  # all different; hardly anything but ties
def test_a_rank_is_found_without_sorting_everything(monkeypatch, step):
    monkeypatch.setattr(slider_range, "GUESSED", 50)
    values = np.random.default_rng(8).exponential(2.0, (20, 300))
    values = np.round(values / step) if step else values
    values[:, 7] = np.inf
    ascending = np.sort(values, axis=None)
    for rank in (0, 1, 59, 60, 3000, 5600, values.size - 21):
        assert slider_range._ascending(values, rank) == ascending[rank]


def test_the_low_distance_is_that_of_records_that_are_apart():
    squared = np.square(np.random.default_rng(9).integers(0, 40, (10, 500)) / 7.0)
    squared[:, 3] = np.inf
    apart = squared[(squared > 0) & np.isfinite(squared)]
    expected = np.sqrt(np.quantile(apart, 0.01))
    assert slider_range._low_distance(squared) == expected
    assert slider_range._low_distance(np.zeros((2, 3))) == 1.0
