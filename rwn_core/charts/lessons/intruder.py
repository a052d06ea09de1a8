"""The intruder: posterior of the originals of one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.evaluation.lessons.intruder import SHOWN, Intruder
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_WIDTH = 0.66


def draw(lesson: Intruder, answered: bool = False) -> style.Chart:
    """Draw a bar for each of the most likely originals; `answered` marks the true source."""
    # a row for each original, the most likely first
    count = len(lesson.records)
    places = np.arange(count)
    names = [f"record {record + 1}" for record in lesson.records.tolist()]
    # the true source is named only after an answer, and if it is among the shown
    found = np.flatnonzero(lesson.records == lesson.source) if answered else places[:0]
    where: Any = {"bold": True, "xanchor": "left", "yanchor": "middle", "xshift": 4}
    ends = zip(lesson.belief[found].tolist(), found.astype(float).tolist(), strict=True)
    notes = [style.label("the true source", *end, style.NEUTRAL, **where) for end in ends]
    rows: Any = {"tickvals": places.tolist() or [0], "ticktext": names or ["nobody"]}
    highest = float(lesson.belief.max(initial=0.0))
    bars = []
    for place in places.tolist():
        fill = style.ORIGINAL if place in found else f"{style.ORIGINAL}55"
        look = {"marker": style.filled(fill, style.ORIGINAL, 1.5)}
        length = style.floats([lesson.belief[place]])
        at = (_WIDTH, -_WIDTH / 2)
        bar = style.bar(length, [float(place)], "probability", at, **look)
        bars.append(bar | {"hovertemplate": "%{x:.1%}<extra></extra>"})
    return style.chart(
        "lesson_intruder",
        "Who could have made this row",
        f"likeliest {style.percent(highest)} · {lesson.candidates} possible",
        f"Bars of the posterior probability of {count} originals for row {lesson.row + 1} of the "
        f"release; the most likely has {style.percent(highest)} and {lesson.candidates} are "
        "possible",
        data=bars,
        layout=style.layout(
            style.axis("probability that the row is this person's", 0, 1, share=True),
            style.axis("", SHOWN - 0.4, -0.6, showgrid=False, **rows),
            annotations=notes,
            right=24,
        ),
        table=table(["record", "probability"], [lesson.records + 1, lesson.belief.astype(float)]),
    )
