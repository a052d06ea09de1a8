"""The theorem: points, their release, and the ball of one record's donors."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.charts.parts.plane import IN_SD, circle, plane
from rwn_core.evaluation.lessons.theorem import Theorem
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table


def draw(lesson: Theorem) -> style.Chart:
    """Draw one release over its original, with the ball of one record and its two donors."""
    before, after = (style.number(value, 2) for value in lesson.correlation)
    clouds = [
        style.cloud(side, released=released, size=4, opacity=0.55)
        for side, released in ((lesson.original, False), (lesson.released, True))
    ]
    # lines from the two donors to the released point, and the record itself
    center = lesson.original[lesson.record]
    u, v = lesson.released[lesson.record]
    first, second = lesson.original[lesson.donors]
    x, y = map(style.floats, zip(first, (u, v), second, strict=True))
    look: Any = {"line": {"color": style.NEUTRAL, "width": 1.5, "dash": "dot"}}
    path = style.scatter(x, y, "U and V of one record", mode="lines", **look, hoverinfo="name")
    look = {"color": style.NEUTRAL, "symbol": "diamond-open", "size": 10, "opacity": 1}
    look["name"] = "the record and its donors"
    marks = style.cloud([center, first, second], released=False, **look)
    ball = circle(center, lesson.radius, style.EPSILON, name="the ball")
    name = "released as (U, V)"
    shown = style.cloud([(u, v)], released=True, name=name, size=10, opacity=1)
    # the names of the points: U and V at their donors, one name if both have the same
    same = bool(lesson.donors[0] == lesson.donors[1])
    named = [("U, V" if same else "U", *first), *([] if same else [("V", *second)])]
    labels = [style.label(n, x, y, style.NEUTRAL, bold=True, yshift=6) for n, x, y in named]
    labels.append(style.label("(U, V)", u, v, style.RELEASED, bold=True, yanchor="top", yshift=-5))
    places = np.array([center, first, second, (u, v)]).T
    return style.chart(
        "lesson_theorem",
        "Points and one release of them",
        f"one ball holds {len(lesson.members)} donors",
        f"{len(lesson.original)} original points and their release in the plane; the correlation "
        f"is {before} before and {after} after, and the joint distributions differ by at most "
        f"{style.number(lesson.distance, 2)}",
        data=[*clouds, ball, path, marks, shown],
        layout=plane(lesson.original, IN_SD, annotations=labels),
        large={"legend": True},
        table=table(["", "x", "y"], [["record", "donor of U", "donor of V", name], *places]),
    )
