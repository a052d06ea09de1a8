"""Nearness: released cells and records that are close to original ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likeliest_value import secret_columns
from rwn_core.measures.comparison import (
    Comparison,
    matrix,
    released_rows,
    require_same_records,
)
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import FROM_ZERO, SHARE, Detail, Measure, Reading
from rwn_core.measures.sentence import filled, percent
from rwn_core.measures.statistics.distributions import standard_deviation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nearness(Detail):
    """The details of how near a release is to the original; each measure fills what it reads.

    Attributes
    ----------
    names : sequence of str
        The v variables.
    near : ndarray of bool, shape (n,)
        True for rows of which every released number is near the record's own.
    share, overall : ndarray of float64, shape (v,), and float
        Changed share of the cells of each variable, and of all.
    q : float, optional
        The share that the method changes.
    """

    near: Booleans = field(default_factory=lambda: np.zeros(0, bool))
    share: Floats = field(default_factory=lambda: np.zeros(0))
    overall: float = 0.0
    q: float | None = None


# Interval disclosure: released values close to the record's own

WIDTH = 0.05  # standard deviations


def inside(before: Floats, after: Floats, width: float = WIDTH) -> Booleans:
    """Return True if all released values, one at least, lie near the own, shape (n,)."""
    # Shapes: before, after (n, v). Near: within `width` of the original's standard deviations.
    with np.errstate(invalid="ignore"):
        spreads = [standard_deviation(column[~np.isnan(column)]) for column in before.T]
        near = np.abs(before - after) <= width * np.array(spreads)
    missing = np.isnan(after)
    return np.asarray((near | missing).all(axis=1) & ~missing.all(axis=1))


def compute_interval_disclosure(comparison: Comparison) -> Reading[Nearness]:
    """Return the share of records with all released numbers within 0.05 standard deviations."""
    original, masked = comparison.original, comparison.masked
    names = list(original.numeric_names)
    if not names or masked.n != original.n:
        raise NotApplicable(
            "Intervals need numeric variables and a release with a row for each original."
        )
    before, after = matrix(original, original, names), matrix(original, masked, names)
    near = inside(before, after)
    leaving = released_rows(original, masked)
    detail = Nearness(names=names, near=near, of=original.n)
    return Reading(value=float(near[leaving].mean()), baseline=1.0, detail=detail)


INTERVAL_DISCLOSURE = Measure(
    key="interval_disclosure",
    title="Interval disclosure",
    question="For how many records does every released number lie within 0.05 standard deviations "
    "of the person's own?",
    sentence=filled(
        "For {people} every released number, one at least, lies within 0.05 standard deviations of "
        "the person's own."
    ),
    source="SDID of sdcMicro's dRisk, with the original's standard deviation",
    compute=compute_interval_disclosure,
    of_released=True,
    about="value",
)


# Cells changed: share of the table that the masking modified

UNCHANGED = 0.9  # share of the cells of a variable that links rows even where others are masked


def changed_cells(before: NDArray[Any], after: NDArray[Any]) -> Booleans:
    """Return True for each changed value, shape (n,); missing equals missing."""
    different = np.asarray(before != after, dtype=bool)
    if different.any() and before.dtype.kind == "f":
        different &= ~(np.isnan(before) & np.isnan(after))
    return different


def compute_cells_changed(comparison: Comparison) -> Reading[Nearness]:
    """Return the share of cells with a released value other than the original."""
    original, masked = comparison.original, comparison.masked
    require_same_records(original, masked, "its cells have no counterparts")
    names = [variable.name for variable in original.schema.released]
    before, after = (secret_columns(original, table, names) for table in (original, masked))
    pairs = zip(before, after, strict=True)
    share = np.array([float(changed_cells(*pair).mean()) for pair in pairs])
    overall = float(share.mean())
    q = None if comparison.law is None else float(np.mean(comparison.law.q))
    detail = Nearness(names=names, share=share, overall=overall, q=q)
    return Reading(value=overall, baseline=q, detail=detail)


def unchanged_words(reading: Reading[Nearness]) -> str:
    """Name the variables of which over 90 % of the cells are as in the original; "" for none."""
    pairs = zip(reading.detail.names, reading.detail.share, strict=True)
    names = [name for name, share in pairs if share < 1 - UNCHANGED]
    return f"Over 90 % of the cells are unchanged in: {', '.join(names)}." if names else ""


CELLS_CHANGED = Measure(
    key="cells_changed",
    title="Cells changed",
    better="neutral",
    unit="share of cells",
    question="How many cells have another value than in the original?",
    # how many cells differ, and which variables nearly never do
    sentence=lambda reading, n: (
        f"{percent(reading.value)} of the values differ from the record's own; what stays the same "
        f"was kept or came out equal. {unchanged_words(reading)}"
    ).strip(),
    source="Perry, Matloff, Tendick 2022, section 5: each cell is modified with probability q",
    compute=compute_cells_changed,
    reads_some=True,
    bands={"value": SHARE},
    recorded=("names", "share"),
    places={"report": 99, "picture": 3},
)


# Neighborhood size: number of candidate donors of a record


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborhoodSizes(Detail):
    """The details of the neighborhoods that donors are drawn from.

    Attributes
    ----------
    sizes : ndarray of float64, shape (n,)
        Records of each neighborhood, or equally likely donors that hide as much.
    nearest : ndarray of float64, shape (n,)
        Distance of the nearest record, in standard deviations.
    epsilon : float or ndarray of float64, shape (n,), optional
        The radius, in standard deviations.
    k : int, optional
    governed_by_k : ndarray of bool, shape (n,)
        True for records with fewer than k others within epsilon.
    median, share_governed_by_k : float
        Of `sizes`; and the share of these records.
    """

    sizes: NDArray[Any]
    nearest: Floats
    epsilon: Any
    k: int | None
    governed_by_k: Booleans
    median: float
    share_governed_by_k: float


def compute_neighborhood_size(comparison: Comparison) -> Reading[NeighborhoodSizes]:
    """Return the median number of records in a neighborhood."""
    neighborhoods = None if comparison.law is None else comparison.law.neighborhoods
    if neighborhoods is None:
        raise NotApplicable(
            "Only a method that draws from neighborhoods has neighborhood sizes, and the tables "
            "alone do not tell them."
        )
    governed = neighborhoods.within < (neighborhoods.k or 0)
    sizes, nearest = neighborhoods.effective_sizes, neighborhoods.nearest
    median = float(np.median(sizes))
    # of a record without neighbors in a large table it is known only that they lie beyond epsilon
    nearest = np.where(np.isnan(nearest), neighborhoods.radius, nearest)
    detail = NeighborhoodSizes(
        sizes=sizes,
        nearest=nearest,
        epsilon=neighborhoods.epsilon,
        k=neighborhoods.k,
        governed_by_k=governed,
        median=median,
        share_governed_by_k=float(governed.mean()),
    )
    return Reading(value=median, detail=detail)


def neighborhood_size_sentence(reading: Reading[NeighborhoodSizes], n: int) -> str:
    """Say how large a typical neighborhood is, and how often k decides."""
    k = reading.detail.k
    share = percent(reading.detail.share_governed_by_k)
    words, end = "one of {:,.0f} others", "."
    if k is None and reading.detail.epsilon is None:
        words = "as uncertain as one of {:,.0f} equally likely others"
    elif k is not None:
        end = f"; {share} of the records have fewer than {k} within ε."
    return f"The donor of a typical record's value is {words.format(reading.value)}{end}"


# Number of donors of each record against the distance of the nearest

_HOVER = "record %{text}: %{x} donors, nearest at %{y:.2f}<extra>%{fullData.name}</extra>"
_CAPTION = (
    "Neighborhoods belong to the setting: they are the same in every draw, unless candidates are "
    "random (sample, pairs, partition)."
)
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def draw_neighborhood_size(reading: Reading[NeighborhoodSizes]) -> style.Chart:
    """Draw the neighborhood sizes against nearest distances in standard deviations."""
    detail = reading.detail
    sizes = detail.sizes.round(2)
    nearest = detail.nearest
    by_k = detail.governed_by_k
    k = detail.k
    soft = k is None and detail.epsilon is None  # a kernel weighs all others
    # radii of records are no line
    epsilon: Any = detail.epsilon if np.ndim(detail.epsilon) == 0 else None
    # the same start wherever the sliders are
    low = 0.8
    high = style.above(1.1 * style.largest(sizes, [10]))
    bulk = style.clipped(nearest)
    top = style.above(1.08 * style.largest(nearest if bulk is None else [bulk], [epsilon or 0.0]))
    beyond = style.beyond_words(nearest, top)
    share = style.percent(detail.share_governed_by_k)
    median = f"{detail.median:,.{'3g' if soft else '5g'}}"
    note, by = f"median {median} · k decides {share} ◇", f", and k governs {share} of the records"
    what, size, unit, governor = "neighborhood size", "size", "donor records", "radius"
    if soft:
        note = f"median {median} effective donors"
        by = ""
        what, size, governor = "effective number of donors", "number", "kernel"
        unit = what
    shapes: list[dict[str, Any]] = []
    labels: list[style.Label] = []
    if epsilon:
        shapes.append(style.horizontal(epsilon, style.EPSILON, "dash"))
        labels.append(_name_of_radius(epsilon, k, top))
    if k:
        shapes.append(style.vertical(k, style.NEUTRAL, "dot"))
        labels.append(_name_of_k(k))
    if beyond:
        labels.append(style.corner(f"▲ {beyond}", style.NEUTRAL, yshift=-8))
    ticks = _ticks(low, high)
    marks: dict[str, Any] = {
        "type": "log",
        "tickvals": ticks,
        "ticktext": [*map("{:,}".format, ticks)],
    }
    rows = table(
        ["record", what, "nearest distance", "governed by k"],
        [np.arange(1, len(sizes) + 1), sizes, nearest, np.where(by_k, "yes", "no")],
        rank=2,
    )
    return style.chart(
        "neighborhood_size",
        "Neighborhood size",
        note,
        f"Nearest distance against {what} of {len(sizes):,} records; the median {size} is "
        f"{median}{by}" + (f"; {beyond}" if beyond else ""),
        data=_cloud(sizes, nearest, by_k, _Frame(low, high, top), governor),
        layout=style.layout(
            style.axis(unit, math.log10(low), math.log10(high), **marks),
            style.axis("nearest distance", 0, top),
            shapes=shapes,
            annotations=labels,
        ),
        large={"legend": True},
        table=rows | {"caption": " ".join([_CAPTION, rows.get("caption", "")]).strip()},
    )


def _name_of_radius(epsilon: float, k: int | None, top: float) -> style.Label:
    """Return the name of the radius, where few records are: left of k, or right of it."""
    at = 1
    place: dict[str, Any] = {"xref": "paper", "xanchor": "right"}
    if (k or 0) > 3:
        at = 0
        place["xanchor"] = "left"
    place["yanchor"] = "top" if epsilon > 0.9 * top else "bottom"
    return style.label(f"ε = {epsilon:g}", at, epsilon, style.EPSILON, **place)


def _name_of_k(k: int) -> style.Label:
    """Return the name of k, at the top of its line."""
    # On a logarithmic axis Plotly places texts, unlike lines, by the exponent.
    place: dict[str, Any] = {"yref": "paper", "xanchor": "left", "yanchor": "top"}
    return style.label(f"k = {k}", math.log10(k), 1, style.NEUTRAL, **place)


def _ticks(low: float, high: float) -> list[int]:
    """Return 1, 2 and 5 times the powers of ten between two ends; of many the powers alone."""
    inside = [tick for tick in _TICKS if low <= tick <= high]
    if len(inside) <= 7:
        return inside
    return [tick for tick in inside if str(tick)[0] == "1"]


class _Frame(NamedTuple):
    """The ends of the axes: of sizes, and from 0 of distances."""

    low: float
    high: float
    top: float


def _cloud(
    sizes: NDArray[Any],
    nearest: NDArray[Any],
    by_k: NDArray[np.bool_],
    frame: _Frame,
    governor: str,
) -> list[style.Trace]:
    """Return hollow points, diamonds if k governs; from 2,000 records on a density and extremes."""
    # Shapes: sizes, nearest, by_k (n,).
    shown = np.arange(len(sizes))
    traces = list[style.Trace]()
    hover = _HOVER.replace("donors", "effective donors") if governor == "kernel" else _HOVER
    if len(sizes) >= style.CLOUD_POINTS:
        edges = np.geomspace(frame.low, frame.high, 61), np.linspace(0, frame.top, 31)
        traces.append(style.density(sizes, nearest, style.ORIGINAL, edges))
        shown = style.extremes(nearest)
    for name, rows in ((governor, shown[~by_k[shown]]), ("k", shown[by_k[shown]])):
        cloud = style.points(sizes[rows], style.floats(nearest[rows]), released=False)
        cloud |= {"name": f"governed by {name}", "text": rows + 1, "hovertemplate": hover}
        if name == "k":
            cloud["marker"] |= {"size": 7, "color": style.NEUTRAL, "symbol": "diamond-open"}
        traces += style.at_the_edge(cloud, "y", frame.top)
    return traces


def warn_of_neighborhoods(reading: Reading[NeighborhoodSizes], **_: object) -> list[str]:
    """Say where the radius has no effect, or neighborhoods hold most of the file."""
    texts = []
    share = reading.detail.share_governed_by_k
    if share > 0.5:
        texts.append(
            f"The radius plays no part for {percent(share)} of the "
            "records: only their k nearest give values. In many columns distances concentrate, "
            "and a small radius reaches nobody."
        )
    if reading.value > 0.5 * len(reading.detail.sizes):
        texts.append(
            "The typical neighborhood is more than half the file: a modified value may come from "
            "most of the other people, near or far."
        )
    return texts


NEIGHBORHOOD_SIZE = Measure(
    key="neighborhood_size",
    title="Neighborhood sizes",
    better="higher",
    bounds=FROM_ZERO,
    unit="records (median)",
    question="From how many records is the donor of a cell drawn?",
    sentence=neighborhood_size_sentence,
    source="Perry, Matloff, Tendick 2022, sections 5 and 8, figure 1",
    compute=compute_neighborhood_size,
    reads_some=True,
    of_setting=True,
    silent=True,
    warn=warn_of_neighborhoods,
    charts={"neighborhood_size": draw_neighborhood_size},
    level=("x", "median"),
    places={"risk": 9, "report": 12, "tune": 1, "warnings": 8},
)
