"""Relations between variables, and the variance of their principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts.bands import NAME, Drawn, area, columns, marks
from rwn_core.charts.parts.signed_heatmap import (
    GAPS,
    color_span,
    colorbar,
    name_ticks,
    pair_layout,
    pair_table,
    pair_texts,
    signed_heatmap,
)
from rwn_core.charts.parts.style import (
    SIDES,
    Chart,
    axis,
    chart,
    floats,
    heatmap,
    layout,
    line,
    number,
    percent,
    points,
)
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.draws import Band
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.relations import Components, Relations

# Correlations as a heatmap and its colors: original below the diagonal, released above

# Red for positive, blue for negative; rwn_ui/panel/card.js has the colors of a dark page.
_SCALE = [
    [0.0, "rgb(33,102,172)"],
    [0.25, "rgb(146,197,222)"],
    [0.5, "rgb(242,242,242)"],
    [0.75, "rgb(244,165,130)"],
    [1.0, "rgb(178,24,43)"],
]
_COEFFICIENTS = "Pearson’s correlation", "correlation ratio", "Cramér’s V"
"""By how many of a pair are categories."""
_LEGEND = (
    "Two numbers: Pearson’s correlation, −1 to 1. A number and a category: correlation ratio, 0 to "
    "1. Two categories: Cramér’s V, 0 to 1. The last two are corrected for the number of levels."
)


_ROOM = 40, 40
"""Number of names down and across; a small card leaves out every second, third, ... of them."""


def draw_correlation(reading: Reading[Relations], drawn: Drawn | None = None) -> Chart:
    """Draw the correlation matrices as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    names = detail.names
    return chart(
        "correlation",
        "Correlations",
        "◣ original · released ◥",
        f"Heatmap of the {detail.pairs} correlations of {len(names)} variables, original below "
        f"and released above the diagonal; mean absolute change "
        f"{number(detail.mean_absolute_change)}, {detail.sign_changes} changed sign",
        **_square(detail, names, drawn),
    )


