"""Disclosure risk against utility (Duncan et al. 2001).

The loss of relations falls to the right and risk runs up: the original is the upper right corner, a
table without relations the left side. A policy allows values below 1 on the axis of limits, which
is logarithmic above and in words ("2 times"), as on the map of a sweep; a limit on one measure is
a line.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts import map_marks
from rwn_core.charts.parts.map_marks import LimitScale, named, share
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import known, table

Point = Mapping[str, Any]

_TOPS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
_HOVER = (
    "relations lost %{x:.1%}, risk %{customdata:.2%}",
    "relations lost %{x:.1%}, %{customdata:.2f} times a limit",
)
_LOSSES = (0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
# Text position -> offset of the text's middle from its marker, in card widths and heights.
_PLACES = {
    "middle right": (0.06, 0.0),
    "middle left": (-0.06, 0.0),
    "top center": (0.0, 0.13),
    "bottom center": (0.0, -0.13),
    "top left": (-0.05, 0.12),
    "bottom right": (0.05, -0.12),
}
_ALONG_CORNER = ((0.6, 0.93), (0.75, 0.93), (0.9, 0.93))
"""Where the name of the corner lies, on a narrow card."""


def draw(
    points: Sequence[Point],
    limit: float | None,
    swept: Sequence[Point] = (),
    drawn: Sequence[Point] = (),
    *,
    risk: str = "disclosure risk",
    of_limits: bool = False,
) -> style.Chart:
    """Draw the map."""
    # A point has "label" ("now", "A" or "B"), "loss", "risk" (None if still computed), "text",
    # "kept" (all limits met) and "unread" (limits not judged). `swept` points have "frontier";
    # `drawn` are other draws. `of_limits`: the axis is the largest share of a limit.
    top = _top(points, limit, of_limits)
    scale = LimitScale(top=top) if of_limits else None
    placed = _placed(points, scale)
    others = _placed(drawn, scale)
    coming = [p for p in points if p["risk"] is None and _known(p["loss"])]
    worst = max((p["loss"] for p in (*placed, *coming)), default=0.0)
    x_range = _padded(_reach(worst / 0.88, _LOSSES), 0.0)
    y_range = _padded(0.0, top) if scale is None else scale.ends
    spots = [(share(p["loss"], x_range), share(p["up"], y_range)) for p in placed]
    crowded = _is_crowded(spots, share(limit or 0.0, y_range))
    now = next((p for p in placed if p["label"] == "now"), None)
    corner = _corner(spots, top)
    clouds = [_cloud(others, "draws", 5, 0.5, of_limits)] if others else []
    return style.chart(
        "risk_utility_map",
        "Risk–utility map",
        _limit_words(limit, of_limits, now),
        _describe(now, limit, of_limits),
        data=[
            *_swept(_placed(swept, scale), of_limits),
            *clouds,
            *_markers(placed, spots, _ALONG_CORNER if corner else (), of_limits),
        ],
        layout=style.layout(
            style.axis("relations lost · less lost →", *x_range, share=True),
            _axis_of_risk(risk, y_range, scale),
            shapes=[
                *map_marks.limit_shapes(limit, y_range, of_limits=of_limits),
                *(style.vertical(p["loss"], style.RELEASED, "dot") for p in coming),
            ],
            annotations=[
                *corner,
                *map_marks.limit_labels(limit, y_range, of_limits=of_limits, left=crowded),
                *(_coming_label(p, x_range) for p in coming),
            ],
        ),
        table=table(
            ["setting", "parameters", "loss", risk, "keeps all limits"],
            _columns(points),
        ),
    )


def _is_crowded(spots: Sequence[tuple[float, float]], height: float) -> bool:
    """True if a marker stands where the limit's name would, at the right end."""
    return any(x > 0.6 and abs(y - height) < 0.2 for x, y in spots)


def _columns(points: Sequence[Point]) -> list[list[Any]]:
    """Return the columns of the table behind the map."""
    labels = [point["label"] for point in points]
    texts = [point["text"] for point in points]
    losses = [point["loss"] for point in points]
    kept = [_KEPT[p.get("kept")] for p in points]
    return [labels, texts, losses, known([p["risk"] for p in points]), kept]


def _top(points: Sequence[Point], limit: float | None, of_limits: bool) -> float:
    """Return the end of the axis of risk: a round number above the limit and all points."""
    highest = max([1.5 * (limit or 0.0), *(p["risk"] * 1.15 for p in _placed(points))])
    if not of_limits:
        return _reach(highest, _TOPS)
    power = 10.0 ** math.floor(math.log10(highest))
    return power * _reach(highest / power, (1, 1.5, 2, 3, 5, 7, 10))


def _axis_of_risk(risk: str, y_range: tuple[float, float], scale: LimitScale | None) -> style.Axis:
    """Return the vertical axis."""
    if scale is None:
        return style.axis(f"risk: {risk}", *y_range, share=True)
    return style.axis(risk, *y_range, share=False, **scale.ticks_in_words)


def _corner(spots: Sequence[tuple[float, float]], top: float) -> list[style.Label]:
    """Name the corner of the original, unless a marker is there, whose name needs the room.

    An arrow says that the original lies beyond.
    """
    if any(x > 0.2 and y > 0.75 for x, y in spots):
        return []
    words = "original data" if top == 1.0 else "original data ↗"
    return [style.corner(words, style.NEUTRAL)]


