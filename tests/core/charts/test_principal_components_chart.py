"""Cumulative shares of variance."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.measures import principal_components
from tests.core.charts.hand_made_readings import components_reading


def test_curves_are_the_cumulative_shares() -> None:
    original, released = principal_components.draw(components_reading())["data"]
    assert np.allclose(original["y"], [0.6, 0.9, 1.0])
    assert np.allclose(released["y"], [0.5, 0.8, 1.0])
    assert original["x"].tolist() == [1, 2, 3]


def test_dashes_tell_the_released_curve_without_color() -> None:
    original, released = principal_components.draw(components_reading())["data"]
    assert original["line"]["dash"] == "solid"
    assert released["line"]["dash"] == "dash"


def test_the_table_holds_shares_and_sums() -> None:
    chart = principal_components.draw(components_reading())
    assert chart["table"]["rows"][1] == [2, 0.3, 0.3, 0.9, 0.8]
    assert chart["note"] == "PC1 60 % → 50 %"
