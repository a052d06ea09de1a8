"""Distributions: each variable by itself, and the distance of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, matrix, numbers
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, area, bars, columns, marks, range_text
from rwn_core.measures.drawing.paired_bars import paired_bar
from rwn_core.measures.drawing.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import (
    FROM_ZERO,
    UNBOUNDED,
    BothFiles,
    Bounds,
    Reading,
    Sides,
    utility_measure,
)
from rwn_core.measures.statistics.distributions import (
    Distances,
    Marginal,
    Steps,
    bin_counts,
    bin_edges,
    distribution_steps,
    grid_edges,
    grid_step,
    hellinger,
    kolmogorov_smirnov,
    level_counts,
    refuse_all_missing,
    standard_deviation,
    total_variation,
    varying_numbers,
)
from rwn_core.measures.statistics.intervals import Band

# Marginal distributions of the variables


_FINE = 1 / 8  # of a bin: finer steps leave every bin about as many multiples


class _Bins(NamedTuple):
    """The bins of a distribution."""

    steps: Steps
    unit: float  # what all values are multiples of, or 0
    edges: Floats
    counts: Integers


def _summary(ascending: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation."""
    # Shapes: ascending (n,).
    spread = float(ascending.std(ddof=1)) if ascending[0] < ascending[-1] else 0.0
    return float(ascending.mean()), spread


def _known(comparison: Comparison, table: Microdata, name: str) -> Floats:
    """Return the known numbers of either table, ascending; refuse a variable without any."""
    # Shapes: the answer (m,).
    values = np.sort(numbers(comparison.original, table, name))  # NaN last
    known = values[: len(values) - int(np.isnan(values).sum())]
    refuse_all_missing(len(known), name, "" if table is comparison.original else RELEASED)
    return known


def _lost(comparison: Comparison, known: Sequence[int], distance: float) -> dict[str, Any]:
    """Return the values missing, and the distance of the known ones or of the shares missing."""
    missing = Sides(*[t.n - count for t, count in zip(comparison.tables, known, strict=True)])
    before, after = [lost / t.n for lost, t in zip(missing, comparison.tables, strict=True)]
    return {"missing": missing, "difference": max(distance, abs(after - before))}


def _towers(step: float, edges: Floats) -> bool:
    """True if some bins would hold visibly more multiples of the step than others."""
    width = float(edges[1] - edges[0])
    return step > _FINE * width and not np.isclose(step, width)


def _widened(before: _Bins, known: Floats) -> tuple[Floats, Integers]:
    """Return the original's bins and counts, fitted to a coarser or wider release."""
    values = before.steps.values
    shares = before.steps.shares
    edges = before.edges
    counts = before.counts
    step = grid_step(np.unique(known))
    if step > 1.5 * before.unit and _towers(step, edges):  # rounded: the bins follow the steps
        edges = grid_edges(min(known[0], values[0]), max(known[-1], values[-1]), step)
        below = np.searchsorted(values, edges, side="left")
        return edges, np.diff(np.round(shares[below] * counts.sum()).astype(np.int64))
    if known[0] < edges[0]:
        edges = np.append(known[0], edges)
        counts = np.append(0, counts)
    if known[-1] > edges[-1]:
        # an upper edge belongs to the last bin alone: no value changes bins
        top = np.nextafter(edges[-1], np.inf)
        edges = np.concatenate((edges[:-1], [top, max(known[-1], np.nextafter(top, np.inf))]))
        counts = np.append(counts, 0)
    return edges, counts


