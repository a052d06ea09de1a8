"""Disclosure risk against utility: where the release stands, after Duncan et al. (2001).

Utility runs to the right and risk upward, so the original data are the upper right corner (1, 1),
no data the lower left one (0, 0), and what may be released lies below the maximum tolerable risk.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts.style import (
    LIMIT,
    NEUTRAL,
    RELEASED,
    Chart,
    Label,
    Trace,
    axis,
    chart,
    escape,
    horizontal,
    label,
    layout,
    number,
    percent,
    vertical,
)
from rwn_core.charts.parts.tables import table

Point = Mapping[str, Any]

_TOPS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
_LEFTS = (0.95, 0.9, 0.8, 0.6, 0.4, 0.0)
# Text position -> offset of the text's middle from its marker, in card widths and heights.
_PLACES = {
    "middle right": (0.06, 0.0),
    "middle left": (-0.06, 0.0),
    "top center": (0.0, 0.13),
    "bottom center": (0.0, -0.13),
    "top left": (-0.05, 0.12),
    "bottom right": (0.05, -0.12),
}


def draw(
    points: Sequence[Point],
    limit: float,
    swept: Sequence[Point] = (),
    drawn: Sequence[Point] = (),
) -> Chart:
    """Draw the map.

    Parameters
    ----------
    points : sequence of mappings
        Each with "label" ("now", "A" or "B"), "utility" and "risk" in [0, 1], and "text" (the
        parameters in words). Where the risk is still to come (None), a line says where the point
        will stand; a point with another missing coordinate is left out of the picture.
    limit : float
        Maximum tolerable risk, in [0, 1].
    swept : sequence of mappings
        Settings of a sweep, as in `points`, with "frontier" (whether nothing beats it).
    drawn : sequence of mappings
        Other draws of the present setting, with "utility", "risk" and "text".
    """
    placed = _placed(points)
    top = _reach(max([limit * 1.5, *(p["risk"] * 1.15 for p in placed)]), _TOPS)
    coming = [p for p in points if p["risk"] is None and _known(p["utility"])]
    worst = min((p["utility"] for p in (*placed, *coming)), default=1.0)
    left = next((v for v in _LEFTS if worst >= v + 0.12 * (1 - v)), 0.0)
    x_range, y_range = _padded(left, 1.0), _padded(0.0, top)
    now = next((p for p in placed if p["label"] == "now"), None)
    return chart(
        "risk_utility_map",
        "Risk–utility map",
        f"maximum tolerable risk {percent(limit, 0 if limit >= 0.1 else 1)}",
        _describe(now, limit),
        data=[*_swept(swept), *_drawn(drawn), *_markers(placed, x_range, y_range)],
        layout=layout(
            axis("utility", *x_range),
            axis("disclosure risk", *y_range, share=True),
            shapes=[
                _admissible(limit),
                horizontal(limit, LIMIT),
                *(vertical(p["utility"], RELEASED, "dot") for p in coming),
            ],
            annotations=[
                *_corners(top, left),
                _limit_label(limit, y_range),
                *(_coming_label(p, x_range) for p in coming),
            ],
        ),
        table=table(
            ["setting", "parameters", "utility", "disclosure risk", "admissible"],
            [
                [p["label"] for p in points],
                [p["text"] for p in points],
                [float(p["utility"]) for p in points],
                [math.nan if p["risk"] is None else float(p["risk"]) for p in points],
                [_admitted(p["risk"], limit) for p in points],
            ],
        ),
    )


def _admitted(risk: float | None, limit: float) -> str:
    return "not yet known" if risk is None else "yes" if risk <= limit else "no"


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _placed(points: Sequence[Point]) -> list[Point]:
    """The points with both coordinates."""
    return [p for p in points if _known(p["utility"]) and _known(p["risk"])]


def _reach(value: float, steps: Sequence[float]) -> float:
    """First step that holds the value: few steps, so that the axis seldom moves."""
    return next((s for s in steps if s >= value), steps[-1])


def _padded(low: float, high: float) -> tuple[float, float]:
    """Range with room for a marker beyond both ends."""
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _markers(
    placed: Sequence[Point], x_range: tuple[float, float], y_range: tuple[float, float]
) -> list[Trace]:
    """Hollow squares for the pinned settings, a filled diamond for the present one on top."""
    spots = [
        (
            (p["utility"] - x_range[0]) / (x_range[1] - x_range[0]),
            (p["risk"] - y_range[0]) / (y_range[1] - y_range[0]),
        )
        for p in placed
    ]
    taken = list(spots)
    traces = []
    for p, spot in zip(placed, spots, strict=True):
        position = _free_side(spot, taken)
        dx, dy = _PLACES[position]
        taken.append((spot[0] + dx, spot[1] + dy))
        traces.append((p["label"] == "now", _marker(p, position)))
    return [trace for _, trace in sorted(traces, key=lambda t: t[0])]


def _cloud(known: Sequence[Point], name: str, size: int, opacity: float) -> Trace:
    """Small points that say their setting when the mouse is over them."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [p["utility"] for p in known],
        "y": [p["risk"] for p in known],
        "marker": {"size": size, "color": RELEASED, "symbol": "circle", "opacity": opacity},
        "text": [escape(p["text"]) for p in known],
        "hovertemplate": f"%{{text}}<br>utility %{{x:.3f}}, risk %{{y:.2%}}<extra>{name}</extra>",
    }


