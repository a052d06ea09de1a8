"""The analyst's side: intervals of the original, as printed on the masked file, and corrected."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.evaluation.lessons.analyst import Analyst
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_STEP = 4  # rows for each slope: original, printed, corrected, and a space
_WORDS = ("original", "masked, as printed", "masked, times the factor")
_LEAST = 1.0  # of the axis, to both sides of the population's slope


def draw(lesson: Analyst) -> style.Chart:
    """Draw three intervals for each slope; the third one only where a factor may be used."""
    # three sides: the original, as printed on the masked file, and times the factor (NaN for none)
    (own, own_error), (slope, error) = lesson.original, lesson.released
    factors = [np.nan if factor is None else factor for factor in lesson.factors]
    sides = (
        (own, own_error, style.ORIGINAL, "solid"),
        (slope, error, style.RELEASED, "dash"),
        (slope, error * factors, style.LIMIT, "solid"),
    )
    rows = _STEP * np.arange(len(own))
    # the axis reaches the farthest end of the masked intervals, on both sides of 1
    all_ends = [
        center + sign * lesson.reach * se for center, se, _, _ in sides[1:] for sign in (-1, 1)
    ]
    reach = max(_LEAST, 1.08 * float(np.nanmax(np.abs(np.array(all_ends) - 1))))
    usable = sum(factor is not None for factor in lesson.factors)

    # one line for each interval, cut at the ends of the axis; none without a standard error
    names: dict[str, Any] = {"tickvals": (rows + 1).tolist(), "ticktext": list(lesson.terms)}
    traces = []
    for offset, ((center, se, color, dash), name) in enumerate(zip(sides, _WORDS, strict=True)):
        for row, middle, half in zip(rows, center, lesson.reach * se, strict=True):
            if np.isfinite(half):
                ends = np.clip([middle - half, middle + half], 1 - reach, 1 + reach)
                at = [float(row + offset)] * 2
                bar = style.line(style.floats(ends), at, released=False, name=name)
                bar["line"] = {"color": color, "width": 3, "dash": dash}
                traces.append(bar)
    return style.chart(
        "lesson_analyst",
        "95 % intervals of the slopes",
        f"{usable} of {len(own)} with a factor",
        f"Intervals of {len(own)} slopes: of the original, as printed on the masked file, and with "
        f"the factor of the claim table, which {usable} of them have",
        data=traces,
        layout=style.layout(
            style.axis("slope", 1 - reach, 1 + reach),
            style.axis(
                "", _STEP * len(own) - 1.0, -1 - len(_WORDS) * 0.75, showgrid=False, **names
            ),
            shapes=[style.vertical(1.0, style.NEUTRAL, "dot")],
            annotations=style.stack(
                [(text, color) for text, (_, _, color, _) in zip(_WORDS, sides, strict=True)]
            ),
        ),
        table=table(
            ["slope of", "original", "its SE", "masked", "SE as printed", "factor"],
            [list(lesson.terms), own, own_error, slope, error, np.array(factors)],
        ),
    )