def _marginal(comparison: Comparison, variable: Variable) -> Marginal:
    name = variable.name
    if variable.kind not in LEVELS:

        def profile() -> tuple[_Bins, tuple[float, float]]:
            known = _known(comparison, comparison.original, name)
            steps = distribution_steps(known)
            step = grid_step(steps.values)
            edges = bin_edges(known)
            if _towers(step, edges):
                edges = grid_edges(known[0], known[-1], step)
            return _Bins(steps, step, edges, bin_counts(known, edges)), _summary(known)

        # the original's bins, fitted to the release
        bins, own = comparison.cached_for_original(("marginal", name), profile)
        known = _known(comparison, comparison.masked, name)
        edges, counts = _widened(bins, known)
        mean, sd = map(Sides, own, _summary(known))
        distance = kolmogorov_smirnov(bins.steps, known)
        return Marginal(
            edges=edges,
            original=counts,
            released=bin_counts(known, edges),
            mean=mean,
            sd=sd,
            **_lost(comparison, (int(bins.counts.sum()), len(known)), distance),
        )
    levels, before, after = level_counts(comparison, name)
    return Marginal(
        levels=[level if isinstance(level, str | bool | int) else str(level) for level in levels],
        original=before,
        released=after,
        **_lost(comparison, (int(before.sum()), int(after.sum())), total_variation(before, after)),
    )


def marginal_distances(variables: Mapping[str, Marginal]) -> Distances:
    """Return the distances of distributions, by variable."""
    found = np.array([shown.difference for shown in variables.values()])
    return Distances(names=list(variables), distance=found, variables=variables)


def compute_marginals(comparison: Comparison) -> Reading[Distances]:
    """Return the mean distance of the variables: Kolmogorov-Smirnov or total variation."""
    released = comparison.original.schema.released
    variables = {variable.name: _marginal(comparison, variable) for variable in released}
    detail = marginal_distances(variables)
    return Reading(value=float(detail.distance.mean()), baseline=0.0, detail=detail)


def one_marginal(comparison: Comparison, name: str) -> Reading[Distances] | NotApplicable:
    """Return the distance of one variable's distribution, with its entry of `compute`."""
    try:
        shown = _marginal(comparison, comparison.original.schema.variable(name))
    except NotApplicable as reason:
        return NotApplicable(reason.reason)
    return Reading(value=shown.difference, baseline=0.0, detail=marginal_distances({name: shown}))


# Distribution of one variable: overlaid steps for numbers, paired bars for categories

_LEVELS = 9
_MISSING = "(missing)"


def draw_distribution(
    reading: Reading[Distances], variable: str, drawn: Drawn | None = None
) -> style.Chart:
    """Draw the distribution of one variable; `drawn` has the band "released VARIABLE"."""
    band = None if drawn is None else drawn.get(f"released {variable}")
    shown = reading.detail.variables[variable]
    if shown.edges is not None:
        note = " → ".join(["SD " + style.number(shown.sd[0]), style.number(shown.sd[1])])
        data, made = _steps(shown, shown.edges, variable, band)
        head, measure = "bin", "Kolmogorov–Smirnov distance"
        first = [f"{a:.6g} to {b:.6g}" for a, b in pairwise(shown.edges.tolist())]
    else:
        note = f"total variation {style.number(shown.difference)}"
        data, made = _bars(shown, band)
        head, measure = "level", "total variation distance"
        first = [str(level) for level in shown.levels]
    # table of counts of every bin or level, and of the missing values
    sides = zip((shown.original, shown.released), shown.missing, strict=True)
    more = {} if band is None else columns(band)
    ends = ((end, np.nan) for end in more.values())
    cells = [np.append(counts, lost) for counts, lost in (*sides, *ends)]
    return style.chart(
        "distribution",
        f"Distribution of {variable}",
        note,
        f"Distribution of {variable}, original and released; {measure} "
        f"{style.number(shown.difference)}",
        data=data,
        layout=made | {"uirevision": style.escape(variable)},
        large={"legend": True},
        table=table([head, *style.SIDES, *more], [[*first, _MISSING], *cells]),
    )


