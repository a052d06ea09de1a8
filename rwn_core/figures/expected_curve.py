"""What a radius leads to before any draw, with the present draw on it."""

from typing import Any

import numpy as np

from rwn_core.figures.style import (
    EPSILON,
    NEUTRAL,
    RELEASED,
    Chart,
    Trace,
    above,
    axis,
    chart,
    floats,
    label,
    largest,
    layout,
    line,
    number,
    vertical,
)
from rwn_core.figures.tables import table
from rwn_core.reading import Reading

_LEAST = 0.02
"""Height of the axis where nothing changes."""


def draw(expected: Reading, drawn: Reading, interval: tuple[float, float] | None = None) -> Chart:
    """Draw the expected change of the correlations over the radius.

    Parameters
    ----------
    expected : Reading of `rwn_core.expected_curve`
    drawn : Reading of the measure "correlation"
        Of the present setting and draw.
    interval : tuple of float, optional
        Where draws of the present setting fall, 9 times in 10.
    """
    detail = expected.detail
    radii = np.asarray(detail["radii"], dtype=float)
    change = np.asarray(detail["change"], dtype=float)
    now = float(detail["now"])
    high = above(max(1.15 * largest(change, [drawn.value], interval or [0.0]), _LEAST))
    curve = line(floats(radii), floats(change), released=False, name="expected")
    curve["line"] |= {"color": NEUTRAL}
    curve["hovertemplate"] = "ε %{x:.2f}: %{y:.3f}<extra>expected</extra>"
    lowest, widest = (float(radii.min()), float(radii.max())) if len(radii) else (0.0, 1.0)
    widest = max(widest, now)
    pad = 0.03 * (widest - lowest or 1.0)
    return chart(
        "expected_curve",
        "Expected loss over ε",
        f"expected {number(expected.value)} · this draw {number(drawn.value)}",
        f"Expected mean change of the correlations over the radius at k = {detail['k']} and "
        f"q = {detail['q']:g}; at the present radius {number(expected.value)} is expected and "
        f"this draw has {number(drawn.value)}",
        data=[curve, *_interval(now, interval), _point(now, drawn.value)],
        layout=layout(
            axis("radius ε", lowest - pad, widest + pad, count=7),
            axis("mean |Δ correlation|", 0, high),
            shapes=[vertical(now, EPSILON, "dash")],
            annotations=[
                label("this draw", now, drawn.value, RELEASED, bold=True, **_beside(now, widest))
            ],
        ),
        large={"legend": True},
        table=table(
            ["radius", "expected change of correlations", "expected share of changed cells"],
            [radii, change, np.asarray(detail["changed"], dtype=float)],
        ),
    )


def _beside(now: float, widest: float) -> dict[str, Any]:
    right = now > 0.75 * widest
    return {"xanchor": "right" if right else "left", "xshift": -7 if right else 7, "yshift": 2}


def _interval(now: float, interval: tuple[float, float] | None) -> list[Trace]:
    if interval is None:
        return []
    bar = line([now, now], list(interval), released=True, name="9 of 10 draws")
    bar["line"] |= {"width": 6, "dash": "solid", "color": f"{RELEASED}66"}
    bar["hovertemplate"] = "%{y:.3f}<extra>9 of 10 draws</extra>"
    return [bar]


def _point(now: float, value: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "this draw",
        "x": [now],
        "y": [value],
        "marker": {"symbol": "diamond", "size": 11, "color": RELEASED, "opacity": 1},
        "hovertemplate": "ε %{x:.2f}: %{y:.3f}<extra>this draw</extra>",
    }
