"""What the correlations lost: this draw's change below the diagonal, the expected one above."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.figures.signed_heatmap import SMALL_FONT, signed_heatmap, span_of
from rwn_core.figures.style import (
    FONT,
    Chart,
    axis,
    chart,
    escape,
    layout,
    number,
    shorten,
    widest,
)
from rwn_core.figures.tables import table
from rwn_core.reading import Reading

_ROOM = 15, 19
"""How many names can be read down and across."""
_GAPS = 20


def draw(reading: Reading, expected: NDArray[Any] | None = None) -> Chart:
    """Draw released less original as a heatmap.

    Parameters
    ----------
    reading : Reading of the measure "correlation"
    expected : ndarray of float64, shape (m, m), optional
        Correlations that the setting leads to; the draw's own change fills both halves if it is
        left out.
    """
    detail = reading.detail
    names = [str(name) for name in detail["names"]]
    original = np.asarray(detail["original"], dtype=float)
    drawn = np.asarray(detail["released"], dtype=float) - original
    setting = drawn if expected is None else np.asarray(expected, dtype=float) - original
    square = np.tril(drawn, -1) + np.triu(setting, 1)
    np.fill_diagonal(square, np.nan)
    safe = [escape(name) for name in names]
    texts = [[f"{row} × {column}" for column in safe] for row in safe]
    gap = 1 if len(names) <= _GAPS else 0
    halves = "◣ this draw" if expected is None else "◣ this draw · expected ◥"
    return chart(
        "correlation_change",
        "Change of correlations",
        halves,
        f"Heatmap of released less original correlations of {len(names)} variables; "
        f"{_worst(drawn, names)}",
        data=[signed_heatmap(square, span_of(square), texts, "%{z:+.3f}", gap=gap)],
        layout=_layout(names),
        table=_pairs(names, original, drawn, None if expected is None else setting),
    )


def _worst(change: NDArray[Any], names: list[str]) -> str:
    lower = np.abs(np.where(np.tril(np.ones(change.shape, dtype=bool), -1), change, np.nan))
    if not np.isfinite(lower).any():
        return "no pair is defined"
    i, j = np.unravel_index(np.nanargmax(lower), lower.shape)
    return f"the largest is {number(float(change[i, j]))}, of {names[j]} with {names[i]}"


def _layout(names: list[str]) -> dict[str, Any]:
    size, edge = {"size": SMALL_FONT}, (-0.5, len(names) - 0.5)
    down, across = (_ticks(names, room) for room in _ROOM)
    x = axis("", *edge, showgrid=False, tickangle=-90, tickfont=size, **across)
    y = axis("", *reversed(edge), showgrid=False, tickfont=size, **down)
    made = layout(x, y, right=48)
    made["margin"]["b"] = round(widest(across["ticktext"]) * SMALL_FONT / FONT + 8)
    return made


def _ticks(names: list[str], room: int) -> dict[str, Any]:
    step = max(1, -(-len(names) // room))
    places = list(range(0, len(names), step))
    return {"tickvals": places, "ticktext": [escape(shorten(names[at], 9)) for at in places]}


def _pairs(
    names: list[str], original: NDArray[Any], drawn: NDArray[Any], setting: NDArray[Any] | None
) -> dict[str, Any]:
    first, second = np.triu_indices(len(names), 1)
    labels = np.array(names, dtype=object)
    columns = ["variable", "with", "original", "change of this draw"]
    cells: list[Any] = [
        labels[first],
        labels[second],
        original[first, second],
        drawn[first, second],
    ]
    if setting is not None:
        columns.append("expected change")
        cells.append(setting[first, second])
    return table(columns, cells, rank=3)
