"""Counts: cross tables, small groups and records that break an edit rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable, SchemaError
from rwn_core.measures.comparison import RELEASED, Comparison, Sampling, numbers, require_values
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, bars, columns
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import FROM_ZERO, BothFiles, Reading, Sides, utility_measure
from rwn_core.measures.statistics.distributions import (
    Distances,
    counts,
    grouped,
    total_variation,
)
from rwn_core.measures.statistics.ols import design_matrix
from rwn_core.measures.view import Tile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts(BothFiles):
    """The records of both files in g small groups, or that break g edit rules, shape (g,).

    Attributes
    ----------
    total_change : float
        Relative change of all groups together; `change` is relative, too.
    vanished : int
        Groups without a released record.
    any_original, any_released : int
        Records that break at least one rule.
    """

    total_change: float = 0.0
    vanished: int = 0
    any_original: int = 0
    any_released: int = 0


# Contingency tables: change of cross tables of two variables


def compute_contingency(comparison: Comparison) -> Reading[Distances]:
    """Return the mean total variation distance of all two-way tables."""
    original = comparison.original
    require_values(comparison.masked)
    released = original.schema.released
    if len(released) < 2:
        raise NotApplicable("A cross-tabulation needs at least two variables.")
    groups, sides = grouped(comparison, released)
    pairs = list(combinations(range(len(groups)), 2))
    distances = []
    for positions in pairs:
        sizes = [len(groups[i].labels) for i in positions]
        tables = [counts([side[i] for i in positions], sizes) for side in sides]
        distances.append(total_variation(*tables))
    names = [g.name for g in groups]
    detail = Distances(
        names=names,
        pairs=[[names[one], names[other]] for one, other in pairs],
        distance=np.array(distances),
    )
    return Reading(value=float(detail.distance.mean()), baseline=0.0, detail=detail)


CONTINGENCY = utility_measure(
    key="contingency",
    title="Contingency tables",
    unit="mean total variation of two-way tables",
    question="Do cross-tabulations of two variables keep their cells?",
    source="total variation distance; numbers in fifths of the original's records",
    compute=compute_contingency,
    places={"report": 99},
)


# Small groups: change of their sizes

TAILS = (0.1, 0.9)  # of a number: its lowest and highest tenth
SMALL = 0.1  # a small group has at most this share of the records
LEAST = 5  # and at least so many: below, one record more is a large change
MOST = 400
LEVELS = 1_000  # of a category that may be small groups


def compute_subgroups(comparison: Comparison) -> Reading[Counts]:
    """Return the mean absolute relative change of the sizes of small groups."""
    original = comparison.original
    require_values(comparison.masked)
    # levels of categories, and both tails of numbers, by the original alone
    groups, sides = grouped(comparison, original.schema.released, TAILS, LEVELS)
    # the groups are cells of one variable, and of pairs of categorical or ordered ones
    singles = [(position,) for position in range(len(groups))]
    categories = [position for position, g in enumerate(groups) if g.group_of is not None]
    # name, original and released size of every small group, ascending
    rows: list[tuple[str, int, int]] = []
    for positions in [*singles, *combinations(categories, 2)]:
        widths = [len(groups[i].labels) for i in positions]
        own, new = (counts([side[i] for i in positions], widths) for side in sides)
        for cell in np.flatnonzero((own >= LEAST) & (own <= SMALL * original.n)):
            places = zip(positions, np.unravel_index(cell, widths), strict=True)
            parts = [f"{groups[i].name} {groups[i].labels[int(at)]}" for i, at in places]
            rows.append((" & ".join(parts), int(own[cell]), int(new[cell])))
    rows = sorted(rows, key=lambda row: (row[1], row[0]))[:MOST]
    if not rows:
        raise NotApplicable(
            f"No level, tail or pair of levels has from {LEAST} records to {SMALL:.0%} of the file."
        )
    sizes = np.array([row[1:] for row in rows], dtype=np.float64)
    change = sizes[:, 1] / sizes[:, 0] - 1
    detail = Counts(
        names=[row[0] for row in rows],
        original=sizes[:, 0].astype(np.int64),
        released=sizes[:, 1].astype(np.int64),
        change=change,
        total_change=float(sizes[:, 1].sum() / sizes[:, 0].sum() - 1),
        vanished=int((sizes[:, 1] == 0).sum()),
    )
    return Reading(value=float(np.abs(change).mean()), baseline=0.0, detail=detail)


# Sizes of small groups before and after

_GROUPS = 12


def draw_subgroups(reading: Reading[Counts], drawn: Drawn | None = None) -> style.Chart:
    """Draw the small groups that changed most, at most 12."""
    detail = reading.detail
    names, change = detail.names, detail.change
    # the groups with the largest relative change, the largest first
    rows = np.argsort(-np.abs(change), kind="stable")[:_GROUPS]
    band = None if drawn is None else drawn["released"]
    before = detail.original[rows]
    after = detail.released[rows]
    total, vanished = detail.total_change, detail.vanished
    sign = _sign(total)
    tops = [] if band is None else [band.high[rows]]
    # a few far groups would press the others together: they are cut, and counted in the title
    bulk = style.clipped(np.fmax(before, after))
    top = style.above(1.05 * (style.largest(before, after, *tops) if bulk is None else bulk))
    beyond = style.beyond_words(np.fmax(before, after), top, "group")
    note = f"together {sign}{abs(total):.0%}" + (f" · {vanished} vanished" if vanished else "")
    note += f" · {beyond} ▶" if beyond else ""
    # a line from the original's size to the release's, and both as points
    height = np.arange(len(rows))
    look = {"color": style.NEUTRAL, "width": 1.4}
    spans = style.line(*style.segments(before, after, height), released=False, line=look)
    traces = [spans | {"hoverinfo": "skip", "showlegend": False}]
    for values, released in ((before, False), (after, True)):
        points = style.points(values, height, released=released, marker={"size": 7, "opacity": 1})
        points["hovertemplate"] = "%{x} records<extra>%{fullData.name}</extra>"
        traces += style.at_the_edge(points, "x", top)
    # the table has all groups, with the band where there is one
    cells = {"group": names, "original": detail.original, "released": detail.released}
    cells |= {"relative change": change} | ({} if band is None else columns(band))
    return style.chart(
        "subgroups",
        "Small groups",
        note,
        f"Sizes of the {len(rows)} small groups that changed most, of {len(names)}; all small "
        f"groups together changed by {total:+.0%} and {vanished} vanished"
        + ("" if band is None else f"; pale bars: {NAME}"),
        data=[
            *([] if band is None else [bars(band.low[rows], band.high[rows], range(len(rows)))]),
            *traces,
        ],
        layout=style.layout(
            style.axis("records", 0, top),
            style.name_axis(
                [names[i] for i in rows], length=24, showgrid=False, tickfont={"size": 9}
            ),
        ),
        large={"legend": True},
        table=table(list(cells), list(cells.values()), by=("size of change", np.abs(change))),
    )


def _signed(value: float) -> str:
    return f"{_sign(value)}{100 * abs(value):.1f} %"


def _sign(value: float) -> str:
    if value == 0:
        return "±"
    return "+" if value > 0 else "−"


SUBGROUPS = utility_measure(
    key="subgroups",
    title="Small groups",
    bounds=FROM_ZERO,
    unit="mean relative change of size",
    question="Do small groups and tails keep their size?",
    source="Perry, Matloff, Tendick 2022, section 5: rare values shrink",
    compute=compute_subgroups,
    tile=Tile(
        places={"utility": 4},
        label="Small groups",
        words=_signed,
        help="Change of the size of all levels, pairs of levels and tails that hold at "
        "most a tenth of the records. Rare values shrink where those that replace them are "
        "mostly of the majority.",
        value=lambda reading: float(reading.detail.total_change),
        part="total_change",
        context=lambda reading: f"{reading.detail.vanished} vanished",
    ),
    charts={"subgroups": draw_subgroups},
    bands={"released": FROM_ZERO, "total_change": (-1.0, float("inf"))},
    steps=(0.02, 0.1, 0.25, 0.5, 0.8),
    places={"record of a dataset": 3, "utility": 4, "report": 4},
)


# Edit rules: released records that break one, compared with the original


def compute_edit_rules_broken(comparison: Comparison) -> Reading[Counts]:
    """Return the share of the released records that break an edit rule."""
    original, masked = comparison.original, comparison.masked
    rules = original.schema.edit_rules
    if not rules:
        raise NotApplicable("The schema has no edit rules; write them on the Data page.")
    require_values(masked)
    before = comparison.cached_for_original(
        ("edit rules", rules), lambda: [rule.broken(original.frame) for rule in rules]
    )
    try:
        after = [rule.broken(masked.frame) for rule in rules]
    except SchemaError as refusal:
        raise NotApplicable(f"{str(refusal).rstrip('.')}{RELEASED}.") from None
    some = [int(np.any(broken, axis=0).sum()) for broken in (before, after)]
    detail = Counts(
        names=[rule.text for rule in rules],
        original=np.array([broken.sum() for broken in before], dtype=np.int64),
        released=np.array([broken.sum() for broken in after], dtype=np.int64),
        any_original=some[0],
        any_released=some[1],
    )
    return Reading(value=some[1] / masked.n, baseline=some[0] / original.n, detail=detail)


def rules_table(reading: Reading[Counts], _: int) -> dict[str, Any]:
    """Records that break each edit rule, before and after."""
    detail = reading.detail
    rows = zip(detail.names, detail.original, detail.released, strict=True)
    return {
        "title": "Edit rules: records that break them",
        "columns": ["rule", "original", "released"],
        "rows": [[str(rule), int(old), int(new)] for rule, old, new in rows],
        "caption": f"At least one rule is broken by {detail.any_original:,} original and "
        f"{detail.any_released:,} released records. Variables of a rule that travel together "
        "keep it: choose such slices on Tune.",
    }


EDIT_RULES_BROKEN = utility_measure(
    key="edit_rules_broken",
    title="Edit rules broken",
    question="How many released records contradict themselves by the rules of the schema?",
    source="edit rules of the schema, each record counted once; Fellegi and Holt 1976",
    compute=compute_edit_rules_broken,
    must_hold=True,
    places={"tables of utility": 4},
    tables=(rules_table,),
)


# Survey estimates: change of weighted means, shares and slopes in standard errors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingDesign:
    """The sampling design of the records."""

    weights: Floats  # shape (n,): how many people each record stands for
    # strata, clusters: shape (n,): numbers from 0. Records of one cluster were drawn together,
    # within a stratum.
    strata: Integers
    clusters: Integers

    def subset(self, records: Integers) -> SamplingDesign:
        """Return the design of some records."""
        parts = {each.name: getattr(self, each.name)[records] for each in fields(self)}
        return SamplingDesign(**parts)

    def variance(self, influence: Floats) -> Floats:
        """Return the covariance of totals of `influence`, shape (n, m), by Taylor linearization."""
        # Lumley 2010, section 2. Clusters are drawn with replacement in strata; a single cluster is
        # compared with the mean of all clusters.
        totals = pd.DataFrame(influence).groupby([self.strata, self.clusters]).sum()
        strata = totals.groupby(level=0)
        sizes = strata[0].transform("size").to_numpy()
        alone = (sizes == 1)[:, np.newaxis]
        apart = totals.to_numpy() - np.where(alone, totals.mean(), strata.transform("mean"))
        factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)
        return np.asarray((apart * factor[:, None]).T @ apart)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the weighted mean; NaN if the weights sum to 0."""
    # Shapes: values, weights (n,).
    total = float(weights.sum())
    return float(weights @ values) / total if total > 0 else float("nan")


