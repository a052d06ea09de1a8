"""Slopes and intervals in units of the original's standard error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwn_core.charts.measures import regression
from tests.core.charts.hand_made_readings import regression_reading


def test_slopes_are_divided_by_the_originals_standard_error() -> None:
    bars, marks, released_bars, released_marks = regression.draw(regression_reading())["data"]
    assert marks["x"].tolist() == [2.0, 4.0]
    assert released_marks["x"].tolist() == [-2.0, -4.0]
    ends = np.asarray(bars["x"], dtype=float).reshape(2, 3)
    assert np.allclose(ends[:, :2], [[2 - 1.96, 2 + 1.96], [4 - 1.96, 4 + 1.96]])
    assert np.isnan(ends[:, 2]).all(), "a gap between two intervals"
    ends = np.asarray(released_bars["x"], dtype=float).reshape(2, 3)
    assert np.allclose(ends[0, :2], [-2 - 2 * 1.96, -2 + 2 * 1.96])


def test_the_intercept_is_left_out_of_the_picture_but_not_of_the_table() -> None:
    chart = regression.draw(regression_reading())
    assert chart["layout"]["yaxis"]["ticktext"] == ["bmi", "x2"]
    assert [row[0] for row in chart["table"]["rows"]] == ["(intercept)", "bmi", "x2"]
    assert chart["table"]["rows"][1] == ["bmi", 1.0, 0.5, -1.0, 1.0, "changed", 4.0]
    assert "0.750 → 0.500" in chart["table"]["caption"]


def test_only_least_squares_have_r_squared() -> None:
    poisson = regression_reading()
    poisson = replace(poisson, detail={**poisson.detail, "family": "poisson"})
    words = [regression.draw(each)["table"]["caption"] for each in (regression_reading(), poisson)]
    assert words[0].startswith("R² 0.750")
    assert words[1].startswith("Share of deviance explained 0.750")


def test_the_axis_holds_every_interval_and_zero() -> None:
    chart = regression.draw(regression_reading())
    low, high = chart["layout"]["xaxis"]["range"]
    ends = np.concatenate([np.asarray(t["x"], dtype=float) for t in chart["data"]])
    assert low < min(np.nanmin(ends), 0)
    assert high > max(np.nanmax(ends), 0)


def test_of_many_slopes_those_that_moved_most_are_drawn() -> None:
    chart = regression.draw(regression_reading(slopes=30))
    shown = chart["layout"]["yaxis"]["ticktext"]
    assert len(shown) == 14
    assert shown[-1] == "x30"
    assert len(chart["table"]["rows"]) == 31


def test_slopes_that_turned_their_sign_are_counted_beside_the_median() -> None:
    reading = regression_reading()
    for count, words in ((0, " SE"), (2, " SE · 2 signs changed")):
        signs = np.arange(len(reading.detail["terms"])) < 1 + count  # the intercept is no slope
        planted = replace(reading, detail={**reading.detail, "sign_changed": signs})
        assert regression.draw(planted)["note"].endswith(words)
