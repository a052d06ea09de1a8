"""Heatmaps of changes: one color for less, another for more, near white for the same."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import range_text
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.statistics.intervals import Band

SMALL_FONT = 9
FEW, _MOST = 12, 60  # variables up to which a name has more room, and names in the full view
GAPS = 20
"""Up to this many variables the cells of pairs are set apart."""
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
    top = style.largest(np.abs(np.asarray(values, dtype=float)))
    return next((step for step in _SPANS if step >= top), float(np.ceil(top)))


def signed_heatmap(
    values: NDArray[Any], span: float, texts: Sequence[Sequence[str]], unit: str, *, gap: int = 1
) -> style.Trace:
    """Return changes as colors, shape (rows, columns); NaN stays empty."""
    # `texts` name the cells, escaped; `unit` is Plotly's form of the value, such as "%{z:+.3f}".
    return style.heatmap(
        np.round(values, 5),
        (-span, span),
        _SCALE,
        colorbar=colorbar([-span, 0, span], [f"−{span:g}", "0", f"+{span:g}"]),
        text=[list(row) for row in texts],
        hovertemplate=f"%{{text}}: {unit}<extra></extra>",
        xgap=gap,
        ygap=gap,
    )


def pair_layout(names: Sequence[str], room: tuple[int, int], right: float) -> dict[str, Any]:
    """Return the layout of a square of pairs; `room` names fit down and across."""
    size = {"size": SMALL_FONT}
    edge = (-0.5, len(names) - 0.5)
    short = style.short_names(names, 14 if len(names) <= FEW else 9)
    every = range(len(names))

    def named(most: int, texts: Sequence[str]) -> dict[str, Any]:
        """Name every variable, or every second, third, ... if room is short."""
        shown = every[:: max(1, -(-len(names) // most))]
        texts = style.escaped([texts[at] for at in shown])
        return {"tickvals": list(shown), "ticktext": texts}

    full = named(_MOST, names)
    ticks = [named(most, short) for most in room]
    down, across = (each if each == full else {**each, "full": full} for each in ticks)
    x = style.axis("", *edge, showgrid=False, tickangle=-90, tickfont=size, **across)
    y = style.axis("", *reversed(edge), showgrid=False, tickfont=size, **down)
    made = style.layout(x, y, right=right)
    made["margin"]["b"] = round(style.widest(across["ticktext"]) * SMALL_FONT / style.FONT + 16)
    return made


def colorbar(ends: Sequence[float], texts: Sequence[str]) -> dict[str, Any]:
    """Return a thin color bar with ticks at some values."""
    return {
        "thickness": 10,
        "len": 1,
        "outlinewidth": 0,
        "ypad": 0,
        "tickvals": list(ends),
        "ticktext": list(texts),
        "tickfont": {"size": SMALL_FONT},
    }


def pair_table(
    names: Sequence[str], columns: Mapping[str, ArrayLike], rank: int | None = None
) -> dict[str, Any]:
    """Return every pair of variables; columns are squares. Cut tables are ranked by a column."""
    first, second = np.triu_indices(len(names), 1)
    labels = np.array(names, dtype=object)
    cells = [np.asarray(square)[first, second] for square in columns.values()]
    return table(["variable", "with", *columns], [labels[first], labels[second], *cells], rank=rank)


def pair_texts(names: Sequence[str], band: Band | None, *, above: bool) -> list[list[str]]:
    """Return the names of all pairs, with the range of draws on one side of the diagonal."""
    safe = style.escaped(names)
    pairs = iter([f"{row} × {column}" for row, column in product(safe, safe)])
    texts = list(map(list, zip(*[pairs] * len(safe), strict=True)))
    if band is not None:
        side = np.triu_indices(len(safe), 1)
        for i, j in zip(*(side if above else side[::-1]), strict=True):
            texts[i][j] += f" (draws {range_text(band.low[i, j], band.high[i, j], 2)})"
    return texts
