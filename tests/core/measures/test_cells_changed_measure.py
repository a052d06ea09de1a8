"""The share of cells that have another value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare as compare_release
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES

MEASURE = MEASURES["cells_changed"]


def test_by_hand_with_missing_values_of_every_kind(compare):
    day = pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-04"])
    size = pd.Categorical(["s", None, "l", "l"], ["s", "m", "l"], ordered=True)
    original = pd.DataFrame(
        {"x": [1.0, np.nan, 3.0, np.nan], "g": ["a", None, "b", "b"], "day": day, "size": size}
    )
    masked = original.assign(
        x=[1.0, np.nan, np.nan, 4.0],
        g=["z", None, None, "b"],
        day=day[[0, 0, 2, 2]],
        size=size[[2, 1, 2, 1]],
    )
    reading = MEASURE.compute(compare(original, masked))
    assert reading.detail.names == ["x", "g", "day", "size"]
    assert reading.detail.share.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert reading.value == reading.detail.overall == 0.5
    assert reading.baseline is None
    assert reading.detail.q is None


def test_q_counts_the_variables_that_are_not_masked(numeric_frames):
    data = Microdata.from_frame(numeric_frames[0])
    data = data.with_schema(data.schema.replace_variable("a", masked=False))
    release = mask(data, RWN(k=5, q=1.0), seed=3)
    reading = MEASURE.compute(compare_release(data, release))
    assert reading.detail.share.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert reading.value == reading.baseline == 0.75


def test_another_number_of_records(compare, numeric_frames):
    original, masked = numeric_frames
    with pytest.raises(NotApplicable, match="another number of records"):
        MEASURE.compute(compare(original, masked.head(10)))
