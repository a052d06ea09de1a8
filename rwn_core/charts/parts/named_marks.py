"""Named points of a map: the ends, scenarios, the chosen and the present setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts.style import NEUTRAL, ORIGINAL, RELEASED, Trace, escape

Mark = Mapping[str, Any]
Ends = tuple[float, float]

_LOOKS = {
    "original data": (ORIGINAL, "circle-open", 11),
    "no data": (NEUTRAL, "circle-open", 11),
    "chosen": (RELEASED, "circle-open", 18),
    "now": (RELEASED, "diamond", 12),
}
_SCENARIO = (NEUTRAL, "square-open", 16)
_ORDER = {"chosen": 1, "now": 2}
_WIDE, _HIGH = 0.3, 0.08
"""Names of points that are as near as this, as shares of the plot, would lie on each other."""


def order(mark: Mark) -> int:
    """Return the order of drawing; the present setting is last and so on top."""
    return _ORDER.get(mark["label"], 0)


def traces(
    marks: Sequence[Mark], ranges: tuple[Ends, Ends], limit: float | None, hover: str
) -> list[Trace]:
    """Return the points, each with its name where it can be read.

    Each mark has "label", "text", "x", "y"; `limit` is the height of a line across the plot.
    """
    taken: list[tuple[float, float, str]] = []
    return [_mark(mark, _side(mark, ranges, limit, taken), hover) for mark in marks]


def _side(
    mark: Mark,
    ranges: tuple[Ends, Ends],
    limit: float | None,
    taken: list[tuple[float, float, str]],
) -> str:
    """Return the side of a name: inside the plot, off the line, away from its neighbors.

    Adds the name to `taken`.
    """
    across, up = (_share(mark[c], ends) for c, ends in zip("xy", ranges, strict=True))
    horizontal = "left" if across > 0.85 else "right" if across < 0.15 else "center"
    near = {side for x, y, side in taken if abs(x - across) < _WIDE and abs(y - up) < _HIGH}
    if limit is not None and 0 < _share(limit, ranges[1]) - up < _HIGH:
        near.add("top")
    vertical = next((side for side in ("top", "bottom") if side not in near), "middle")
    taken.append((across, up, vertical))
    if vertical == "middle" and horizontal == "center":
        horizontal = "right" if across < 0.5 else "left"
    return f"{vertical} {horizontal}"


def _share(value: float, ends: Ends) -> float:
    return (value - ends[0]) / (ends[1] - ends[0])


def _mark(mark: Mark, side: str, hover: str) -> Trace:
    color, symbol, size = _LOOKS.get(mark["label"], _SCENARIO)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": mark["label"],
        "x": [mark["x"]],
        "y": [mark["y"]],
        "marker": {"symbol": symbol, "size": size, "color": color, "line": {"width": 2}},
        "text": [escape(mark["label"])],
        "textposition": side,
        "textfont": {"color": color, "size": 12, "weight": 700},
        "hovertext": [escape(mark["text"])],
        "hovertemplate": f"%{{hovertext}}{hover}<extra></extra>",
    }
