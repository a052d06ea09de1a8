"""One manner of drawing: the colors, axes, points and lines that every chart shares.

Original values are blue, hollow and solid; released values are vermillion, filled and dashed, so
shape and dash carry the meaning where color is lost. Margins, ranges and ticks are stated here
instead of being found by the browser, because measuring text is what makes a redraw slow.
"""

from __future__ import annotations

import html
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.data.arrays import Singles

Chart = dict[str, Any]
Trace = dict[str, Any]
Axis = dict[str, Any]
Label = dict[str, Any]
Values = Singles
ColorScale = Sequence[Sequence[object]]
"""Shares of a range, each with its color."""

SIDES = ("original", "released")
ORIGINAL = "#0072B2"
RELEASED = "#D55E00"
NEUTRAL = "#777777"
LIMIT = "#009E73"
EPSILON = "#B2182B"
PINS = {"A": "#7A3E9D", "B": "#8A6D00"}
"""Colors of the pinned settings; rwn_ui/panel/card.js has those of a dark page."""
GRID = "rgba(128,128,128,0.18)"
INVISIBLE = "rgba(0,0,0,0)"

CLOUD_POINTS = 2_000  # decides: points from which a cloud is drawn as a density with its extremes
EXTREMES = 25
FONT = 11
HOVER = {"family": '"Source Sans", sans-serif', "size": FONT}
"""What Plotly writes under the pointer: in the page's font, which it does not take over."""
LETTER = 5.7
"""Average width of a character in pixels at the base font size of 11."""


def escape(text: object) -> str:
    """Escape a name for a Plotly text, which renders a subset of HTML."""
    # Chart titles, notes, descriptions and tables are plain text and stay unescaped.
    return html.escape(str(text), quote=False)


def escaped(texts: Sequence[str]) -> list[str]:
    """Escape several names."""
    return [html.escape(text, quote=False) for text in texts]


def letters(text: str) -> int:
    """Return how many Latin letters a text is wide: those of Chinese count as two.

    >>> letters("age"), letters("年龄")
    (3, 4)
    """
    wide = 0 if text.isascii() else sum(east_asian_width(each) in "WF" for each in text)
    return len(text) + wide


def shorten(text: object, length: int = 10) -> str:
    """Shorten a name to `length` letters by cutting its middle."""
    return short_names([text], length)[0]


def short_names(names: Sequence[object], length: int = 10) -> list[str]:
    """Shorten names by cutting their middle, so that different names stay different."""
    texts = [str(name) for name in names]
    if max(map(len, texts), default=0) <= length and "".join(texts).isascii():
        return texts
    cuts: list[list[str]] = []
    for end in (length // 3, length // 2, length - 4, 1):  # letters that are kept of the end
        cut = [
            text
            if letters(text) <= length
            else f"{_beginning(text, length - end - 1)}…{_beginning(text[::-1], end)[::-1]}"
            for text in texts
        ]
        if len(set(cut)) == len(set(texts)):
            return cut
        cuts.append(cut)
    # equal both ends
    cut = cuts[0]
    ends = [f"…{number}" for number in range(1, len(texts) + 1)]
    return [
        short
        if text == short or cut.count(short) == 1
        else _beginning(text, length - len(end)) + end
        for text, short, end in zip(texts, cut, ends, strict=True)
    ]


def _beginning(text: str, room: int) -> str:
    """Return the part of a text that fits into a number of letters."""
    text = text[:room]
    while letters(text) > room:
        text = text[:-1]
    return text


def number(value: float | None, digits: int = 3) -> str:
    """Return `digits` significant digits with a true minus; a dash for a missing number."""
    if value is None or not math.isfinite(value):
        return "–"
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{max(decimals, 0)}f}".replace("-", "−")


def percent(share: float | None, decimals: int = 0) -> str:
    """Return a share in [0, 1] as a percentage."""
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.{decimals}f} %"


def floats(values: ArrayLike) -> Values:
    """Return values as float32: half the bytes, more digits than a screen has pixels."""
    return np.ascontiguousarray(values, dtype=np.float32)


def above(value: float) -> float:
    """Round up to 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten: a steady axis."""
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return steps[bisect_left(steps, value * (1 - 1e-9) / power)] * power


