"""Survey estimates: change of weighted means, shares and slopes in standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, Sampling, numbers, require_values
from rwn_core.measures.measure import FROM_ZERO, BothFiles, Measure, Reading, Sides
from rwn_core.measures.statistics.cross_table import grouping
from rwn_core.measures.statistics.ols import design_matrix
from rwn_core.measures.view import View


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingDesign:
    """Sampling design of the records."""

    weights: Floats  # shape (n,): how many people each record stands for
    # strata, clusters: shape (n,): numbers from 0. Records of one cluster were drawn together,
    # within a stratum.
    strata: Integers
    clusters: Integers

    def subset(self, records: Integers) -> SamplingDesign:
        """Return the design of some records."""
        return SamplingDesign(
            weights=self.weights[records],
            strata=self.strata[records],
            clusters=self.clusters[records],
        )

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


def compute(comparison: Comparison) -> Reading[BothFiles]:
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
    names, before, error, released = zip(*found, strict=True)
    moved = np.abs(np.array(released) - np.array(before)) / np.array(error)
    detail = BothFiles(
        weights=name,
        names=list(names),
        original=np.array(before),
        errors=np.array(error),
        released=np.array(released),
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
        for label, old, new in _columns(original, masked, variable):
            for when, there, within in domains:
                one, two = there & ~np.isnan(old), within & ~np.isnan(new)
                if not one.any():
                    continue
                if not two.any() or not after[two].sum() > 0:
                    raise NotApplicable(f"There is nobody to estimate {label}{when} of{RELEASED}.")
                records = np.flatnonzero(one)
                yield (
                    label + when,
                    weighted_mean(old[one], design.weights[one]),
                    mean_error(old[one], design.subset(records)),
                    weighted_mean(new[two], after[two]),
                )


def _columns(
    original: Microdata, masked: Microdata, variable: Variable
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield the averaged columns of a variable: its numbers, or indicators of frequent levels."""
    name = variable.name
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        yield f"mean of {name}", numbers(original, original, name), numbers(original, masked, name)
    elif variable.kind is not Kind.DATE:
        groups = grouping(original, variable)
        before, after = (groups.codes(original, table) for table in (original, masked))
        for number, label in enumerate(groups.labels[:-2]):
            share = f"share of {name} {label}"
            yield share, (before == number).astype(float), (after == number).astype(float)


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


MEASURE = Measure(
    key="survey_estimates",
    title="Survey estimates",
    side="utility",
    bounds=FROM_ZERO,
    unit="standard errors (median over estimates)",
    question="Do weighted means, shares and slopes stay within their standard errors?",
    source="weighted estimates with Taylor-linearized errors of strata and clusters "
    "(Lumley 2010, section 2)",
    compute=compute,
    view=View(places={"tables of utility": 3}, tables=(survey_table,)),
)
