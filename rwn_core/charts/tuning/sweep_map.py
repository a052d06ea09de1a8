"""Settings of a sweep at their utility and risk, with intervals and frontier.

Right is better and up is riskier: an axis that runs the other way is reversed. The share of
a limit is linear up to the limit and logarithmic beyond, so that the settings that keep all limits
have half of the picture.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts import map_marks
from rwn_core.charts.parts.map_marks import LimitScale, fit_scale
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import known, table

Spot = Mapping[str, Any]
"""A setting with "text", "x", "y", "x_interval" and "y_interval" (pairs or None)."""
Scale = Mapping[str, Any]
"""An axis with "title", "unit", "falls" (reversed) and "share"."""

_ROOM = 0.05
_ROOM_UP = 0.09
"""Names stand above and below the points, so that there is more room that way."""
_FAINT = "66"
_INTERVALS = 150
"""Up to this many settings show their intervals."""


def draw(
    spots: Sequence[Spot],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    limit: float | None = None,
    marks: Sequence[Spot] = (),
) -> style.Chart:
    """Draw the map of a sweep."""
    # A spot has "key", "text", "x", "y", "x_interval", "y_interval" (or None), "frontier", "kept"
    # (all limits met), "released" (share of the records) and, of the best few, "name". An axis has
    # "title", "unit", "falls" (reversed), "share" and, of y, "of_limits" and "map" (a title).
    # `marks` are named points.
    of_limits = bool(y.get("of_limits"))
    # without a scale of limits the axis of y is linear
    scale = _scale_of_limits((*spots, *marks)) if of_limits else None
    hover = _hover_text(x, y)
    placed = _at_their_places(spots, scale, hover)
    placed_marks = _at_their_places(marks, scale, hover)
    x_values = [spot["x"] for spot in (*placed, *placed_marks)]
    y_values = [spot["y"] for spot in (*placed, *placed_marks)]
    if limit is not None:
        y_values.append(limit)
    x_range = _range(_shown_across(x_values, x), x["falls"])
    shown = (min(x_values, default=0.0), max(x_values, default=0.0))
    y_range = _range(y_values, y["falls"], _ROOM_UP) if scale is None else scale.ends
    ticks = {} if scale is None else scale.ticks_in_words
    drawn = sorted([*placed_marks, *_best_few(placed)], key=map_marks.order)
    named = map_marks.traces(drawn, (x_range, y_range), limit)
    # settings of which a limit was not judged have no place on an axis of limits
    unjudged = list(filter(_is_open, marks)) if of_limits else []
    unjudged_spots = sum(map(_is_open, spots)) if of_limits else 0
    return style.chart(
        "sweep_map",
        str(y.get("map", "Risk–utility map of the sweep")),
        _note(placed, placed_marks, of_limits, unjudged_spots),
        _describe(placed, x, y, limit),
        data=[*_intervals(placed), *_frontier(placed), *_settings(placed), *named],
        layout=style.layout(
            style.axis(_axis_title(x, "right is better"), *x_range, share=x["share"]),
            style.axis(_axis_title(y, "up is riskier"), *y_range, share=y["share"], **ticks),
            shapes=map_marks.limit_shapes(limit, y_range, of_limits=of_limits, shown=shown),
            annotations=[
                *map_marks.limit_labels(limit, y_range, of_limits=of_limits),
                *(_unjudged_label(mark, x_range) for mark in unjudged),
            ],
        ),
        table=_table(spots, x, y),
    )


def _shown_across(losses: Sequence[float], x: Scale) -> Sequence[float]:
    """Return what an axis of losses shows: of one alone, from nothing lost to twice as much."""
    if len(set(losses)) != 1 or not x["share"]:
        return losses
    return 0.0, min(1.0, max(0.1, 2.0 * losses[0]))


def _scale_of_limits(spots: Sequence[Spot]) -> LimitScale:
    """Return the scale of shares of the limit that has room for all spots with both numbers."""
    return fit_scale([spot["y"] for spot in spots if _is_placed(spot)])


def _at_their_places(
    spots: Sequence[Spot], scale: LimitScale | None, hover: str
) -> list[dict[str, Any]]:
    """Return the spots that have both numbers, at their positions on the scale."""
    return [_scaled(spot, scale, hover) for spot in spots if _is_placed(spot)]


def _best_few(placed: Sequence[Spot]) -> list[dict[str, Any]]:
    """Return the spots that have a name, labeled by it."""
    named = [spot for spot in placed if spot.get("name")]
    return [{**spot, "label": spot["name"], "plain": True} for spot in named]


def _hover_text(x: Scale, y: Scale) -> str:
    """Return the pattern of hover text: both numbers by name."""
    lines = []
    for name, axis in (("x", x), ("y", y)):
        form = ".1%" if axis["share"] else ".3g"
        title = style.escape(axis["title"]).replace("{", "{{").replace("}", "}}")
        lines.append(f"<br>{title}: {{{name}:{form}}}")
    return "".join(lines)


def _frontier(placed: Sequence[Spot]) -> list[style.Trace]:
    """Return one line through the settings of the frontier, where there are several."""
    ends = sorted((spot["x"], spot["y"]) for spot in placed if spot["frontier"])
    if len(ends) < 2:
        return []
    best_x, best_y = zip(*ends, strict=True)
    return [_broken_line(best_x, best_y, "frontier line", color=style.RELEASED, width=2)]


def _intervals(placed: Sequence[Spot]) -> list[style.Trace]:
    """Return a cross of two thin lines for a setting: the range of one more release."""
    few = len(placed) <= _INTERVALS
    across: list[float | None] = []
    up: list[float | None] = []
    for spot in placed:
        if not (few or spot["frontier"]):
            continue
        if spot["x_interval"]:
            across += [*spot["x_interval"], None]
            up += [spot["y"], spot["y"], None]
        if spot["y_interval"]:
            across += [spot["x"], spot["x"], None]
            up += [*spot["y_interval"], None]
    if not across:
        return []
    return [_broken_line(across, up, "interval", color=style.RELEASED + _FAINT, width=1)]


def _unjudged_label(mark: Spot, x_range: tuple[float, float]) -> style.Label:
    """Name a setting of which a limit was not judged at its loss, above all others."""
    at = min(max(mark["x"], min(x_range)), max(x_range))
    text = f"{style.escape(mark['label'])}: not judged"
    return style.label(text, at, 1, style.NEUTRAL, yref="paper", yanchor="top")


def _scaled(spot: Spot, scale: LimitScale | None, hover: str) -> dict[str, Any]:
    """Return a spot at its position, with its numbers as hover text."""
    if not _is_placed(spot):
        return dict(spot)
    words = hover.format(x=spot["x"], y=spot["y"])
    up = spot["y"] if scale is None else scale(spot["y"])
    return {**spot, "y": up, "words": f"{style.escape(spot['text'])}{words}"}


def _is_open(spot: Spot) -> bool:
    """True if a setting has a loss, and one of its limits was not judged."""
    return spot["x"] is not None and spot["y"] is None


def _note(placed: Sequence[Spot], others: Sequence[Spot], of_limits: bool, unread: int) -> str:
    left = f" · {unread} not judged" if unread else ""
    if not placed:
        shown = f"{len(others)} on the map" if others else "no setting is finished yet"
        return shown if not unread else f"{len(others)} on the map{left}"
    best = sum(1 for s in placed if s["frontier"])
    kept = sum(bool(s.get("kept")) for s in placed)
    met = f" · {kept} keep all limits" if of_limits else ""
    plural = "" if len(placed) == 1 else "s"
    return f"{len(placed)} setting{plural} · {best} on the frontier{met}{left}"


def _range(values: Sequence[float], falls: bool, room: float = _ROOM) -> tuple[float, float]:
    """Return the settings' range with the share `room` at both ends; reversed if it falls."""
    low = min(values, default=0.0)
    high = max(values, default=1.0)
    width = (high - low) or abs(high) or 1.0
    low, high = low - room * width, high + room * width
    return (high, low) if falls else (low, high)


