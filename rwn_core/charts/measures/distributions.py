"""Distributions of single variables, and the change of their quantiles."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, area, bars, columns, marks, range_text
from rwn_core.charts.parts.paired_bars import paired_bar
from rwn_core.charts.parts.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.charts.parts.style import Chart, chart, escape, layout, name_axis, number, shorten
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.draws import Band
from rwn_core.measures.measure import BothFiles, Reading
from rwn_core.measures.statistics.distributions import Distances, Marginal

# Distribution of one variable: overlaid steps for numbers, paired bars for categories

_LEVELS = 9
_LOST = "(missing)"


def draw_distribution(
    reading: Reading[Distances], variable: str, drawn: Drawn | None = None
) -> style.Chart:
    """Draw the distribution of one variable; `drawn` has the band "released VARIABLE"."""
    band = None if drawn is None else drawn.get(f"released {variable}")
    shown = reading.detail.variables[variable]
    edges, numeric = shown.edges, shown.edges is not None
    large: dict[str, Any] = {"legend": True}
    if edges is not None:
        note = f"SD {style.number(shown.sd_original)} → {style.number(shown.sd_released)}"
        data, made = _steps(shown, edges, variable, band)
    else:
        note = f"total variation {style.number(shown.difference)}"
        data, made = _bars(shown, band)
        full_names = [style.escape(style.shorten(name, 40)) for name in _common(shown)[0]]
        large["yaxis"] = {"ticktext": full_names}
    measure = "Kolmogorov–Smirnov distance" if numeric else "total variation distance"
    # table of counts of every bin or level, and of the missing values
    if edges is not None:
        first = [f"{a:.6g} to {b:.6g}" for a, b in pairwise(edges.tolist())]
    else:
        first = [str(level) for level in shown.levels]
    cells = [
        [*shown.original.tolist(), shown.missing_original],
        [*shown.released.tolist(), shown.missing_released],
    ]
    more, ends = ([], []) if band is None else columns(band)
    ends = [np.append(end, np.nan) for end in ends]
    counts = table(
        ["bin" if numeric else "level", *style.SIDES, *more], [[*first, _LOST], *cells, *ends]
    )
    return style.chart(
        "distribution",
        f"Distribution of {variable}",
        note,
        f"Distribution of {variable}, original and released; {measure} "
        f"{style.number(shown.difference)}",
        data=data,
        layout=made | {"uirevision": style.escape(variable)},
        large=large,
        table=counts,
    )


def _steps(
    shown: Marginal, edges: NDArray[np.float64], variable: str, band: Band | None
) -> tuple[list[style.Trace], dict[str, Any]]:
    """Return both histograms over the same bins, the original's filled lightly."""
    traces = []
    if band is not None:
        low, high = (np.repeat(end, 2) for end in (band.low, band.high))
        traces.append(area(np.repeat(edges, 2)[1:-1], low, high))
    for released, counts in ((False, shown.original), (True, shown.released)):
        fill = "" if released else f"{style.ORIGINAL}22"
        drawn = style.outline(edges, counts, released=released, fill=fill)
        drawn["line"] |= {"dash": "dot" if released else "solid"}
        drawn["hovertemplate"] = "from %{x:.4g}: %{y}<extra>%{fullData.name}</extra>"
        traces.append(drawn)
    missing, notes, right = _missing(shown, edges)
    tops = [] if band is None else [band.high]
    lost = [shown.missing_original, shown.missing_released]
    top = style.above(1.05 * style.largest(shown.original, shown.released, lost, *tops))
    pad = 0.02 * (edges[-1] - edges[0])
    x = style.axis(style.escape(style.shorten(variable, 40)), edges[0] - pad, right + pad, count=7)
    return [*traces, *missing], style.layout(x, style.axis("records", 0, top), annotations=notes)


def _missing(
    shown: Marginal, edges: NDArray[np.float64]
) -> tuple[list[style.Trace], list[style.Label], float]:
    """Return bars of missing values after the last bin, their name, and the axis end."""
    # Shapes: edges (m,), one more than bins.
    counts = dict(zip(style.SIDES, (shown.missing_original, shown.missing_released), strict=True))
    if not any(counts.values()):
        return [], [], float(edges[-1])
    range_ = float(edges[-1] - edges[0])
    left, width = float(edges[-1]) + 0.08 * range_, max(float(edges[1] - edges[0]), 0.05 * range_)
    traces = []
    for side, count in counts.items():
        corners = [left, left, left + width, left + width]
        bar = style.line(corners, [0, count, count, 0], released=side == "released")
        bar["line"] |= {"dash": "dot" if side == "released" else "solid"}
        bar["hovertemplate"] = "missing: %{y}<extra>%{fullData.name}</extra>"
        if side == "original":
            bar |= {"fill": "tozeroy", "fillcolor": f"{style.ORIGINAL}22"}
        traces.append(bar)
    name = style.label(
        "missing", left + width, max(counts.values()), style.NEUTRAL, xanchor="right"
    )
    return traces, [name], left + width