def mean_error(values: Floats, design: SamplingDesign) -> float:
    """Return the standard error of `weighted_mean` under a design."""
    weights = design.weights
    influence = weights * (values - weighted_mean(values, weights)) / weights.sum()
    return float(np.sqrt(design.variance(influence[:, None])[0, 0]))


def weighted_slopes(columns: Floats, response: Floats, weights: Floats) -> Floats:
    """Return the coefficients of a weighted regression, the intercept first, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    root = np.sqrt(weights)[:, None]
    found = np.linalg.lstsq(matrix * root, response * root[:, 0], rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def slope_errors(columns: Floats, response: Floats, design: SamplingDesign) -> Floats:
    """Return the standard errors of `weighted_slopes` under a design, shape (t,)."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    left = response - matrix @ weighted_slopes(columns, response, design.weights)
    bread = np.linalg.pinv((matrix * design.weights[:, None]).T @ matrix)
    influence = (design.weights * left)[:, None] * (matrix @ bread)
    return np.asarray(np.sqrt(np.diag(design.variance(influence))))


MOST_TIMES = 12  # points in time that have estimates of their own


_Estimate = tuple[str, float, float, float]
"""Name, the original's estimate and its standard error, and the released estimate."""


def survey_design(original: Microdata, weights: str) -> SamplingDesign:
    """Return the sampling design by the roles of the variables."""
    # Several strata are crossed; a person without a household is a cluster.
    number = np.zeros(original.n, dtype=np.int64)
    for variable in original.schema.variables:
        if variable.role is Role.STRATUM:
            codes = original.codes(variable.name)[0].astype(np.int64)
            number = number * (int(codes.max(initial=0)) + 2) + codes + 1
            number = np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
    clusters = np.arange(original.n)
    home = original.schema.name_with_role(Role.HOUSEHOLD)
    if home is not None:
        codes = original.codes(home)[0].astype(np.int64)
        clusters = np.where(codes < 0, clusters + original.n, codes)
    own = Sampling(weights=weights).record_weights(original, original)
    return SamplingDesign(weights=own, strata=number, clusters=clusters)


