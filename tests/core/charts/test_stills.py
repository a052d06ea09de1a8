"""Charts drawn without a browser."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.charts import CHARTS, still
from rwn_core.evaluation.figure_curves import neighborhood_reading

SVG = "{http://www.w3.org/2000/svg}"


def test_points_lines_and_texts_stand_at_their_values() -> None:
    setting = rwn.RWN(epsilon=2.0, k=5).prepare(rwn.load_demo("bodyfat"))
    chart = CHARTS["neighborhood_size"](neighborhood_reading(setting))
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
