"""Published numbers and ours, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table

if TYPE_CHECKING:  # charts are drawn by commands that run no replay
    from rwn_core.evaluation.published_results import Replayed

_APART = 0.13


def draw(replay: Replayed) -> style.Chart:
    """Draw the rows of one unit: hollow for the source, filled for ours with its tolerance."""
    rows = replay.drawn
    at = np.arange(len(rows), dtype=np.float64)
    printed = np.array([row.published.low for row in rows])
    ours = np.array([np.nan if row.ours is None else row.ours.value for row in rows])
    reach = np.array(
        [0.0 if row.ours is None else row.published.tolerance(row.ours) for row in rows]
    )
    ends = np.column_stack([ours - reach, ours + reach, np.full(len(rows), np.nan)])
    heights = np.repeat(at + _APART, 3)
    bars = style.line(style.floats(ends.ravel()), style.floats(heights), released=True)
    bars["line"] |= {"dash": "solid"}
    seen = np.concatenate([printed, ends.ravel()])
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    rim = 0.06 * ((high - low) or 1.0)
    names = [style.escape(row.published.name) for row in rows]
    verdicts = [row.verdict_words for row in rows]
    return style.chart(
        "published_and_ours",
        replay.title,
        "hollow: source · filled: ours, with the tolerance",
        f"Points of {len(rows)} numbers of the source and ours: {'; '.join(replay.counts)}",
        data=[
            style.points(style.floats(printed), style.floats(at - _APART), released=False)
            | {"name": "held against"},
            bars | {"name": "may differ by", "hoverinfo": "skip"},
            style.points(style.floats(ours), style.floats(at + _APART), released=True)
            | {"name": "ours"},
        ],
        layout=style.layout(
            style.axis(style.escape(replay.unit), low - rim, high + rim, count=6),
            style.axis(
                "", len(rows) - 0.5, -0.5, tickvals=at.tolist(), ticktext=names, showgrid=False
            ),
        ),
        large={"legend": True},
        table=table(
            ["number", "held against", "ours", "may differ by", "verdict"],
            [[row.published.name for row in rows], printed, ours, reach, verdicts],
        ),
    )