def compute_survey_estimates(comparison: Comparison) -> Reading[BothFiles]:
    """Return the median change of all estimates, in the original's standard errors."""
    original, masked = comparison.original, comparison.masked
    name = original.schema.name_with_role(Role.SAMPLING_WEIGHT)
    if name is None:
        raise NotApplicable("No variable has the role sampling weight; give it to one.")
    if original.schema.variable(name).kind not in (Kind.CONTINUOUS, Kind.COUNT):
        raise NotApplicable(f"The sampling weight {name} must hold numbers; change its kind.")
    require_values(masked)
    design = comparison.cached_for_original("survey design", lambda: survey_design(original, name))
    if not (np.isfinite(design.weights).all() and design.weights.min() >= 0):
        raise NotApplicable(f"The sampling weight {name} must be at least 0 in every record.")
    after = Sampling(weights=name).record_weights(original, masked)
    found = [*_means(comparison, design, after, name), *_slopes(comparison, design, after)]
    found = [one for one in found if one[2] > 0]
    if not found:
        raise NotApplicable("No estimate has a standard error to compare with.")
    names, *estimates = zip(*found, strict=True)
    before, errors, released = map(np.array, estimates)
    moved = np.abs(released - before) / errors
    detail = BothFiles(
        weights=name,
        names=list(names),
        original=before,
        errors=errors,
        released=released,
        change=moved,
        people=Sides(float(design.weights.sum()), float(after.sum())),
    )
    return Reading(value=float(np.median(moved)), baseline=0.0, detail=detail)


