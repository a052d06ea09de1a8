"""Two variables together, and the sizes of small groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, bars, columns, range_text
from rwn_core.charts.parts.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.charts.parts.style import at_the_edge, beyond_words, clipped
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.two_way import TwoWay
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.tables import Counts

# Two variables: both clouds of points, or the change of their cross table


def draw_two_way(reading: Reading[TwoWay], drawn: tuple[float, float] | None = None) -> style.Chart:
    """Draw the relation of two variables; `drawn` is the range of their correlation."""
    # a reading of points is drawn as points, a table as changes of its cells
    if reading.detail.kind == "points":
        return _points(reading, drawn)
    detail = reading.detail
    one, other = (str(name) for name in detail.names)
    before, after = detail.original, detail.released
    # shares, since the files may have different numbers of records
    change = after / after.sum() - before / before.sum()
    rows, columns = (list(map(str, names)) for names in (detail.rows, detail.columns))
    texts = [
        [f"{style.escape(row)} × {style.escape(column)}" for column in columns] for row in rows
    ]
    moved = style.percent(reading.value, 1)
    trace = signed_heatmap(change, color_span(change), texts, "%{z:+.2%} of the records")
    # the color bar in percent of the records, with a minus sign as in the texts
    trace["colorbar"]["ticktext"] = [
        f"{100 * at:+g}%".replace("-", "−") if at else "0" for at in trace["colorbar"]["tickvals"]
    ]
    # names are shortened on the axes only
    down, across = (
        [style.escape(style.shorten(text, length)) for text in texts]
        for texts, length in ((rows, 12), (columns, 10))
    )
    titles = [style.escape(style.shorten(name, 30)) for name in (one, other)]
    x = style.name_axis(across, titles[1], down=False, showgrid=False)
    y = style.name_axis(down, titles[0], showgrid=False)
    size = {"tickfont": {"size": SMALL_FONT}}
    return style.chart(
        "two_way",
        f"{one} by {other}",
        f"{moved} of the records moved",
        f"Heatmap of how the cells of {one} by {other} changed; {moved} of the records would have "
        "to move to make the tables equal",
        data=[trace],
        layout=style.layout(x | size, y | size, right=52),
        table=table(
            [one, other, "original", "released"],
            [
                np.repeat(rows, len(columns)),
                np.tile(columns, len(rows)),
                before.ravel().astype(int),
                after.ravel().astype(int),
            ],
        ),
    )


def _points(reading: Reading[TwoWay], drawn: tuple[float, float] | None) -> style.Chart:
    detail = reading.detail
    one, other = (str(name) for name in detail.names)
    clouds = [detail.original, detail.released]
    r = [style.number(r, 2) for r in (detail.correlation_original, detail.correlation_released)]
    every = np.concatenate(clouds)
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.04 * np.where(high > low, high - low, 1.0)
    low, high = low - pad, high + pad
    sizes = [len(cloud) for cloud in clouds]
    many = max(sizes) >= style.CLOUD_POINTS
    traces = _side_by_side(clouds, low, high) if many else []
    for cloud, released in () if many else zip(clouds, (False, True), strict=True):
        x, y = cloud.T
        traces.append(style.points(style.floats(x), style.floats(y), released=released))
        traces[-1]["hovertemplate"] = "%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>"
    return style.chart(
        "two_way",
        f"{one} and {other}",
        f"correlation {r[0]} → {r[1]}"
        + ("" if drawn is None else f" · draws {range_text(*drawn, 2)}"),
        f"Scatter of {one} and {other}; their correlation is {r[0]} in the original and {r[1]} in "
        "the release",
        data=traces,
        layout=_frame(one, other, low, high, many),
        large={"legend": True},
        table=table(["file", "records"], [style.SIDES, sizes])
        if many
        else table(["file", one, other], [np.repeat(style.SIDES, sizes), *every.T]),
    )


def _side_by_side(
    clouds: list[NDArray[Any]], low: NDArray[Any], high: NDArray[Any]
) -> list[style.Trace]:
    """Return large clouds next to each other, since they would hide each other."""
    width = high[0] - low[0]
    traces = []
    for side, (cloud, color) in enumerate(
        zip(clouds, (style.ORIGINAL, style.RELEASED), strict=True)
    ):
        shift = side * 1.06 * width
        edges = np.linspace(low[0], high[0], 41) + shift, np.linspace(low[1], high[1], 31)
        traces.append(style.density(cloud[:, 0] + shift, cloud[:, 1], color, edges))
    return traces


def _frame(
    one: str, other: str, low: NDArray[Any], high: NDArray[Any], many: bool
) -> dict[str, Any]:
    y = style.axis(style.escape(style.shorten(other, 24)), low[1], high[1])
    if not many:
        return style.layout(
            style.axis(style.escape(style.shorten(one, 40)), low[0], high[0], count=7), y
        )
    width = high[0] - low[0]
    halves: dict[str, Any] = {
        "tickvals": [low[0] + width / 2, low[0] + 1.56 * width],
        "ticktext": ["original", "released"],
        "showgrid": False,
    }
    x = style.axis(style.escape(style.shorten(one, 40)), low[0], low[0] + 2.06 * width, **halves)
    return style.layout(x, y, shapes=[style.vertical(high[0] + 0.03 * width, style.NEUTRAL)])


# Sizes of small groups before, after and as expected

_GROUPS = 12


def draw_subgroups(reading: Reading[Counts], drawn: Drawn | None = None) -> style.Chart:
    """Draw the small groups that changed most, at most 12."""
    detail = reading.detail
    names = detail.names
    change = detail.change
    # the groups with the largest relative change, the largest first
    rows = np.argsort(-np.abs(change), kind="stable")[:_GROUPS]
    band = None if drawn is None else drawn["released"]
    before, after = detail.original[rows], detail.released[rows]
    expected = detail.expected
    law = None if expected is None else expected[rows]
    total, vanished = detail.total_change, detail.vanished
    sign = "+" if total > 0 else "−" if total < 0 else "±"
    tops = [] if band is None else [band.high[rows]]
    # a few far groups would press the others together: they are cut, and counted in the title
    bulk = clipped(np.fmax(before, after))
    top = style.above(1.05 * (style.largest(before, after, *tops) if bulk is None else bulk))
    beyond = beyond_words(np.fmax(before, after), top, "group")
    note = f"together {sign}{abs(total):.0%}" + (f" · {vanished} vanished" if vanished else "")
    note += f" · {beyond} ▶" if beyond else ""
    short, long = ([style.escape(style.shorten(names[i], n)) for i in rows] for n in (20, 60))
    # the table has all groups, with the expected size and the band where there are any
    cells = {"group": names, "original": detail.original, "released": detail.released}
    cells |= {} if expected is None else {"expected": expected}
    cells |= {"relative change": change}
    if band is not None:
        cells |= zip(*columns(band), strict=True)
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
        table=table(list(cells), list(cells.values()), by=("size of change", np.abs(change))),
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
