"""Choosing a setting: loss and the largest share of a limit along its lever."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.charts.parts.map_marks import fit_scale
from rwn_core.data.arrays import Floats
from rwn_core.evaluation.lessons.choose import Trade
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table


def draw(lesson: Trade, key: str = "lesson_choose", lever: str = "radius ε") -> style.Chart:
    """Draw both curves, the limit, the accepted loss and the present setting."""
    # shares of a limit go through the fitted scale; losses are drawn as they are
    scale = fit_scale([2.0, *lesson.share.tolist()])
    heights = np.array([scale(share) for share in lesson.share.tolist()])
    # the present setting, and room at both ends of the radii
    now = float(lesson.epsilon[lesson.now])
    low, high = float(lesson.epsilon.min()), float(lesson.epsilon.max())
    pad = 0.03 * (high - low)
    fitting = int(lesson.fits.sum())
    share, loss = (style.number(side[lesson.now], 2) for side in (lesson.share, lesson.loss))

    words = [
        ("risk: largest share of a limit", style.RELEASED),
        ("loss of relations", style.ORIGINAL),
    ]
    left: Any = {"xref": "paper", "xanchor": "left"}
    return style.chart(
        key,
        f"Risk and loss over the {lever}",
        f"{fitting} of {len(lesson.epsilon)} settings fit",
        f"Loss and the largest share of a limit for {len(lesson.epsilon)} settings; at {now:g} the "
        f"loss is {loss} and the share {share}; {fitting} settings keep all limits at an accepted "
        "loss",
        # either curve carries a point at the present setting
        data=[
            *_curve(lesson, heights, released=True, name="largest share of a limit"),
            *_curve(lesson, lesson.loss, released=False, name="loss"),
        ],
        layout=style.layout(
            style.axis(f"{lever} (standard deviations)", low - pad, high + pad),
            style.axis("loss, and share of a limit", *scale.ends, **scale.ticks),
            shapes=[
                style.horizontal(1.0, style.LIMIT),
                style.horizontal(lesson.accepted, style.ORIGINAL, "dot"),
                style.vertical(now, style.NEUTRAL, "dash"),
            ],
            annotations=[
                *style.stack(words, right=True),
                style.label("limit of the policy", 0, 1.0, style.LIMIT, **left),
                style.label("accepted loss", 0, lesson.accepted, style.ORIGINAL, **left),
            ],
        ),
        table=table(
            [lever, "loss", "largest share of a limit", "fits"],
            [lesson.epsilon, lesson.loss, lesson.share, np.where(lesson.fits, "yes", "no")],
        ),
    )


def _curve(lesson: Trade, heights: Floats, *, released: bool, name: str) -> list[style.Trace]:
    """Return a line, and the present setting on it."""
    # Shapes: heights (s,), of the settings.
    x, y = style.floats(lesson.epsilon), style.floats(heights)
    line = style.line(x, y, released=released, name=name)
    now = slice(lesson.now, lesson.now + 1)
    look: Any = {"marker": {"size": 12, "opacity": 1}, "name": f"{name}, now"}
    return [line, style.points(x[now], y[now], released=released, **look)]