def _swept(swept: Sequence[Point], of_limits: bool) -> list[style.Trace]:
    """Return faint points for the settings of a sweep, and its frontier."""
    if not swept:
        return []
    frontier = [p for p in swept if p["frontier"]]
    frontier.sort(key=lambda p: (-p["loss"], p["risk"]))
    line = style.scatter(*_coordinates(frontier), "frontier", mode="lines")
    line |= {"line": {"color": style.RELEASED, "width": 1.5}, "hoverinfo": "skip"}
    return [_cloud(swept, "sweep", 4, 0.35, of_limits), line]


_KEPT = {None: "not known", True: "yes", False: "no"}


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _placed(points: Sequence[Point], scale: LimitScale | None = None) -> list[Point]:
    """Return the points with both coordinates, and their heights on a scale."""
    known = [p for p in points if _known(p["loss"]) and _known(p["risk"])]
    return [{**p, "up": p["risk"] if scale is None else scale(p["risk"])} for p in known]


def _reach(value: float, steps: Sequence[float]) -> float:
    """Return the first step that holds the value."""
    return next((s for s in steps if s >= value), steps[-1])


def _padded(low: float, high: float) -> tuple[float, float]:
    """Return a range with room for a marker beyond both ends."""
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _markers(
    placed: Sequence[Point],
    spots: Sequence[tuple[float, float]],
    named_corner: Sequence[tuple[float, float]],
    of_limits: bool,
) -> list[style.Trace]:
    """Return hollow squares for pinned settings and a diamond for the present one on top."""
    taken = [*spots, *named_corner]
    traces = []
    for p, spot in zip(placed, spots, strict=True):
        # the name stands on the side with most room: from other markers and names, and borders
        room = {}
        for side, (dx, dy) in _PLACES.items():
            x, y = spot[0] + dx, spot[1] + dy
            borders = min(x - 0.03, 0.97 - x, y - 0.03, 0.97 - y)
            others = [math.hypot(1.6 * (x - a), y - b) for a, b in taken if (a, b) != spot]
            room[side] = min([0.2, *others]) + min(borders, 0.0) * 10
        position = max(room, key=room.__getitem__)
        taken.append((spot[0] + _PLACES[position][0], spot[1] + _PLACES[position][1]))
        color = style.PINS.get(p["label"], style.NEUTRAL)
        marker = {"symbol": "square-open", "size": 18, "color": color, "line": {"width": 2}}
        if p["label"] == "now":
            symbol = "diamond-open" if p.get("unread") else "diamond"
            marker = {"symbol": symbol, "size": 12, "color": style.RELEASED}
        made = named(p["loss"], p["up"], p["label"], position, marker) | {
            "customdata": [p["risk"]],
            "hovertext": [style.escape(p["text"])],
            "hovertemplate": f"%{{hovertext}}<br>{_HOVER[of_limits]}<extra></extra>",
            "cliponaxis": False,
        }
        traces.append((p["label"] == "now", made))
    return [trace for _, trace in sorted(traces, key=lambda t: t[0])]


def _cloud(
    known: Sequence[Point], name: str, size: int, opacity: float, of_limits: bool
) -> style.Trace:
    """Return small points with their setting as hover text."""
    look = {"size": size, "color": style.RELEASED, "symbol": "circle", "opacity": opacity}
    return style.scatter(*_coordinates(known), name, marker=look) | {
        "text": [style.escape(p["text"]) for p in known],
        "customdata": [p["risk"] for p in known],
        "hovertemplate": f"%{{text}}<br>{_HOVER[of_limits]}<extra>{name}</extra>",
    }


def _coordinates(known: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [p["loss"] for p in known], [p["up"] for p in known]


def _coming_label(p: Point, x_range: tuple[float, float]) -> style.Label:
    """Name the line of a point without a known risk."""
    anchor, shift = ("right", -4) if p["loss"] < sum(x_range) / 2 else ("left", 4)
    text = f"{style.escape(p['label'])}: {'not judged' if p.get('unread') else 'risk follows'}"
    where: dict[str, Any] = {"yref": "paper", "xanchor": anchor, "xshift": shift}
    return style.label(text, p["loss"], 0.5, style.RELEASED, **where)


def _limit_words(limit: float | None, of_limits: bool, now: Point | None) -> str:
    if of_limits:
        unread = int(now.get("unread") or 0) if now else 0
        if not unread:
            return "kept below the line"
        return "1 limit not judged" if unread == 1 else f"{unread} limits not judged"
    if limit is None:
        return "no limit on it"
    return f"limit on it {style.percent(limit, 0 if limit >= 0.1 else 1)}"


def _describe(now: Point | None, limit: float | None, of_limits: bool) -> str:
    if now is None:
        return "Risk-utility map without a present setting."
    text = f"Risk-utility map: the present setting has loss {style.number(now['loss'])} and "
    if of_limits:
        states = {None: "", True: "; all limits are kept", False: "; not all limits are kept"}
        judged = f"; {_limit_words(limit, of_limits, now)}" if now.get("unread") else ""
        return f"{text}uses {style.number(now['risk'])} of a limit{states[now.get('kept')]}{judged}"
    text += f"disclosure risk {style.percent(now['risk'], 1)}"
    if limit is None:
        return text
    side = "not above" if now["risk"] <= limit else "above"
    return f"{text}, {side} the limit on this measure of {style.percent(limit, 1)}"
