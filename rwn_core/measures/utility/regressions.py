"""Regressions: what the steward's model still says."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, bars, columns
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import (
    FROM_ZERO,
    UNBOUNDED,
    Detail,
    Reading,
    utility_measure,
)
from rwn_core.measures.statistics.intervals import t95
from rwn_core.measures.statistics.main_regression import fits, generalized_fits
from rwn_core.measures.statistics.ols import (
    Fit,
    refuse_exact,
    standardized_difference,
    turned,
)
from rwn_core.measures.view import Tile

Z95 = 1.96


def interval_overlap(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> Floats:
    """Return the mean relative overlap of two intervals, shape (t,); below 0 if they are apart."""
    # Karr and others 2006; unclipped: Snoke and others 2018.
    shared = np.minimum(before[1], after[1]) - np.maximum(before[0], after[0])
    return np.asarray((shared / (before[1] - before[0]) + shared / (after[1] - after[0])) / 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSlopes(Detail):
    """The fits of one regression to both files: t terms, the intercept first.

    Attributes
    ----------
    response : str
    family : {"linear", "logistic", "poisson"}
    terms : list of str
    coefficient_original, coefficient_released : ndarray of float64, shape (t,)
        In the unit of the response by that of the term.
    se_original, se_released : ndarray of float64, shape (t,)
        Their standard errors.
    sign_changed : ndarray of bool, shape (t,)
        Whether the sign changed, and the original's slope is beyond chance.
    standardized_difference : ndarray of float64, shape (t,)
        Size of the change in the original's standard errors.
    r2_original, r2_released : float
        Explained share of the variance, or of the deviance.
    n_original, n_released : int
        Complete records.
    """

    response: str
    terms: list[str]
    coefficient_original: Floats
    se_original: Floats
    coefficient_released: Floats
    se_released: Floats
    sign_changed: Booleans
    standardized_difference: Floats
    r2_original: float
    r2_released: float
    n_original: int
    n_released: int
    family: str = "linear"

    @property
    def overlap(self) -> Floats:
        """Relative overlap of the 95 % intervals, shape (t,)."""
        own = self.coefficient_original
        half = Z95 * self.se_original
        other = self.coefficient_released
        width = Z95 * self.se_released
        return interval_overlap((own - half, own + half), (other - width, other + width))

    @property
    def ratio(self) -> Floats:
        """Released over original standard errors, shape (t,)."""
        return self.se_released / self.se_original


# Regression: change of the slopes of the steward's analysis


def _fitted(before: Fit, after: Fit) -> FittedSlopes:
    fitted = before.coefficients, after.coefficients, before.standard_errors
    return FittedSlopes(
        response=before.design.question.response,
        family=before.family,
        terms=["(intercept)", *before.design.terms],
        n_original=len(before.design.records),
        n_released=len(after.design.records),
        coefficient_original=before.coefficients,
        se_original=before.standard_errors,
        coefficient_released=after.coefficients,
        se_released=after.standard_errors,
        sign_changed=turned(*fitted),
        standardized_difference=standardized_difference(*fitted),
        r2_original=before.r2,
        r2_released=after.r2,
    )


def _most_moved(before: Fit, after: Fit) -> Reading[FittedSlopes]:
    detail = _fitted(before, after)
    moved = float(detail.standardized_difference[1:].max())
    return Reading(value=moved, baseline=0.0, detail=detail)


def compute_regression(comparison: Comparison) -> Reading[FittedSlopes]:
    """Return the largest change of a slope, in the original's standard errors."""
    before, after = fits(comparison)
    refuse_exact(before, " in the original", "there are no standard errors to compare with")
    return _most_moved(before, after)


_SLOPES = 14
_APART = 0.16