def _means(
    comparison: Comparison, design: SamplingDesign, after: Floats, weights: str
) -> Iterator[_Estimate]:
    """Yield weighted means of numbers and shares of levels, in total and at each time."""
    # Shapes: after (m,), the weights of the released rows.
    original, masked = comparison.original, comparison.masked
    domains = [("", np.ones(original.n, bool), np.ones(masked.n, bool)), *_times(comparison)]
    for variable in original.schema.released:
        if variable.name == weights or variable.role is Role.TIME:
            continue
        for label, old, new in _columns(comparison, variable):
            for when, there, within in domains:
                one, two = there & ~np.isnan(old), within & ~np.isnan(new)
                if not one.any():
                    continue
                if not two.any() or not after[two].sum() > 0:
                    raise NotApplicable(f"There is nobody to estimate {label}{when} of{RELEASED}.")
                yield (
                    label + when,
                    weighted_mean(old[one], design.weights[one]),
                    mean_error(old[one], design.subset(np.flatnonzero(one))),
                    weighted_mean(new[two], after[two]),
                )


def _columns(comparison: Comparison, variable: Variable) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the averaged columns of a variable: its numbers, or indicators of frequent levels."""
    name = variable.name
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        before, after = (numbers(comparison.original, t, name) for t in comparison.tables)
        yield f"mean of {name}", before, after
    elif variable.kind is not Kind.DATE:
        (groups,), ((old,), (new,)) = grouped(comparison, [variable])
        for number, label in enumerate(groups.labels[:-2]):
            share = f"share of {name} {label}"
            yield share, (old == number).astype(float), (new == number).astype(float)


def _times(comparison: Comparison) -> Iterator[tuple[str, Booleans, Booleans]]:
    """Yield the records of each point in time, if there are few."""
    original, masked = comparison.original, comparison.masked
    name = original.schema.name_with_role(Role.TIME)
    if name is None or name not in masked.names:
        return
    before, levels = original.codes(name)
    after, _ = masked.codes(name, levels)
    if 1 < len(levels) <= MOST_TIMES:
        for number, level in enumerate(levels):
            if (after == number).any():
                yield f", {name} {level}", before == number, after == number


def _slopes(comparison: Comparison, design: SamplingDesign, after: Floats) -> Iterator[_Estimate]:
    """Yield the slopes of the steward's weighted regression, if there is one."""
    # Shapes: after (m,), the weights of the released rows.
    original, masked, question = comparison.original, comparison.masked, comparison.question
    try:
        old = design_matrix(original, original, question)
        new = design_matrix(original, masked, question, RELEASED)
    except NotApplicable:
        return  # the measure of regressions says why
    drawn = design.subset(old.records)
    before = weighted_slopes(old.columns, old.response, drawn.weights)
    errors = slope_errors(old.columns, old.response, drawn)
    released = weighted_slopes(new.columns, new.response, after[new.records])
    scale = float(np.abs(old.response).max())
    for term, one, error, two in zip(old.terms, before[1:], errors[1:], released[1:], strict=True):
        if error > 1e-12 * scale:  # an exact fit has no error
            yield f"slope of {term}", float(one), float(error), float(two)


