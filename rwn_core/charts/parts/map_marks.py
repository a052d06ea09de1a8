"""Named points of a map, such as the present setting; the line of a limit, and its axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from rwn_core.measures.drawing.style import (
    LIMIT,
    NEUTRAL,
    RELEASED,
    Label,
    Trace,
    escape,
    horizontal,
    label,
    scatter,
)

_STEPS = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
_WORDS = {0.0: "0", 0.5: "half", 1.0: "limit"}
_BETWEEN = 0.17  # of a half, from one tick beyond the limit to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitScale:
    """The position of a share: itself up to 1, from 1 to 2 by its logarithm beyond."""

    top: float  # the largest share, at position 2; at most 1 if every setting keeps its limits

    def __call__(self, share: float) -> float:
        """Return the position of a share."""
        return share if share <= 1 else 1 + math.log(share) / math.log(max(self.top, share))

    @property
    def ends(self) -> tuple[float, float]:
        """Return the range of positions, with room for markers and names."""
        return (-0.15, 2.15) if self.top > 1 else (-0.06, 1.12)

    @property
    def ticks(self) -> dict[str, Any]:
        """Return tick positions with the shares that they stand for."""
        shares = self._shares()
        return self._ticks(shares, [f"{share:g}" for share in shares])

    @property
    def ticks_in_words(self) -> dict[str, Any]:
        """Return tick positions with words, where the axis is about limits alone."""
        shares = self._shares()
        return self._ticks(shares, [_WORDS.get(share, f"{share:g} times") for share in shares])

    def _shares(self) -> list[float]:
        """Return the shares that have a tick."""
        shares = [0.0, 0.5, 1.0]
        for share in (step * 10**power for power, step in product(range(0, 300, 2), _STEPS)):
            if share > self.top * (1 + 1e-9):
                break
            if self(share) - self(shares[-1]) >= _BETWEEN:
                shares.append(share)
        return shares

    def _ticks(self, shares: Sequence[float], texts: list[str]) -> dict[str, Any]:
        return {"tickvals": [self(s) for s in shares], "ticktext": texts, "tickmode": "array"}


def fit_scale(shares: Iterable[float]) -> LimitScale:
    """Return the scale that holds all shares."""
    return LimitScale(top=max(shares, default=1.0))


Mark = Mapping[str, Any]
Ends = tuple[float, float]

_LOOKS = {"chosen": (RELEASED, "circle-open", 18), "now": (RELEASED, "diamond", 12)}
_SCENARIO = (NEUTRAL, "square-open", 16)
_PLAIN = (RELEASED, "circle", 9)
_ORDER = {"chosen": 1, "now": 2}
_LETTER, _LINE, _GAP = 0.0115, 0.105, 0.07
"""Width and height of type, and from a marker to its name, as shares of a small plot."""
_SIDES = (
    "top center",
    "bottom center",
    "top right",
    "bottom right",
    "top left",
    "bottom left",
    "middle right",
    "middle left",
)
_SHIFT = {"left": -1.0, "center": -0.5, "right": 0.0, "top": 1.0, "middle": 0.0, "bottom": -1.0}


class Box(NamedTuple):
    """The place of a name, in shares of the plot."""

    left: float
    right: float
    bottom: float
    top: float

    def inside(self, other: Box) -> float:
        """Return the area that lies in another box."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, wide) * max(0.0, high)


_PLOT = Box(0.0, 1.0, 0.0, 1.0)


def order(mark: Mark) -> int:
    """Return the order of drawing; the present setting is last and so on top."""
    return _ORDER.get(mark["label"], 0)


