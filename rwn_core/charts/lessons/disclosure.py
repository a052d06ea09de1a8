"""Disclosure: the released rows, what an intruder knows of a person, and a guess."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.evaluation.lessons.disclosure import NAMES, DisclosedPerson
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table

_FREE = 22.0  # centimeters above the points, where the words are written


def draw(lesson: DisclosedPerson, guess: int, answered: bool = False) -> style.Chart:
    """Draw the released rows by age and height; `answered` marks the person's own row."""
    rows = lesson.rows
    age, height = lesson.known.tolist()
    low = rows[:, :2].min(axis=0)
    high = rows[:, :2].max(axis=0)
    words = [
        (f"◇ {lesson.person}: age {age:g}, height {height:g}", style.ORIGINAL),
        (f"○ your guess, row {guess + 1}: income {rows[guess, 2]:.1f}", style.NEUTRAL),
    ]
    marks = [
        _mark(lesson.known, style.ORIGINAL, "diamond-open", 15, "known of the person"),
        _mark(rows[guess, :2], style.NEUTRAL, "circle-open", 17, "your guess"),
    ]
    if answered:
        words.append((f"□ {lesson.person}’s own row: row {lesson.own + 1}", style.ORIGINAL))
        marks.append(_mark(rows[lesson.own, :2], style.ORIGINAL, "square-open", 20, "own row"))
    return style.chart(
        "lesson_disclosure",
        "The released rows",
        f"{len(rows)} rows, no names",
        f"{len(rows)} released rows by age and height; {lesson.person} has age {age:g} and height "
        f"{height:g}, and the guessed row {guess + 1} shows an income of {rows[guess, 2]:.1f}",
        data=[style.cloud(rows[:, :2], released=True, size=8), *marks],
        layout=style.layout(
            style.axis("age in years", min(low[0], age) - 3, max(high[0], age) + 3),
            style.axis("height in cm", min(low[1], height) - 3, max(high[1], height) + _FREE),
            annotations=style.stack(words, step=0.07),
        ),
        table=table(["row", *NAMES], [np.arange(len(rows)) + 1, *rows.T]),
    )


def _mark(place: Floats, color: str, symbol: str, size: int, name: str) -> style.Trace:
    # Shapes: place (2,): across and up.
    look = {"size": size, "color": color, "symbol": symbol, "opacity": 1}
    return style.cloud(place[None], released=False, name=name, **look)
