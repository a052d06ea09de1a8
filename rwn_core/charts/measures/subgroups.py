"""Sizes of small groups before, after and as expected."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, bars, columns
from rwn_core.charts.parts.style import at_the_edge, beyond_words, clipped
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.draws import Band
from rwn_core.measures.measure import Reading

_GROUPS = 12


def draw(reading: Reading, drawn: Drawn | None = None) -> style.Chart:
    """Draw the small groups that changed most, at most 12."""
    detail = reading.detail
    names = [str(name) for name in detail["groups"]]
    change = np.asarray(detail["change"], dtype=float)
    rows = np.argsort(-np.abs(change), kind="stable")[:_GROUPS]
    band = None if drawn is None else drawn["released"]
    before, after = (np.asarray(detail[side])[rows] for side in ("original", "released"))
    expected = detail.get("expected")
    law = None if expected is None else np.asarray(expected, dtype=float)[rows]
    total, vanished = detail["total_change"], detail["vanished"]
    sign = "+" if total > 0 else "−" if total < 0 else "±"
    tops = [] if band is None else [band.high[rows]]
    bulk = clipped(np.fmax(before, after))
    top = style.above(1.05 * (style.largest(before, after, *tops) if bulk is None else bulk))
    beyond = beyond_words(np.fmax(before, after), top, "group")
    note = f"together {sign}{abs(total):.0%}" + (f" · {vanished} vanished" if vanished else "")
    note += f" · {beyond} ▶" if beyond else ""
    short, long = ([style.escape(style.shorten(names[i], n)) for i in rows] for n in (20, 60))
    return style.chart(
        "subgroups",
        "Small groups",
        note,
        f"Sizes of the {len(rows)} small groups that changed most, of {len(names)}; all small "
        f"groups together changed by {total:+.0%} and {vanished} vanished"
        + ("" if band is None else f"; pale bars: {NAME}"),
        data=[
            *([] if band is None else [bars(band.low[rows], band.high[rows], range(len(rows)))]),
            *_traces(before, after, law, top),
        ],
        layout=style.layout(
            style.axis("records", 0, top),
            style.name_axis(short, showgrid=False, tickfont={"size": 9}),
        ),
        large={"legend": True, "yaxis": {"ticktext": long}},
        table=_table(detail, names, band),
    )


def _traces(
    before: NDArray[Any], after: NDArray[Any], expected: NDArray[Any] | None, top: float
) -> list[style.Trace]:
    height = np.arange(len(before))
    bars = style.line(*style.segments(before, after, height), released=False)
    bars["line"] |= {"color": style.NEUTRAL, "width": 1.4}
    bars |= {"hoverinfo": "skip", "showlegend": False}
    traces = [bars]
    if expected is not None:
        marks = style.points(style.floats(expected), height, released=False, name="expected")
        look = {"symbol": "diamond-open", "size": 8}
        marks["marker"] = look | {"color": style.NEUTRAL, "opacity": 1}
        marks["hovertemplate"] = "%{x:.1f} records<extra>expected</extra>"
        traces.append(marks)
    for values, released in ((before, False), (after, True)):
        marks = style.points(values, height, released=released)
        marks["marker"] |= {"size": 7, "opacity": 1}
        marks["hovertemplate"] = "%{x} records<extra>%{fullData.name}</extra>"
        traces += at_the_edge(marks, "x", top)
    return traces


def _table(detail: Any, names: list[str], band: Band | None) -> dict[str, Any]:
    change = np.asarray(detail["change"], dtype=float)
    heads = ["group", "original", "released", "relative change"]
    cells: list[Any] = [names, detail["original"], detail["released"], change]
    if detail.get("expected") is not None:
        heads.insert(3, "expected")
        cells.insert(3, detail["expected"])
    if band is not None:
        more, ends = columns(band)
        heads += more
        cells += ends
    return table(heads, cells, by=("size of change", np.abs(change)))
