"""A figure of the 2022 paper: means of releases over a lever, and the unperturbed values."""

from __future__ import annotations

from itertools import chain, cycle, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, area
from rwn_core.measures.drawing.tables import table

if TYPE_CHECKING:  # charts are drawn by commands that compute no figure
    from rwn_core.evaluation.figure_curves import FigureCurves

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#7A3E9D", "#8A6D00", "#777777")


def draw(curves: FigureCurves) -> style.Chart:
    """Draw a curve with its band for each name, and a line for each unperturbed value."""
    names = list(curves.values)
    at = curves.at
    drawn = [curves.mean(name) if (band := curves.band(name)) is None else band for name in names]
    seen = [*curves.original.values(), *np.concatenate(drawn).flat]
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    rim = 0.06 * ((high - low) or 1.0)
    wide = float(at[-1] - at[0]) or 1.0
    pale = "" if curves.band(names[0]) is None else f" · pale: {NAME}"
    room = 0.3 if len(names) > 1 else 0.06  # for the curves' names
    return style.chart(
        "figure_curves",
        curves.title,
        f"dashed: {_mean(curves)} · solid: unperturbed{pale}",
        f"Curves of {', '.join(names)} over {curves.lever}, each with the unperturbed value as a "
        "line",
        data=list(chain.from_iterable(_traces(curves, each) for each in range(len(names)))),
        layout=style.layout(
            style.axis(style.escape(curves.lever), at[0] - 0.06 * wide, at[-1] + room * wide),
            style.axis(style.escape(curves.axis), low - rim, high + rim),
            annotations=_names(curves, (low, high)) + _records(curves),
        ),
        large={"legend": True},
        table=_table(curves),
    )


def _mean(curves: FigureCurves) -> str:
    return "1 release" if curves.releases == 1 else f"mean of {curves.releases:,} releases"


def _traces(curves: FigureCurves, number: int) -> list[style.Trace]:
    name = list(curves.values)[number]
    at = curves.at
    single = len(curves.values) == 1  # in the colors of all charts
    own = _COLORS[number % len(_COLORS)]
    color, before = (style.RELEASED, style.ORIGINAL) if single else (own, own)
    band = curves.band(name)
    pale = [] if band is None else [area(at, *band) | {"fillcolor": f"{color}1F"}]
    mean = style.line(at, style.floats(curves.mean(name)), released=True, line={"color": color})
    flat = style.floats(np.full(len(at), curves.original[name]))
    itself = style.line(at, flat, released=False, line={"color": before, "width": 1.2})
    return [
        *(each | {"showlegend": False} for each in pale),
        mean | {"name": style.escape(name), "hovertemplate": "%{x:g}: %{y:.4g}"},
        itself | {"name": f"{style.escape(name)}, unperturbed"},
    ]


def _names(curves: FigureCurves, ends: tuple[float, float]) -> list[style.Label]:
    """Write each name after the end of its curve, none over another."""
    names = list(curves.values)
    if len(names) == 1:  # the title says which
        return []
    first_words = {name.partition(" ")[0] for name in names}
    shared = len(next(iter(first_words))) + 1 if len(first_words) == 1 else 0
    gap = 0.06 * (ends[1] - ends[0])
    heights = np.array([curves.mean(name)[-1] for name in names])
    for lower, upper in pairwise(np.argsort(heights)):
        heights[upper] = max(heights[upper], heights[lower] + gap)
    end = float(curves.at[-1])
    place: dict[str, Any] = {"xanchor": "left", "yanchor": "middle", "xshift": 5}
    texts = style.escaped([name[shared:] for name in names])
    shown = zip(texts, heights.tolist(), cycle(_COLORS), strict=False)
    return [style.label(text, end, up, color, **place) for text, up, color in shown]


def _records(curves: FigureCurves) -> list[style.Label]:
    """Write the number of the record with the maximum: of the original, and at each position."""
    if not curves.records:
        return []
    (name,) = curves.values
    first = float(curves.at[0])
    means = zip(curves.records, curves.at.tolist(), curves.mean(name).tolist(), strict=True)
    look: Any = {"color": style.RELEASED, "yanchor": "bottom", "yshift": 3}
    marks = [style.label(f"no. {most}", x, y, **look) for (most, _), x, y in means]
    original = f"unperturbed: no. {curves.original_record}"
    place: dict[str, Any] = {"xanchor": "left", "yanchor": "top"}
    return [*marks, style.label(original, first, curves.original[name], style.ORIGINAL, **place)]


def _table(curves: FigureCurves) -> dict[str, object]:
    at = curves.at
    names = list(curves.values)
    columns = ["curve", curves.lever, "unperturbed", "mean"]
    cells: list[object] = [
        np.repeat(names, len(at)),
        np.tile(at, len(names)),
        np.repeat([curves.original[name] for name in names], len(at)),
        np.concatenate([curves.mean(name) for name in names]),
    ]
    bands = [band for name in names if (band := curves.band(name)) is not None]
    if bands:
        columns += [f"{NAME}, from", f"{NAME}, to"]
        cells += [np.concatenate([band[end] for band in bands]) for end in (0, 1)]
    if curves.records:
        columns += ["record", "share of releases in which it is the largest"]
        cells += [list(part) for part in zip(*curves.records, strict=True)]
    return table(columns, cells)  # type: ignore[arg-type]


def draw_boxes(curves: FigureCurves) -> style.Chart:
    """Draw a box plot at each position, its five numbers averaged over releases."""
    at = curves.at
    step = float(np.diff(at).min()) if len(at) > 1 else 1.0
    means = np.array([curves.mean(name) for name in curves.values])
    before = np.array(list(curves.original.values()))
    first = float(at[0]) - step
    top = style.above(1.03 * style.largest(means, before))
    median = float(np.sort(before)[len(before) // 2])
    ticks: dict[str, Any] = {
        "tickvals": [first, *at.tolist()],
        "ticktext": ["original", *(f"{x:g}" for x in at)],
    }
    return style.chart(
        "figure_boxes",
        curves.title,
        f"five numbers, {_mean(curves)} · line: unperturbed median",
        f"Box plots of the distance to the nearest record, of the original and over {curves.lever}",
        data=[
            _boxes(np.array([first]), before[:, None], step, released=False),
            _boxes(at, means, step, released=True),
        ],
        layout=style.layout(
            style.axis(style.escape(curves.lever), first - step, float(at[-1]) + step, **ticks),
            style.axis(style.escape(curves.axis), 0, top),
            shapes=[style.horizontal(median, style.ORIGINAL, "dot")],
        ),
        large={"legend": True},
        table=_table(curves),
    )


def _boxes(at: Floats, numbers: Floats, step: float, *, released: bool) -> style.Trace:
    """Return boxes and whiskers as one line with gaps; `numbers` has five rows, ascending."""
    # Shapes: at (b,); numbers (5, b).
    xs: list[float] = []
    ys: list[float] = []
    half = 0.3 * step
    gap = float("nan")
    for x, (low, q1, median, q3, high) in zip(at.tolist(), numbers.T.tolist(), strict=True):
        xs += [x, x, gap, x - half, x + half, x + half, x - half, x - half, gap]
        ys += [low, q1, gap, q1, q1, q3, q3, q1, gap]
        xs += [x - half, x + half, gap, x, x, gap]
        ys += [median, median, gap, q3, high, gap]
    made = style.line(style.floats(xs), style.floats(ys), released=released)
    made["line"] |= {"dash": "solid"}
    return made
