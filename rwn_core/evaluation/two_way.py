"""Two variables together, before and after: what a picture of their relation draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, matrix
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import range_text
from rwn_core.measures.drawing.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import BothFiles, Reading
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.measures.statistics.distributions import counts, grouped, total_variation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWay(BothFiles):
    """The points of two variables of both files, shape (n, 2), or their tables of counts.

    Attributes
    ----------
    kind : {"points", "table"}
    correlation_original, correlation_released : float, optional
        Of points; None where one of them does not vary.
    rows : list of str
        Levels of the first variable of a table; those of the other are its columns.
    """

    kind: str = "points"
    correlation_original: float | None = None
    correlation_released: float | None = None
    rows: Sequence[Any] = ()


def two_way(comparison: Comparison, one: str, other: str) -> Reading[TwoWay]:
    """The relation of two variables in both files, shape (rows, columns)."""
    if one == other:
        raise NotApplicable("A picture of a relation needs two different variables.")
    original = comparison.original
    variables = [original.schema.variable(name) for name in (one, other)]
    if {Kind.CATEGORICAL, Kind.ORDERED} & {variable.kind for variable in variables}:
        return _cross_tables(comparison, variables)
    tables, slopes = [], []
    for file, where in ((original, ""), (comparison.masked, RELEASED)):
        values = matrix(original, file, [one, other])
        values = values[~np.isnan(values).any(axis=1)]
        if not len(values):
            raise NotApplicable(f"No record has both {one} and {other}{where}.")
        tables.append(values)
        found = float(correlation_matrix(values)[0, 1]) if len(values) > 1 else float("nan")
        slopes.append(None if np.isnan(found) else found)
    before, after = slopes  # what no longer varies has lost its correlation
    return Reading(
        value=0.0 if before is None else abs((after or 0.0) - before),
        baseline=0.0,
        detail=TwoWay(
            names=[one, other],
            original=tables[0],
            released=tables[1],
            correlation_original=slopes[0],
            correlation_released=slopes[1],
        ),
    )


def _cross_tables(comparison: Comparison, variables: Sequence[Variable]) -> Reading[TwoWay]:
    """Count the records of both files by the groups of two variables."""
    groups, sides = grouped(comparison, variables)
    sizes = [len(group.labels) for group in groups]
    original, released = (counts(codes, sizes).reshape(sizes) for codes in sides)
    used = original + released > 0
    rows = np.flatnonzero(used.any(axis=1))
    columns = np.flatnonzero(used.any(axis=0))
    return Reading(
        value=total_variation(original.ravel(), released.ravel()),
        baseline=0.0,
        detail=TwoWay(
            kind="table",
            names=[variable.name for variable in variables],
            rows=[groups[0].labels[row] for row in rows],
            columns=[groups[1].labels[column] for column in columns],
            original=original[rows][:, columns],
            released=released[rows][:, columns],
        ),
    )


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
    texts = []
    for row in style.escaped(rows):
        texts.append([f"{row} × {column}" for column in style.escaped(columns)])
    moved = style.percent(reading.value, 1)
    trace = signed_heatmap(change, color_span(change), texts, "%{z:+.2%} of the records")
    # the color bar in percent of the records, with a minus sign as in the texts
    trace["colorbar"]["ticktext"] = [
        f"{100 * at:+g}%".replace("-", "−") if at else "0" for at in trace["colorbar"]["tickvals"]
    ]
    sides = [side.ravel().astype(int) for side in (before, after)]
    cells = [np.repeat(rows, len(columns)), np.tile(columns, len(rows)), *sides]
    titles = [style.escape(style.shorten(name, 30)) for name in (one, other)]
    look: dict[str, Any] = {"showgrid": False, "tickfont": {"size": SMALL_FONT}}
    x = style.name_axis(columns, titles[1], length=10, down=False, **look)
    return style.chart(
        "two_way",
        f"{one} by {other}",
        f"{moved} of the records moved",
        f"Heatmap of how the cells of {one} by {other} changed; {moved} of the records would have "
        "to move to make the tables equal",
        data=[trace],
        layout=style.layout(x, style.name_axis(rows, titles[0], length=18, **look), right=52),
        table=table([one, other, "original", "released"], cells),
    )


def _points(reading: Reading[TwoWay], drawn: tuple[float, float] | None) -> style.Chart:
    detail = reading.detail
    one, other = (str(name) for name in detail.names)
    clouds = [detail.original, detail.released]
    r = [style.number(r, 2) for r in (detail.correlation_original, detail.correlation_released)]
    every = np.concatenate(clouds)
    low = every.min(axis=0)
    high = every.max(axis=0)
    pad = 0.04 * np.where(high > low, high - low, 1.0)
    low, high = low - pad, high + pad
    sizes = [len(cloud) for cloud in clouds]
    width = high[0] - low[0]
    traces = []
    moved = "" if drawn is None else f" · draws {range_text(*drawn, 2)}"
    title = style.escape(style.shorten(one, 40))
    y = style.axis(style.escape(style.shorten(other, 24)), low[1], high[1])
    if max(sizes) >= style.CLOUD_POINTS:
        # large clouds stand next to each other, since they would hide each other
        for side, color in enumerate((style.ORIGINAL, style.RELEASED)):
            own = clouds[side]
            shift = side * 1.06 * width
            edges = np.linspace(low[0], high[0], 41) + shift, np.linspace(low[1], high[1], 31)
            traces.append(style.density(own[:, 0] + shift, own[:, 1], color, edges))
        halves: dict[str, Any] = {
            "tickvals": [low[0] + width / 2, low[0] + 1.56 * width],
            "ticktext": ["original", "released"],
            "showgrid": False,
        }
        x = style.axis(title, low[0], low[0] + 2.06 * width, **halves)
        layout = style.layout(x, y, shapes=[style.vertical(high[0] + 0.03 * width, style.NEUTRAL)])
        shown = table(["file", "records"], [style.SIDES, sizes])
    else:
        for cloud, released in zip(clouds, (False, True), strict=True):
            hover = "%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>"
            traces.append(style.cloud(cloud, released=released) | {"hovertemplate": hover})
        layout = style.layout(style.axis(title, low[0], high[0], count=7), y)
        shown = table(["file", one, other], [np.repeat(style.SIDES, sizes), *every.T])
    return style.chart(
        "two_way",
        f"{one} and {other}",
        f"correlation {r[0]} → {r[1]}{moved}",
        f"Scatter of {one} and {other}; their correlation is {r[0]} in the original and {r[1]} in "
        "the release",
        data=traces,
        layout=layout,
        large={"legend": True},
        table=shown,
    )