def survey_table(reading: Reading[BothFiles], _: int) -> dict[str, Any]:
    """Weighted estimates before and after, those that moved most first."""
    detail = reading.detail
    numbers = detail.original, detail.errors, detail.released, detail.change
    rows = [list(row) for row in zip(detail.names, *numbers, strict=True)]
    rows.sort(key=lambda row: -float(row[-1]))
    people = (f"{n:,.0f}" for n in detail.people or ())
    return {
        "title": f"Survey estimates, weighted by {detail.weights}",
        "columns": ["estimate", "original", "standard error", "released", "moved by errors"],
        "rows": [[str(row[0]), *map(float, row[1:])] for row in rows],
        "caption": f"{(detail.change > 1.96).sum():,} of {len(rows):,} estimates moved by more "
        "than 1.96 standard errors of the original, which count strata and households. The records "
        f"stand for {' people, and for '.join(people)} in the release.",
    }


SURVEY_ESTIMATES = utility_measure(
    key="survey_estimates",
    title="Survey estimates",
    bounds=FROM_ZERO,
    unit="standard errors (median over estimates)",
    question="Do weighted means, shares and slopes stay within their standard errors?",
    source="weighted estimates with Taylor-linearized errors of strata and clusters "
    "(Lumley 2010, section 2)",
    compute=compute_survey_estimates,
    places={"tables of utility": 3},
    tables=(survey_table,),
)
