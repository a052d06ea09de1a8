"""Correlations as a heatmap and its colors: original below the diagonal, released above.

Correlations of numbers, or the association of any two variables.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwn_core.charts.parts.bands import Drawn, columns
from rwn_core.charts.parts.signed_heatmap import (
    GAPS,
    colorbar,
    name_ticks,
    pair_layout,
    pair_table,
    pair_texts,
)
from rwn_core.charts.parts.style import SIDES, Chart, chart, heatmap, number
from rwn_core.measures.measure import Reading

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


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the correlation matrices as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    names = [str(name) for name in detail["names"]]
    changes, signs = number(detail["mean_absolute_change"]), detail["sign_changes"]
    return chart(
        "correlation",
        "Correlations",
        "◣ original · released ◥",
        f"Heatmap of the {detail['pairs']} correlations of {len(names)} variables, original below "
        f"and released above the diagonal; mean absolute change {changes}, {signs} changed sign",
        **_square(detail, names, drawn),
    )


def draw_association(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the association of all variables as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    names = [str(name) for name in detail["names"]]
    made = _square(detail, names, drawn)
    made["data"][0]["text"] = _which(detail, made["data"][0]["text"])
    made["table"]["caption"] = " ".join(filter(None, (_LEGEND, made["table"].get("caption"))))
    return chart(
        "association",
        "Associations",
        "◣ original · released ◥",
        f"Heatmap of the association of {detail['pairs']} pairs of {len(names)} variables, "
        f"original below and released above the diagonal; mean absolute change "
        f"{number(detail['mean_absolute_change'])}. {_LEGEND}",
        **made,
    )


def _which(detail: Mapping[str, Any], texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the pairs' names with their coefficient and its change."""
    change = np.asarray(detail["released"], dtype=float) - np.asarray(detail["original"])
    kinds = np.asarray(detail["coefficient"]).tolist()
    return [
        [
            f"{text}<br>{_COEFFICIENTS[kind]}, change {_signed(moved)}"
            for text, kind, moved in zip(*row, strict=True)
        ]
        for row in zip(texts, kinds, change.tolist(), strict=True)
    ]


def _signed(change: float) -> str:
    return f"{change:+.2f}".replace("-", "−") if np.isfinite(change) else "–"


def _square(detail: Mapping[str, Any], names: Sequence[str], drawn: Drawn | None) -> dict[str, Any]:
    full_ticks = name_ticks(names, 60, 30)
    return {
        "data": [_heatmap(detail, names, drawn)],
        "layout": pair_layout(names, _ROOM, 44),
        "large": {"xaxis": full_ticks, "yaxis": full_ticks},
        "table": _pairs(detail, names, drawn),
    }


def _heatmap(
    detail: Mapping[str, Any], names: Sequence[str], drawn: Drawn | None
) -> dict[str, Any]:
    square = np.tril(np.asarray(detail["original"], dtype=float), -1)
    square += np.triu(np.asarray(detail["released"], dtype=float), 1)
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


def _pairs(detail: Mapping[str, Any], names: Sequence[str], drawn: Drawn | None) -> dict[str, Any]:
    """Return every pair of variables; cut tables hold the most changed."""
    before, after = (np.asarray(detail[side], dtype=float) for side in SIDES)
    made = {"original": before, "released": after, "absolute change": np.abs(after - before)}
    if "coefficient" in detail:
        made["measured by"] = np.array(_COEFFICIENTS, dtype=object)[detail["coefficient"]]
    if drawn is not None:
        made |= zip(*columns(drawn["released"]), strict=True)
    return pair_table(names, made, rank=4)
