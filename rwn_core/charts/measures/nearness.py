"""Neighborhoods of records, and the distance to the nearest record of the same file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import Drawn, range_text
from rwn_core.charts.parts.style import at_the_edge, beyond_words, clipped
from rwn_core.charts.parts.tables import paired, table
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.nearness import NeighborhoodSizes
from rwn_core.measures.risk.outliers import RecordValues

# Number of donors of each record against the distance of the nearest

_HOVER = "record %{text}: %{x} donors, nearest at %{y:.2f}<extra>%{fullData.name}</extra>"
_CAPTION = (
    "Neighborhoods belong to the setting: they are the same in every draw, unless candidates are "
    "random (sample, pairs, partition)."
)
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def draw_neighborhood_size(reading: Reading[NeighborhoodSizes]) -> style.Chart:
    """Draw the neighborhood sizes against nearest distances in standard deviations."""
    detail = reading.detail
    sizes, nearest, by_k, k = detail.sizes.round(2), detail.nearest, detail.governed_by_k, detail.k
    epsilon: Any = detail.epsilon
    soft = k is None and epsilon is None  # a kernel weighs all others
    epsilon = epsilon if np.ndim(epsilon) == 0 else None  # radii of records are no line
    low, high = (
        0.8,
        style.above(1.1 * style.largest(sizes, [10])),
    )  # the same start wherever the sliders are
    bulk = clipped(nearest)
    top = style.above(1.08 * style.largest(nearest if bulk is None else [bulk], [epsilon or 0.0]))
    beyond = beyond_words(nearest, top)
    share = style.percent(detail.share_governed_by_k)
    median = f"{detail.median:,.{'3g' if soft else '5g'}}"
    what = "effective number of donors" if soft else "neighborhood size"
    by = "" if soft else f", and k governs {share} of the records"
    # lines and names of the radius and of k, and words for values beyond the top
    shapes: list[dict[str, Any]] = []
    labels: list[style.Label] = []
    if epsilon:
        shapes.append(style.horizontal(epsilon, style.EPSILON, "dash"))
        side = "top" if epsilon > 0.9 * top else "bottom"
        # where few records are: left of k, or right of it
        at, edge = (0, "left") if (k or 0) > 3 else (1, "right")
        text = f"ε = {epsilon:g}"
        labels.append(
            style.label(text, at, epsilon, style.EPSILON, xref="paper", xanchor=edge, yanchor=side)
        )
    if k:
        shapes.append(style.vertical(k, style.NEUTRAL, "dot"))
        # On a logarithmic axis Plotly places texts, unlike lines, by the exponent.
        place: dict[str, Any] = {"yref": "paper", "xanchor": "left", "yanchor": "top"}
        labels.append(style.label(f"k = {k}", math.log10(k), 1, style.NEUTRAL, **place))
    if beyond:
        labels.append(style.corner(f"▲ {beyond}", style.NEUTRAL, yshift=-8))
    lines: dict[str, Any] = {"shapes": shapes, "annotations": labels}
    return style.chart(
        "neighborhood_size",
        "Neighborhood size",
        f"median {median} effective donors" if soft else f"median {median} · k sets {share} ◇",
        f"Nearest distance against {what} of {len(sizes):,} records; the median "
        f"{'number' if soft else 'size'} is {median}{by}" + (f"; {beyond}" if beyond else ""),
        data=_cloud(sizes, nearest, by_k, (low, high, top), "kernel" if soft else "radius"),
        layout=style.layout(
            _size_axis(low, high, what if soft else "donor records"),
            style.axis("nearest distance", 0, top),
            **lines,
        ),
        large={"legend": True},
        table=_table(sizes, nearest, by_k, what),
    )


def _table(
    sizes: NDArray[Any], nearest: NDArray[Any], by_k: NDArray[np.bool_], what: str
) -> dict[str, Any]:
    # Shapes: sizes, nearest, by_k (n,).
    made = table(
        ["record", what, "nearest distance", "governed by k"],
        [np.arange(1, len(sizes) + 1), sizes, nearest, np.where(by_k, "yes", "no")],
        rank=2,
    )
    return made | {"caption": " ".join([_CAPTION, made.get("caption", "")]).strip()}


def _size_axis(low: float, high: float, title: str) -> dict[str, Any]:
    """Return a logarithmic axis with ticks at 1, 2 and 5 times the powers of ten."""
    inside = [t for t in _TICKS if low <= t <= high]
    ticks = inside if len(inside) <= 7 else [t for t in inside if str(t)[0] == "1"]
    span = math.log10(low), math.log10(high)
    texts = [f"{tick:,}" for tick in ticks]
    return style.axis(title, *span, type="log", tickvals=ticks, ticktext=texts)


def _cloud(
    sizes: NDArray[Any],
    nearest: NDArray[Any],
    by_k: NDArray[np.bool_],
    frame: tuple[float, float, float],
    governor: str,
) -> list[style.Trace]:
    """Return hollow points, diamonds if k governs; from 2,000 records on a density and extremes."""
    # Shapes: sizes, nearest, by_k (n,).
    shown = np.arange(len(sizes))
    hover = _HOVER.replace("donors", "effective donors") if governor == "kernel" else _HOVER
    traces: list[style.Trace] = []
    if len(sizes) >= style.CLOUD_POINTS:
        low, high, top = frame
        edges = np.geomspace(low, high, 61), np.linspace(0, top, 31)
        traces.append(style.density(sizes, nearest, style.ORIGINAL, edges))
        shown = style.extremes(nearest)
    for name, rows in ((governor, shown[~by_k[shown]]), ("k", shown[by_k[shown]])):
        cloud = style.points(sizes[rows], style.floats(nearest[rows]), released=False)
        cloud |= {"name": f"governed by {name}", "text": rows + 1, "hovertemplate": hover}
        if name == "k":
            cloud["marker"] |= {"size": 7, "color": style.NEUTRAL, "symbol": "diamond-open"}
        traces += at_the_edge(cloud, "y", frame[2])
    return traces


# Distance to the nearest record of the same file, before and after

_OUTLIERS = 40


def draw_nearest_distance(
    reading: Reading[RecordValues], drawn: Drawn | None = None
) -> style.Chart:
    """Draw two box plots, whiskers at most 1.5 interquartile ranges long."""
    detail = reading.detail
    values = [v[np.isfinite(v)] for v in (detail.original, detail.released)]
    band = None if drawn is None else drawn["value"]
    draws = "" if band is None else f" · draws {range_text(band.low, band.high)}"
    medians = [style.number(reading.baseline), style.number(reading.value)]
    traces = [trace for i in (1, 0) for trace in _box(values[i], released=bool(i))]
    return style.chart(
        "nearest_distance",
        "Nearest distance",
        f"median {medians[0]} → {medians[1]}" + draws + (" · sample" if detail.sampled else ""),
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


def _sample(detail: RecordValues) -> str:
    """Return the size of the sample in words; empty for all records."""
    if not detail.sampled:
        return ""
    return f" (a sample of {len(detail.original):,} of {detail.of:,} records)"


def _box(values: NDArray[Any], *, released: bool) -> list[style.Trace]:
    """Return one box from its five numbers, and points beyond its whiskers."""
    # Shapes: values (m,).
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
