"""Outlying records: influence on a regression, and distance from the center."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import (
    RELEASED,
    Comparison,
    empty_records,
    standardized,
    varies,
)
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, range_text, stripe
from rwn_core.measures.drawing.tables import TABLE_ROWS, Rows, seven_digits
from rwn_core.measures.measure import FROM_ZERO, BothFiles, Measure, Reading, Sides
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.association import complete_numbers
from rwn_core.measures.statistics.main_regression import fits
from rwn_core.measures.statistics.nearest_points import (
    nearest_others,
    original_points,
    released_points,
    spread_sample,
)
from rwn_core.measures.statistics.ols import LeastSquares, refuse_exact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordValues(BothFiles):
    """A number of each record of both files, shape (m,) each; the largest may be drawn.

    Attributes
    ----------
    records_original, records_released : ndarray of int64, shape (m,)
        Of `of` records, a sample where `sampled`; those without a number are left out.
    max_original, max_released : float
        The largest number of each file, where it is asked for.
    argmax_original, argmax_released : int, optional
        The record that has it.
    response : str
        Of the regression in which records are compared; `names` are its predictors.
    rank : Sides of int
        Of the covariance of `names`, where the number is a distance by it.
    """

    records_original: Integers
    records_released: Integers
    max_original: float = 0.0
    max_released: float = 0.0
    argmax_original: Any = None
    argmax_released: Any = None
    response: str = ""
    rank: Sides[int] | None = None


def largest_of_both(
    before: tuple[Integers, Floats],
    after: tuple[Integers, Floats],
    *,
    names: list[str],
    response: str = "",
    rank: Sides[int] | None = None,
) -> Reading[RecordValues]:
    """Return the reading of the largest number of a released record; baseline: an original's."""
    # before and after are record numbers, and one number for each
    (records, own), (records_released, released) = before, after
    detail = RecordValues(
        names=names,
        response=response,
        rank=rank,
        original=own,
        released=released,
        records_original=records,
        records_released=records_released,
        max_original=float(own.max()),
        argmax_original=int(records[own.argmax()]),
        max_released=float(released.max()),
        argmax_released=int(records_released[released.argmax()]),
    )
    return Reading(value=detail.max_released, baseline=detail.max_original, detail=detail)


# Cook's distance of the original and of the masked data, each with a regression of its own

FULL_LEVERAGE = 1e-10  # a leverage closer to 1 than this leaves no residual to judge


def _cooks(fit: LeastSquares, where: str) -> Floats:
    """Return Cook's distance (1977) of each record, shape (n,)."""
    refuse_exact(fit, where, "no record sways the regression")
    full = np.flatnonzero(fit.leverages > 1 - FULL_LEVERAGE)
    if full.size:
        swayed = np.abs(fit.dependence[1:, full]).max(axis=1)
        names = np.array(fit.design.terms)[swayed > 1e-6 * swayed.max()]
        raise NotApplicable(
            f"Single records alone decide the coefficient of {', '.join(names)}{where} "
            "(leverage 1); take it out of the regression."
        )
    scale = len(fit.coefficients) * fit.residual_variance * (1 - fit.leverages) ** 2
    return fit.residuals**2 * fit.leverages / scale


def compute_cooks_distance(comparison: Comparison) -> Reading[RecordValues]:
    """Return the largest Cook's distance of the release."""
    before_fit, after_fit = fits(comparison, recoded=True)
    question = before_fit.design.question
    about = "cook", question, before_fit.design.terms
    before = comparison.cached_for_original(about, lambda: _cooks(before_fit, ""))
    return largest_of_both(
        (before_fit.design.records, before),
        (after_fit.design.records, _cooks(after_fit, RELEASED)),
        response=question.response,
        names=list(question.predictors),
    )


_HOVER = "record %{{{}}}: %{{y:.3g}}<extra>%{{fullData.name}}</extra>"


def _axis_of_halves(width: int) -> style.Axis:
    """Return the axis of two files next to each other."""
    halves: dict[str, Any] = {"tickvals": [width / 2, 1.56 * width]}
    halves |= {"ticktext": list(style.SIDES), "showgrid": False}
    return style.axis("records, in file order", -0.02 * width, 2.08 * width, **halves)


