"""Pinned settings on a chart: small marks in the color of each, over the release on screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rwn_core.measures import MEASURES
from rwn_core.measures.drawing.style import NEUTRAL, PINS, Chart, Trace, horizontal, label, vertical
from rwn_core.measures.measure import Reading

Marks = Mapping[str, Any]
"""What a pin keeps of a chart: "title", and its "level" or the released "traces" with "ticks"."""
_LEVELS = {key: m.level for m in MEASURES.values() if m.level is not None for key in m.charts}
"""By chart the axis of the one number that is marked, and the part of the detail that holds it."""


def chart_marks(chart: Chart, reading: Reading) -> Marks:
    """Return what a pin keeps of a chart, a few hundred numbers at most."""
    if chart["key"] in _LEVELS:
        level = getattr(reading.detail, _LEVELS[chart["key"]][1], reading.value)
        return {"title": chart["title"], "level": float(level)}
    released = [t for t in chart["data"] if t["name"] == "released" and "hovertemplate" in t]
    names = chart["layout"]["yaxis"]
    ticks = list(names["ticktext"]) if "tickmode" not in names else []
    return {"title": chart["title"], "ticks": ticks, "traces": released}


def with_pins(chart: Chart, pins: Mapping[str, Marks], now: Reading[Any]) -> Chart:
    """Return a chart with the marks of pins; of another variable or regression it has none."""
    of_chart = {name: each for name, each in pins.items() if each["title"] == chart["title"]}
    if not of_chart:
        return chart
    if "traces" in next(iter(of_chart.values())):
        return chart | {"data": [*chart["data"], *_traces_of_pins(chart, of_chart)]}
    axis, _ = _LEVELS[chart["key"]]
    if not axis:
        words = ", ".join(f"{name} {each['level']:.3f}" for name, each in of_chart.items())
        return chart | {"note": f"mean change {now.detail.mean_absolute_change:.3f} ({words})"}
    layout = dict(chart["layout"])
    layout |= {part: list(layout.get(part, ())) for part in ("shapes", "annotations")}
    for place, (name, each) in enumerate(of_chart.items()):
        _add_level(layout, axis, name, each["level"], place)
    return chart | {"layout": layout}


def _traces_of_pins(chart: Chart, pins: Mapping[str, Marks]) -> list[Trace]:
    """Return the marks of pins that have the levels of the chart's axis, or none, in colors."""
    ticks = list(chart["layout"]["yaxis"]["ticktext"])
    traces = []
    for name, pin in pins.items():
        if pin["ticks"] in ([], ticks):
            traces += [_recolored(trace, name) for trace in pin["traces"]]
    return traces


def _add_level(layout: dict[str, Any], axis: str, name: str, level: float, place: int) -> None:
    """Add a thin line at a pin's number, with its letter at the end, where the axis reaches it."""
    # letters do not share a place: `place` is the number of the pin
    scale = layout[f"{axis}axis"]
    low, high = sorted(scale["range"])
    is_log = scale.get("type") == "log"
    at = float(np.log10(level)) if is_log and level > 0 else level
    if not low <= at <= high:
        return
    color = PINS.get(name, NEUTRAL)
    where: dict[str, Any]
    if axis == "y":
        line = horizontal(level, color, "dot")
        spot = (1 - 0.07 * place, at)
        where = {"xref": "paper", "xanchor": "right", "yanchor": "bottom"}
    else:
        line = vertical(level, color, "dot")
        spot = (at, 0.12 * place)
        where = {"yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    layout["shapes"].append(line)
    layout["annotations"].append(label(name, *spot, color, bold=True, **where))


def _recolored(trace: Trace, name: str) -> Trace:
    """Return a thin copy in the color of a pin; of bars their ends."""
    color = PINS.get(name, NEUTRAL)
    look = {"name": name, "hovertemplate": trace["hovertemplate"], "showlegend": False}
    x = trace["x"]
    y = np.asarray(trace["y"], dtype=float)
    if trace["type"] == "bar" or trace["mode"] == "markers":
        marker = {"size": 7, "color": color, "symbol": "square-open", "opacity": 1}
        rows = y + 0.2
        return look | {"type": "scatter", "mode": "markers", "x": x, "y": rows, "marker": marker}
    line = {**trace["line"], "color": color, "width": 1.2, "dash": "solid"}
    return look | {"type": "scatter", "mode": "lines", "x": x, "y": trace["y"], "line": line}
