"""Correlations against hand computation, pandas and the published check value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.utility.relations import correlation_matrix


def test_check_value_ut_corr(compare, check_values, ut_frames):
    reading = MEASURES["correlation"].compute(compare(*ut_frames))
    original, released, change = check_values["UT-corr"]["expected"]
    assert reading.detail.original[0, 1] == pytest.approx(original, abs=1e-12)
    assert reading.detail.released[0, 1] == pytest.approx(released, abs=1e-12)
    assert reading.value == pytest.approx(change, abs=1e-12)
    assert reading.detail.mean_absolute_change == reading.value


def test_a_sign_change_is_counted(compare):
    original = pd.DataFrame({"x": [0.0, 1, 2, 3], "y": [0.0, 1, 2, 3], "z": [1.0, 0, 0, 1]})
    masked = original.assign(y=[3.0, 2, 1, 0])
    reading = MEASURES["correlation"].compute(compare(original, masked))
    assert reading.detail.sign_changes == 1
    assert reading.detail.pairs == 3
    assert reading.value == pytest.approx(2 / 3)  # one pair from 1 to -1, two stay at 0


def test_each_pair_uses_the_records_that_have_both(numeric_frames):
    frame = numeric_frames[0].copy()
    frame.loc[:9, "a"] = np.nan
    frame.loc[5:20, "b"] = np.nan
    expected = frame.corr().to_numpy()
    np.testing.assert_allclose(correlation_matrix(frame.to_numpy()), expected, atol=1e-12)


def test_a_constant_variable_is_left_out_of_the_mean(compare, numeric_frames):
    original, masked = numeric_frames
    plain = MEASURES["correlation"].compute(compare(original, masked))
    more = MEASURES["correlation"].compute(
        compare(original.assign(fixed=0.1), masked.assign(fixed=0.1))
    )
    assert more.value == pytest.approx(plain.value, abs=1e-12)
    assert more.detail.pairs == plain.detail.pairs == 6
    assert np.isnan(more.detail.original[4]).all()
    assert np.isnan(more.detail.released[:, 4]).all()


def test_a_pair_that_is_constant_where_both_are_known_is_left_out():
    values = np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, np.nan], [np.nan, 9.0]])
    assert np.isnan(correlation_matrix(values)[0, 1])


def test_one_numeric_variable_is_not_enough(compare):
    frame = pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]})
    with pytest.raises(NotApplicable, match="at least two continuous or count"):
        MEASURES["correlation"].compute(compare(frame, frame))


def test_no_pair_that_varies(compare):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 3.0]})
    with pytest.raises(NotApplicable, match="varies in both tables"):
        MEASURES["correlation"].compute(compare(frame, frame))
