"""k-PRAM and k-noise: distributions of the values, and released records near each other."""

from __future__ import annotations

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.data.arrays import Floats, Integers
from rwn_core.evaluation.lessons.k_methods import KMethods, NearReleased

_BIN = 2.0  # years
_COLORS = {
    "as they are": style.ORIGINAL,
    "after k-noise": style.RELEASED,
    "after k-PRAM": style.NEUTRAL,
}
_BORDERS = "dotted: intervals of k-PRAM"


def draw(lesson: KMethods) -> style.Chart:
    """Draw the distribution of the values, after k-noise and after k-PRAM."""
    sides = {
        "as they are": lesson.values,
        "after k-noise": lesson.noisy,
        "after k-PRAM": lesson.drawn,
    }
    low = min(float(side.min()) for side in sides.values())
    high = max(float(side.max()) for side in sides.values())
    edges = np.arange(np.floor(low / _BIN) * _BIN, high + _BIN, _BIN)
    counts = {name: np.histogram(side, edges)[0] for name, side in sides.items()}
    beyond = (lesson.noisy < lesson.values.min()) | (lesson.noisy > lesson.values.max())
    top = style.above(1.05 * style.largest(*counts.values()))
    return style.chart(
        "lesson_k_values",
        "Ages before and after",
        f"{int(beyond.sum())} beyond the range",
        f"Distribution of {len(lesson.values)} ages as they are, after k-noise and after k-PRAM; "
        f"k-noise takes {int(beyond.sum())} beyond the range of the true ones",
        data=[_outline(edges, height, name) for name, height in counts.items()],
        layout=style.layout(
            style.axis("age", float(edges[0]) - 1, float(edges[-1]) + 1),
            style.axis("records", 0, top),
            shapes=[
                {**style.vertical(border, style.NEUTRAL, "dot"), "layer": "below"}
                for border in lesson.borders.tolist()
            ],
            annotations=[
                style.label(name, float(edges[-1]), top * (1 - 0.05 * row), color, bold=True)
                | {"xanchor": "right", "yanchor": "top"}
                for row, (name, color) in enumerate([*_COLORS.items(), (_BORDERS, style.NEUTRAL)])
            ],
        ),
        large={"legend": True},
        table=table(["age from", "to", *counts], [edges[:-1], edges[1:], *counts.values()]),
    )


def _outline(edges: Floats, heights: Integers, name: str) -> style.Trace:
    fill = f"{style.ORIGINAL}22" if name == "as they are" else ""
    drawn = style.outline(edges, heights, released=name == "after k-noise", fill=fill, name=name)
    if name == "after k-PRAM":
        drawn["line"] |= {"color": style.NEUTRAL, "width": 1.2}
    return drawn


def draw_near(counted: NearReleased) -> style.Chart:
    """Draw the number of released records within delta of a released one, against k."""
    share = f"{style.percent(counted.fewer, 2)} ± {style.percent(counted.fewer_error, 2)}"
    least = int(np.argmin(counted.mean))
    curve = style.floats(counted.at), style.floats(counted.mean)
    low, top = float(counted.at.min()), style.largest(counted.mean, [counted.k])
    return style.chart(
        "lesson_k_near",
        "Released records within δ",
        f"{share} have fewer than k",
        f"Mean number of released records within delta of a released one, by true age; the least "
        f"is {style.number(float(counted.mean[least]))} at "
        f"{style.number(float(counted.at[least]))}",
        data=[style.line(*curve, released=True, name="near a released age")],
        layout=style.layout(
            style.axis("age", low - 2, float(counted.at.max()) + 2),
            style.axis("released records within δ", 0, style.above(1.05 * top)),
            shapes=[style.horizontal(counted.k, style.LIMIT, "dot")],
            annotations=[
                style.label(f"k = {counted.k}", low, counted.k, style.LIMIT, xanchor="left")
            ],
        ),
        table=table(
            ["age", "released records within δ", "error of the simulation"],
            [counted.at, counted.mean, counted.error],
        ),
    )
