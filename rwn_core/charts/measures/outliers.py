"""One value per record against the record's number.

A blue line marks the original's maximum; the records with the two maxima are named.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, range_text, stripe
from rwn_core.charts.parts.style import at_the_edge, beyond_words, clipped
from rwn_core.charts.parts.tables import paired
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.outliers import RecordValues

_HOVER = "record %{x}: %{y:.3g}<extra>%{fullData.name}</extra>"
_HOVER_SHIFTED = "record %{text}: %{y:.3g}<extra>%{fullData.name}</extra>"


def draw(
    reading: Reading[RecordValues], drawn: Drawn | None = None, *, key: str, title: str, unit: str
) -> style.Chart:
    """Draw the values of both files; from 2,000 records on next to each other, as densities."""
    # `drawn` has the band "max_released"; `unit` names the value on the axis.
    detail = reading.detail
    values = [detail.original, detail.released]
    records = [detail.records_original + 1, detail.records_released + 1]
    many = max(map(len, values)) >= style.CLOUD_POINTS
    # large clouds would hide each other: the released one moves to the right
    width = int(max(style.largest(*records), 1))
    shift = [0, int(1.06 * width) if many else 0]
    band = None if drawn is None else drawn["max_released"]
    bulk = clipped(*values)
    top = style.above(
        1.1 * (style.largest(*values, [] if band is None else band.high) if bulk is None else bulk)
    )
    most = detail.max_original
    maxima = [style.number(each) for each in (most, detail.max_released)]
    holders = [detail.argmax_original + 1, detail.argmax_released + 1]
    return style.chart(
        key,
        title,
        f"max {maxima[0]} → {maxima[1]}"
        + ("" if band is None else f" · draws {range_text(band.low, band.high)}"),
        f"{title} of each record; the maximum is {maxima[0]} at record {holders[0]} of the "
        f"original and {maxima[1]} at record {holders[1]} of the release"
        + (f"; {beyond}" if (beyond := beyond_words(np.concatenate(values), top, "point")) else "")
        + ("" if band is None else f"; {NAME} have {range_text(band.low, band.high)}"),
        data=[
            trace
            for i in (0, 1)
            for trace in _cloud(records[i], values[i], shift[i], (width, top), released=bool(i))
        ],
        layout=style.layout(
            _record_axis(width, many),
            style.axis(unit, 0, top),
            shapes=[
                *([] if band is None else [stripe(band.low, band.high)]),
                *([style.horizontal(most, style.ORIGINAL)] if most <= top else []),
                *([style.vertical(1.03 * width, style.NEUTRAL)] if many else []),
            ],
            annotations=_names(detail, shift, top, width + shift[1]),
        ),
        large={"legend": True},
        table=paired(detail, unit),
    )


def _record_axis(width: int, many: bool) -> dict[str, Any]:
    """Return the axis of record numbers, or of two halves for files next to each other."""
    if not many:
        return style.axis("record", -0.02 * width, 1.03 * width)
    halves: dict[str, Any] = {
        "tickvals": [width / 2, 1.56 * width],
        "ticktext": list(style.SIDES),
        "showgrid": False,
    }
    return style.axis("records, in file order", -0.02 * width, 2.08 * width, **halves)


def _cloud(
    records: NDArray[Any],
    values: NDArray[Any],
    shift: int,
    frame: tuple[int, float],
    *,
    released: bool,
) -> list[style.Trace]:
    """Return all points of one file, or its density and its largest values."""
    # Shapes: records, values (m,).
    shown = np.arange(len(values))
    traces: list[style.Trace] = []
    if len(values) >= style.CLOUD_POINTS:
        edges = np.linspace(0, frame[0], 41) + shift, np.linspace(0, frame[1], 31)
        color = style.RELEASED if released else style.ORIGINAL
        traces.append(style.density(records + shift, values, color, edges))
        shown = style.extremes(values)
    cloud = style.points(records[shown] + shift, style.floats(values[shown]), released=released)
    cloud["hovertemplate"] = _HOVER
    if shift or len(values) >= style.CLOUD_POINTS:
        cloud |= {"text": records[shown], "hovertemplate": _HOVER_SHIFTED}
    return [*traces, *at_the_edge(cloud, "y", frame[1])]


def _names(detail: RecordValues, shift: list[int], top: float, span: float) -> list[style.Label]:
    """Name the record of each maximum; of two close ones the lower is named below its point."""
    spots: dict[int, tuple[int, float, float]] = {}
    own = detail.max_original, detail.argmax_original
    for i, (height, holder) in enumerate((own, (detail.max_released, detail.argmax_released))):
        if math.isfinite(height):
            spots[i] = (holder + 1, holder + 1 + shift[i], height)
    below = None
    if len(spots) == 2:
        (_, x0, y0), (_, x1, y1) = spots.values()
        # names above both points would touch each other
        long = max(y0, y1) > top  # a name with its number, below the edge
        y0, y1 = min(y0, top), min(y1, top)
        if abs(y0 - y1) < 0.28 * top and abs(x0 - x1) < (0.36 if long else 0.16) * span:
            below = 0 if y0 < y1 else 1
    labels: list[style.Label] = []
    for i, (record, x, height) in spots.items():
        align = "left" if x < 0.06 * span else "right" if x > 0.94 * span else "center"
        side_of = {"xanchor": align, "yanchor": "top" if i == below else "bottom"}
        lift = {"yshift": -3 if i == below else 3}
        text = f"#{record}"
        if height > top:  # by the arrow at the edge; the file to the right goes left of its own
            height, text = top, f"#{record}: {style.number(height)}"
            side_of = {"xanchor": "right" if x > 0.5 * span else "left", "yanchor": "top"}
            lift = {"xshift": -6 if x > 0.5 * span else 6, "yshift": -12 * i}
        color = style.RELEASED if i else style.ORIGINAL
        labels.append(style.label(text, x, height, color, bold=True, **side_of, **lift))
    return labels
