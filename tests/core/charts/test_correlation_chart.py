"""Original below the diagonal, released above it, one scale for both."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rwn_core.charts import CHARTS, serialise
from rwn_core.charts.measures import correlation
from tests.core.charts.hand_made_readings import correlation_reading


def test_the_triangles_do_not_mix_and_the_diagonal_is_blank() -> None:
    heat = json.loads(serialise(correlation.draw(correlation_reading())))["data"][0]
    assert heat["z"] == [[None, -0.25, -0.25], [0.5, None, -0.25], [0.5, 0.5, None]]
    assert (heat["zmin"], heat["zmax"]) == (-1, 1)


def test_the_scale_runs_from_blue_over_white_to_red() -> None:
    scale = correlation.draw(correlation_reading())["data"][0]["colorscale"]
    assert scale[0] == [0.0, "rgb(33,102,172)"]
    assert scale[-1] == [1.0, "rgb(178,24,43)"]


@pytest.mark.parametrize(("size", "down"), [(15, 15), (40, 14)])
def test_names_are_thinned_to_what_can_be_read(size: int, down: int) -> None:
    chart = correlation.draw(correlation_reading(size))
    assert len(chart["layout"]["yaxis"]["tickvals"]) == down
    assert len(chart["layout"]["xaxis"]["tickvals"]) <= 20
    assert len(chart["large"]["yaxis"]["tickvals"]) == size


def test_the_table_lists_every_pair_once() -> None:
    rows = correlation.draw(correlation_reading(4))["table"]["rows"]
    assert len(rows) == 6
    assert rows[0] == ["age", "v1", 0.5, -0.25, 0.75]


def test_associations_say_what_is_shown_of_which_pair_and_how_far_it_moved() -> None:
    plain = correlation_reading(3)
    mixed = replace(plain, detail={**plain.detail, "coefficient": np.add.outer(*2 * [[0, 0, 1]])})
    chart = CHARTS["association"](mixed)
    texts = chart["data"][0]["text"]
    assert texts[1][0] == "v1 × age<br>Pearson’s correlation, change −0.75"
    assert texts[0][2].endswith("correlation ratio, change −0.75")
    assert [row[5] for row in chart["table"]["rows"]] == [
        "Pearson’s correlation",
        "correlation ratio",
        "correlation ratio",
    ]
    assert "corrected for the number of levels" in chart["alt"]
    assert "corrected for the number of levels" in chart["table"]["caption"]
    np.testing.assert_array_equal(chart["data"][0]["z"], correlation.draw(plain)["data"][0]["z"])