def draw_regression(reading: Reading[FittedSlopes], drawn: Drawn | None = None) -> style.Chart:
    """Draw the slopes, without the intercept; at most the 14 that moved most."""
    detail = reading.detail
    moved = detail.standardized_difference[1:]
    rows = np.sort(np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:_SLOPES]) + 1
    terms = [detail.terms[row] for row in rows]
    response = detail.response
    signs = int(detail.sign_changed[1:].sum())
    note = f"largest change {style.number(reading.value)} SE"
    if signs:
        note += " · 1 sign changed" if signs == 1 else f" · {signs} signs changed"
    traces = []
    if drawn is not None:  # the ranges of the slopes of other draws
        unit = detail.se_original[rows]
        band = drawn["coefficient_released"]
        height = np.arange(len(rows)) + _APART
        traces.append(bars(band.low[rows] / unit, band.high[rows] / unit, height))
    traces += _intervals(detail, rows, released=False)
    traces += _intervals(detail, rows, released=True)
    # a range that holds every interval and 0, in steps of 2
    ends = np.concatenate([[-1.0, 1.0], *(np.asarray(t["x"], dtype=float) for t in traces)])
    ends = ends[np.isfinite(ends)]
    low, high = 2 * np.floor(ends.min() / 2 - 0.05), 2 * np.ceil(ends.max() / 2 + 0.05)
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
            style.name_axis(terms, length=18, showgrid=False),
            shapes=[style.vertical(0, style.NEUTRAL)],
            uirevision=response,
        ),
        large={"legend": True},
        table=coefficients(detail, drawn),
    )


def coefficients(detail: FittedSlopes, drawn: Drawn | None = None) -> dict[str, Any]:
    """Return the table of every term with coefficients and standard errors."""
    one, other = np.sign(detail.coefficient_original), np.sign(detail.coefficient_released)
    # the last condition that holds names a sign
    signs = np.full(len(one), "kept", dtype=object)
    signs[one * other < 0] = "unclear"
    signs[np.asarray(detail.sign_changed, dtype=bool)] = "changed"
    made: dict[str, Any] = {"term": detail.terms}
    for side in style.SIDES:
        made[f"coefficient, {side}"] = _short(getattr(detail, f"coefficient_{side}"))
        made[f"SE, {side}"] = _short(getattr(detail, f"se_{side}"))
    made |= {"sign": signs, "difference / SE, original": _short(detail.standardized_difference)}
    for part, what in (("coefficient_released", "coefficient, "), ("se_released", "SE, ")):
        if drawn is not None:
            made |= {name: _short(end) for name, end in columns(drawn[part], what).items()}
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
    """Round each coefficient to its own seven digits: slopes of one table differ in size."""
    return [float(f"{value:.7g}") for value in values]


def _intervals(
    detail: FittedSlopes, rows: NDArray[np.intp], *, released: bool
) -> list[style.Trace]:
    """Return the slopes of one file as points over one broken line of intervals."""
    # Shapes: rows (r,), of the shown terms.
    side = style.SIDES[released]
    slopes, errors, records = [getattr(detail, f"{e}_{side}") for e in ("coefficient", "se", "n")]
    unit = detail.se_original[rows]
    slope = slopes[rows] / unit
    freedom = records - len(detail.terms) if detail.family == "linear" else math.inf
    half = t95(freedom) * errors[rows] / unit
    height = np.arange(len(rows)) + (_APART if released else -_APART)
    ends = style.segments(slope - half, slope + half, height)
    bars = style.line(*ends, released=released, hoverinfo="skip", line={"dash": "solid"})
    marks = style.cloud(np.column_stack([slope, height]), released=released, size=7, opacity=1)
    hover = "%{x:.2f} ± %{customdata:.2f}<extra>%{fullData.name}</extra>"
    return [
        bars | {"showlegend": False},
        marks | {"customdata": style.floats(half), "hovertemplate": hover},
    ]


def _of_slopes(reading: Reading[FittedSlopes], some: Booleans, words: str) -> str:
    # Shapes: some (m,), of the terms; the first is the intercept.
    return f"{some[1:].sum()} of {len(some) - 1} {words}"


