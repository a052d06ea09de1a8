"""Charts as SVG without a browser: points, lines, boxes and heatmaps."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rwn_core.data.arrays import Floats
from rwn_core.measures.drawing.style import GRID, NEUTRAL, Chart

FONT = "font-family:Helvetica,Arial,sans-serif;font-size:12px;fill:#222222"


@dataclass(frozen=True, slots=True)
class Scale:
    """Place values between two pixels."""

    # low, high: values at the ends; `low` may be the larger one
    low: float
    high: float
    # start, stop: pixels at the ends
    start: float
    stop: float
    log: bool = False  # whether equal ratios are equally long

    def __call__(self, values: ArrayLike) -> Floats:
        """Return the pixels of values; values outside stand at the nearer end."""
        numbers = np.asarray(values, dtype=np.float64)
        low, high = self.low, self.high
        numbers = np.clip(numbers, min(low, high), max(low, high))
        if self.log:
            numbers, low, high = np.log(numbers), float(np.log(low)), float(np.log(high))
        share = (numbers - low) / (high - low)
        return np.asarray(self.start + share * (self.stop - self.start))


@dataclass(slots=True)
class Picture:
    """Collect the shapes of a picture."""

    # width, height: pixels
    width: int
    height: int
    title: str  # the text that screen readers read
    _parts: list[str] = field(default_factory=list)

    def add(self, shape: str) -> None:
        """Add a shape as SVG."""
        self._parts.append(shape)

    def text(self, x: float, y: float, words: str, *, at: str = "start", more: str = "") -> None:
        """Add words; `at` says which end, or the middle, is at x."""
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{at}"{more}>{escape(words)}</text>')

    def line(self, ends: tuple[float, float, float, float], color: str, more: str = "") -> None:
        """Add a line from (x, y) to (x, y)."""
        x1, y1, x2, y2 = ends
        place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.add(f'<line {place} stroke="{color}"{more}/>')

    def area(self, x: Floats, y: Floats, fill: str) -> None:
        """Add a filled outline through points."""
        # Shapes: x, y (m,).
        spots = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        self.add(f'<polygon points="{spots}" fill="{fill}"/>')

    def box(self, place: tuple[float, float, float, float], fill: str, more: str = "") -> None:
        """Add a rectangle at (x, y) with width and height."""
        x, y, width, height = place
        self.add(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}"{more}/>'
        )

    def circle(self, x: float, y: float, radius: float, more: str) -> None:
        """Add a circle."""
        self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"{more}/>')

    def svg(self) -> str:
        """Return the text of the file."""
        size = f'width="{self.width}" height="{self.height}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {self.width} '
                f'{self.height}" style="{FONT}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f'<rect {size} fill="#ffffff"/>',
                *self._parts,
                "</svg>\n",
            ]
        )


WIDTH, HEIGHT = 760, 460
_TOP, _RIGHT, _BOTTOM = 66, 24, 64
_LETTER, _LINE = 6.6, 12
_DASHES = {"dash": "7 4", "dot": "2 4", "dashdot": "7 4 2 4"}
_SHIFTS = {"left": "start", "center": "middle", "right": "end"}
_LIFTS = {"top": 11, "middle": 4, "bottom": -3}
_PLAIN = {"color": NEUTRAL, "size": 6, "symbol": "circle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """Hold a picture with both scales of its plot."""

    picture: Picture
    x: Scale
    y: Scale

    def place(self, ref: str, value: float, *, up: bool) -> float:
        """Return the pixel of a value or of a share of the plot."""
        scale = self.y if up else self.x
        if ref == "paper":
            return scale.start + value * (scale.stop - scale.start)
        return float(scale(value))


def still(chart: Chart) -> str:
    """Return a chart of scatter, box and heatmap traces as the text of an SVG file."""
    layout = chart["layout"]
    x, y = layout["xaxis"], layout["yaxis"]
    words = [_text(text) for text in y["ticktext"]]
    left = 48 + _LETTER * max(map(len, words), default=0)
    picture = Picture(WIDTH, HEIGHT, f"{chart['title']}: {chart['alt']}")
    plot = _Plot(
        picture=picture, x=_scale(x, left, WIDTH - _RIGHT), y=_scale(y, HEIGHT - _bottom(x), _TOP)
    )
    picture.text(14, 26, str(chart["title"]), more=' font-weight="bold"')
    picture.text(14, 46, str(chart["note"]))
    _axes(plot, layout, words)
    for shape in layout.get("shapes", ()):
        x0, x1 = (plot.place(shape.get("xref", "x"), shape[end], up=False) for end in ("x0", "x1"))
        y0, y1 = (plot.place(shape.get("yref", "y"), shape[end], up=True) for end in ("y0", "y1"))
        if shape["type"] == "rect":
            corner = (min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0))
            plot.picture.box(corner, shape["fillcolor"])
        else:
            line = shape["line"]
            plot.picture.line((x0, y0, x1, y1), line["color"], _stroke(line))
    for trace in chart["data"]:
        _DRAW[trace["type"]](plot, trace)
    for label in layout.get("annotations", ()):
        _label(plot, label)
    return picture.svg()


def _text(text: object) -> str:
    """Return a Plotly text as plain text."""
    return unescape(re.sub(r"<[^>]*>", " ", str(text)))


def _bottom(x: Mapping[str, Any]) -> float:
    """Return the room below the plot: upright names need as much as the longest."""
    if not x.get("tickangle"):
        return _BOTTOM
    return 18 + _LETTER * max((len(_text(text)) for text in x["ticktext"]), default=0)


def _scale(axis: Mapping[str, Any], start: float, stop: float) -> Scale:
    low, high = axis["range"]
    if axis.get("type") == "log":
        return Scale(10**low, 10**high, start, stop, log=True)
    return Scale(low, high, start, stop)


def _axes(plot: _Plot, layout: Mapping[str, Any], words: Sequence[str]) -> None:
    picture, x, y = plot.picture, plot.x, plot.y
    across, up = layout["xaxis"], layout["yaxis"]
    for value, word in zip(across["tickvals"], across["ticktext"], strict=True):
        at = float(x(value))
        if across.get("showgrid", True):
            picture.line((at, y.start, at, y.stop), GRID)
        if across.get("tickangle"):
            turn = f' transform="rotate(-90 {at + 4:.1f} {y.start + 6:.1f})"'
            picture.text(at + 4, y.start + 6, _text(word), at="end", more=turn)
        else:
            picture.text(at, y.start + 17, _text(word), at="middle")
    below = math.inf
    for value, word in zip(up["tickvals"], words, strict=True):
        at = float(y(value))
        if up.get("showgrid", True):
            picture.line((x.start, at, x.stop, at), GRID)
        if abs(at - below) >= _LINE:  # or it would touch the word before
            below = at
            picture.text(x.start - 7, at + 4, word, at="end")
    place = (x.start, y.stop, x.stop - x.start, y.start - y.stop)
    picture.box(place, "none", f' stroke="{NEUTRAL}"')
    picture.text((x.start + x.stop) / 2, y.start + 40, _text(across["title"]["text"]), at="middle")
    middle = (y.start + y.stop) / 2
    turn = f' transform="rotate(-90 16 {middle:.1f})"'
    picture.text(16, middle, _text(up["title"]["text"]), at="middle", more=turn)


def _stroke(line: Mapping[str, Any]) -> str:
    dash = _DASHES.get(line.get("dash", "solid"))
    more = f' stroke-dasharray="{dash}"' if dash else ""
    return f' stroke-width="{line.get("width", 1.5)}"{more}'


def _label(plot: _Plot, label: Mapping[str, Any]) -> None:
    at, height = label["x"], label["y"]
    # on a logarithmic axis Plotly places texts, unlike lines, by the exponent
    if plot.x.log and label.get("xref") != "paper":
        at = 10**at
    x = plot.place(label.get("xref", "x"), at, up=False) + label.get("xshift", 0)
    y = plot.place(label.get("yref", "y"), height, up=True) - label.get("yshift", 0)
    y += _LIFTS[label.get("yanchor", "middle")]
    color = f' style="fill:{label["font"]["color"]}"'
    plot.picture.text(
        x, y, _text(label["text"]), at=_SHIFTS[label.get("xanchor", "center")], more=color
    )


def _scatter(plot: _Plot, trace: Mapping[str, Any]) -> None:
    x, y = plot.x(trace["x"]), plot.y(trace["y"])
    mode, marker = trace.get("mode", "lines"), {**_PLAIN, **trace.get("marker", {})}
    if trace.get("fill") == "toself" and np.isfinite([x, y]).all():
        plot.picture.area(x, y, trace["fillcolor"])
    if "lines" in mode:
        line = trace["line"]
        for first, second in pairwise(zip(x, y, strict=True)):
            if np.isfinite([*first, *second]).all():
                plot.picture.line((*first, *second), line["color"], _stroke(line))
    if "markers" in mode:
        color = marker["color"]
        fill, edge = ("none", color) if "open" in marker["symbol"] else (color, "none")
        look = f' fill="{fill}" stroke="{edge}" opacity="{marker.get("opacity", 1)}"'
        for a, b in zip(x, y, strict=True):
            if np.isfinite([a, b]).all():
                plot.picture.circle(a, b, marker["size"] / 2, look)
    for words, a, b in zip(trace["text"] if "text" in mode else (), x, y, strict=False):
        _name(plot, _text(words), (a, b), trace)


def _name(plot: _Plot, words: str, spot: tuple[float, float], trace: Mapping[str, Any]) -> None:
    """Write a name on its side of a marker."""
    up, along = str(trace["textposition"]).split()
    away = trace["marker"]["size"] / 2 + 4
    x = spot[0] + {"left": -away, "center": 0.0, "right": away}[along] * (up == "middle")
    y = spot[1] + {"top": -away, "middle": 4.0, "bottom": away + 9}[up]
    at = {"left": "end", "center": "middle", "right": "start"}[along]
    color = f' style="fill:{trace["textfont"]["color"]}" font-weight="bold"'
    plot.picture.text(x, y, words, at=at, more=color)


def _box(plot: _Plot, trace: Mapping[str, Any]) -> None:
    names = ("lowerfence", "q1", "median", "q3", "upperfence")
    low, q1, median, q3, high = (float(plot.x(trace[name][0])) for name in names)
    row, half = float(trace["y"][0]), trace["width"] / 2
    top, middle, bottom = sorted(float(plot.y(row + away)) for away in (-half, 0, half))
    color, more = trace["line"]["color"], _stroke(trace["line"])
    for ends in ((low, middle, q1, middle), (q3, middle, high, middle)):
        plot.picture.line(ends, color, more)
    plot.picture.box((q1, top, q3 - q1, bottom - top), trace["fillcolor"], f' stroke="{color}"')
    plot.picture.line((median, top, median, bottom), color, ' stroke-width="3"')


def _heatmap(plot: _Plot, trace: Mapping[str, Any]) -> None:
    values = np.asarray(trace["z"], dtype=np.float64)
    stops = [stop for stop, _ in trace["colorscale"]]
    # red, green and blue of rgb(r,g,b)
    colors = np.array(
        [[int(part) for part in re.findall(r"\d+", color)] for _, color in trace["colorscale"]]
    )
    span = trace["zmax"] - trace["zmin"]
    for row, column in np.argwhere(np.isfinite(values)):
        share = (values[row, column] - trace["zmin"]) / span
        shade = ",".join(f"{np.interp(share, stops, each):.0f}" for each in colors.T)
        x = sorted(float(plot.x(column + away)) for away in (-0.5, 0.5))
        y = sorted(float(plot.y(row + away)) for away in (-0.5, 0.5))
        plot.picture.box((x[0], y[0], x[1] - x[0] - 1, y[1] - y[0] - 1), f"rgb({shade})")


_DRAW: Mapping[str, Callable[[_Plot, Mapping[str, Any]], None]] = {
    "scatter": _scatter,
    "box": _box,
    "heatmap": _heatmap,
}
