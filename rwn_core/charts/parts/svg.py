"""A few shapes of SVG."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from rwn_core.data.arrays import Floats

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
