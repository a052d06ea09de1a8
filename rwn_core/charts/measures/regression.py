"""Slopes of the steward's regression with 95 % intervals, before and after.

In units of the original's standard error: one axis for all variables, and a slope further from 0
than its interval reaches was significant in the original. Intervals are Student's t of least
squares, the normal 1.96 of a logistic or Poisson model.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, bars, columns
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import t95
from rwn_core.measures.utility.regressions import FittedSlopes

_SLOPES = 14
_APART = 0.16


def draw(reading: Reading[FittedSlopes], drawn: Drawn | None = None) -> style.Chart:
    """Draw the slopes, without the intercept; at most the 14 that moved most."""
    detail = reading.detail
    moved = detail.standardized_difference[1:]
    ranked = np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:_SLOPES]
    rows = np.sort(ranked) + 1
    terms = [detail.terms[row] for row in rows]
    names = style.escaped([style.shorten(term, 12) for term in terms])
    response, signs = detail.response, int(detail.sign_changed[1:].sum())
    note = f"largest change {style.number(reading.value)} SE"
    note += f" · {signs} sign{'s' * (signs > 1)} changed" if signs else ""
    traces = []
    if drawn is not None:  # the ranges of the slopes of other draws
        unit, band = detail.se_original[rows], drawn["coefficient_released"]
        height = np.arange(len(rows)) + _APART
        traces.append(bars(band.low[rows] / unit, band.high[rows] / unit, height))
    traces += _intervals(detail, rows, released=False)
    traces += _intervals(detail, rows, released=True)
    low, high = _span(traces)
    return style.chart(
        "regression",
        f"Regression of {response}",
        note,
        f"Slopes of the regression of {response} with 95 % intervals in units of the original's "
        f"standard error; {signs} of {len(moved)} slopes changed a sign beyond chance"
        + ("" if drawn is None else f"; pale bars: {NAME}"),
        data=traces,
        layout=style.layout(
            style.axis("slope / original's standard error", low, high, count=6),
            style.name_axis(names) | {"showgrid": False},
            shapes=[style.vertical(0, style.NEUTRAL)],
            uirevision=response,
        ),
        large={
            "legend": True,
            "yaxis": {"ticktext": style.escaped(terms)},
        },
        table=coefficients(detail, drawn),
    )


def coefficients(detail: FittedSlopes, drawn: Drawn | None = None) -> dict[str, Any]:
    """Return the table of every term with coefficients and standard errors."""
    one, other = np.sign(detail.coefficient_original), np.sign(detail.coefficient_released)
    signs = [
        "changed" if beyond else "unclear" if apart else "kept"
        for beyond, apart in zip(detail.sign_changed, one * other < 0, strict=True)
    ]
    made: dict[str, Any] = {"term": detail.terms}
    made["coefficient, original"] = _short(detail.coefficient_original)
    made["SE, original"] = _short(detail.se_original)
    made["coefficient, released"] = _short(detail.coefficient_released)
    made["SE, released"] = _short(detail.se_released)
    made |= {
        "sign": signs,
        "difference / SE, original": _short(detail.standardized_difference),
    }
    for part, what in (("coefficient_released", "coefficient, "), ("se_released", "SE, ")):
        if drawn is not None:
            for name, end in zip(*columns(drawn[part], what), strict=True):
                made[name] = _short(end)
    result = table(list(made), list(made.values()))
    explained = "R²" if detail.family == "linear" else "Share of deviance explained"
    result["caption"] = (
        f"{explained} {style.number(detail.r2_original)} → "
        f"{style.number(detail.r2_released)}; "
        f"{detail.n_original:,} → {detail.n_released:,} complete records. The "
        "released standard errors do not know of the masking, and may be too small."
    )
    return result


def _short(values: Iterable[float]) -> list[float]:
    """Round each coefficient to seven digits of its own: slopes of one table differ in size."""
    return [float(f"{value:.7g}") for value in values]


def _intervals(
    detail: FittedSlopes, rows: NDArray[np.intp], *, released: bool
) -> list[style.Trace]:
    """Return the slopes of one file as points over one broken line of intervals."""
    # Shapes: rows (r,), of the shown terms.
    slopes = detail.coefficient_released if released else detail.coefficient_original
    errors = detail.se_released if released else detail.se_original
    records = detail.n_released if released else detail.n_original
    unit = detail.se_original[rows]
    slope = slopes[rows] / unit
    freedom = records - len(detail.terms) if detail.family == "linear" else math.inf
    half = t95(freedom) * errors[rows] / unit
    height = np.arange(len(rows)) + (_APART if released else -_APART)
    bars = style.line(*style.segments(slope - half, slope + half, height), released=released)
    bars |= {"hoverinfo": "skip", "showlegend": False, "line": bars["line"] | {"dash": "solid"}}
    marks = style.points(
        style.floats(slope), style.floats(height), released=released, customdata=style.floats(half)
    )
    marks["marker"] |= {"size": 7, "opacity": 1}
    marks["hovertemplate"] = "%{x:.2f} ± %{customdata:.2f}<extra>%{fullData.name}</extra>"
    return [bars, marks]


def _span(traces: list[style.Trace]) -> tuple[float, float]:
    """Return a range that holds every interval and 0, in steps of 2."""
    ends = np.concatenate([[-1.0, 1.0], *(np.asarray(t["x"], dtype=float) for t in traces)])
    ends = ends[np.isfinite(ends)]
    return 2 * np.floor(ends.min() / 2 - 0.05), 2 * np.ceil(ends.max() / 2 + 0.05)
