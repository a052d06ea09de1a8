"""Slopes of the steward's regression with 95 % intervals, before and after.

In units of the original's standard error: one axis for all variables, and a slope further from 0
than its interval reaches was significant in the original. Intervals are Student's t of least
squares, the normal 1.96 of a logistic or Poisson model.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.bands import NAME, Drawn, bars, columns
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import t95

_SLOPES = 14
_APART = 0.16


def _note(largest: float, signs: int) -> str:
    """Return the largest change, and the number of significant signs that changed."""
    words = f"largest change {style.number(largest)} SE"
    return f"{words} · {signs} sign{'s' * (signs > 1)} changed" if signs else words


def draw(reading: Reading, drawn: Drawn | None = None) -> style.Chart:
    """Draw the slopes, without the intercept; at most the 14 that moved most."""
    detail = reading.detail
    moved = np.asarray(detail["standardized_difference"], dtype=float)[1:]
    ranked = np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:_SLOPES]
    rows = np.sort(ranked) + 1
    terms = [detail["terms"][row] for row in rows]
    names = style.escaped([style.shorten(term, 12) for term in terms])
    response, signs = detail["response"], int(np.sum(detail["sign_changed"][1:]))
    traces = [] if drawn is None else [_reach(detail, rows, drawn)]
    traces += [t for side in style.SIDES for t in _intervals(detail, rows, side)]
    low, high = _span(traces)
    return style.chart(
        "regression",
        f"Regression of {response}",
        _note(reading.value, signs),
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


def coefficients(detail: Mapping[str, Any], drawn: Drawn | None = None) -> dict[str, Any]:
    """Return the table of every term with coefficients and standard errors."""
    one, other = (np.sign(detail[f"coefficient_{side}"]) for side in style.SIDES)
    signs = [
        "changed" if beyond else "unclear" if apart else "kept"
        for beyond, apart in zip(detail["sign_changed"], one * other < 0, strict=True)
    ]
    made: dict[str, Any] = {"term": [str(term) for term in detail["terms"]]}
    for side in style.SIDES:
        made[f"coefficient, {side}"] = _short(detail[f"coefficient_{side}"])
        made[f"SE, {side}"] = _short(detail[f"se_{side}"])
    made |= {
        "sign": signs,
        "difference / SE, original": _short(detail["standardized_difference"]),
    }
    for part, what in (("coefficient_released", "coefficient, "), ("se_released", "SE, ")):
        if drawn is not None:
            for name, end in zip(*columns(drawn[part], what), strict=True):
                made[name] = _short(end)
    result = table(list(made), list(made.values()))
    explained = "Share of deviance explained" if "family" in detail else "R²"
    result["caption"] = (
        f"{explained} {style.number(detail['r2_original'])} → "
        f"{style.number(detail['r2_released'])}; "
        f"{detail['n_original']:,} → {detail['n_released']:,} complete records. The "
        "released standard errors do not know of the masking, and may be too small."
    )
    return result


def _short(values: Iterable[float]) -> list[float]:
    """Round each coefficient to seven digits of its own: slopes of one table differ in size."""
    return [float(f"{value:.7g}") for value in values]


def _intervals(detail: Mapping[str, Any], rows: NDArray[np.intp], side: str) -> list[style.Trace]:
    """Return the slopes of one file as points over one broken line of intervals."""
    unit = np.asarray(detail["se_original"], dtype=float)[rows]
    slope = np.asarray(detail[f"coefficient_{side}"], dtype=float)[rows] / unit
    freedom = math.inf if "family" in detail else detail[f"n_{side}"] - len(detail["terms"])
    half = t95(freedom) * np.asarray(detail[f"se_{side}"], dtype=float)[rows] / unit
    released = side == "released"
    height = np.arange(len(rows)) + (_APART if released else -_APART)
    bars = style.line(*style.segments(slope - half, slope + half, height), released=released)
    bars |= {"hoverinfo": "skip", "showlegend": False, "line": bars["line"] | {"dash": "solid"}}
    marks = style.points(
        style.floats(slope), style.floats(height), released=released, customdata=style.floats(half)
    )
    marks["marker"] |= {"size": 7, "opacity": 1}
    marks["hovertemplate"] = "%{x:.2f} ± %{customdata:.2f}<extra>%{fullData.name}</extra>"
    return [bars, marks]


def _reach(detail: Mapping[str, Any], rows: NDArray[np.intp], drawn: Drawn) -> style.Trace:
    """Return the ranges of the slopes of other draws."""
    unit = np.asarray(detail["se_original"], dtype=float)[rows]
    band = drawn["coefficient_released"]
    return bars(band.low[rows] / unit, band.high[rows] / unit, np.arange(len(rows)) + _APART)


def _span(traces: list[style.Trace]) -> tuple[float, float]:
    """Return a range that holds every interval and 0, in steps of 2."""
    ends = np.concatenate([[-1.0, 1.0], *(np.asarray(t["x"], dtype=float) for t in traces)])
    ends = ends[np.isfinite(ends)]
    return 2 * np.floor(ends.min() / 2 - 0.05), 2 * np.ceil(ends.max() / 2 + 0.05)
