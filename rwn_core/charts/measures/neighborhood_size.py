"""Number of donors of each record against the distance of the nearest."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.style import at_the_edge, beyond_words, clipped
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_HOVER = "record %{text}: %{x} donors, nearest at %{y:.2f}<extra>%{fullData.name}</extra>"
_CAPTION = (
    "Neighborhoods belong to the setting: they are the same in every draw, unless candidates are "
    "random (sample, pairs, partition)."
)
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def draw(reading: Reading) -> style.Chart:
    """Draw the neighborhood sizes against nearest distances in standard deviations."""
    detail = reading.detail
    sizes = np.asarray(detail["sizes"]).round(2)
    nearest = np.asarray(detail["nearest"], dtype=float)
    by_k = np.asarray(detail["governed_by_k"], dtype=bool)
    k, epsilon = detail["k"], detail["epsilon"]
    soft = k is None and epsilon is None  # a kernel weighs all others
    epsilon = epsilon if np.ndim(epsilon) == 0 else None  # radii of records are no line
    low, high = (
        0.8,
        style.above(1.1 * style.largest(sizes, [10])),
    )  # the same start wherever the sliders are
    bulk = clipped(nearest)
    top = style.above(1.08 * style.largest(nearest if bulk is None else [bulk], [epsilon or 0.0]))
    beyond = beyond_words(nearest, top)
    share = style.percent(detail["share_governed_by_k"])
    median = f"{detail['median']:,.{'3g' if soft else '5g'}}"
    what = "effective number of donors" if soft else "neighborhood size"
    by = "" if soft else f", and k governs {share} of the records"
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
            **_lines(k, epsilon, top, beyond),
        ),
        large={"legend": True},
        table=_table(sizes, nearest, by_k, what),
    )


def _table(
    sizes: NDArray[Any], nearest: NDArray[Any], by_k: NDArray[np.bool_], what: str
) -> dict[str, Any]:
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


def _lines(k: int | None, epsilon: float | None, top: float, beyond: str) -> dict[str, Any]:
    """Return lines and names of the radius and of k, and words for values beyond the top."""
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
    return {"shapes": shapes, "annotations": labels}
