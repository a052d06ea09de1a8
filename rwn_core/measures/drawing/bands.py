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


def columns(band: Band, what: str = "") -> tuple[list[str], list[NDArray[np.float64]]]:
    """Return names and cells of two table columns: the ends of 9 of 10 draws."""
    # Shapes: each column as the band, (m,).
    names = [f"{what}{NAME}, from", f"{what}{NAME}, to"]
    return names, [band.low, band.high]


def bars(low: ArrayLike, high: ArrayLike, height: ArrayLike) -> Trace:
    """Return broad pale horizontal bars, one at each height."""
    made = line(*segments(low, high, height), released=True)
    made["line"] |= {"color": _PALE, "width": 6, "dash": "solid"}
    return made | {"name": NAME, "hoverinfo": "skip"}


def area(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Trace:
    """Return a pale area between two curves as one filled outline."""
    across, bottom, top = (np.asarray(values, dtype=float) for values in (x, low, high))
    outline = line(
        floats(np.concatenate([across, across[::-1]])),
        floats(np.concatenate([bottom, top[::-1]])),
        released=True,
    )
    outline["line"] = {"color": INVISIBLE, "width": 1, "dash": "solid"}
    return outline | {"name": NAME, "hoverinfo": "skip", "fill": "toself", "fillcolor": _PALER}


def stripe(low: Scalar, high: Scalar) -> dict[str, Any]:
    """Return a pale horizontal stripe across the plot."""
    return {
        "type": "rect",
        "xref": "paper",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": float(low),
        "y1": float(high),
        "fillcolor": _PALER,
        "line": {"width": 0},
        "layer": "below",
    }


def marks(outside: NDArray[np.bool_]) -> list[Trace]:
    """Return small circles on the cells of a heatmap where this draw lies outside."""
    # Shapes: outside (rows, columns) of the heatmap.
    rows, across = np.nonzero(outside)
    if not len(rows):
        return []
    look = {"symbol": "circle-open", "size": 6, "color": NEUTRAL, "opacity": 1}
    marker, name = look | {"line": {"width": 1.5}}, f"outside {NAME}"
    return [scatter(across.tolist(), rows.tolist(), name, marker=marker, hoverinfo="skip")]