def _steps(
    shown: Marginal, edges: NDArray[np.float64], variable: str, band: Band | None
) -> tuple[list[style.Trace], dict[str, Any]]:
    """Return both histograms over the same bins, the original's filled lightly."""
    traces = []
    if band is not None:
        low, high = (np.repeat(end, 2) for end in (band.low, band.high))
        traces.append(area(np.repeat(edges, 2)[1:-1], low, high))
    for released, counts in ((False, shown.original), (True, shown.released)):
        fill = "" if released else f"{style.ORIGINAL}22"
        look = {"dash": "dot" if released else "solid"}
        drawn = style.outline(edges, counts, released=released, fill=fill, look=look)
        drawn["hovertemplate"] = "from %{x:.4g}: %{y}<extra>%{fullData.name}</extra>"
        traces.append(drawn)
    missing, notes, right = _missing(shown, edges)
    tops = [] if band is None else [band.high]
    top = style.above(1.05 * style.largest(shown.original, shown.released, shown.missing, *tops))
    pad = 0.02 * (edges[-1] - edges[0])
    x = style.axis(style.escape(style.shorten(variable, 40)), edges[0] - pad, right + pad, count=7)
    return [*traces, *missing], style.layout(x, style.axis("records", 0, top), annotations=notes)


def _missing(
    shown: Marginal, edges: NDArray[np.float64]
) -> tuple[list[style.Trace], list[style.Label], float]:
    """Return bars of missing values after the last bin, their name, and the axis end."""
    # Shapes: edges (m,), one more than bins.
    if not any(shown.missing):
        return [], [], float(edges[-1])
    range_ = float(edges[-1] - edges[0])
    left = float(edges[-1]) + 0.08 * range_
    width = max(float(edges[1] - edges[0]), 0.05 * range_)
    traces = []
    for count, dash in zip(shown.missing, ("solid", "dot"), strict=True):
        corners = [left, left, left + width, left + width]
        bar = style.line(corners, [0, count, count, 0], released=dash == "dot", line={"dash": dash})
        traces.append(bar | {"hovertemplate": "missing: %{y}<extra>%{fullData.name}</extra>"})
    traces[0] |= {"fill": "tozeroy", "fillcolor": f"{style.ORIGINAL}22"}
    name = style.label("missing", left + width, max(shown.missing), style.NEUTRAL, xanchor="right")
    return traces, [name], left + width


def _bars(shown: Marginal, band: Band | None) -> tuple[list[style.Trace], dict[str, Any]]:
    """Return paired bars of every level; rare levels are drawn together."""
    # the levels in order, each of counts (m,); of many, the most frequent and the others together
    levels = [str(level) for level in shown.levels]
    names = levels
    counts = [shown.original, shown.released]
    if len(levels) > _LEVELS + 1:
        ranked = np.argsort(-shown.original, kind="stable")
        frequent = np.sort(ranked[:_LEVELS])
        others = ranked[_LEVELS:]
        names = [*(levels[i] for i in frequent), f"{len(others)} others"]
        counts = [np.append(c[frequent], c[others].sum()) for c in counts]
    if any(shown.missing):
        names = [*names, _MISSING]
        counts = [np.append(c, lost) for c, lost in zip(counts, shown.missing, strict=True)]
    positions = list(range(len(names)))
    looks = zip(counts, style.SIDES, (style.ORIGINAL, style.RELEASED), strict=True)
    traces = [
        paired_bar(c, positions, side, color, filled=side == "released", hover="%{x} records")
        for c, side, color in looks
    ]
    known = len(names) - (names[-1] == _MISSING)
    if band is not None and len(band.low) == known:
        traces.append(bars(band.low, band.high, np.array(positions[:known]) + 0.2))
    x = style.axis("records", 0, style.above(1.03 * style.largest(*counts)))
    y = style.name_axis(names, length=18, showgrid=False)
    return traces, style.layout(x, y, barmode="overlay")


def bands_of_marginals(
    reading: Reading[Distances],
) -> Iterator[tuple[str, Any, NDArray[Any], Bounds]]:
    """Yield counts, mean and standard deviation of each variable, with the bins they belong to.

    Counts have the shape (bins,), their edges (bins + 1,), or (0,) where there are none.
    """
    for name, shown in reading.detail.variables.items():
        edges = np.empty(0) if shown.edges is None else shown.edges
        yield f"released {name}", shown.released, edges, FROM_ZERO
        if shown.edges is not None:
            yield f"mean {name}", shown.mean.released, np.empty(0), UNBOUNDED
            yield f"sd {name}", shown.sd.released, np.empty(0), FROM_ZERO


