"""A plane with equal units on both axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rwn_core.measures.drawing.style import Trace, axis, floats, layout, scatter

IN_SD = ("x, in standard deviations", "y, in standard deviations")
"""Titles of the axes of standardized points."""
_CORNERS = 96
_MARGIN = 0.15  # in units of the axes


def plane(
    points: ArrayLike, titles: tuple[str, str], *, right: float = 12, **more: object
) -> dict[str, Any]:
    """Return the layout of a plane that holds some points, shape (n, 2)."""
    values = np.asarray(points, dtype=float)
    low, high = values.min(axis=0) - _MARGIN, values.max(axis=0) + _MARGIN
    return layout(
        axis(titles[0], low[0], high[0], constrain="domain"),
        axis(titles[1], low[1], high[1], constrain="domain", scaleanchor="x"),
        right=right,
        **more,
    )


def circle(
    center: ArrayLike, radius: float, color: str, *, name: str, dash: str = "solid"
) -> Trace:
    """Return a circle, radius in units of the axes."""
    angle = np.linspace(0, 2 * np.pi, _CORNERS + 1)
    x, y = np.asarray(center, dtype=float)
    rim = floats(x + radius * np.cos(angle)), floats(y + radius * np.sin(angle))
    look = {"color": color, "width": 2, "dash": dash}
    return scatter(*rim, name, mode="lines", line=look, hoverinfo="name")
