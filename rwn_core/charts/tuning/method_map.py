"""Several methods on one map: a curve for each along its strength, and its matched setting.

Right is better and up is riskier: an axis with values that run the other way is reversed.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts import map_marks, style
from rwn_core.charts.parts.map_axes import (
    Spot,
    axis_title,
    broken_line,
    cloud,
    coordinate_columns,
    crosses,
    is_placed,
    padded,
)
from rwn_core.charts.parts.tables import table

Curve = Mapping[str, Any]

_COLORS = (style.RELEASED, style.ORIGINAL, "#009E73", "#CC79A7", "#B8860B", "#8A63C4", "#777777")
_SYMBOLS = (("circle", "●"), ("square", "■"), ("diamond", "◆"))
_DASHES = ("solid", "dash", "dot")
_ROOM = 0.05
_FAINT = "55"
_NAME = 26
_STEP = 0.085  # of the height of the plot, from one name to the next


def draw(
    curves: Sequence[Curve],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    aim: float | None = None,
    limit: float | None = None,
) -> style.Chart:
    """Draw the map of several methods."""
    # A curve has "name", "points" along its strength and "matched"; a setting has "text", "x", "y",
    # "x_interval", "y_interval" (or None) and is only in the table without coordinates. An axis has
    # "title", "unit", "falls" (reversed) and "share". All are matched to `aim` on x.
    placed = [s for c in curves for s in (*c["points"], c["matched"]) if is_placed(s)]
    x_range = _range([*(s["x"] for s in placed), *([] if aim is None else [aim])], x["falls"])
    y_range = _range([*(s["y"] for s in placed), *([] if limit is None else [limit])], y["falls"])
    names = _names(curves, y["falls"])
    made = style.layout(
        style.axis(axis_title(x, "right is better"), *x_range, share=x["share"]),
        style.axis(axis_title(y, "up is riskier"), *y_range, share=y["share"]),
        right=round(style.widest([each["text"] for each in names]) + 16),
        shapes=[
            *map_marks.limit_shapes(limit, y_range, of_limits=False),
            *([] if aim is None else [style.vertical(aim, style.ORIGINAL, "dot")]),
        ],
        annotations=[*names, *map_marks.limit_labels(limit, y_range, of_limits=False)],
    )
    at = []
    for curve in curves:
        spot = curve["matched"]
        where = (
            f"at {_word(spot['x'], x)} and {_word(spot['y'], y)}" if is_placed(spot) else "unread"
        )
        at.append(f"{curve['name']} {where}")
    describe = f"Map of {y['title']} against {x['title']}; matched settings: {', '.join(at)}"
    return style.chart(
        "method_map",
        "Risk–utility map of the methods",
        f"{len(curves)} methods, each along its strength",
        describe,
        data=[
            *(trace for place, each in enumerate(curves) for trace in _curve(place, each)),
            *(trace for place, each in enumerate(curves) for trace in _matched(place, each)),
        ],
        layout=made,
        table=_table(curves, x, y),
    )


def _range(values: Sequence[float], falls: bool) -> tuple[float, float]:
    return padded(min(values, default=0.0), max(values, default=1.0), _ROOM, falls=falls)


def _look(place: int) -> tuple[str, str, str, str]:
    """Return color, symbol, sign and dash of a curve; 21 differ."""
    symbol, sign = _SYMBOLS[(place + place // len(_COLORS)) % len(_SYMBOLS)]
    dash = _DASHES[(place // len(_COLORS)) % len(_DASHES)]
    return _COLORS[place % len(_COLORS)], symbol, sign, dash


def _names(curves: Sequence[Curve], falls: bool) -> list[style.Label]:
    """Return the names at the right, the riskiest matched setting first."""

    def height(place: int) -> float:
        spot = curves[place]["matched"]
        return (spot["y"] if falls else -spot["y"]) if is_placed(spot) else math.inf

    labels = []
    for rank, place in enumerate(sorted(range(len(curves)), key=height)):
        color, _, sign, _ = _look(place)
        text = f"{sign} {style.escape(style.shorten(curves[place]['name'], _NAME))}"
        placement = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "middle"}
        shift = {"xshift": 6, "yshift": 0}
        labels.append(
            style.label(text, 1, 1 - _STEP * (rank + 0.5), color, bold=True, **placement, **shift)
        )
    return labels


def _curve(place: int, curve: Curve) -> list[style.Trace]:
    """Return the intervals and the line with its settings."""
    color, symbol, _, dash = _look(place)
    known, name = [s for s in curve["points"] if is_placed(s)], style.escape(curve["name"])
    x, y = ([s[c] for s in known] for c in "xy")
    return [
        *crosses(known, color=f"{color}{_FAINT}", width=1, dash="solid"),
        *([broken_line(x, y, name, color=color, width=1.5, dash=dash)] if len(known) > 1 else []),
        *([_hover(known, cloud(known, name, color, symbol, 5))] if known else []),
    ]


def _matched(place: int, curve: Curve) -> list[style.Trace]:
    """Return the matched setting as a ring; sizes differ because several may coincide."""
    color, symbol, _, _ = _look(place)
    spots = [s for s in (curve["matched"],) if is_placed(s)]
    size = 9 + 3 * (place % len(_COLORS))
    name = f"{style.escape(curve['name'])}, matched"
    ring = _hover(spots, cloud(spots, name, color, f"{symbol}-open", size))
    ring["marker"]["line"] = {"width": 2.5, "color": color}
    crossed = crosses(spots, color=f"{color}{_FAINT}", width=1, dash="solid")
    return [*crossed, *([ring] if spots else [])]


def _hover(spots: Sequence[Spot], made: style.Trace) -> style.Trace:
    return made | {
        "text": [style.escape(s["text"]) for s in spots],
        "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>",
    }


def _word(value: float, scale: Mapping[str, Any]) -> str:
    return style.percent(value, 1) if scale["share"] else style.number(value)


def _table(curves: Sequence[Curve], x: Mapping[str, Any], y: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        (curve["name"], kind, spot)
        for curve in curves
        for kind, spots in (("", curve["points"]), ("yes", [curve["matched"]]))
        for spot in spots
    ]
    names, coordinates = coordinate_columns([spot for _, _, spot in rows], x, y)
    return table(
        ["method", "matched", "setting", *names],
        [
            [name for name, _, _ in rows],
            [kind for _, kind, _ in rows],
            [spot["text"] for _, _, spot in rows],
            *coordinates,
        ],
    )
