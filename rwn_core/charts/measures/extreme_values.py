"""Survival of the largest and smallest values."""

from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import known, table
from rwn_core.measures.measure import Reading

_SHOWN = 16
_SIDES = ("largest", "smallest")
_COLUMNS = {
    "variable": "name",
    "extreme": "side",
    "probability": "survival",
    "expected copies": "copies",
    "in its own row": "own_row",
    "copies now": "released",
}


def draw(reading: Reading) -> style.Chart:
    """Draw the probability that each variable's largest and smallest value is released."""
    detail = reading.detail
    names = list(dict.fromkeys(detail["name"]))
    shown = names[:_SHOWN]
    texts = [style.escape(style.shorten(name, 12)) for name in shown]
    small: dict[str, Any] = {"tickfont": {"size": 10}} if len(shown) > 9 else {}

    marks: dict[str, Any] = {
        "tickvals": [0, 0.25, 0.5, 0.75, 1.0],
        "ticktext": ["0%", "25%", "50%", "75%", "100%"],
    }
    released = int(np.count_nonzero(detail["released"]))
    return style.chart(
        "extreme_values",
        "Extremes that survive",
        f"{style.percent(reading.value)} expected",
        f"Probability that each numeric variable's largest and smallest value is released; "
        f"{style.percent(reading.value, 1)} are expected and {released} of "
        f"{len(detail['name'])} are in this release",
        data=[_points(detail, shown, side) for side in _SIDES],
        layout=style.layout(
            style.axis("probability to appear: ● largest, ○ smallest", -0.03, 1.05, **marks),
            style.name_axis(texts, rim=0.6) | small,
        ),
        large={"legend": True},
        table=table(
            list(_COLUMNS),
            [known(detail[part]) for part in _COLUMNS.values()],
            rank=2,
        ),
    )


def _points(detail: Any, shown: list[str], side: str) -> style.Trace:
    chosen = [
        row
        for row, (name, which) in enumerate(zip(detail["name"], detail["side"], strict=True))
        if which == side and name in shown
    ]
    marker = (
        {"size": 8, "color": style.RELEASED, "symbol": "circle"}
        if side == "largest"
        else {"size": 8, "color": style.NEUTRAL, "symbol": "circle-open", "line": {"width": 2}}
    )
    return style.scatter(
        [float(detail["survival"][row]) for row in chosen],
        [shown.index(detail["name"][row]) for row in chosen],
        side,
        marker=marker,
        cliponaxis=False,
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )
