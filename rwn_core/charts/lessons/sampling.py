"""Sampling: risk of a sample unique by the frequency of its key in the population."""

from __future__ import annotations

from rwn_core.evaluation.lessons.sampling import MOST, SampleRisk
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_NAMES = (
    ("a match is right (solid)", style.ORIGINAL),
    ("the same, if the key may be wrong (dashed)", style.RELEASED),
    ("unique in the population (dotted)", style.LIMIT),
)
"""What each curve is, in the corner that no curve reaches."""


def draw(lesson: SampleRisk) -> style.Chart:
    """Draw the risk of a sample unique against the number of people with its key."""
    rate = style.floats(lesson.rate)
    dotted = {"color": style.LIMIT, "dash": "dot"}
    match, wrong, unique = (
        style.line(rate, style.floats(curve), released=released, name=name, line=look)
        for curve, released, name, look in (
            (lesson.match, False, "match is right", {}),
            (lesson.misclassified, True, "match is right, key may be wrong", {}),
            (lesson.unique, False, "unique in the population", dotted),
        )
    )
    return style.chart(
        "lesson_sampling",
        "Risk of a sample unique",
        f"π = {style.percent(lesson.fraction, 1)}",
        "Three falling curves against the mean number of people who share a key: the chance that "
        "a sample unique is unique in the population, that its match is right, and that it is "
        f"right when the key is right in {style.percent(lesson.right)} only",
        data=[match, wrong, unique],
        layout=style.layout(
            style.axis("λ, people of the population with this key", 0, MOST),
            style.axis("probability", 0, 1.02, share=True),
            annotations=style.stack(_NAMES, step=0.08, right=True, bold=False),
        ),
        large={"legend": True},
        table=table(
            ["λ", "unique in the population", "match is right", "key may be wrong"],
            [lesson.rate, lesson.unique, lesson.match, lesson.misclassified],
        ),
    )