def _bars(shown: Marginal, band: Band | None) -> tuple[list[style.Trace], dict[str, Any]]:
    """Return paired bars of every level; rare levels are drawn together."""
    names, counts = _common(shown)
    positions = list(range(len(names)))
    traces = []
    for side in style.SIDES:
        filled = side == "released"
        color = style.RELEASED if filled else style.ORIGINAL
        traces.append(
            paired_bar(counts[side], positions, side, color, filled=filled, hover="%{x} records")
        )
    known = len(names) - (names[-1] == _LOST)
    if band is not None and len(band.low) == known:
        traces.append(bars(band.low, band.high, np.array(positions[:known]) + 0.2))
    x = style.axis("records", 0, style.above(1.03 * style.largest(*counts.values())))
    texts = [style.escape(style.shorten(name, 14)) for name in names]
    return traces, style.layout(x, style.name_axis(texts, showgrid=False), barmode="overlay")


def _common(shown: Marginal) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return the levels in order; of many, the most frequent and the others together."""
    # Shapes: each of the answer (m,), of its names.
    levels = [str(level) for level in shown.levels]
    names, known = _most(levels, {"original": shown.original, "released": shown.released})
    if not shown.missing_original and not shown.missing_released:
        return names, known
    return [*names, _LOST], {
        "original": np.append(known["original"], shown.missing_original),
        "released": np.append(known["released"], shown.missing_released),
    }


def _most(
    levels: list[str], counts: dict[str, NDArray[Any]]
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return every level, or the most frequent of many."""
    # Shapes: each of counts (m,), of the levels; in the answer of its names.
    if len(levels) <= _LEVELS + 1:
        return levels, counts
    ranked = np.argsort(-counts["original"], kind="stable")
    frequent, others = np.sort(ranked[:_LEVELS]), ranked[_LEVELS:]
    names = [*(levels[i] for i in frequent), f"{len(others)} others"]
    return names, {side: np.append(c[frequent], c[others].sum()) for side, c in counts.items()}


# Change of each quantile of each variable

_VARIABLES = 16


def draw_quantiles(reading: Reading[BothFiles], drawn: Drawn | None = None) -> Chart:
    """Draw the shift of the quantiles in standard deviations; at most the 16 most moved rows."""
    detail = reading.detail
    names = detail.names
    shift = detail.change
    shares = [f"{100 * share:g} %" for share in detail.columns]
    # the most moved variables, in the order of the table
    rows = np.sort(np.argsort(-np.abs(shift).max(axis=1), kind="stable")[:_VARIABLES])
    shown = [escape(names[row]) for row in rows]
    texts = [[f"{name}, {share}" for share in shares] for name in shown]
    # a band of further draws: a circle on each shift outside, its range under the pointer
    outside = np.zeros(shift.shape, dtype=bool)
    if drawn is not None:
        band = drawn["change"]
        outside = band.outside(shift)
        for text, row in zip(texts, rows, strict=True):
            for j, (low, high) in enumerate(zip(band.low[row], band.high[row], strict=True)):
                text[j] += f" (draws {range_text(low, high, 2)})"
    count = int(outside.sum())
    look: dict[str, Any] = {"showgrid": False, "tickfont": {"size": SMALL_FONT}}
    return chart(
        "quantiles",
        "Shift of quantiles",
        f"mean {number(reading.value)} SD" + ("" if drawn is None else f" · ○ {count} outside"),
        f"Heatmap of how far {len(shares)} quantiles of {len(names)} variables moved, in standard "
        f"deviations; the mean distance is {number(reading.value)}"
        + ("" if drawn is None else f"; {count} shifts are outside {NAME}"),
        data=[
            signed_heatmap(shift[rows], color_span(shift), texts, "%{z:+.3f} SD"),
            *marks(outside[rows]),
        ],
        layout=layout(
            name_axis(shares, "quantile", down=False, **look),
            name_axis([escape(shorten(names[row], 9)) for row in rows], **look),
            right=48,
        ),
        table=table(["variable", *(f"at {share}, SD" for share in shares)], [names, *shift.T]),
    )
