"""Precision and recall of an intruder who links sure rows only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading


def draw(reading: Reading) -> style.Chart:
    """Draw expected precision over recall, with all variables and by the keys."""
    detail = reading.detail
    sure, keys = style.percent(detail["sure"]), detail["keys"]["at_sure"]
    sample = " · sample" if detail["sampled"] else ""
    return style.chart(
        "precision_recall",
        "Linked with certainty",
        f"{style.percent(reading.value, 1)} at {sure} · keys {style.percent(keys, 1)}{sample}",
        f"Expected share of right links over the share of rows that are linked, the surest first: "
        f"{style.percent(reading.value, 1)} of the rows are linked with {sure} right, by the keys "
        "alone "
        f"{style.percent(keys, 1)}",
        data=[
            _trace(detail["keys"], "by the keys", style.NEUTRAL, "dot"),
            _trace(detail["all"], "all variables", style.RELEASED, "solid"),
        ],
        layout=style.layout(
            style.axis("rows that are linked, the surest first", 0, 1.04, share=True),
            style.axis("links that are right", 0, 1.06, share=True),
            shapes=[style.horizontal(detail["sure"], style.NEUTRAL, "dot")],
            annotations=_labels(detail["keys"]),
        ),
        large={"legend": True},
        table=_table(detail),
    )


def _trace(curve: Mapping[str, Any], name: str, color: str, dash: str) -> style.Trace:
    recall = np.concatenate((np.zeros(min(1, len(curve["recall"]))), curve["recall"]))
    precision = np.concatenate((curve["precision"][:1], curve["precision"]))
    drawn = style.line(style.floats(recall), style.floats(precision), released=True, name=name)
    drawn["line"] |= {"color": color, "dash": dash}
    drawn["hovertemplate"] = "%{x:.1%} linked, %{y:.1%} right<extra>%{fullData.name}</extra>"
    return drawn


def _labels(curve: Mapping[str, Any]) -> list[style.Label]:
    """Name the lower curve, below its end."""
    if not len(curve["recall"]):
        return []
    place = (float(curve["recall"][-1]), float(curve["precision"][-1]))
    side = "left" if place[0] < 0.5 else "right"  # within the picture
    return [style.label("by the keys", *place, style.NEUTRAL, xanchor=side, yanchor="top")]


def _table(detail: Mapping[str, Any]) -> dict[str, Any]:
    sides = [("all variables", detail["all"]), ("by the keys", detail["keys"])]
    known = [name for name, curve in sides for _ in curve["tau"]]
    cells = [np.concatenate([curve[key] for _, curve in sides]) for key in _COLUMNS]
    return table(["known", *_COLUMNS.values()], [known, *cells])


_COLUMNS = {"tau": "linked from probability", "recall": "share linked", "precision": "right"}