def draw_association(reading: Reading[Relations], drawn: Drawn | None = None) -> Chart:
    """Draw the association of all variables as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    names = detail.names
    made = _square(detail, names, drawn)
    # pairs with their coefficient and its change
    texts = made["data"][0]["text"]
    change = detail.released - detail.original
    kinds = np.asarray(detail.coefficient).tolist()
    made["data"][0]["text"] = [
        [
            f"{text}<br>{_COEFFICIENTS[kind]}, change {_signed(moved)}"
            for text, kind, moved in zip(*row, strict=True)
        ]
        for row in zip(texts, kinds, change.tolist(), strict=True)
    ]
    made["table"]["caption"] = " ".join(filter(None, (_LEGEND, made["table"].get("caption"))))
    return chart(
        "association",
        "Associations",
        "◣ original · released ◥",
        f"Heatmap of the association of {detail.pairs} pairs of {len(names)} variables, "
        f"original below and released above the diagonal; mean absolute change "
        f"{number(detail.mean_absolute_change)}. {_LEGEND}",
        **made,
    )


def _signed(change: float) -> str:
    return f"{change:+.2f}".replace("-", "−") if np.isfinite(change) else "–"


def _square(detail: Relations, names: Sequence[str], drawn: Drawn | None) -> dict[str, Any]:
    full_ticks = name_ticks(names, 60, 30)
    # every pair of variables; cut tables hold the most changed
    before, after = detail.original, detail.released
    made = {"original": before, "released": after, "absolute change": np.abs(after - before)}
    if detail.coefficient is not None:
        made["measured by"] = np.array(_COEFFICIENTS, dtype=object)[detail.coefficient]
    if drawn is not None:
        made |= zip(*columns(drawn["released"]), strict=True)
    return {
        "data": [_heatmap(detail, names, drawn)],
        "layout": pair_layout(names, _ROOM, 44),
        "large": {"xaxis": full_ticks, "yaxis": full_ticks},
        "table": pair_table(names, made, rank=4),
    }


def _heatmap(detail: Relations, names: Sequence[str], drawn: Drawn | None) -> dict[str, Any]:
    square = np.tril(detail.original, -1)
    square += np.triu(detail.released, 1)
    np.fill_diagonal(square, np.nan)
    gap = 1 if len(names) <= GAPS else 0
    return heatmap(
        np.round(square, 3),
        (-1, 1),
        _SCALE,
        colorbar=colorbar([-1, 0, 1], ["−1", "0", "1"]),
        text=pair_texts(names, None if drawn is None else drawn["released"], above=True),
        hovertemplate="%{text}: %{z:.2f}<extra></extra>",
        xgap=gap,
        ygap=gap,
    )


# Change of the correlations: this draw below the diagonal, the expected one above

_CHANGE_ROOM = 15, 19
"""How many names can be read down and across."""


def draw_correlation_change(
    reading: Reading[Relations], expected: NDArray[Any] | None = None, drawn: Drawn | None = None
) -> Chart:
    """Draw released less original as a heatmap."""
    # `expected` has shape (m, m); without it the draw fills both halves. `drawn` has the band
    # "released".
    detail = reading.detail
    names = detail.names
    original = detail.original
    change = detail.released - original
    setting = change if expected is None else np.asarray(expected, dtype=float) - original
    square = np.tril(change, -1) + np.triu(setting, 1)
    np.fill_diagonal(square, np.nan)
    band = None
    if drawn is not None:  # of the changes, from that of the released correlations
        low, middle, high = (getattr(drawn["released"], e) for e in ("low", "median", "high"))
        band = Band(low=low - original, median=middle - original, high=high - original)
    outside = np.zeros(square.shape, dtype=bool) if band is None else band.outside(change)
    outside &= np.tril(np.ones(square.shape, dtype=bool), -1)
    gap = 1 if len(names) <= GAPS else 0
    halves = "◣ draw" if expected is None else "◣ draw · expected ◥"
    count = int(outside.sum())
    beyond = f"{count} pairs are outside {NAME}"
    made = {"original": original, "change of this draw": change}
    if expected is not None:
        made["expected change"] = setting
    if band is not None:
        made |= zip(*columns(band), strict=True)
        made["this draw"] = np.where(band.outside(change), "outside", "inside")
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
        layout=pair_layout(names, _CHANGE_ROOM, 48),
        table=pair_table(names, made, rank=3),
    )


def _worst(change: NDArray[Any], names: Sequence[str]) -> str:
    # Shapes: change (p, p), in the order of the p names.
    lower = np.abs(np.where(np.tril(np.ones(change.shape, dtype=bool), -1), change, np.nan))
    if not np.isfinite(lower).any():
        return "no pair is defined"
    i, j = map(int, np.unravel_index(np.nanargmax(lower), lower.shape))
    return f"the largest is {number(float(change[i, j]))}, of {names[j]} with {names[i]}"


# Share of the variance of the first principal components, before and after

_HOVER = "first %{x}: %{y:.1%}<extra>%{fullData.name}</extra>"


def draw_principal_components(reading: Reading[Components], drawn: Drawn | None = None) -> Chart:
    """Draw the cumulative shares of variance; `drawn` has their bands."""
    detail = reading.detail
    shares = dict(zip(SIDES, (detail.share_original, detail.share_released), strict=True))
    sums = {side: np.cumsum(share) for side, share in shares.items()}
    order = np.arange(1, len(shares["original"]) + 1)
    first = {side: percent(share[0]) for side, share in shares.items()}
    band, traces, words = None, [], ""
    if drawn is not None:
        band, alone = drawn["cumulative_released"], drawn["share_released"]
        traces = [area(order, band.low, band.high)]
        low, high = (percent(float(end[0]), 1) for end in (alone.low, alone.high))
        words = f"; in {NAME} {low} to {high}"  # of the first component's share
    for side, total in sums.items():
        released = side == "released"
        curve = line(order, floats(total), released=released, hovertemplate=_HOVER)
        curve["mode"] = "lines+markers" if len(order) <= 20 else "lines"
        curve["marker"] = points([], [], released=released)["marker"] | {"opacity": 1}
        traces.append(curve)
    least = np.floor(min(sums["original"][0], sums["released"][0]) * 10 - 0.2) / 10
    return chart(
        "principal_components",
        "Principal components",
        f"PC1 {first['original']} → {first['released']}",
        "Cumulative share of the variance held by the principal components; the first holds "
        f"{first['original']} in the original and {first['released']} in the release{words}",
        data=traces,
        layout=layout(
            axis("components", 0.5, len(order) + 0.5, count=min(7, len(order))),
            axis("cumulative variance", max(least, 0.0), 1.03, share=True),
        ),
        large={"legend": True},
        table=table(
            [
                "component",
                "share, original",
                "share, released",
                "cumulative, original",
                "cumulative, released",
                *([] if band is None else columns(band, "cumulative, ")[0]),
            ],
            [order, *shares.values(), *sums.values(), *([] if band is None else columns(band)[1])],
        ),
    )
