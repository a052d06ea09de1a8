"""Distribution of record-level risk."""

import numpy as np

from rwn_core.charts.parts.style import (
    NEUTRAL,
    RELEASED,
    Chart,
    above,
    axis,
    chart,
    label,
    largest,
    layout,
    outline,
    percent,
    vertical,
)
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_BINS = 20
_MARKS = (0.5, 0.9)


def draw(reading: Reading) -> Chart:
    """Draw the distribution of the probability that a record is linked to its own row."""
    detail = reading.detail
    truth = np.asarray(detail["truth"], dtype=float)
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    counts, _ = np.histogram(truth, edges)
    top = above(1.12 * largest(counts, [1]))
    above_half, above_most = detail["above_half"], detail["above_nine_tenths"]
    sample = f", of a sample of {len(truth):,} rows" if detail["sampled"] else ""
    drawn = outline(edges, counts, released=True, fill=f"{RELEASED}33")
    drawn["line"] |= {"dash": "solid"}
    drawn["hovertemplate"] = "from %{x:.2f}: %{y} records<extra></extra>"
    return chart(
        "record_risk",
        "Risk of each record",
        f"{percent(above_half)} over 1/2 · {percent(above_most)} over 0.9"
        + (" · sample" if detail["sampled"] else ""),
        f"Distribution of the probability, one row at a time, that a record's row is known as its "
        f"own; {percent(above_half, 1)} of the records exceed one half{sample}",
        data=[drawn],
        layout=layout(
            axis("probability of the true source", -0.02, 1.04),
            axis("records", 0, top),
            shapes=[vertical(mark, NEUTRAL, "dot") for mark in _MARKS],
            annotations=[
                label(f"> {mark:g}", mark, top, NEUTRAL, xanchor="right", yanchor="top", xshift=-2)
                for mark in _MARKS
            ],
        ),
        table=table(
            ["from", "to", "records", "records in all"],
            [edges[:-1], edges[1:], counts, np.cumsum(counts)],
        ),
    )
