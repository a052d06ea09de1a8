"""Where draws of the setting fall, behind the draw on screen: bands, bars and marks.

What belongs to the setting is broad and pale; what belongs to this draw is a line or a point.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.charts.parts.style import INVISIBLE, NEUTRAL, RELEASED, Trace, floats, line, number
from rwn_core.evaluation.prediction_bands import Band

Scalar = float | NDArray[np.float64]
Drawn = Mapping[str, Band]
"""Bands by part of a reading's detail."""

NAME = "9 of 10 draws"
_PALE, _PALER = f"{RELEASED}66", f"{RELEASED}2E"


def range_text(low: Scalar, high: Scalar, digits: int = 3) -> str:
    """Both ends of a band in words; a dash where a draw had no number."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return "–"
    return f"{number(float(low), digits)} to {number(float(high), digits)}"


def columns(band: Band, what: str = "") -> tuple[list[str], list[NDArray[np.float64]]]:
    """Two table columns: from where to where 9 of 10 draws go."""
    names = [f"{what}{NAME}, from", f"{what}{NAME}, to"]
    return names, [band.low, band.high]


def bars(low: ArrayLike, high: ArrayLike, height: ArrayLike) -> Trace:
    """Broad pale horizontal bars, one at each height.

    Parameters
    ----------
    low, high, height : array (n,)
    """
    ends = np.column_stack([low, high, np.full(np.shape(low), np.nan)]).ravel()
    made = line(floats(ends), floats(np.repeat(np.asarray(height, dtype=float), 3)), released=True)
    made["line"] |= {"color": _PALE, "width": 6, "dash": "solid"}
    return made | {"name": NAME, "hoverinfo": "skip"}


def area(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Trace:
    """A pale area between two curves, as one outline that is filled.

    Parameters
    ----------
    x, low, high : array (n,)
    """
    across, bottom, top = (np.asarray(values, dtype=float) for values in (x, low, high))
    outline = line(
        floats(np.concatenate([across, across[::-1]])),
        floats(np.concatenate([bottom, top[::-1]])),
        released=True,
    )
    outline["line"] = {"color": INVISIBLE, "width": 1, "dash": "solid"}
    return outline | {"name": NAME, "hoverinfo": "skip", "fill": "toself", "fillcolor": _PALER}


def stripe(low: Scalar, high: Scalar) -> dict[str, Any]:
    """A pale horizontal stripe across the whole plot."""
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
    """Small circles on the cells of a heatmap where this draw lies outside.

    Parameters
    ----------
    outside : ndarray of bool, shape (rows, columns)
    """
    rows, across = np.nonzero(outside)
    if not len(rows):
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"outside {NAME}",
            "x": across.tolist(),
            "y": rows.tolist(),
            "marker": {
                "symbol": "circle-open",
                "size": 6,
                "color": NEUTRAL,
                "opacity": 1,
                "line": {"width": 1.5},
            },
            "hoverinfo": "skip",
        }
    ]
