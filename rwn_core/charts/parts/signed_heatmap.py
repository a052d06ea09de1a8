"""Heatmaps of changes: one color for less, another for more, near white for the same."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.charts.parts.style import Trace, floats, largest

SMALL_FONT = 9
_SPANS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
# Purple for less, orange for more; rwn_ui/panel/card.js has the colors of a dark page.
_SCALE = [
    [0.0, "rgb(84,39,136)"],
    [0.25, "rgb(178,171,210)"],
    [0.5, "rgb(242,242,242)"],
    [0.75, "rgb(253,184,99)"],
    [1.0, "rgb(179,88,6)"],
]


def color_span(values: ArrayLike) -> float:
    """Return the end of the color scale, one of a few steps."""
    top = largest(np.abs(np.asarray(values, dtype=float)))
    return next((step for step in _SPANS if step >= top), float(np.ceil(top)))


def signed_heatmap(
    values: NDArray[Any], span: float, texts: Sequence[Sequence[str]], unit: str, *, gap: int = 1
) -> Trace:
    """Return changes as colors, shape (rows, columns); NaN stays empty.

    `texts` name the cells, escaped; `unit` is Plotly's form of the value, such as "%{z:+.3f}".
    """
    rows, columns = values.shape
    return {
        "type": "heatmap",
        "x": list(range(columns)),
        "y": list(range(rows)),
        "z": floats(np.round(values, 5)),
        "zmin": -span,
        "zmax": span,
        "colorscale": _SCALE,
        "showscale": False,
        "colorbar": {
            "thickness": 10,
            "len": 1,
            "outlinewidth": 0,
            "ypad": 0,
            "tickvals": [-span, 0, span],
            "ticktext": [f"−{span:g}", "0", f"+{span:g}"],
            "tickfont": {"size": SMALL_FONT},
        },
        "text": [list(row) for row in texts],
        "hovertemplate": f"%{{text}}: {unit}<extra></extra>",
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
    }