slopes_measure = partial(
    utility_measure,
    bounds=FROM_ZERO,
    unit="standard errors (largest of the slopes)",
    charts={"regression": draw_regression},
    bands={"coefficient_released": UNBOUNDED, "se_released": FROM_ZERO},
)
"""A measure of the slope that moved most."""
REGRESSION = slopes_measure(
    key="regression",
    title="Regression",
    question="Does the chosen regression still find the same slopes?",
    source="Perry, Matloff, Tendick 2022, section 8; Karr and others 2006",
    compute=compute_regression,
    tile=Tile(
        places={"tune": 2, "utility": 3},
        label="Largest move of a slope, in its standard errors",
        words="{:.1f}".format,
        help="How far the slope moved that moved most, counted in the original's standard "
        "errors: a move of 2 is as much as another sample of as many people might bring.",
        context=lambda reading: _of_slopes(reading, reading.detail.sign_changed, "signs changed"),
        sampled="errors of the shown records",
    ),
    otherwise="generalized_regression",
    places={
        "record of a dataset": 5,
        "sweep": 5,
        "report": 2,
        "tune": 4,
        "utility": 2,
        "coefficients": 1,
    },
)


# Confidence interval overlap of the original's and the release's slopes


def compute_ci_overlap(comparison: Comparison) -> Reading[FittedSlopes]:
    """Return the mean overlap of the slopes' 95 % intervals."""
    # -+ 1.96 standard errors at every number of records, as in its worked values; all other
    # intervals of a linear model are Student's t
    before, after = fits(comparison)
    for fit, where in ((before, " in the original"), (after, RELEASED)):
        refuse_exact(fit, where, "its intervals have no width")
    detail = _fitted(before, after)
    return Reading(value=float(detail.overlap[1:].mean()), baseline=1.0, detail=detail)


def overlap_table(reading: Reading[FittedSlopes], _: int) -> dict[str, Any]:
    """Interval overlap of every slope, as it is and clipped at 0."""
    detail = reading.detail
    clipped = np.clip(detail.overlap, 0.0, 1.0)
    cells = (detail.terms, detail.overlap.tolist(), clipped.tolist())
    means = f"{reading.value:.3g}, clipped {clipped[1:].mean():.3g}.".replace("-", "−")
    return {
        "title": f"Overlap of the 95 % intervals: linear regression of {detail.response}",
        "columns": ["term", "overlap", "clipped at 0"],
        "rows": list(map(list, zip(*cells, strict=True))),
        "caption": "1: the same interval; 0: touching; below 0: apart. Mean over the slopes "
        f"{means}",
    }


CI_OVERLAP = utility_measure(
    key="ci_overlap",
    title="Confidence interval overlap",
    better="higher",
    bounds=(float("-inf"), 1.0),
    unit="mean overlap over slopes; below 0: apart",
    question="Do the 95 % intervals of the slopes say the same in both files?",
    source="Karr and others 2006; Snoke and others 2018",
    compute=compute_ci_overlap,
    tile=Tile(
        places={"utility": 2},
        label="Interval overlap",
        help="Mean overlap of the slopes' 95 % confidence intervals: 1 is the same, 0 "
        "touching, below 0 apart.",
        context=lambda reading: _of_slopes(reading, reading.detail.overlap < 0, "slopes apart"),
    ),
    tables=(overlap_table,),
    places={"tables of utility": 1, "report": 99},
)


# Standard errors that the release reports, compared with the original's


def compute_standard_errors(comparison: Comparison) -> Reading[FittedSlopes]:
    """Return the median relative change of the slopes' standard errors."""
    before, after = fits(comparison)
    refuse_exact(before, " in the original", "there are no standard errors to compare with")
    detail = _fitted(before, after)
    value = float(np.median(np.abs(detail.ratio[1:] - 1)))
    return Reading(value=value, baseline=0.0, detail=detail)


STANDARD_ERRORS = utility_measure(
    key="standard_errors",
    title="Standard errors",
    bounds=FROM_ZERO,
    unit="median relative change over slopes",
    question="Does the release report the same standard errors as the original?",
    source="Perry, Matloff, Tendick 2022, section 4; whether they are true needs repeated draws",
    compute=compute_standard_errors,
    recorded=("terms", "ratio"),
    places={"record of a dataset": 6, "report": 99},
)


# Logistic or Poisson regression, if the response suits it


GENERALIZED_REGRESSION = slopes_measure(
    key="generalized_regression",
    title="Logistic or Poisson regression",
    question="Does the logistic or Poisson regression still find the same slopes?",
    source="McCullagh and Nelder 1989; Karr and others 2006",
    compute=lambda comparison: _most_moved(*generalized_fits(comparison)),
    places={"coefficients": 2},
)
