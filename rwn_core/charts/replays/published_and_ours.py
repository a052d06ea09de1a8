"""Published numbers and ours, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

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

    solid = {"dash": "solid"}
    ends = style.segments(ours - reach, ours + reach, at + _APART)
    bars = style.line(*ends, released=True, line=solid, name="may differ by", hoverinfo="skip")
    seen = np.concatenate([printed, ours - reach, ours + reach])
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
            _points(printed, at - _APART, "held against", released=False),
            bars,
            _points(ours, at + _APART, "ours", released=True),
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


def _points(x: ArrayLike, y: ArrayLike, name: str, *, released: bool) -> style.Trace:
    return style.points(style.floats(x), style.floats(y), released=released, name=name)
