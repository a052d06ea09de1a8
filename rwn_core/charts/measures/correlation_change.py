"""Change of the correlations: this draw below the diagonal, the expected one above."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts.bands import NAME, Drawn, columns, marks
from rwn_core.charts.parts.signed_heatmap import (
    GAPS,
    color_span,
    pair_layout,
    pair_table,
    pair_texts,
    signed_heatmap,
)
from rwn_core.charts.parts.style import Chart, chart, number
from rwn_core.evaluation.draws import Band
from rwn_core.measures.measure import Reading

_ROOM = 15, 19
"""How many names can be read down and across."""


def draw(
    reading: Reading, expected: NDArray[Any] | None = None, drawn: Drawn | None = None
) -> Chart:
    """Draw released less original as a heatmap."""
    # `expected` has shape (m, m); without it the draw fills both halves. `drawn` has the band
    # "released".
    detail = reading.detail
    names = [str(name) for name in detail["names"]]
    original = np.asarray(detail["original"], dtype=float)
    change = np.asarray(detail["released"], dtype=float) - original
    setting = change if expected is None else np.asarray(expected, dtype=float) - original
    square = np.tril(change, -1) + np.triu(setting, 1)
    np.fill_diagonal(square, np.nan)
    band = None if drawn is None else _moved(drawn["released"], original)
    outside = np.zeros(square.shape, dtype=bool) if band is None else band.outside(change)
    outside &= np.tril(np.ones(square.shape, dtype=bool), -1)
    gap = 1 if len(names) <= GAPS else 0
    halves = "◣ draw" if expected is None else "◣ draw · expected ◥"
    count = int(outside.sum())
    beyond = f"{count} pairs are outside {NAME}"
    return chart(
        "correlation_change",
        "Change of correlations",
        halves if band is None else f"{halves} · ○ {count} outside",
        f"Heatmap of released less original correlations of {len(names)} variables; "
        f"{_worst(change, names)}" + ("" if band is None else f"; {beyond}"),
        data=[
            signed_heatmap(
                square,
                color_span(square),
                pair_texts(names, band, above=False),
                "%{z:+.3f}",
                gap=gap,
            ),
            *marks(outside),
        ],
        layout=pair_layout(names, _ROOM, 48),
        table=_pairs(names, original, change, None if expected is None else setting, band),
    )


def _moved(band: Band, original: NDArray[Any]) -> Band:
    """Return the band of the changes from that of the released correlations."""
    low, median, high = (end - original for end in (band.low, band.median, band.high))
    return Band(low=low, median=median, high=high)


def _worst(change: NDArray[Any], names: list[str]) -> str:
    lower = np.abs(np.where(np.tril(np.ones(change.shape, dtype=bool), -1), change, np.nan))
    if not np.isfinite(lower).any():
        return "no pair is defined"
    i, j = np.unravel_index(np.nanargmax(lower), lower.shape)
    return f"the largest is {number(float(change[i, j]))}, of {names[j]} with {names[i]}"


def _pairs(
    names: list[str],
    original: NDArray[Any],
    change: NDArray[Any],
    setting: NDArray[Any] | None,
    band: Band | None,
) -> dict[str, Any]:
    made = {"original": original, "change of this draw": change}
    if setting is not None:
        made["expected change"] = setting
    if band is not None:
        made |= zip(*columns(band), strict=True)
        made["this draw"] = np.where(band.outside(change), "outside", "inside")
    return pair_table(names, made, rank=3)
