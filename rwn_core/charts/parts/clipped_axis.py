"""Axes that end before a few very large values, with arrows and words for these."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.charts.parts.style import Trace, floats, number

FLAT = 10  # times as large as the others: they would fill a tenth of the picture
_ARROWS = {"x": "triangle-right", "y": "triangle-up"}
FEW = 500  # one value in so many may lie beyond, and one in any case


def clipped(*files: ArrayLike) -> float | None:
    """Return the largest value that the axis holds; None if it holds all."""
    # At most ten times as large as all but one value in 500 of each file (at least one).
    known: list[NDArray[np.float64]] = []
    tops: list[float] = []
    rest: list[float] = []
    for file in files:
        values = np.asarray(file, dtype=float)
        values = np.sort(values[np.isfinite(values)])
        few = max(1, values.size // FEW)
        known.append(values)
        tops += [float(values[-1])] if values.size else []
        rest += [float(values[-1 - few])] if values.size > few else []
    most = FLAT * max(rest, default=0.0)
    if not 0 < most < max(tops, default=0.0):
        return None
    return max([float(each[each <= most].max(initial=0.0)) for each in known])


def at_the_edge(marks: Trace, axis: str, edge: float) -> list[Trace]:
    """Put marks beyond an axis at its edge, as arrows that show their true values."""
    values = np.asarray(marks[axis], dtype=float)
    beyond = values > edge
    if not beyond.any():
        return [marks]
    other = {"x": "y", "y": "x"}[axis]
    arrows = marks | {
        axis: np.full(int(beyond.sum()), edge),
        other: np.asarray(marks[other])[beyond],
        "customdata": floats(values[beyond]),
        "hovertemplate": marks["hovertemplate"].replace(f"%{{{axis}", "%{customdata"),
        "marker": marks["marker"] | {"symbol": _ARROWS[axis], "size": 8, "opacity": 1},
        "showlegend": False,
        "cliponaxis": False,
    }
    if "text" in marks:
        arrows["text"] = np.asarray(marks["text"])[beyond]
    return [marks | {axis: floats(np.where(beyond, np.nan, values))}, arrows]


def beyond_words(values: ArrayLike, edge: float, what: str = "record") -> str:
    """Return the number of values beyond the edge and the largest; empty without any."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known) & (known > edge)]
    if not known.size:
        return ""
    top = float(known.max())
    largest = f"{top:,.0f}" if top >= 1000 else number(top)
    if known.size == 1:
        return f"1 {what} beyond, {largest}"
    return f"{known.size:,} {what}s beyond, up to {largest}"
