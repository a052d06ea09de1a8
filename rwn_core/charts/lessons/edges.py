"""Edges and balance: how likely each donor of a record is, and how often each record gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.charts.parts.plane import IN_SD, circle, plane
from rwn_core.data.arrays import Booleans, Floats
from rwn_core.evaluation.lessons.edges import Edges
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_SIZES = (3, 5, 8, 11, 14)
_CHANCES = (0.005, 0.02, 0.04, 0.07)  # probabilities from which a dot is larger
_LOADS = (0.5, 0.8, 1.1, 1.4)  # the same for how often a record gives
_EVEN = 0.005  # from 1: a load that counts as 1


def draw(lesson: Edges) -> style.Chart:
    """Draw the donors of one record, the likelier the larger."""
    possible = lesson.weights > 0
    center = lesson.points[lesson.record]
    others = np.arange(len(lesson.points)) != lesson.record
    look: Any = {"name": "the record that receives", "size": 16, "color": style.NEUTRAL}
    chosen = style.cloud([center], released=False, **look, opacity=1)
    hard = [] if lesson.radius is None else [lesson.radius]
    edge = [circle(center, radius, style.EPSILON, name="the hard edge") for radius in hard]
    largest = style.percent(float(lesson.weights.max()), 1)
    return style.chart(
        "lesson_edges",
        "Donors of one record",
        f"{int(possible.sum())} possible, none above {largest}",
        f"{len(lesson.points)} records in the plane; {int(possible.sum())} of them may give to the "
        f"chosen one, each with a probability of at most {largest}",
        data=[
            *_dots(lesson, others & ~possible, style.NEUTRAL, "gives nothing", strong=0.5),
            *_sized(lesson, possible, lesson.weights, _CHANCES, style.RELEASED, "may give"),
            *edge,
            chosen,
        ],
        layout=plane(lesson.points, IN_SD),
        table=_table(lesson),
    )


def draw_loads(lesson: Edges) -> style.Chart:
    """Draw how often each record gives; the oftener the larger."""
    loads = lesson.loads
    low, high = (f"{value:.2f}" for value in (loads.min(), loads.max()))
    less, more = loads < 1 - _EVEN, loads > 1 + _EVEN
    return style.chart(
        "lesson_edges_loads",
        "How often each record gives",
        f"{low} to {high} times",
        f"{len(loads)} records in the plane; expected number of times that each gives one variable "
        f"to a release, from {low} to {high}",
        data=[
            *_sized(lesson, less, loads, _LOADS, style.ORIGINAL, "gives less than once"),
            *_sized(lesson, more, loads, _LOADS, style.RELEASED, "gives more than once"),
            *_dots(lesson, ~less & ~more, style.NEUTRAL, "gives once", size=_SIZES[2]),
        ],
        layout=plane(lesson.points, IN_SD),
        table=_table(lesson),
    )


def _sized(
    lesson: Edges, which: Booleans, values: Floats, cuts: tuple[float, ...], color: str, name: str
) -> list[style.Trace]:
    """Return one trace for each size of dots."""
    step = np.digitize(values, cuts)
    traces = []
    for place, size in enumerate(_SIZES):
        traces += _dots(lesson, which & (step == place), color, name, size=size)
    return traces


def _dots(
    lesson: Edges,
    which: Booleans,
    color: str,
    name: str,
    *,
    size: int = _SIZES[1],
    strong: float = 0.8,
) -> list[style.Trace]:
    """Return the dots of some records; none where there are none."""
    if not which.any():
        return []
    look: Any = {"name": name, "size": size, "color": color, "opacity": strong}
    return [style.cloud(lesson.points[which], released=color == style.RELEASED, **look)]


def _table(lesson: Edges) -> style.Chart:
    return table(
        ["record", "x", "y", "probability to give", "gives so often"],
        [np.arange(len(lesson.points)) + 1, *lesson.points.T, lesson.weights, lesson.loads],
    )
