"""Shapes, clouds of points and axes for the pictures of the documentation, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.data.arrays import Floats
from rwn_core.measures.drawing.style import NEUTRAL

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


class Plot(Picture):
    """Collect the shapes of a picture with clouds and axes."""

    def cloud(self, x: NDArray[np.float64], y: NDArray[np.float64], color: str) -> None:
        """Add a point for each pair of pixels without NaN."""
        known = ~(np.isnan(x) | np.isnan(y))
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[known], y[known], strict=True))
        self.add(
            f'<path d="{dots}" fill="none" stroke="{color}" stroke-width="4" '
            'stroke-linecap="round" stroke-opacity="0.55"/>'
        )

    def axes(self, x: Scale, y: Scale, names: tuple[str, str]) -> None:
        """Add a frame with a few numbers at its ticks and the names of both axes."""
        left, right, bottom, top = x.start, x.stop, y.start, y.stop
        self.box((left, top, right - left, bottom - top), "none", f' stroke="{NEUTRAL}"')
        for value in tick_values(x):
            place = float(x(value))
            self.line((place, bottom, place, bottom + 4), NEUTRAL)
            self.text(place, bottom + 17, f"{value:g}", at="middle")
        for value in tick_values(y):
            place = float(y(value))
            self.line((left - 4, place, left, place), NEUTRAL)
            self.text(left - 7, place + 4, f"{value:g}", at="end")
        self.text((left + right) / 2, bottom + 34, names[0], at="middle")
        up = (top + bottom) / 2
        turn = f' transform="rotate(-90 {left - 40:.1f} {up:.1f})"'
        self.text(left - 40, up, names[1], at="middle", more=turn)


def tick_values(scale: Scale) -> Sequence[float]:
    """Return three to six round numbers for an axis, or the powers of ten."""
    if scale.log:
        powers = range(int(np.ceil(np.log10(scale.low) - 1e-9)), 9)
        return [10.0**power for power in powers if 10.0**power <= scale.high * (1 + 1e-9)]
    raw = (scale.high - scale.low) / 4
    base = 10.0 ** np.floor(np.log10(raw))
    step = base * min((m for m in (1.0, 2.0, 5.0, 10.0)), key=lambda m: abs(m * base - raw))
    first = np.ceil(scale.low / step - 1e-9) * step
    return [float(round(v, 10)) + 0.0 for v in np.arange(first, scale.high + 1e-9 * step, step)]
