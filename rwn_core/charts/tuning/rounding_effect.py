"""Worst-case linkage and change of correlations over the rounding step."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table


def draw(tried: Sequence[Mapping[str, float]]) -> style.Chart:
    """Draw worst-case linkage and loss over the release precision."""
    # Steps have "share" (of a standard deviation), "risk", "earned" (a worst case, no lower bound)
    # and "correlation".
    share = np.array([step["share"] for step in tried])
    risk = np.array([step["risk"] for step in tried])
    loss = np.array([step["correlation"] for step in tried])
    known = np.isfinite(loss)
    positions = list(range(len(share)))
    texts = ["exact", *(f"{s:g} SD" for s in share[1:])]
    name = "worst-case linkage" if all(s["earned"] for s in tried) else "linkage, at least"
    other = "mean |Δ correlation|"
    traces = [
        _trace(positions, risk, name, released=True),
        _trace(positions, loss, other, released=False),
    ]
    notes = [style.label(name, 0, float(risk[0]), style.RELEASED, xanchor="left", yshift=4)]
    if known.any():
        last = int(np.flatnonzero(known)[-1])
        notes.append(
            style.label(other, last, float(loss[last]), style.NEUTRAL, xanchor="right", yshift=4)
        )
    return style.chart(
        "rounding_effect",
        "Rounding",
        f"{style.percent(float(risk[0]))} → {style.percent(float(risk[-1]))} at 1 SD",
        f"{name.capitalize()}: {style.percent(float(risk[0]), 1)} with exact values, "
        f"{style.percent(float(risk[-1]), 1)} with numbers rounded to one standard deviation",
        data=traces,
        layout=style.layout(
            style.axis(
                "release precision", -0.25, len(share) - 0.75, tickvals=positions, ticktext=texts
            ),
            style.axis(
                "", 0, min(style.above(1.2 * style.largest(risk, loss, [0.02])), 1.12), share=True
            ),
            annotations=notes,
        ),
        table=table(
            ["rounded to (SD)", name, "mean change of correlations"],
            [share, risk, loss],
        ),
    )


def _trace(
    positions: list[int], values: NDArray[np.float64], name: str, *, released: bool
) -> style.Trace:
    # Shapes: values (m,), of the positions.
    drawn = style.line(positions, style.floats(values), released=released)
    if not released:
        drawn["line"] |= {"color": style.NEUTRAL}
    drawn["mode"] = "lines+markers"
    color, symbol = (style.RELEASED, "circle") if released else (style.NEUTRAL, "circle-open")
    drawn["marker"] = {"size": 6, "color": color, "symbol": symbol}
    hover = "%{y:.3f}<extra>%{fullData.name}</extra>"
    return drawn | {"name": name, "hovertemplate": hover}
