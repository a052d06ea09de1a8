"""Sampling: risk of a sample unique by the frequency of its key in the population."""

from __future__ import annotations

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.lessons.sampling import MOST, Sampling

_NAMES = (
    ("a match is right (solid)", style.ORIGINAL),
    ("the same, if the key may be wrong (dashed)", style.RELEASED),
    ("unique in the population (dotted)", style.LIMIT),
)
"""What each curve is, in the corner that no curve reaches."""


def draw(lesson: Sampling) -> style.Chart:
    """Draw the risk of a sample unique against the number of people with its key."""
    unique = style.line(style.floats(lesson.rate), style.floats(lesson.unique), released=False)
    unique |= {
        "name": "unique in the population",
        "line": {"color": style.LIMIT, "width": 2, "dash": "dot"},
    }
    match = style.line(
        style.floats(lesson.rate), style.floats(lesson.match), released=False, name="match is right"
    )
    wrong = style.line(style.floats(lesson.rate), style.floats(lesson.misclassified), released=True)
    return style.chart(
        "lesson_sampling",
        "Risk of a sample unique",
        f"π = {style.percent(lesson.fraction, 1)}",
        "Three falling curves against the mean number of people who share a key: the chance that "
        "a sample unique is unique in the population, that its match is right, and that it is "
        f"right when the key is right in {style.percent(lesson.right)} only",
        data=[match, wrong | {"name": "match is right, key may be wrong"}, unique],
        layout=style.layout(
            style.axis("λ, people of the population with this key", 0, MOST),
            style.axis("probability", 0, 1.02, share=True),
            annotations=[
                style.label(text, 1, 1 - 0.08 * row, color, xref="paper", yref="paper")
                | {"xanchor": "right", "yanchor": "top"}
                for row, (text, color) in enumerate(_NAMES)
            ],
        ),
        large={"legend": True},
        table=table(
            ["λ", "unique in the population", "match is right", "key may be wrong"],
            [lesson.rate, lesson.unique, lesson.match, lesson.misclassified],
        ),
    )