def largest(*groups: ArrayLike) -> float:
    """Return the largest finite value over all groups, 0 without any."""
    values = np.concatenate([[], *[np.ravel(np.asarray(group, dtype=float)) for group in groups]])
    return float(np.nanmax(values)) if np.isfinite(values).any() else 0.0


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten in [low, high], about `count`."""
    low, high = sorted((low, high))
    rough = max((high - low) / max(count, 1), 1e-300)
    power = 10.0 ** math.floor(math.log10(rough))
    step = (1, 2, 5, 10)[bisect_left((1, 2, 5), rough * (1 - 1e-9) / power)] * power
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def axis(
    title: str, low: float, high: float, *, count: int = 5, share: bool = False, **more: object
) -> Axis:
    """Return an axis with a stated range and ticks; `title` is already escaped."""
    # Own "tickvals" and "ticktext" replace the ticks made here. Cards are painted with these; with
    # tickmode "auto" Plotly makes its own in the full view.
    if "tickvals" not in more:
        positions = ticks(low, high, count)
        more |= {
            "tickvals": positions,
            "ticktext": _tick_texts(positions, share),
            "tickmode": "auto",
        }
        more |= {"nticks": count, "tickformat": ".0%"} if share else {"nticks": count}
    return {
        "title": {"text": title, "standoff": 5, "font": {"size": FONT}},
        "range": [float(low), float(high)],
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": False,
        **more,
    }


def _tick_texts(positions: Sequence[float], share: bool) -> list[str]:
    """Return all ticks with the decimals that their spacing needs."""
    step = positions[1] - positions[0] if len(positions) > 1 else (positions or [1.0])[0] or 1.0
    step *= 100 if share else 1
    decimals = max(0, -math.floor(math.log10(abs(step)) + 1e-9))
    if share:
        return [f"{100 * v:.{decimals}f}%".replace("-", "−") for v in positions]
    if decimals > 4:
        return [number(v, 1) if v else "0" for v in positions]
    return [f"{v:,.{decimals}f}".replace("-", "−") for v in positions]


def widest(texts: Sequence[str]) -> float:
    """Return the width in pixels of the widest escaped text at the base font size."""
    plain = list(map(html.unescape, texts))
    return LETTER * max(map(len if "".join(plain).isascii() else letters, plain), default=0)


def layout(x: Axis, y: Axis, *, right: float = 12, **more: object) -> dict[str, Any]:
    """Return a layout with margins in pixels that fit the ticks and titles."""
    size = y.get("tickfont", {}).get("size", FONT)
    left = widest(y["ticktext"]) * size / FONT + 10 + (20 if y["title"]["text"] else 0)
    return {
        "margin": {
            "l": round(left),
            "r": right,
            "t": 9,
            "b": 36 if x["title"]["text"] else 20,
            "pad": 0,
        },
        "paper_bgcolor": INVISIBLE,
        "plot_bgcolor": INVISIBLE,
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        "uirevision": "keep",
        "font": {"size": FONT},
        "hoverlabel": {"align": "left", "namelength": -1, "font": HOVER},
        "xaxis": x,
        "yaxis": y,
        **more,
    }


def name_axis(
    names: Sequence[str],
    title: str = "",
    *,
    length: int = 60,
    rim: float = 0.5,
    down: bool = True,
    **more: object,
) -> Axis:
    """Return an axis with a name for each row, from the top if it runs down.

    Longer names are cut; `chart` gives the whole ones to the full view and the pointer.
    """
    short, full = escaped(short_names(names, length)), escaped(names)
    rows: dict[str, Any] = {"tickvals": list(range(len(names))), "ticktext": short}
    rows |= {"full": {"ticktext": full}} if short != full else {}
    first = -rim
    last = len(names) - 1 + rim
    look: dict[str, Any] = {**more, **rows}
    return axis(title, last if down else first, first if down else last, **look)


def scatter(
    x: ArrayLike, y: ArrayLike, name: str, *, mode: str = "markers", **more: object
) -> Trace:
    """Return a trace of points or lines; `more` says how they look."""
    return {"type": "scatter", "mode": mode, "name": name, "x": x, "y": y, **more}


def points(
    x: ArrayLike,
    y: ArrayLike,
    *,
    released: bool,
    marker: Mapping[str, object] = MappingProxyType({}),
    **more: object,
) -> Trace:
    """Return a cloud: hollow blue for the original, filled vermillion for the release."""
    usual: dict[str, object] = (
        {"size": 5, "color": RELEASED, "symbol": "circle", "opacity": 0.75}
        if released
        else {"size": 6, "color": ORIGINAL, "symbol": "circle-open", "opacity": 0.85}
    )
    return _sided(x, y, released, {"marker": {**usual, **marker}, **more})


def cloud(places: ArrayLike, *, released: bool, name: str = "", **marker: object) -> Trace:
    """Return `points` at places, shape (n, 2); `marker` says how they look."""
    x, y = map(floats, np.asarray(places, dtype=float).T)
    return points(x, y, released=released, name=name or SIDES[released], marker=marker)


def _sided(x: ArrayLike, y: ArrayLike, released: bool, look: Mapping[str, object]) -> Trace:
    """Return a trace that is called by its side where no name is given."""
    points = {"type": "scatter", "mode": "markers", "name": SIDES[released], "x": x, "y": y}
    return {**points, **look}


def line(
    x: ArrayLike,
    y: ArrayLike,
    *,
    released: bool,
    line: Mapping[str, object] = MappingProxyType({}),
    **more: object,
) -> Trace:
    """Return a line: solid blue for the original, dashed vermillion for the release."""
    color, dash = (RELEASED, "dash") if released else (ORIGINAL, "solid")
    look = {"color": color, "width": 2, "dash": dash, **line}
    return _sided(x, y, released, {"mode": "lines", "line": look, **more})


def segments(low: ArrayLike, high: ArrayLike, height: ArrayLike) -> tuple[Values, Values]:
    """Return x and y of horizontal lines with gaps between them."""
    ends = np.column_stack([low, high, np.full(np.shape(low), np.nan)])
    return floats(ends.ravel()), floats(np.repeat(np.asarray(height, dtype=float), 3))


def bar(
    lengths: ArrayLike, rows: ArrayLike, name: str, place: tuple[float, float], **look: object
) -> Trace:
    """Return horizontal bars; `place` is their width and their offset from the row."""
    made = {"type": "bar", "orientation": "h", "name": name, "x": lengths, "y": rows}
    return {**made, "width": place[0], "offset": place[1], **look}


def filled(fill: str, color: str, width: float = 1.4) -> dict[str, Any]:
    """Return the look of a bar with an outline."""
    return {"color": fill, "line": {"color": color, "width": width}}


def heatmap(
    values: ArrayLike, ends: tuple[float, float], scale: ColorScale, **more: object
) -> Trace:
    """Return a square of colors, shape (rows, columns); NaN stays empty."""
    z = floats(values)
    return {
        "type": "heatmap",
        "x": list(range(z.shape[1])),
        "y": list(range(z.shape[0])),
        "z": z,
        "zmin": ends[0],
        "zmax": ends[1],
        "colorscale": scale,
        "showscale": False,
        **more,
        "hoverongaps": False,
    }


def outline(
    edges: ArrayLike,
    heights: ArrayLike,
    *,
    released: bool,
    fill: str = "",
    look: Mapping[str, object] = MappingProxyType({}),
) -> Trace:
    """Return the outline of a histogram, filled if a color is given; `look` is of its line."""
    borders = np.asarray(edges)
    steps = np.concatenate([[0], np.asarray(heights), [0]])
    corners = floats(np.concatenate([borders[:1], borders]))
    made = line(corners, steps, released=released, line=look)
    made["line"] |= {"shape": "hv"}
    return made | ({"fill": "tozeroy", "fillcolor": fill} if fill else {})


def horizontal(y: float, color: str, dash: str = "solid") -> dict[str, Any]:
    """Return a horizontal line across the plot at `y`."""
    anchor = {"xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y}
    return {"type": "line", **anchor, "line": {"color": color, "width": 1.4, "dash": dash}}


def vertical(x: float, color: str, dash: str = "solid") -> dict[str, Any]:
    """Return a vertical line across the plot at `x`."""
    anchor = {"yref": "paper", "y0": 0, "y1": 1, "x0": x, "x1": x}
    return {"type": "line", **anchor, "line": {"color": color, "width": 1.4, "dash": dash}}


def label(
    text: str, x: float, y: float, color: str, *, bold: bool = False, **more: object
) -> Label:
    """Return a short text at a place of the plot."""
    font = {"color": color, "size": FONT, "weight": 700 if bold else 400}
    anchor = {"xanchor": "center", "yanchor": "bottom", **more}
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": font, **anchor}


def corner(
    text: str,
    color: str,
    at: float = 1,
    *,
    right: bool = True,
    bold: bool = False,
    **more: object,
) -> Label:
    """Return a text at the right or left border of the plot, under the height `at`."""
    where = {"xref": "paper", "yref": "paper", "xanchor": "right" if right else "left"}
    return label(text, int(right), at, color, bold=bold, **(where | {"yanchor": "top"} | more))


def stack(
    words: Sequence[tuple[str, str]],
    *,
    step: float = 0.06,
    right: bool = False,
    bold: bool = True,
    **more: object,
) -> list[Label]:
    """Return texts with their colors in an upper corner, one under another."""
    return [
        corner(text, color, 1 - step * row, right=right, bold=bold, **more)
        for row, (text, color) in enumerate(words)
    ]


def density(x: ArrayLike, y: ArrayLike, color: str, edges: Sequence[NDArray[Any]]) -> Trace:
    """Return counts in cells as a heatmap; the shade is logarithmic in the count."""
    # `edges` are the borders of the cells, shapes (bx + 1,) and (by + 1,). Empty cells are
    # transparent.
    counts, _, _ = np.histogram2d(np.asarray(y, float), np.asarray(x, float), edges[::-1])
    shade = np.log1p(counts)
    return {
        "type": "heatmap",
        "x": floats(edges[0]),
        "y": floats(edges[1]),
        "z": [[round(s, 2) if s else None for s in row] for row in shade.tolist()],
        "zmin": 0,
        "zmax": round(float(shade.max(initial=1.0)), 2),
        "colorscale": [[0, f"{color}1F"], [1, color]],
        "showscale": False,
        "hoverinfo": "skip",
    }


def extremes(values: ArrayLike, count: int = EXTREMES) -> NDArray[np.intp]:
    """Return positions of the `count` largest finite values, largest first."""
    # Shapes: values (m,); the answer (c,), c at most `count`.
    values = np.asarray(values, dtype=float)
    known = np.flatnonzero(np.isfinite(values))
    if known.size > count:
        known = np.sort(known[np.argpartition(-values[known], count)[:count]])
    ranked: NDArray[np.intp] = known[np.argsort(-values[known], kind="stable")]
    return ranked


def chart(key: str, title: str, note: str, alt: str, **parts: Any) -> Chart:
    """Return the parts of a chart: data, layout, table, and what its full view has instead."""
    axes = [(side, parts.get("layout", {}).get(side, {})) for side in ("xaxis", "yaxis")]
    full = {side: axis.pop("full") for side, axis in axes if "full" in axis}
    if full:
        parts["large"] = parts.get("large", {}) | full
    return {"key": key, "title": title, "note": note, "alt": alt, **parts}


FLAT = 10  # times as large as the others: they would fill a tenth of the picture
_ARROWS = {"x": "triangle-right", "y": "triangle-up"}
FEW = 500  # one value in so many may lie beyond, and one in any case


def clipped(*files: ArrayLike) -> float | None:
    """Return the largest value that the axis holds; None if it holds all."""
    # At most ten times as large as all but one value in 500 of each file (at least one).
    every = map(partial(np.asarray, dtype=float), files)
    known = [np.sort(values[np.isfinite(values)]) for values in every]
    others = [v[-1 - max(1, v.size // FEW)] for v in known if v.size > 1]
    most = FLAT * max(others, default=0.0)
    if not 0 < most < max([values.max(initial=0.0) for values in known], default=0.0):
        return None
    return max([float(values[values <= most].max(initial=0.0)) for values in known])


def at_the_edge(marks: Trace, axis: str, edge: float) -> list[Trace]:
    """Put marks beyond an axis at its edge, as arrows that show their true values."""
    values = np.asarray(marks[axis], dtype=float)
    beyond = values > edge
    if not beyond.any():
        return [marks]
    other = {"x": "y", "y": "x"}[axis]
    arrows = marks | {
        axis: np.full(int(beyond.sum()), edge),
        other: np.asarray(marks[other])[beyond],
        "customdata": floats(values[beyond]),
        "hovertemplate": marks["hovertemplate"].replace(f"%{{{axis}", "%{customdata"),
        "marker": marks["marker"] | {"symbol": _ARROWS[axis], "size": 8, "opacity": 1},
        "showlegend": False,
        "cliponaxis": False,
    }
    if "text" in marks:
        arrows["text"] = np.asarray(marks["text"])[beyond]
    return [marks | {axis: floats(np.where(beyond, np.nan, values))}, arrows]


def beyond_words(values: ArrayLike, edge: float, what: str = "record") -> str:
    """Return the number of values beyond the edge and the largest; empty without any."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known) & (known > edge)]
    if not known.size:
        return ""
    top = float(known.max())
    largest = f"{top:,.0f}" if top >= 1000 else number(top)
    if known.size == 1:
        return f"1 {what} beyond, {largest}"
    return f"{known.size:,} {what}s beyond, up to {largest}"


def draw_reason(title: str, reason: str, key: str = "not_applicable") -> Chart:
    """Return a chart without traces; the page shows `reason` in place of the picture."""
    return chart(
        key,
        title,
        "not applicable",
        f"{title}: not applicable. {reason}",
        data=[],
        layout={},
        reason=reason,
        table={"columns": ["reason"], "rows": [[reason]]},
    )
