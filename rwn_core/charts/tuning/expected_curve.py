"""Expected values along a parameter, with the present draw."""

from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME
from rwn_core.charts.parts.tables import table
from rwn_core.evaluation.forecast.curve import ExpectedCurve
from rwn_core.masking import SHORT_NAMES
from rwn_core.measures.measure import Reading

_LEAST = 0.02
"""Height of the axis where nothing changes."""


def draw(
    expected: Reading[ExpectedCurve],
    realized: float | None,
    interval: tuple[float, float] | None = None,
) -> style.Chart:
    """Draw expected values of a statistic along one parameter."""
    # `interval` holds 9 of 10 draws of the present setting.
    detail = expected.detail
    words, sign = detail.words, SHORT_NAMES[detail.axis]
    now, (low, high) = detail.now, _span(expected, realized, interval)

    def write(value: float) -> str:
        if detail.share:
            return style.percent(value, 1)
        return style.number(value, 2 if abs(value) < 0.1 else 3 if abs(value) < 10 else 4)

    stated = write(expected.value)
    note = f"expected {stated}" + ("" if realized is None else f" · draw {write(realized)}")
    others = " and ".join(
        f"{SHORT_NAMES[n]} = {v:g}" for n, v in detail.others.items() if v is not None
    )
    others = f" at {others}" if others else ""
    xs, values = style.floats(detail.values), style.floats(detail.expected)
    made = style.line(xs, values, released=False, name="expected")
    made["line"] |= {"color": style.NEUTRAL}
    form = ".1%" if detail.share else ".4g"
    made["hovertemplate"] = f"{sign} %{{x:.3g}}: %{{y:{form}}}<extra>expected</extra>"
    traces = [made]
    if interval is not None:
        bar = style.line([now, now], list(interval), released=True, name=NAME)
        bar["line"] |= {"width": 6, "dash": "solid", "color": f"{style.RELEASED}66"}
        traces.append(bar | {"hovertemplate": f"%{{y:.4g}}<extra>{NAME}</extra>"})
    if realized is not None:
        marker = {"symbol": "diamond", "size": 11, "color": style.RELEASED, "opacity": 1}
        hover = "%{y:.4g}<extra>this draw</extra>"
        point = style.scatter([now], [realized], "this draw", marker=marker, hovertemplate=hover)
        traces.append(point)
    return style.chart(
        "expected_curve",
        f"Expected {detail.short} over {sign}",
        note,
        f"Expected {words} over {detail.axis_words}{others}; at the present value {stated} is "
        "expected" + ("" if realized is None else f" and this draw has {write(realized)}"),
        data=traces,
        layout=_layout(expected, (low, high), realized),
        large={"legend": True},
        table=table(
            [sign, f"expected {words}", "expected share of changed cells"],
            [detail.values, detail.expected, detail.changed],
        ),
    )


def _span(
    expected: Reading[ExpectedCurve], realized: float | None, interval: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the ends of the upright axis, which hold curve, draw and original."""
    detail = expected.detail
    parts = [detail.expected, [expected.value, expected.baseline or 0.0]]
    parts += [] if realized is None else [[realized]]
    parts += [] if interval is None else [interval]
    every = np.concatenate([np.asarray(part, dtype=float) for part in parts])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    if low >= 0 and (low < 0.5 * high or high == 0):
        top = style.above(max(1.12 * high, _LEAST if low == 0 else 0.0))
        return 0.0, min(top, 1.06) if detail.share else top
    pad = 0.12 * (high - low) or 0.05 * abs(high)
    return low - pad, high + pad


def _layout(
    expected: Reading[ExpectedCurve], ends: tuple[float, float], realized: float | None
) -> dict[str, Any]:
    detail = expected.detail
    now, name = detail.now, detail.axis
    xs = detail.values
    lowest, widest = (float(xs.min()), max(float(xs.max()), now)) if len(xs) else (0.0, 1.0)
    pad = 0.03 * (widest - lowest or 1.0)
    y = style.axis(style.escape(style.shorten(detail.words, 28)), *ends, share=detail.share)
    shapes = [style.vertical(now, style.EPSILON if name == "epsilon" else style.NEUTRAL, "dash")]
    notes: list[style.Label] = []
    if expected.baseline:
        shapes.append(style.horizontal(expected.baseline, style.ORIGINAL))
        up = expected.baseline < ends[0] + 0.85 * (ends[1] - ends[0])
        original = style.label("original", 1, expected.baseline, style.ORIGINAL, xref="paper")
        notes.append(original | {"xanchor": "right", "yanchor": "bottom" if up else "top"})
    if realized is not None:
        side, shift = ("right", -7) if now > 0.75 * widest else ("left", 7)
        near: dict[str, Any] = {"bold": True, "xanchor": side, "xshift": shift, "yshift": 2}
        notes.append(style.label("this draw", now, realized, style.RELEASED, **near))
    x = style.axis(detail.axis_words, lowest - pad, widest + pad, count=7)
    return style.layout(
        x, y, shapes=shapes, annotations=notes, uirevision=f"{name} {y['title']['text']}"
    )
