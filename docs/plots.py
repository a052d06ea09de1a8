"""Clouds of points and axes for the pictures of the documentation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts.still import Picture, Scale
from rwn_core.measures.drawing.style import NEUTRAL


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
