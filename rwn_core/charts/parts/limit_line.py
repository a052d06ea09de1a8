"""The line of a limit on a map; shaded below only if that means that all limits are met."""

from __future__ import annotations

from typing import Any

from rwn_core.charts.parts.style import LIMIT, Label, horizontal, label

_WORD = 0.12  # height of a word, as a share of a small plot


def shapes(
    limit: float | None,
    y_range: tuple[float, float],
    *,
    of_limits: bool,
    shown: tuple[float, float] | None = None,
) -> list[dict[str, Any]]:
    """Return the line over its shade; a limit on one measure alone has no shade."""
    # `of_limits`: the axis is the largest share of a limit that is used. `shown`: where settings
    # were read; the risk of others is unknown, and not shaded.
    if limit is None:
        return []
    bottom = y_range[0] - (y_range[1] - y_range[0])
    x0, x1 = shown or (0, 1)
    corners = {"xref": "x" if shown else "paper", "x0": x0, "x1": x1, "y0": bottom, "y1": limit}
    look = {"fillcolor": "rgba(0,158,115,0.10)", "line": {"width": 0}, "layer": "below"}
    shade = [{"type": "rect", **corners, **look}] if of_limits else []
    return [*shade, horizontal(limit, LIMIT)]


def labels(
    limit: float | None, y_range: tuple[float, float], *, of_limits: bool, left: bool = False
) -> list[Label]:
    """Name the line at its right or left end, above it unless it is near the top."""
    if limit is None:
        return []
    height = (limit - y_range[0]) / (y_range[1] - y_range[0])
    anchor = "bottom" if height < 0.8 else "top"
    text = "the limit" if of_limits else "limit on this measure"
    x, side = (0, "left") if left else (1, "right")
    return [label(text, x, limit, LIMIT, xref="paper", xanchor=side, yanchor=anchor)]


def corner_height(limit: float | None, y_range: tuple[float, float]) -> float:
    """Return the height of a word in a lower corner that the line misses, as a share."""
    low, high = y_range
    height = 0.0 if limit is None else (limit - low) / (high - low)
    return height if 0 < height < _WORD else 0.0
