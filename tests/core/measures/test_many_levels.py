"""Measures of distance on categories of many levels: what the dummies say, without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.nearest_points import original_points
from rwn_core.neighbors import metric
from rwn_core.neighbors.distance import CodedPoints

KEYS = ("distance_linkage", "closest_record", "nearest_distance", "global_linkage")
SCHEMA = Schema(
    variables=(
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="y", kind=Kind.CONTINUOUS),
        Variable(name="c", kind=Kind.CATEGORICAL),
    )
)


def table(n: int, levels: int, seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, n).astype(str)
    codes = np.where(rng.random(n) < 0.03, None, codes)
    frame = {"x": rng.normal(size=n), "y": np.round(rng.normal(size=n)), "c": codes}
    return Microdata.from_frame(pd.DataFrame(frame), SCHEMA)


def readings(original: Microdata, masked: Microdata, holdout: Microdata):
    comparison = Comparison(original=original, masked=masked, holdout=holdout)
    return {key: rwn.MEASURES[key].read(comparison) for key in KEYS}


@pytest.mark.parametrize("seed", range(3))
def test_readings_do_not_depend_on_how_levels_are_held(seed, monkeypatch):
    original, holdout = table(240, 30, seed), table(60, 34, seed + 9)  # and levels nobody has
    masked = rwn.mask(original, rwn.RWN(epsilon=1.0, k=4, q=0.7), seed=seed).masked
    dummies = readings(original, masked, holdout)
    monkeypatch.setattr(metric, "CODED_LEVELS", 5)
    again = table(240, 30, seed)  # a table keeps its points as they were held
    assert isinstance(original_points(Comparison(original=again, masked=masked)), CodedPoints)
    coded = readings(again, masked, holdout)
    for key in KEYS:
        assert coded[key].value == pytest.approx(dummies[key].value, rel=1e-9), key
        assert coded[key].baseline == pytest.approx(dummies[key].baseline, rel=1e-9), key
    for name in ("distance", "ratio", "share_nearer_than_holdout"):
        np.testing.assert_allclose(
            getattr(coded["closest_record"].detail, name),
            getattr(dummies["closest_record"].detail, name),
            rtol=1e-9,
            atol=1e-12,
        )
