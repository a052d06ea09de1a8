"""The theorem: points, their release, and the ball of one record's donors."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.parts.plane import IN_SD, circle, plane
from rwn_core.evaluation.lessons.theorem import Theorem
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table


def draw(lesson: Theorem) -> style.Chart:
    """Draw one release over its original, with the ball of one record and its two donors."""
    before, after = (style.number(value, 2) for value in lesson.correlation)
    clouds = [
        style.points(style.floats(side[:, 0]), style.floats(side[:, 1]), released=released)
        for side, released in ((lesson.original, False), (lesson.released, True))
    ]
    for cloud in clouds:
        cloud["marker"] |= {"size": 4, "opacity": 0.55}
    center = lesson.original[lesson.record]
    # lines from the two donors to the released point, and the record itself
    (x, y), (u, v) = lesson.original[lesson.record], lesson.released[lesson.record]
    first, second = lesson.original[lesson.donors]
    path = style.scatter(
        style.floats([first[0], u, second[0]]),
        style.floats([first[1], v, second[1]]),
        "U and V of one record",
        mode="lines",
        line={"color": style.NEUTRAL, "width": 1.5, "dash": "dot"},
        hoverinfo="name",
    )
    marks = style.points(
        style.floats([x, first[0], second[0]]),
        style.floats([y, first[1], second[1]]),
        released=False,
    )
    marks |= {"name": "the record and its donors"}
    marks["marker"] = {"size": 10, "color": style.NEUTRAL, "symbol": "diamond-open", "opacity": 1}
    shown = style.points(style.floats([u]), style.floats([v]), released=True)
    shown["marker"] = shown["marker"] | {"size": 10, "opacity": 1}
    draws = [path, marks, shown | {"name": "released as (U, V)"}]
    # the names of the points: U and V at their donors, one name if both have the same
    same = bool(lesson.donors[0] == lesson.donors[1])
    named = [("U, V" if same else "U", *first), *([] if same else [("V", *second)])]
    labels = [
        style.label(text, at, up, style.NEUTRAL, bold=True, yshift=6) for text, at, up in named
    ]
    labels.append(style.label("(U, V)", u, v, style.RELEASED, bold=True, yanchor="top", yshift=-5))
    return style.chart(
        "lesson_theorem",
        "Points and one release of them",
        f"one ball holds {len(lesson.members)} donors",
        f"{len(lesson.original)} original points and their release in the plane; the correlation "
        f"is {before} before and {after} after, and the joint distributions differ by at most "
        f"{style.number(lesson.distance, 2)}",
        data=[*clouds, circle(center, lesson.radius, style.EPSILON, name="the ball"), *draws],
        layout=plane(lesson.original, IN_SD, annotations=labels),
        large={"legend": True},
        table=table(
            ["", "x", "y"],
            [
                ["record", "donor of U", "donor of V", "released as (U, V)"],
                *np.vstack(
                    [center, *lesson.original[lesson.donors], lesson.released[lesson.record]]
                ).T,
            ],
        ),
    )