def draw_values(
    reading: Reading[RecordValues], drawn: Drawn | None = None, *, key: str, title: str, unit: str
) -> style.Chart:
    """Draw the values of both files; from 2,000 records on next to each other, as densities."""
    # `drawn` has the band "max_released"; `unit` names the value on the axis.
    detail = reading.detail
    values = [detail.original, detail.released]
    records = [detail.records_original + 1, detail.records_released + 1]
    many = max(map(len, values)) >= style.CLOUD_POINTS
    # large clouds would hide each other: the released one moves to the right
    width = int(max(style.largest(*records), 1))
    shift = [0, int(1.06 * width) if many else 0]
    band = None if drawn is None else drawn["max_released"]
    draws = "" if band is None else range_text(band.low, band.high)
    bulk = style.clipped(*values)
    if bulk is None:
        bulk = style.largest(*values, [] if band is None else band.high)
    top = style.above(1.1 * bulk)
    most = detail.max_original
    shapes: list[dict[str, Any]] = []
    if band is not None:
        shapes.append(stripe(band.low, band.high))
    if most <= top:
        shapes.append(style.horizontal(most, style.ORIGINAL))
    if many:
        shapes.append(style.vertical(1.03 * width, style.NEUTRAL))
    data = _cloud(records[0], values[0], shift[0], (width, top), released=False)
    data += _cloud(records[1], values[1], shift[1], (width, top), released=True)
    beyond = style.beyond_words(np.concatenate(values), top, "point")
    maxima = [style.number(each) for each in (most, detail.max_released)]
    return style.chart(
        key,
        title,
        f"max {maxima[0]} → {maxima[1]}" + (f" · draws {draws}" if draws else ""),
        f"{title} of each record; the maximum is {maxima[0]} at record "
        f"{detail.argmax_original + 1} of the original and {maxima[1]} at record "
        f"{detail.argmax_released + 1} of the release"
        + (f"; {beyond}" if beyond else "")
        + (f"; {NAME} have {draws}" if draws else ""),
        data=data,
        layout=style.layout(
            _axis_of_halves(width) if many else style.axis("record", -0.02 * width, 1.03 * width),
            style.axis(unit, 0, top),
            shapes=shapes,
            annotations=_names(detail, shift, top, width + shift[1]),
        ),
        large={"legend": True},
        table=paired(detail, unit),
    )


def _cloud(
    records: NDArray[Any],
    values: NDArray[Any],
    shift: int,
    frame: tuple[int, float],
    *,
    released: bool,
) -> list[style.Trace]:
    """Return all points of one file, or its density and its largest values."""
    # Shapes: records, values (m,).
    shown = np.arange(len(values))
    traces = list[style.Trace]()
    many = len(values) >= style.CLOUD_POINTS
    if many:
        edges = np.linspace(0, frame[0], 41) + shift, np.linspace(0, frame[1], 31)
        color = style.RELEASED if released else style.ORIGINAL
        traces.append(style.density(records + shift, values, color, edges))
        shown = style.extremes(values)
    cloud = style.points(records[shown] + shift, style.floats(values[shown]), released=released)
    cloud["hovertemplate"] = _HOVER.format("x")
    if shift or many:
        cloud |= {"text": records[shown], "hovertemplate": _HOVER.format("text")}
    return [*traces, *style.at_the_edge(cloud, "y", frame[1])]


def _names(detail: RecordValues, shift: list[int], top: float, span: float) -> list[style.Label]:
    """Name the record of each maximum; of two close ones the lower is named below its point."""
    heights = detail.max_original, detail.max_released
    holders = detail.argmax_original + 1, detail.argmax_released + 1
    spots = {
        i: _Maximum(holders[i], holders[i] + shift[i], height)
        for i, height in enumerate(heights)
        if math.isfinite(height)
    }
    below = None
    if len(spots) == 2:
        below = _below_the_other(spots[0], spots[1], top, span)
    labels: list[style.Label] = []
    for i, spot in spots.items():
        record, x, height = spot
        text = f"#{record}"
        if height > top:  # by the arrow at the edge; the file to the right goes left of its own
            text = f"#{record}: {style.number(height)}"
            height = top
            right = x > 0.5 * span
            side_of = {"xanchor": "right" if right else "left", "yanchor": "top"}
            lift = {"xshift": -6 if right else 6, "yshift": -12 * i}
        else:
            side_of = {"xanchor": _align(x, span), "yanchor": "top" if i == below else "bottom"}
            lift = {"yshift": -3 if i == below else 3}
        color = style.RELEASED if i else style.ORIGINAL
        labels.append(style.label(text, x, height, color, bold=True, **side_of, **lift))
    return labels


class _Maximum(NamedTuple):
    """The record of a maximum, and where it is drawn."""

    record: int
    x: int
    height: float


