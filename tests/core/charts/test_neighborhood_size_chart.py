"""Sizes against nearest distances, with the two lines that govern them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rwn_core.charts.measures import neighborhood_size
from rwn_core.charts.parts.style import EPSILON, NEUTRAL
from tests.core.charts.hand_made_readings import size_reading


def test_records_governed_by_k_are_gray_diamonds() -> None:
    chart = neighborhood_size.draw(size_reading([5, 9, 5, 30], [2.5, 1.0, 3.0, 0.5]))
    radius, by_k = chart["data"]
    assert radius["x"].tolist() == [9, 30]
    assert by_k["x"].tolist() == [5, 5]
    assert by_k["y"].tolist() == [2.5, 3.0]
    assert by_k["text"].tolist() == [1, 3]
    assert by_k["marker"]["symbol"] == "diamond-open"
    assert by_k["marker"]["color"] == NEUTRAL


def test_epsilon_is_dashed_red_and_k_dotted_gray() -> None:
    layout = neighborhood_size.draw(size_reading([5, 9], [2.5, 1.0], k=5, epsilon=2.0))["layout"]
    across, up = layout["shapes"]
    assert (across["y0"], across["line"]["color"], across["line"]["dash"]) == (2.0, EPSILON, "dash")
    assert (up["x0"], up["line"]["color"], up["line"]["dash"]) == (5, NEUTRAL, "dot")
    assert [a["text"] for a in layout["annotations"]] == ["ε = 2", "k = 5"]
    assert layout["annotations"][1]["x"] == math.log10(5)


@pytest.mark.parametrize(("k", "edge"), [(60, "left"), (2, "right"), (None, "right")])
def test_the_radius_is_named_where_few_records_are(k: int | None, edge: str) -> None:
    layout = neighborhood_size.draw(size_reading([60, 60], [2.5, 1.0], k=k, epsilon=2.0))["layout"]
    name, *_ = layout["annotations"]
    assert (name["text"], name["xanchor"]) == ("ε = 2", edge)
    assert name["x"] == ("left", "right").index(edge)


def test_without_a_radius_there_is_no_line_for_it() -> None:
    layout = neighborhood_size.draw(size_reading([5, 9], [2.5, 1.0], epsilon=None))["layout"]
    assert len(layout["shapes"]) == 1


def test_the_axis_is_logarithmic_and_holds_every_record_and_line() -> None:
    layout = neighborhood_size.draw(size_reading([1, 900], [0.1, 7.0], k=2, epsilon=8.0))["layout"]
    low, high = layout["xaxis"]["range"]
    assert layout["xaxis"]["type"] == "log"
    assert 10**low < 1 < 900 < 10**high
    assert layout["yaxis"]["range"][1] > 8.0


def test_many_records_become_a_density_with_the_most_isolated_as_points() -> None:
    nearest = np.linspace(0, 3, 5_000)
    chart = neighborhood_size.draw(size_reading(np.full(5_000, 7), nearest))
    cells, *clouds = chart["data"]
    assert cells["type"] == "heatmap"
    assert sum(len(c["x"]) for c in clouds) == 25
    assert max(clouds[0]["y"].tolist()) == 3.0
