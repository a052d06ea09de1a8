"""Two variables: both clouds of points, or the change of their cross table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import range_text
from rwn_core.charts.parts.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading


def draw(reading: Reading, drawn: tuple[float, float] | None = None) -> style.Chart:
    """Draw the relation of two variables; `drawn` is the range of their correlation."""
    if reading.detail["kind"] == "points":
        return _points(reading, drawn)
    return _table(reading)


def _points(reading: Reading, drawn: tuple[float, float] | None) -> style.Chart:
    detail = reading.detail
    one, other = (str(name) for name in detail["names"])
    clouds = [np.asarray(detail[side], dtype=float) for side in ("original", "released")]
    r = [style.number(detail[f"correlation_{side}"], 2) for side in ("original", "released")]
    every = np.concatenate(clouds)
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.04 * np.where(high > low, high - low, 1.0)
    low, high = low - pad, high + pad
    sizes = [len(cloud) for cloud in clouds]
    many = max(sizes) >= style.CLOUD_POINTS
    return style.chart(
        "two_way",
        f"{one} and {other}",
        f"correlation {r[0]} → {r[1]}"
        + ("" if drawn is None else f" · draws {range_text(*drawn, 2)}"),
        f"Scatter of {one} and {other}; their correlation is {r[0]} in the original and {r[1]} in "
        "the release",
        data=_side_by_side(clouds, low, high) if many else _overlaid(clouds),
        layout=_frame(one, other, low, high, many),
        large={"legend": True},
        table=table(["file", "records"], [style.SIDES, sizes])
        if many
        else table(["file", one, other], [np.repeat(style.SIDES, sizes), *every.T]),
    )


def _overlaid(clouds: list[NDArray[Any]]) -> list[style.Trace]:
    traces = []
    for cloud, released in zip(clouds, (False, True), strict=True):
        made = style.points(style.floats(cloud[:, 0]), style.floats(cloud[:, 1]), released=released)
        made["hovertemplate"] = "%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>"
        traces.append(made)
    return traces


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


def _table(reading: Reading) -> style.Chart:
    detail = reading.detail
    one, other = (str(name) for name in detail["names"])
    before, after = (np.asarray(detail[side], dtype=float) for side in ("original", "released"))
    change = after / after.sum() - before / before.sum()
    rows, columns = ([str(name) for name in detail[side]] for side in ("rows", "columns"))
    texts = [
        [f"{style.escape(row)} × {style.escape(column)}" for column in columns] for row in rows
    ]
    moved = style.percent(reading.value, 1)
    trace = signed_heatmap(change, color_span(change), texts, "%{z:+.2%} of the records")
    trace["colorbar"]["ticktext"] = [
        f"{100 * at:+g}%".replace("-", "−") if at else "0" for at in trace["colorbar"]["tickvals"]
    ]
    return style.chart(
        "two_way",
        f"{one} by {other}",
        f"{moved} of the records moved",
        f"Heatmap of how the cells of {one} by {other} changed; {moved} of the records would have "
        "to move to make the tables equal",
        data=[trace],
        layout=_grid((one, other), rows, columns),
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


def _grid(names: tuple[str, str], rows: list[str], columns: list[str]) -> dict[str, Any]:
    down, across = (
        [style.escape(style.shorten(text, length)) for text in texts]
        for texts, length in ((rows, 12), (columns, 10))
    )
    titles = [style.escape(style.shorten(name, 30)) for name in names]
    x = style.name_axis(across, titles[1], down=False, showgrid=False)
    y = style.name_axis(down, titles[0], showgrid=False)
    size = {"tickfont": {"size": SMALL_FONT}}
    return style.layout(x | size, y | size, right=52)
