"""Ranges of further draws of the setting, behind the draw on screen.

The setting is broad and pale; this draw is a line or a point.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.measures.drawing.style import (
    INVISIBLE,
    NEUTRAL,
    RELEASED,
    Trace,
    floats,
    line,
    number,
    scatter,
    segments,
)
from rwn_core.measures.statistics.intervals import Band

Scalar = float | NDArray[np.float64]
Drawn = Mapping[str, Band]
"""Bands by part of a reading's detail."""

NAME = "9 of 10 draws"
_PALE, _PALER = f"{RELEASED}66", f"{RELEASED}2E"


def range_text(low: Scalar, high: Scalar, digits: int = 3) -> str:
    """Return both ends of a band in words; a dash without numbers."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return "–"
    return f"{number(float(low), digits)} to {number(float(high), digits)}"


def columns(band: Band, what: str = "") -> dict[str, NDArray[np.float64]]:
    """Return two table columns by name, the ends of 9 of 10 draws."""
    # Shapes: each column as the band, (m,).
    return {f"{what}{NAME}, from": band.low, f"{what}{NAME}, to": band.high}


def bars(low: ArrayLike, high: ArrayLike, height: ArrayLike) -> Trace:
    """Return broad pale horizontal bars, one at each height."""
    look = {"color": _PALE, "width": 6, "dash": "solid"}
    return line(*segments(low, high, height), released=True, name=NAME, line=look, hoverinfo="skip")


def area(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Trace:
    """Return a pale area between two curves as one filled outline."""
    across, bottom, top = (np.asarray(values, dtype=float) for values in (x, low, high))
    x, y = np.append(across, across[::-1]), np.append(bottom, top[::-1])
    look = {"color": INVISIBLE, "width": 1, "dash": "solid"}
    outline = line(floats(x), floats(y), released=True, name=NAME, line=look, hoverinfo="skip")
    return outline | {"fill": "toself", "fillcolor": _PALER}


def stripe(low: Scalar, high: Scalar) -> dict[str, Any]:
    """Return a pale horizontal stripe across the plot."""
    corners = {"xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": float(low), "y1": float(high)}
    look = {"fillcolor": _PALER, "line": {"width": 0}, "layer": "below"}
    return {"type": "rect", **corners, **look}


def marks(outside: NDArray[np.bool_]) -> list[Trace]:
    """Return small circles on the cells of a heatmap where this draw lies outside."""
    # Shapes: outside (rows, columns) of the heatmap.
    rows, across = np.nonzero(outside)
    if not len(rows):
        return []
    look = {"symbol": "circle-open", "size": 6, "color": NEUTRAL, "opacity": 1}
    marker = look | {"line": {"width": 1.5}}
    name = f"outside {NAME}"
    return [scatter(across.tolist(), rows.tolist(), name, marker=marker, hoverinfo="skip")]
