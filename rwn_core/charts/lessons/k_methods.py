"""k-PRAM and k-noise: records within reach of the noise, before and after it is added."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.lessons.k_methods import KMethods

_MOST_BORDERS = 40


def draw(lesson: KMethods) -> style.Chart:
    """Draw the counts within 2 delta of every value, with the bound of theorem 1."""
    top = style.above(1.05 * style.largest(lesson.near, lesson.expected))
    groups = len(lesson.borders) - 1
    low, high = float(lesson.at.min()) - 2, float(lesson.at.max()) + 2
    ages, dotted = style.floats(lesson.at), {"color": style.LIMIT, "width": 1.5, "dash": "dot"}
    shown = lesson.borders if groups <= _MOST_BORDERS else lesson.borders[:0]
    place = int(np.argmin(lesson.expected / lesson.near))
    at = float(lesson.at[place])
    return style.chart(
        "lesson_k_methods",
        "Records within 2δ",
        f"δ = {style.number(lesson.delta)} · {groups} intervals",
        f"Number of records within two delta of each of {len(lesson.at)} ages, as they are and as "
        f"expected after noise; the expected share is at least {style.number(lesson.smallest)}",
        data=[
            style.line(ages, near, released=released, name=name, line=look)
            for near, released, name, look in (
                (lesson.near, False, "records as they are", {}),
                (style.floats(lesson.expected), True, "after k-noise", {}),
                (style.floats(lesson.near / 2), False, "bound 1/2", dotted),
            )
        ],
        layout=style.layout(
            style.axis("age", low, high),
            style.axis("records within 2δ", 0, top),
            shapes=[
                style.vertical(border, style.NEUTRAL, "dot") | {"layer": "below"}
                for border in shown.tolist()
            ],
            annotations=[
                *(
                    style.label("intervals of k-PRAM (dotted)", border, top, style.NEUTRAL)
                    | {"xanchor": "left", "yanchor": "top", "xshift": 3}
                    for border in shown[:1].tolist()
                ),
                style.label("half of the blue line", at, float(lesson.near[place]) / 2, style.LIMIT)
                | {"yanchor": "top"},
            ],
        ),
        large={"legend": True},
        table=table(
            ["age", "records within 2δ", "expected after noise", "share"],
            [lesson.at, lesson.near, lesson.expected, lesson.expected / lesson.near],
        ),
    )
