"""Sampling: how surely a sample unique is found in the population, by how common its key is."""

from __future__ import annotations

from rwn_core.charts.parts.style import (
    LIMIT,
    ORIGINAL,
    RELEASED,
    Chart,
    axis,
    chart,
    floats,
    label,
    layout,
    line,
    percent,
)
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.lessons.sampling import MOST, Sampling


def draw(lesson: Sampling) -> Chart:
    """Draw the risk of a sample unique against the number of people who share its key.

    Parameters
    ----------
    lesson : Sampling
    """
    unique = line(floats(lesson.rate), floats(lesson.unique), released=False)
    unique |= {
        "name": "unique in the population",
        "line": {"color": LIMIT, "width": 2, "dash": "dot"},
    }
    match = line(floats(lesson.rate), floats(lesson.match), released=False, name="match is right")
    wrong = line(floats(lesson.rate), floats(lesson.misclassified), released=True)
    place = len(lesson.rate) // 5
    x, below = float(lesson.rate[place]), float(lesson.misclassified[2 * place])
    return chart(
        "lesson_sampling",
        "Risk of a sample unique",
        f"π = {percent(lesson.fraction, 1)}",
        "Three falling curves against the mean number of people who share a key: the chance that "
        "a sample unique is unique in the population, that its match is right, and that it is "
        f"right when the key is right in {percent(lesson.right)} only",
        data=[match, wrong | {"name": "match is right, key may be wrong"}, unique],
        layout=layout(
            axis("λ, people of the population with this key", 0, MOST),
            axis("probability", 0, 1.02, share=True),
            annotations=[
                label("a match is right", x, float(lesson.match[place]), ORIGINAL)
                | {"xanchor": "left"},
                label("a match, if the key may be wrong", 2 * x, below, RELEASED)
                | {"xanchor": "left", "yanchor": "top"},
                label("unique in the population", x, float(lesson.unique[place]), LIMIT)
                | {"xanchor": "left"},
            ],
        ),
        large={"legend": True},
        table=table(
            ["λ", "unique in the population", "match is right", "key may be wrong"],
            [lesson.rate, lesson.unique, lesson.match, lesson.misclassified],
        ),
    )
