"""Distribution of record-level risk."""

from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_BINS = 20
_MARKS = (0.5, 0.9)
_PLACE: dict[str, Any] = {"xanchor": "right", "yanchor": "top", "xshift": -2}


def draw(reading: Reading) -> style.Chart:
    """Draw the distribution of the probability that a record is linked to its own row."""
    detail = reading.detail
    truth = np.asarray(detail["truth"], dtype=float)
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    counts, _ = np.histogram(truth, edges)
    top = style.above(1.12 * style.largest(counts, [1]))
    above_half, above_most = detail["above_half"], detail["above_nine_tenths"]
    sample = f", of a sample of {len(truth):,} rows" if detail["sampled"] else ""
    drawn = style.outline(edges, counts, released=True, fill=f"{style.RELEASED}33")
    drawn["line"] |= {"dash": "solid"}
    drawn["hovertemplate"] = "from %{x:.2f}: %{y} records<extra></extra>"
    return style.chart(
        "record_risk",
        "Risk of each record",
        f"{style.percent(above_half)} over 1/2 · {style.percent(above_most)} over 0.9"
        + (" · sample" if detail["sampled"] else ""),
        f"Distribution of the probability, one row at a time, that a record's row is known as its "
        f"own; {style.percent(above_half, 1)} of the records exceed one half{sample}",
        data=[drawn],
        layout=style.layout(
            style.axis("probability of the true source", -0.02, 1.04),
            style.axis("records", 0, top),
            shapes=[style.vertical(mark, style.NEUTRAL, "dot") for mark in _MARKS],
            annotations=[
                style.label(f"> {mark:g}", mark, top, style.NEUTRAL, **_PLACE) for mark in _MARKS
            ],
        ),
        table=table(
            ["from", "to", "records", "records in all"],
            [edges[:-1], edges[1:], counts, np.cumsum(counts)],
        ),
    )
