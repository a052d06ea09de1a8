"""Charts drawn without a browser, and the chart of what is printed beside ours."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest

from rwn_core.charts import CHARTS, still
from rwn_core.evaluation.published_results import REPLAYS, Request, replayed
from rwn_core.reporting.replay_files import replay_charts, replay_text
from tests.core.charts.test_chart_catalogue import described

SVG = "{http://www.w3.org/2000/svg}"


def test_points_lines_and_texts_stand_at_their_values() -> None:
    done = replayed(REPLAYS["rwn2022-figure-1"], Request())
    chart = replay_charts(done)[1]  # epsilon 2
    root = ET.fromstring(still(chart))
    (plot,) = (box for box in root.iter(f"{SVG}rect") if box.get("fill") == "none")
    left, top, wide, high = (float(plot.get(name)) for name in ("x", "y", "width", "height"))
    x_low, x_high = chart["layout"]["xaxis"]["range"]
    y_low, y_high = chart["layout"]["yaxis"]["range"]
    expected = sorted(
        (
            left + wide * (np.log10(a) - x_low) / (x_high - x_low),
            top + high * (y_high - b) / (y_high - y_low),
        )
        for trace in chart["data"]
        for a, b in zip(trace["x"], trace["y"], strict=True)
    )
    found = sorted(
        (float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter(f"{SVG}circle")
    )
    assert len(found) == 241
    np.testing.assert_allclose(sorted(x for x, _ in found), [x for x, _ in expected], atol=0.06)
    np.testing.assert_allclose(
        sorted(y for _, y in found), sorted(y for _, y in expected), atol=0.06
    )
    words = {text.text: text for text in root.iter(f"{SVG}text")}
    at_k = left + wide * (np.log10(5) - x_low) / (x_high - x_low)
    assert float(words["k = 5"].get("x")) == pytest.approx(at_k, abs=0.06)
    lines = [line for line in root.iter(f"{SVG}line") if line.get("stroke-dasharray") == "2 4"]
    assert float(lines[0].get("x1")) == pytest.approx(at_k, abs=0.06)


def test_the_chart_of_printed_and_ours_shows_both_and_says_what_stands_in(
    sentences: Callable[..., None],
) -> None:
    done = replayed(REPLAYS["k-noise-table"], Request(short=True))
    chart = CHARTS["published_and_ours"](done)
    printed, _, ours = chart["data"]
    sentences("replay", {"published_and_ours": described(chart)})
    assert printed["x"][1] == pytest.approx(4.398563)
    assert ours["x"][1] == pytest.approx(done.rows[1].ours.value)
    # one draw of the paper leaves five numbers without a verdict
    assert [row[-1] for row in chart["table"]["rows"]] == ["cannot tell"] * 5 + ["agrees"]
    assert all(each["title"].startswith("Stand-in data: ") for each in replay_charts(done))
    assert "12" in replay_text(done)
