"""A neighborhood: the ball of radius epsilon, the ball of the k nearest, and the donors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rwn_core.charts.parts.plane import IN_SD, circle, plane
from rwn_core.evaluation.lessons.neighborhood import Neighborhood
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table


def draw(lesson: Neighborhood) -> style.Chart:
    """Draw the records, the two balls around one of them, and its donors."""
    size = len(lesson.members)
    by_k = lesson.kth > lesson.epsilon
    wins = "k" if by_k else "ε"
    inside = np.zeros(len(lesson.points), dtype=bool)
    inside[lesson.members] = True
    center = lesson.points[lesson.record]
    # circles for group A, squares for group B; filled for donors
    traces = []
    for second, symbol in ((False, "circle"), (True, "square")):
        for giving in (False, True):
            rows = np.flatnonzero((lesson.second == second) & (inside == giving))
            rows = rows[rows != lesson.record]
            look: Any = {"symbol": symbol if giving else f"{symbol}-open", "opacity": 1, "size": 6}
            look["name"] = f"group {'B' if second else 'A'}{', donors' if giving else ''}"
            traces.append(style.cloud(lesson.points[rows], released=giving, **look))
    # the chosen record
    x, y = center
    symbol = "square-open" if lesson.second[lesson.record] else "circle-open"
    look = {"size": 12, "color": style.NEUTRAL, "symbol": symbol, "opacity": 1}
    chosen = style.cloud([center], released=False, name="the chosen record", **look)
    # name the balls at their tops, the larger above, the smaller below
    named = [(lesson.kth, "k nearest", style.NEUTRAL)]
    if lesson.epsilon > 0:
        named.append((lesson.epsilon, f"ε = {lesson.epsilon:g}", style.EPSILON))
    largest = max(lesson.kth, lesson.epsilon)
    names = []
    for radius, text, color in named:
        up, side = (radius, "bottom") if radius == largest else (-radius, "top")
        names.append(style.label(text, x, y + up, color, yanchor=side))
    # the two balls, and the part of the larger one that the other group sees
    balls = [circle(center, lesson.kth, style.NEUTRAL, name="k nearest", dash="dash")]
    if lesson.epsilon > 0:
        balls.append(circle(center, lesson.epsilon, style.EPSILON, name="radius ε"))
    square = largest**2 - lesson.apart**2
    if lesson.apart > 0 and square > 0:
        name = "the other group must be in here"
        balls.append(circle(center, math.sqrt(square), style.EPSILON, name=name, dash="dot"))
    numbers = np.arange(len(lesson.points)) + 1, *lesson.points.T
    groups, donors = np.where(lesson.second, "B", "A"), np.where(inside, "yes", "no")
    return style.chart(
        "lesson_neighborhood",
        "One record and its neighborhood",
        f"{size} donors · {wins} decides",
        f"{len(lesson.points)} records in the plane; the chosen one has {size} possible donors, "
        f"because {'the k nearest reach' if by_k else 'epsilon reaches'} further, at "
        f"{style.number(largest)} standard deviations",
        data=[*traces, *balls, chosen],
        layout=plane(lesson.points, IN_SD, annotations=names),
        large={"legend": True},
        table=table(["record", "x", "y", "group", "donor"], [*numbers, groups, donors])
        | {"caption": f"Distances are measured from ({style.number(x)}, {style.number(y)})."},
    )