def _below_the_other(one: _Maximum, other: _Maximum, top: float, span: float) -> int | None:
    """Return which of two maxima is named below its point; None where the names do not touch."""
    long = max(one.height, other.height) > top  # a name with its number, below the edge
    room = (0.36 if long else 0.16) * span
    heights = min(one.height, top), min(other.height, top)
    if abs(heights[0] - heights[1]) >= 0.28 * top or abs(one.x - other.x) >= room:
        return None
    return 0 if heights[0] < heights[1] else 1


def _align(x: float, span: float) -> str:
    """Return the side of a name at which its point is, so that no name leaves the picture."""
    if x < 0.06 * span:
        return "left"
    return "right" if x > 0.94 * span else "center"


def paired(detail: RecordValues, unit: str) -> dict[str, Any]:
    """Return one value per record of both files by record number; beyond 400 the largest."""
    # by number; NaN where a record is in the other file alone
    own, other = detail.records_original, detail.records_released
    records, place = np.unique(np.concatenate((own, other)), return_inverse=True)
    both = np.full((2, len(records)), np.nan)
    both[0, place[: len(own)]], both[1, place[len(own) :]] = detail.original, detail.released
    caption = f"Value: {unit}."
    shown = np.arange(len(records))
    if len(records) > TABLE_ROWS:
        caption += f" {TABLE_ROWS} of {len(records):,} rows: the largest by larger."
        shown = style.extremes(np.fmax(*both), TABLE_ROWS)
    rows = Rows([records[shown] + 1, *map(seven_digits, both[:, shown])])
    return {"columns": ["record", *style.SIDES], "internal": True, "rows": rows, "caption": caption}


largest_measure = partial(
    Measure,
    bounds=FROM_ZERO,
    unit="largest distance",
    reads_some=True,
    level=("y", "value"),
    bands={"max_released": FROM_ZERO},
)
"""A measure of the record that stands out most."""
COOKS_DISTANCE = largest_measure(
    key="cooks_distance",
    title="Cook's distance",
    question="Does a single record still stand out by its sway over the regression?",
    sentence=filled(
        "The record that sways the regression most has a Cook's distance of {value:.3g} "
        "(original: {before:.3g}); a large one stands out."
    ),
    source="Cook 1977; Perry, Matloff, Tendick 2022, section 8",
    compute=compute_cooks_distance,
    charts={
        "cooks_distance": partial(
            draw_values, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
        )
    },
    places={"report": 13, "tune": 6},
)


# Mahalanobis distance of single records from the mean of their file

NO_VARIANCE = 1e-10  # share of the largest variance below which a direction counts as flat


def mahalanobis_distances(values: Floats) -> tuple[Floats, int]:
    """Return the distance of each record from the mean, shape (n,), and the covariance's rank."""
    # The squares sum to rank * (n - 1); a singular covariance has its pseudo-inverse.
    different = varies(values)
    if not different.any():
        return np.zeros(len(values)), 0
    # D does not change with the columns' units, not even for a singular covariance: all
    # records lie in its range, where every generalized inverse agrees
    scaled = standardized(values[:, different])
    variances, directions = np.linalg.eigh(scaled.T @ scaled / (len(scaled) - 1))
    varied = variances > NO_VARIANCE * variances[-1]
    along = scaled @ directions[:, varied]
    return np.sqrt((along**2 / variances[varied]).sum(axis=1)), int(varied.sum())


def _mahalanobis_distances(
    original: Microdata, table: Microdata
) -> tuple[tuple[Integers, Floats], int]:
    records, values = complete_numbers(original, table, "the distance from the mean needs")
    distances, rank = mahalanobis_distances(values)
    return (records, distances), rank


def compute_mahalanobis(comparison: Comparison) -> Reading[RecordValues]:
    """Return the largest Mahalanobis distance of the release."""
    original = comparison.original
    names = original.numeric_names
    if not names:
        raise NotApplicable("The table has no continuous or count variable.")
    before, rank = comparison.cached_for_original(
        "mahalanobis", partial(_mahalanobis_distances, original, original)
    )
    after, rank_released = _mahalanobis_distances(original, comparison.masked)
    return largest_of_both(before, after, names=list(names), rank=Sides(rank, rank_released))


MAHALANOBIS = largest_measure(
    key="mahalanobis",
    title="Mahalanobis distance",
    question="Does a single record still stand out by its distance from the middle?",
    sentence=filled(
        "The record farthest from the middle lies {value:.3g} away (original: {before:.3g}); who "
        "is known to be extreme is looked for there."
    ),
    source="Mahalanobis 1936; Perry, Matloff, Tendick 2022, section 8",
    compute=compute_mahalanobis,
    charts={
        "mahalanobis": partial(
            draw_values, key="mahalanobis", title="Mahalanobis distance", unit="distance D"
        )
    },
    places={"report": 14, "tune": 7},
)


