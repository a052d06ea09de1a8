"""Standard errors: the interval of every masked sample, and its coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.evaluation.lessons.standard_errors import REACH, TRUTH, StandardErrors
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_AXIS = 1.1  # of the axis, to both sides of the truth


def draw(lesson: StandardErrors) -> style.Chart:
    """Draw the nominal 95 % interval of every release, and the slopes of the originals."""
    after, before = lesson.released, lesson.original
    count = len(after.slope)
    missed = int((~after.covered).sum())
    # a row for each sample: its nominal interval, masked, and the slope of its original
    rows = np.arange(1, count + 1)
    low, high = after.slope - REACH * after.error, after.slope + REACH * after.error
    hollow, filled = (
        style.points(style.floats(each.slope), rows, released=released, marker={"size": 4})
        for each, released in ((before, False), (after, True))
    )
    place: Any = {"bold": True, "xanchor": "left", "yanchor": "middle"}
    return style.chart(
        "lesson_standard_errors",
        "95 % intervals, masked",
        f"{missed} of {count} miss it",
        f"Intervals of the slope in {count} masked samples; {missed} of them do not hold the true "
        f"slope, so the coverage is {style.percent(after.coverage)} instead of 95 %",
        data=[
            # two colors: with the true slope inside, and without it
            _lines(low, high, rows, after.covered, style.NEUTRAL, "holds the truth"),
            _lines(low, high, rows, ~after.covered, style.EPSILON, "misses the truth"),
            hollow,
            filled,
        ],
        layout=style.layout(
            style.axis("slope of x1", TRUTH - _AXIS, TRUTH + _AXIS),
            style.axis("sample", count + 1, -3),
            shapes=[style.vertical(TRUTH, style.LIMIT)],
            annotations=[style.label("the truth", TRUTH, -1, style.LIMIT, **place)],
        ),
        large={"legend": True},
        table=table(
            ["sample", "slope, original", "slope, released", "from", "to", "holds the truth"],
            [rows, before.slope, after.slope, low, high, np.where(after.covered, "yes", "no")],
        ),
    )


def _lines(
    low: Floats, high: Floats, rows: NDArray[np.intp], which: Booleans, color: str, name: str
) -> style.Trace:
    """Return one trace of many horizontal lines, with gaps between them."""
    # Shapes: low, high, rows, which (s,), of the samples.
    look = {"color": color, "width": 1.5, "dash": "solid"}
    x, y = style.segments(low[which], high[which], rows[which])
    y[2::3] = np.nan
    return style.scatter(x, y, name, mode="lines", line=look, hoverinfo="name")