def shifts(reading: Reading[Distances]) -> dict[str, Any]:
    """Return changes of means in standard deviations, and total changes of shares."""
    means, shares = {}, {}
    for variable, about in reading.detail.variables.items():
        if about.edges is None:
            shares[variable] = float(about.difference)
        elif about.sd.original > 0:
            means[variable] = float((about.mean.released - about.mean.original) / about.sd.original)
    return {"mean_shift": means, "share_shift": shares}


MARGINALS = utility_measure(
    key="marginals",
    title="Distributions",
    unit="mean distance of distributions",
    question="Does each variable still have its own distribution?",
    source="Kolmogorov-Smirnov distance of numbers, total variation distance of categories, or "
    "the change of the share of missing values if it is larger",
    compute=compute_marginals,
    of_variable={"distribution": draw_distribution},
    bands_of=bands_of_marginals,
    recorded=shifts,
    steps=(0.01, 0.05, 0.15, 0.3, 0.6),
    places={"record of a dataset": 1, "sweep": 7, "tune": 8, "utility": 5, "report": 99},
)


# Quantiles of the numeric variables

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def compute_quantiles(comparison: Comparison) -> Reading[BothFiles]:
    """Return the mean change of seven quantiles per variable, in standard deviations."""
    names, known = varying_numbers(comparison, "change")
    before, after = (
        np.array([np.quantile(each[side] / each[2], SHARES) for each in known]) for side in (0, 1)
    )
    spread = np.array([[each[2]] for each in known])
    change = after - before
    detail = BothFiles(
        names=names,
        columns=SHARES,
        original=spread * before,
        released=spread * after,
        change=change,
    )
    return Reading(value=float(np.abs(change).mean()), baseline=0.0, detail=detail)


# Change of each quantile of each variable

_VARIABLES = 16


def draw_quantiles(reading: Reading[BothFiles], drawn: Drawn | None = None) -> style.Chart:
    """Draw the shift of the quantiles in standard deviations; at most the 16 most moved rows."""
    detail = reading.detail
    names, shift = detail.names, detail.change
    shares = [f"{100 * share:g} %" for share in detail.columns]
    # the most moved variables, in the order of the table
    rows = np.sort(np.argsort(-np.abs(shift).max(axis=1), kind="stable")[:_VARIABLES])
    shown = [style.escape(names[row]) for row in rows]
    texts = []
    for name in shown:
        texts.append([f"{name}, {share}" for share in shares])
    # a band of further draws: a circle on each shift outside, its range under the pointer
    outside = np.zeros(shift.shape, dtype=bool)
    if drawn is not None:
        band = drawn["change"]
        outside = band.outside(shift)
        for text, row in zip(texts, rows, strict=True):
            for j, (low, high) in enumerate(zip(band.low[row], band.high[row], strict=True)):
                text[j] += f" (draws {range_text(low, high, 2)})"
    count = int(outside.sum())
    look: dict[str, Any] = {"showgrid": False, "tickfont": {"size": SMALL_FONT}}
    return style.chart(
        "quantiles",
        "Shift of quantiles",
        f"mean {style.number(reading.value)} SD"
        + ("" if drawn is None else f" · ○ {count} outside"),
        f"Heatmap of how far {len(shares)} quantiles of {len(names)} variables moved, in standard "
        f"deviations; the mean distance is {style.number(reading.value)}"
        + ("" if drawn is None else f"; {count} shifts are outside {NAME}"),
        data=[
            signed_heatmap(shift[rows], color_span(shift), texts, "%{z:+.3f} SD"),
            *marks(outside[rows]),
        ],
        layout=style.layout(
            style.name_axis(shares, "quantile", down=False, **look),
            style.name_axis([names[row] for row in rows], length=16, **look),
            right=48,
        ),
        table=table(["variable", *(f"at {share}, SD" for share in shares)], [names, *shift.T]),
    )


