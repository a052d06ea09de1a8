"""Cook's distance against statsmodels' influence, refitting, and published values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.outliers_influence import OLSInfluence

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES

MEASURE = MEASURES["cooks_distance"]


@pytest.mark.parametrize(("side", "id_"), [("original", "UT-cook_X"), ("released", "UT-cook_Y")])
def test_check_values_ut_cook(compare, check_values, ut_frames, side, id_):
    detail = MEASURE.compute(compare(*ut_frames, "two", ("one",))).detail
    np.testing.assert_allclose(getattr(detail, side), check_values[id_]["expected"], rtol=1e-9)


def test_agrees_with_statsmodels_influence(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MEASURE.compute(compare(original, masked, "d", ("a", "b", "c")))
    for side, frame in (("original", original), ("released", masked)):
        x = np.column_stack([np.ones(60), frame[["a", "b", "c"]]])
        expected = OLSInfluence(OLS(frame["d"].to_numpy(), x).fit()).cooks_distance[0]
        np.testing.assert_allclose(getattr(reading.detail, side), expected, rtol=1e-8)
    assert reading.value == reading.detail.max_released == reading.detail.released.max()
    assert reading.baseline == reading.detail.max_original


def test_records_keep_their_numbers(compare, numeric_frames):
    original, masked = (frame.copy() for frame in numeric_frames)
    original.loc[[0, 1], "a"] = np.nan
    original.loc[40, "d"] = 1000.0
    masked.loc[[5], "c"] = np.nan  # not in the regression
    detail = MEASURE.compute(compare(original, masked, "d", ("a", "b"))).detail
    assert detail.records_original.tolist() == list(range(2, 60))
    assert len(detail.records_released) == 60
    assert detail.argmax_original == 40
    assert detail.names == ["a", "b"]


def test_a_record_that_alone_decides_a_coefficient(compare, numeric_frames):
    original, masked = numeric_frames
    group = pd.Series(["u"] * 59 + ["v"])
    loose = pd.Series(["u"] * 30 + ["v"] * 30)
    comparison = compare(original.assign(g=loose), masked.assign(g=group), "d", ("a", "g"))
    with pytest.raises(NotApplicable) as reason:
        MEASURE.compute(comparison)
    assert reason.value.reason == (
        "Single records alone decide the coefficient of g = v in the released table (leverage 1); "
        "take it out of the regression."
    )
    assert np.isfinite(MEASURES["regression"].compute(comparison).value)


def test_an_exact_fit(compare, ut_frames):
    original, _ = ut_frames
    exact = original.assign(two=3 * original["one"])
    with pytest.raises(NotApplicable, match="explain two exactly in the released table"):
        MEASURE.compute(compare(original, exact, "two", ("one",)))