def traces(marks: Sequence[Mark], ranges: tuple[Ends, Ends], limit: float | None) -> list[Trace]:
    """Return the points, each with its name where it can be read."""
    # Each mark has "label", "words" (hover text), "x", "y"; `limit` is the height of a line across
    # the plot. A "plain" mark only names a point, and is left out where names would collide.
    spots = [(share(mark["x"], ranges[0]), share(mark["y"], ranges[1])) for mark in marks]
    taken = [Box(x - _LETTER, x + _LETTER, y - _LINE / 4, y + _LINE / 4) for x, y in spots]
    if limit is not None:
        line = share(limit, ranges[1])
        taken.append(Box(0.0, 1.0, line - 0.01, line + 0.01))
    drawn = []
    for mark, (x, y) in zip(marks, spots, strict=True):
        own = _LETTER * len(mark["label"])
        boxes = {side: _name_box(x, y, own, side) for side in _SIDES}
        side = min(_SIDES, key=lambda each: (_covered(boxes[each], taken), _SIDES.index(each)))
        if mark.get("plain") and _covered(boxes[side], taken) > 0:
            continue
        taken.append(boxes[side])
        # the marker of this kind of setting, with its name on the side that is free
        plain = mark.get("plain")
        color, symbol, size = _PLAIN if plain else _LOOKS.get(mark["label"], _SCENARIO)
        look = {"symbol": symbol, "size": size, "color": color, "line": {"width": 2}}
        made = named(mark["x"], mark["y"], mark["label"], side, look)
        hover = {"hovertext": [mark["words"]], "hovertemplate": "%{hovertext}<extra></extra>"}
        drawn.append(made | hover)
    return drawn


def _name_box(x: float, y: float, wide: float, side: str) -> Box:
    """Return where a name lies on a side of its marker."""
    up, along = (_SHIFT[word] for word in side.split())
    left = x + along * wide + (_LETTER * 2 * (2 * along + 1) if up == 0 else 0.0)
    bottom, top = (y + up * _GAP + (up + side) * _LINE / 2 for side in (-1, 1))
    return Box(left, left + wide, bottom, top)


def _covered(box: Box, taken: Sequence[Box]) -> float:
    """Return the area of a name that lies on others or outside the plot."""
    inside = box.inside(_PLOT)
    if not inside:
        return 9.0
    shared = sum(box.inside(other) for other in taken)
    area = (box.right - box.left) * (box.top - box.bottom)
    return shared + 2 * (area - inside)


def share(value: float, ends: Ends) -> float:
    """Return the place of a value between both ends of an axis."""
    return (value - ends[0]) / (ends[1] - ends[0])


def named(x: float, y: float, name: str, side: str, marker: Mapping[str, Any]) -> Trace:
    """Return one marker with its name on a side."""
    font = {"color": marker["color"], "size": 12, "weight": 700}
    text = {"text": [escape(name)], "textposition": side, "textfont": font}
    return scatter([x], [y], name, mode="markers+text", marker=marker, **text)


_WORD = 0.12  # height of a word, as a share of a small plot


def limit_shapes(
    limit: float | None,
    y_range: tuple[float, float],
    *,
    of_limits: bool,
    shown: tuple[float, float] | None = None,
) -> list[dict[str, Any]]:
    """Return a limit's line over its shade; a limit on one measure alone has no shade."""
    # `of_limits`: the axis is the largest share of a limit that is used. `shown`: where settings
    # were read; the risk of others is unknown, and not shaded.
    if limit is None:
        return []
    bottom = y_range[0] - (y_range[1] - y_range[0])
    x0, x1 = shown or (0, 1)
    corners = {"xref": "x" if shown else "paper", "x0": x0, "x1": x1, "y0": bottom, "y1": limit}
    look = {"fillcolor": "rgba(0,158,115,0.10)", "line": {"width": 0}, "layer": "below"}
    shade = [{"type": "rect", **corners, **look}] if of_limits else []
    return [*shade, horizontal(limit, LIMIT)]


def limit_labels(
    limit: float | None, y_range: tuple[float, float], *, of_limits: bool, left: bool = False
) -> list[Label]:
    """Name a limit's line at its right or left end, above it unless it is near the top."""
    if limit is None:
        return []
    height = (limit - y_range[0]) / (y_range[1] - y_range[0])
    anchor = "bottom" if height < 0.8 else "top"
    text = "the limit" if of_limits else "limit on this measure"
    x, side = (0, "left") if left else (1, "right")
    return [label(text, x, limit, LIMIT, xref="paper", xanchor=side, yanchor=anchor)]
