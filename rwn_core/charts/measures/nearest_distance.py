"""Distance to the nearest record of the same file, before and after."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import Drawn, range_text
from rwn_core.charts.parts.tables import paired
from rwn_core.measures.measure import Reading

_OUTLIERS = 40


def draw(reading: Reading, drawn: Drawn | None = None) -> style.Chart:
    """Draw two box plots, whiskers at most 1.5 interquartile ranges long."""
    detail = reading.detail
    values = [np.asarray(detail[side], dtype=float) for side in style.SIDES]
    values = [v[np.isfinite(v)] for v in values]
    band = None if drawn is None else drawn["value"]
    draws = "" if band is None else f" · draws {range_text(band.low, band.high)}"
    medians = [style.number(reading.baseline), style.number(reading.value)]
    traces = [trace for i in (1, 0) for trace in _box(values[i], released=bool(i))]
    return style.chart(
        "nearest_distance",
        "Nearest distance",
        f"median {medians[0]} → {medians[1]}" + draws + (" · sample" if detail["sampled"] else ""),
        "Box plots of the distance to the nearest record of the same file; the median is "
        f"{medians[0]} in the original and {medians[1]} in the release{_sample(detail)}",
        data=traces,
        layout=style.layout(
            style.axis(
                "distance to the nearest record (SD)", 0, style.above(1.03 * style.largest(*values))
            ),
            style.axis("", -0.6, 1.6, tickvals=[1, 0], ticktext=list(style.SIDES), showgrid=False),
        ),
        table=paired(detail, f"distance to the nearest record{_sample(detail)}"),
    )


def _sample(detail: Mapping[str, Any]) -> str:
    """Return the size of the sample in words; empty for all records."""
    if not detail["sampled"]:
        return ""
    return f" (a sample of {len(detail['original']):,} of {detail['of']:,} records)"


def _box(values: NDArray[Any], *, released: bool) -> list[style.Trace]:
    """Return one box from its five numbers, and points beyond its whiskers."""
    if not values.size:
        return []
    row = 0 if released else 1
    q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75))
    whisker = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - whisker) & (values <= q3 + whisker)]
    outside = values[(values < q1 - whisker) | (values > q3 + whisker)]
    color = style.RELEASED if released else style.ORIGINAL
    five = style.floats([[q1], [median], [q3], [inside.min()], [inside.max()]])
    box = {
        "type": "box",
        "orientation": "h",
        "name": style.SIDES[released],
        "y": [row],
        "q1": five[0],
        "median": five[1],
        "q3": five[2],
        "lowerfence": five[3],
        "upperfence": five[4],
        "width": 0.5,
        "line": {"color": color, "width": 1.6},
        "fillcolor": f"{color}66" if released else "rgba(0,0,0,0)",
        "hoverinfo": "x",
    }
    far = outside[style.extremes(np.abs(outside - median), _OUTLIERS)]
    beyond = style.points(style.floats(far), np.full(far.size, row), released=released)
    return [box, beyond | {"hovertemplate": "%{x:.2f}<extra></extra>", "showlegend": False}]
