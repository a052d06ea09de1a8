"""Settings of a map with two measures as axes, right is better and up is riskier.

An axis with values that run the other way is reversed, and its title says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.measures.drawing.style import Trace, escape, scatter

Spot = Mapping[str, Any]
"""A setting with "text", "x", "y", "x_interval" and "y_interval" (pairs or None)."""
Scale = Mapping[str, Any]
"""An axis with "title", "unit", "falls" (reversed) and "share"."""


def is_placed(spot: Spot) -> bool:
    """True for a setting with both coordinates."""
    return all(spot[c] is not None and math.isfinite(spot[c]) for c in "xy")


def axis_title(scale: Scale, direction: str) -> str:
    """Return the title of an axis, with its direction if it is reversed."""
    turned = f" (reversed: {direction})" if scale["falls"] else ""
    return escape(f"{scale['title']}: {scale['unit']}{turned}")


def padded(low: float, high: float, room: float, *, falls: bool) -> tuple[float, float]:
    """Return a range with the share `room` of its width at both ends; reversed if it falls."""
    width = (high - low) or abs(high) or 1.0
    low, high = low - room * width, high + room * width
    return (high, low) if falls else (low, high)


def broken_line(x: Sequence[Any], y: Sequence[Any], name: str, **line: Any) -> Trace:
    """Return a line without hover text; None leaves a gap."""
    shape = {"type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip"}
    return {**shape, "x": list(x), "y": list(y), "line": line}


def cloud(
    spots: Sequence[Spot],
    name: str,
    color: str,
    symbol: str,
    size: float,
    opacity: float = 1,
    **more: Any,
) -> Trace:
    """Return settings as small points."""
    marker = {"size": size, "color": color, "symbol": symbol, "opacity": opacity}
    return scatter([s["x"] for s in spots], [s["y"] for s in spots], name, **more, marker=marker)


def crosses(spots: Sequence[Spot], **line: Any) -> list[Trace]:
    """Return a cross of two thin lines per setting: the range of one more release."""
    x: list[float | None] = []
    y: list[float | None] = []
    for spot in spots:
        if spot["x_interval"]:
            x += [*spot["x_interval"], None]
            y += [spot["y"], spot["y"], None]
        if spot["y_interval"]:
            x += [spot["x"], spot["x"], None]
            y += [*spot["y_interval"], None]
    return [broken_line(x, y, "interval", **line)] if x else []


def coordinate_columns(
    spots: Sequence[Spot], x: Scale, y: Scale
) -> tuple[list[str], list[list[float]]]:
    """Return names and cells of the table columns of both coordinates and their intervals."""
    names: list[str] = []
    cells: list[list[float]] = []
    for side, scale in (("x", x), ("y", y)):
        names += [scale["title"], f"{scale['title']}, low", f"{scale['title']}, high"]
        cells.append([_float(spot[side]) for spot in spots])
        for end in (0, 1):
            pairs = [spot[f"{side}_interval"] for spot in spots]
            cells.append([_float(pair[end] if pair else None) for pair in pairs])
    return names, cells


def _float(value: float | None) -> float:
    return math.nan if value is None else float(value)
