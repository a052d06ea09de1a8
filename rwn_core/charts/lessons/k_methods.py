"""k-PRAM and k-noise: records within reach of the noise, before and after it is added."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.parts.style import (
    LIMIT,
    NEUTRAL,
    Chart,
    above,
    axis,
    chart,
    floats,
    label,
    largest,
    layout,
    line,
    number,
    vertical,
)
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.lessons.k_methods import KMethods

_MOST_BORDERS = 40


def draw(lesson: KMethods) -> Chart:
    """Draw the counts within 2 delta of every value, with the bound of theorem 1."""
    top = above(1.05 * largest(lesson.near, lesson.expected))
    groups = len(lesson.borders) - 1
    low, high = float(lesson.at.min()) - 2, float(lesson.at.max()) + 2
    bound = line(floats(lesson.at), floats(lesson.near / 2), released=False, name="bound 1/2")
    bound["line"] = {"color": LIMIT, "width": 1.5, "dash": "dot"}
    shown = lesson.borders if groups <= _MOST_BORDERS else lesson.borders[:0]
    place = int(np.argmin(lesson.expected / lesson.near))
    at = float(lesson.at[place])
    return chart(
        "lesson_k_methods",
        "Records within 2δ",
        f"δ = {number(lesson.delta)} · {groups} intervals",
        f"Number of records within two delta of each of {len(lesson.at)} ages, as they are and as "
        f"expected after noise; the expected share is at least {number(lesson.smallest)}",
        data=[
            line(floats(lesson.at), lesson.near, released=False, name="records as they are"),
            line(floats(lesson.at), floats(lesson.expected), released=True, name="after k-noise"),
            bound,
        ],
        layout=layout(
            axis("age", low, high),
            axis("records within 2δ", 0, top),
            shapes=[
                {**vertical(border, NEUTRAL, "dot"), "layer": "below"} for border in shown.tolist()
            ],
            annotations=[
                label("half of the blue line", at, float(lesson.near[place]) / 2, LIMIT)
                | {"yanchor": "top"}
            ],
        ),
        large={"legend": True},
        table=table(
            ["age", "records within 2δ", "expected after noise", "share"],
            [lesson.at, lesson.near, lesson.expected, lesson.expected / lesson.near],
        ),
    )