def _settings(placed: Sequence[Spot]) -> list[style.Trace]:
    """Return filled points; those of the frontier larger and stronger."""
    traces = []
    for frontier, size, opacity in ((False, 6, 0.5), (True, 9, 1.0)):
        chosen = [s for s in placed if s["frontier"] is frontier]
        name, words = ("frontier", "<br>on the frontier") if frontier else ("setting", "")
        shares = [(s["words"], s["released"]) for s in chosen]
        few = "<br>Records released: "
        texts = [
            said + (f"{few}{style.percent(each, 1)}" if each < 1 else "") for said, each in shares
        ]
        look = {"size": size, "color": style.RELEASED, "symbol": "circle", "opacity": opacity}
        x = [spot["x"] for spot in chosen]
        y = [spot["y"] for spot in chosen]
        keys = [spot["key"] for spot in chosen]
        hover = {"text": texts, "hovertemplate": f"%{{text}}{words}<extra></extra>"}
        trace = style.scatter(x, y, name, customdata=keys, marker=look) | hover
        if chosen:
            traces.append(trace)
    return traces


def _describe(
    placed: Sequence[Spot], x: Mapping[str, Any], y: Mapping[str, Any], limit: float | None
) -> str:
    text = f"Map of {len(placed)} settings, {y['title']} against {x['title']}"
    text += f"; {sum(bool(s.get('kept')) for s in placed)} of them keep all limits"
    if limit is None or y.get("of_limits"):
        return text
    line = style.percent(limit, 1) if y["share"] else style.number(limit)
    return f"{text}; the limit on {y['title']} alone is {line}"


def _table(spots: Sequence[Spot], x: Mapping[str, Any], y: Mapping[str, Any]) -> dict[str, Any]:
    # names and cells of the table columns of both coordinates and their intervals
    names: list[str] = []
    cells: list[list[float]] = []
    for side, scale in (("x", x), ("y", y)):
        names += [scale["title"], f"{scale['title']}, low", f"{scale['title']}, high"]
        cells.append(known([spot[side] for spot in spots]))
        pairs = [spot[f"{side}_interval"] or (None, None) for spot in spots]
        cells += [known(ends) for ends in zip(*pairs, strict=True)] or [[], []]
    texts = [spot["text"] for spot in spots]
    released = [spot["released"] for spot in spots]
    said = [["yes" if s.get(part) else "no" for s in spots] for part in ("frontier", "kept")]
    columns = ["setting", *names, "records released", "frontier", "keeps all limits"]
    return table(columns, [texts, *cells, released, *said])


def _is_placed(spot: Spot) -> bool:
    """True if a setting has both coordinates."""
    return all(spot[c] is not None and math.isfinite(spot[c]) for c in "xy")


def _axis_title(scale: Scale, direction: str) -> str:
    """Return the title of an axis, with its direction if it is reversed."""
    turned = f" (reversed: {direction})" if scale["falls"] else ""
    unit = f": {scale['unit']}" if scale["unit"] else ""
    return style.escape(f"{scale['title']}{unit}{turned}")


def _broken_line(x: Sequence[Any], y: Sequence[Any], name: str, **line: object) -> style.Trace:
    """Return a line without hover text; None leaves a gap."""
    shape = {"type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip"}
    return {**shape, "x": list(x), "y": list(y), "line": line}