QUANTILES = utility_measure(
    key="quantiles",
    title="Quantiles",
    bounds=FROM_ZERO,
    unit="standard deviations (mean over quantiles)",
    question="Do medians, quartiles and tails stay where they were?",
    source="quantiles at 5, 10, 25, 50, 75, 90 and 95 %",
    compute=compute_quantiles,
    charts={"quantiles": draw_quantiles},
    bands={"change": UNBOUNDED},
    places={"report": 5, "utility": 6},
)


# Hellinger distance of each variable's table of counts


def compute_hellinger(comparison: Comparison) -> Reading[Distances]:
    """Return the mean Hellinger distance over the variables."""
    released = comparison.original.schema.released
    found = []
    for variable in released:
        if variable.kind in LEVELS:
            _, before, after = level_counts(comparison, variable.name)
        else:
            both = [_known(comparison, table, variable.name) for table in comparison.tables]
            edges = bin_edges(both[0])
            counted = []
            for values in both:
                outside = [(values < edges[0]).sum(), (values > edges[-1]).sum()]
                counted.append(np.append(bin_counts(values, edges), outside))
            before, after = counted
        found.append(hellinger(before, after))
    names = [variable.name for variable in released]
    distances = np.array(found)
    detail = Distances(names=names, distance=distances)
    return Reading(value=float(distances.mean()), baseline=0.0, detail=detail)


HELLINGER = utility_measure(
    key="hellinger",
    title="Hellinger distance",
    unit="mean over variables",
    question="Does each variable keep its table of counts, the rare cells too?",
    source="Hellinger 1909; Gomatam, Karr, Sanil 2005",
    compute=compute_hellinger,
    places={"report": 99},
)


# IL1s: distance of the released cells from their own originals


def il1s(before: Floats, after: Floats, spread: Floats) -> Floats:
    """Return each cell's change in sqrt(2) standard deviations, shape (n, m)."""
    # Mateo-Sanz, Sebe, Domingo-Ferrer 2004. sdcMicro's dUtility reports the sum.
    return np.asarray(np.abs(after / spread - before / spread) / np.sqrt(2))


def compute_il1s(comparison: Comparison) -> Reading[Distances]:
    """Return the mean distance of the numeric cells from their own originals."""
    original = comparison.original
    before = matrix(original, original, original.numeric_names)
    spread = np.array([standard_deviation(column[~np.isnan(column)]) for column in before.T])
    names = [name for name, sd in zip(original.numeric_names, spread, strict=True) if sd > 0]
    if not names:
        raise NotApplicable("No continuous or count variable varies, so no distance has a unit.")
    before = before[:, spread > 0]
    after = matrix(original, comparison.masked, names)
    distance = il1s(before, after, spread[spread > 0])
    known = ~np.isnan(distance)
    if not known.any():
        raise NotApplicable("No numeric cell has a value in both tables.")
    # each cell's change in percent, shape (n, p); NaN if the original is 0 or one is missing
    size = np.where(before == 0, np.nan, np.abs(before))
    percent = 100 * np.abs(after / size - before / size)
    detail = Distances(
        names=names,
        distance=np.where(known, distance, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1),
        il1s_sum=float(distance[known].sum()),
        il1_percent_sum=float(percent[~np.isnan(percent)].sum()),
        cells=int(known.sum()),
        constant=[n for n, sd in zip(original.numeric_names, spread, strict=True) if sd == 0],
    )
    return Reading(value=float(distance[known].mean()), baseline=0.0, detail=detail)


IL1S = utility_measure(
    key="il1s",
    title="Cell distance (IL1s)",
    bounds=FROM_ZERO,
    unit="√2 standard deviations (mean over cells)",
    question="How far is each released number from the record's own original?",
    source="Mateo-Sanz, Sebé, Domingo-Ferrer 2004",
    compute=compute_il1s,
    places={"report": 99},
)
