"""Ends of what settings may be, by hand: which values are taken, which are refused, and presets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.laws.cell_law import Predicted
from rwn_core.masking import METHODS
from rwn_core.masking.k_noise import delta
from rwn_core.masking.lever import LeverRange
from rwn_core.masking.sliced_method import prediction_words


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("rwn", {"k": 3, "neighbors": "sample", "m": 8, "tie": True}),
        ("rwn", {"k": 3, "neighbors": "sample", "m": 8, "by_prediction": True}),
        ("rwn", {"k": 3, "by_prediction": True, "terms": 3}),
        ("nbrs2015", {"epsilon": 0}),
        ("nbrs2015", {"epsilon": -1.0}),
    ],
)
def test_what_a_method_cannot_do_is_refused(method: str, parameters: dict[str, object]) -> None:
    with pytest.raises(rwn.ParameterError):
        METHODS[method](**parameters)


@pytest.mark.parametrize(("least", "kept"), [(0.0, True), (0.5, True), (-0.5, False)])
def test_a_radius_of_a_record_is_at_least_none(least: float, kept: bool) -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(draw.normal(size=(20, 2)), columns=["x", "y"])
    data = rwn.Microdata.from_frame(frame.assign(wide=[least, *np.ones(19)]))
    params = rwn.RWN(k=2, epsilon=1.0, radius_variable="wide")
    if kept:
        assert rwn.mask(data, params, seed=1).masked.n == 20
        return
    with pytest.raises(rwn.ParameterError, match="at least 0"):
        rwn.mask(data, params, seed=1)


def test_a_range_grows_for_a_value_beyond_its_end_only() -> None:
    given = LeverRange(low=0.0, high=2.0, step=0.5)
    assert given.with_room_for(2.0) is given
    assert given.with_room_for(2.5).high == 2.5


def test_one_record_lies_within_no_distance_of_itself() -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert [delta(values, k) for k in (1, 2, 3)] == [0.0, 1.0, 1.5]
    assert delta(np.empty(0), 2) == 0.0


def test_strengths_of_the_noises_are_those_of_the_field() -> None:
    strengths = {}
    for method in ("additive_noise", "correlated_noise", "cart_synthesis"):
        for lever in METHODS[method].levers:
            strengths[method, lever.name] = lever.presets
    assert strengths["additive_noise", "size"] == {"Light": 0.1, "Standard": 0.3, "Strong": 1.0}
    assert strengths["correlated_noise", "size"] == {"Light": 0.05, "Standard": 0.25, "Strong": 1.0}
    assert strengths["cart_synthesis", "smoothing"] == {
        "Light": 0.0,
        "Standard": 0.0,
        "Strong": 0.5,
    }


def test_more_than_all_of_a_slope_is_said_to_be_kept_as_all() -> None:
    told = Predicted(
        names=("b",), regressors=("a",), terms=(), later=5, records=50, columns=1, kept=1.3
    )
    assert "about 100%" in prediction_words(told)[0]