# Nearest distance: isolation of records before and after


def compute_nearest_distance(comparison: Comparison) -> Reading[RecordValues]:
    """Return the median distance from a released record to the nearest other one."""
    points = original_points(comparison)
    rows = spread_sample(np.arange(len(points)))
    before = comparison.cached_for_original("nearest others", lambda: nearest_others(points, rows))
    present = np.flatnonzero(~empty_records(comparison.masked))
    if len(present) < 2:
        raise NotApplicable("The released table has fewer than two records with any value.")
    sample = spread_sample(np.arange(len(present)))
    after = nearest_others(released_points(comparison)[present], sample)
    detail = RecordValues(
        original=before,
        released=after,
        records_original=rows,
        records_released=present[sample],
        sampled=len(sample) < len(present) or len(rows) < len(points),
        of=len(points),
    )
    return Reading(value=float(np.median(after)), baseline=float(np.median(before)), detail=detail)


# Distance to the nearest record of the same file, before and after

_OUTLIERS = 40
_FIVE = ("q1", "median", "q3", "lowerfence", "upperfence")


def draw_nearest_distance(
    reading: Reading[RecordValues], drawn: Drawn | None = None
) -> style.Chart:
    """Draw two box plots, whiskers at most 1.5 interquartile ranges long."""
    detail = reading.detail
    values = [v[np.isfinite(v)] for v in (detail.original, detail.released)]
    band = None if drawn is None else drawn["value"]
    draws = "" if band is None else f" · draws {range_text(band.low, band.high)}"
    medians = [style.number(reading.baseline), style.number(reading.value)]
    return style.chart(
        "nearest_distance",
        "Nearest distance",
        f"median {medians[0]} → {medians[1]}" + draws + (" · sample" if detail.sampled else ""),
        "Box plots of the distance to the nearest record of the same file; the median is "
        f"{medians[0]} in the original and {medians[1]} in the release{_sample(detail)}",
        data=[*_box(values[1], released=True), *_box(values[0], released=False)],
        layout=style.layout(
            style.axis(
                "distance to the nearest record (SD)", 0, style.above(1.03 * style.largest(*values))
            ),
            style.axis("", -0.6, 1.6, tickvals=[1, 0], ticktext=list(style.SIDES), showgrid=False),
        ),
        table=paired(detail, f"distance to the nearest record{_sample(detail)}"),
    )


def _sample(detail: RecordValues) -> str:
    """Return the size of the sample in words; empty for all records."""
    if not detail.sampled:
        return ""
    return f" (a sample of {len(detail.original):,} of {detail.of:,} records)"


def _box(values: NDArray[Any], *, released: bool) -> list[style.Trace]:
    """Return one box from its five numbers, and points beyond its whiskers."""
    # Shapes: values (m,).
    if not values.size:
        return []
    row = int(not released)
    color = style.RELEASED if released else style.ORIGINAL
    q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75))
    whisker = 1.5 * (q3 - q1)
    inner = (values >= q1 - whisker) & (values <= q3 + whisker)
    inside, outside = values[inner], values[~inner]
    five = style.floats([[q1], [median], [q3], [inside.min()], [inside.max()]])
    box = {
        "type": "box",
        "orientation": "h",
        "name": style.SIDES[released],
        "y": [row],
        **dict(zip(_FIVE, five, strict=True)),
        "width": 0.5,
        "line": {"color": color, "width": 1.6},
        "fillcolor": f"{color}66" if released else "rgba(0,0,0,0)",
        "hoverinfo": "x",
    }
    far = outside[style.extremes(np.abs(outside - median), _OUTLIERS)]
    beyond = style.points(style.floats(far), np.full(far.size, row), released=released)
    return [box, beyond | {"hovertemplate": "%{x:.2f}<extra></extra>", "showlegend": False}]


NEAREST_DISTANCE = Measure(
    key="nearest_distance",
    title="Nearest distance",
    better="neutral",
    bounds=FROM_ZERO,
    unit="standard deviations of the original (median)",
    question="How far is a record from the nearest other record of the same file?",
    sentence=filled(
        "A typical released record is {value:.2f} standard deviations from the nearest other one, "
        "against {before:.2f} in the original: far from all others is easy to find. It assumes "
        "somebody who has nothing but the release, neither other data nor the method."
    ),
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute_nearest_distance,
    charts={"nearest_distance": draw_nearest_distance},
    level=("x", "value"),
    bands={"value": FROM_ZERO},
    places={"tune": 2},
)