def _drawn(drawn: Sequence[Point]) -> list[Trace]:
    """Small points for other draws: how far the present marker is luck."""
    known = _placed(drawn)
    return [_cloud(known, "draws", 5, 0.5)] if known else []


def _swept(swept: Sequence[Point]) -> list[Trace]:
    """Faint points for a sweep's settings, and one line along its frontier."""
    known = _placed(swept)
    if not known:
        return []
    best = sorted((p for p in known if p["frontier"]), key=lambda p: (p["utility"], p["risk"]))
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "frontier",
        "x": [p["utility"] for p in best],
        "y": [p["risk"] for p in best],
        "line": {"color": RELEASED, "width": 1.5},
        "hoverinfo": "skip",
    }
    return [_cloud(known, "sweep", 4, 0.35), line]


def _free_side(spot: tuple[float, float], taken: Sequence[tuple[float, float]]) -> str:
    """Side of a marker on which its label is farthest from markers, labels and borders."""

    def clearance(position: str) -> float:
        x, y = spot[0] + _PLACES[position][0], spot[1] + _PLACES[position][1]
        borders = min(x - 0.03, 0.97 - x, y - 0.03, 0.97 - y)
        others = [math.hypot(1.6 * (x - a), y - b) for a, b in taken if (a, b) != spot]
        return min([0.2, *others]) + min(borders, 0.0) * 10

    return max(_PLACES, key=clearance)


def _marker(p: Point, position: str) -> Trace:
    now = p["label"] == "now"
    color = RELEASED if now else NEUTRAL
    marker = (
        {"symbol": "diamond", "size": 12, "color": color}
        if now
        else {"symbol": "square-open", "size": 18, "color": color, "line": {"width": 2}}
    )
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": p["label"],
        "x": [p["utility"]],
        "y": [p["risk"]],
        "marker": marker,
        "text": [escape(p["label"])],
        "textposition": position,
        "textfont": {"color": color, "size": 12, "weight": 700},
        "hovertext": [escape(p["text"])],
        "hovertemplate": "%{hovertext}<br>utility %{x:.3f}, risk %{y:.2%}<extra></extra>",
        "cliponaxis": False,
    }


def _admissible(limit: float) -> dict[str, Any]:
    """Shade the region of tolerable risk."""
    corners = {"xref": "paper", "x0": 0, "x1": 1, "y0": -1, "y1": limit}
    shade = {"fillcolor": "rgba(0,158,115,0.10)", "line": {"width": 0}, "layer": "below"}
    return {"type": "rect", **corners, **shade}


def _corners(top: float, left: float) -> list[Label]:
    """Name the two ends of every map; an arrow says that the end lies beyond the axes."""
    paper: dict[str, Any] = {"xref": "paper", "yref": "paper"}
    original = "original data" + ("" if top == 1.0 else " ↗")
    nothing = ("" if left == 0.0 else "↙ ") + "no data"
    return [
        label(original, 1, 1, NEUTRAL, xanchor="right", yanchor="top", **paper),
        label(nothing, 0, 0, NEUTRAL, xanchor="left", yanchor="bottom", **paper),
    ]


def _coming_label(p: Point, x_range: tuple[float, float]) -> Label:
    """Beside the line of a point whose risk is not known yet."""
    left = p["utility"] > (x_range[0] + x_range[1]) / 2
    text = f"{escape(p['label'])}: risk follows"
    anchor = "right" if left else "left"
    return label(
        text, p["utility"], 0.5, RELEASED, yref="paper", xanchor=anchor, xshift=-4 if left else 4
    )


def _limit_label(limit: float, y_range: tuple[float, float]) -> Label:
    anchor = "bottom" if limit < y_range[0] + 0.8 * (y_range[1] - y_range[0]) else "top"
    text = "maximum tolerable risk"
    return label(text, 0, limit, LIMIT, xref="paper", xanchor="left", yanchor=anchor)


def _describe(now: Point | None, limit: float) -> str:
    if now is None:
        return "Risk-utility map without a present setting."
    side = "below" if now["risk"] <= limit else "above"
    return (
        f"Risk-utility map: the present setting has utility {number(now['utility'])} and "
        f"disclosure risk {percent(now['risk'], 1)}, {side} the maximum tolerable risk of "
        f"{percent(limit, 1)}"
    )
