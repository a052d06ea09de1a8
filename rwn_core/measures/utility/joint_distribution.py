"""The joint distribution: telling released from original records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import linalg, special

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, numbers, require_values, varies
from rwn_core.measures.measure import FROM_ZERO, Detail, Reading, utility_measure
from rwn_core.measures.statistics.distributions import distribution_steps, kolmogorov_smirnov
from rwn_core.measures.view import Tile
from rwn_core.parallel.threads import one_blas_thread

# pMSE: success of a model of all pairs of variables at telling release and original apart

Terms = Literal["main", "pairwise"]

MOST_TERMS = 600
DEPENDENT = 1e-8  # share of a column's length that rounding leaves after projection
STEPS = 30
CONVERGED = 1e-10
ROUNDING = 9  # decimals of a probability that a fit of these sizes determines
FARTHEST = 30.0  # linear predictor at which a probability is 0 or 1 for every purpose


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Propensity(Detail):
    """A fitted propensity model."""

    # original, released: shape (n1,): probability of being released, by the model
    original: Floats
    released: Floats
    parameters: int  # independent coefficients, with the intercept
    pmse: float  # mean squared difference of the probabilities and the share of released records
    # null_mean, null_sd: of `pmse` if the release is drawn from the model
    null_mean: float
    null_sd: float
    specks: float  # Kolmogorov-Smirnov distance of the probabilities (Bowen, Liu, Su 2021)
    main: Propensity | None = None  # of a model of all pairs: that of main effects

    @property
    def ratio(self) -> float:
        """Times that `pmse` is its mean for a release that is drawn from the model."""
        return self.pmse / self.null_mean

    @property
    def standardized(self) -> float:
        """Distance of `pmse` from that mean in standard deviations."""
        return (self.pmse - self.null_mean) / self.null_sd


def propensity(comparison: Comparison, terms: Terms) -> Propensity:
    """Fit a logistic model of being released to both files, main effects or all pairs."""
    # Woo and others 2009; Snoke and others 2018.
    parts = _parts(comparison)
    columns = _model_columns(parts, terms)
    labels = np.repeat([0.0, 1.0], [len(part) for part in parts])
    # many small products: on a busy machine their threads wait for each other
    with one_blas_thread():
        basis = _basis(columns)
        result = _probabilities(basis, labels)
    original, released = np.split(result, [len(parts[0])])
    share = len(released) / len(result)
    parameters = basis.shape[1]
    distance = float(((result - share) ** 2).mean())
    unit = (1 - share) ** 2 * share / len(result)
    before, after = (np.sort(np.round(p, ROUNDING)) for p in (original, released))
    return Propensity(
        original=original,
        released=released,
        parameters=parameters,
        pmse=0.0 if distance < CONVERGED**2 else distance,
        null_mean=(parameters - 1) * unit,
        null_sd=float(np.sqrt(2 * (parameters - 1))) * unit,
        specks=kolmogorov_smirnov(distribution_steps(before), after),
    )


def _parts(comparison: Comparison) -> list[Floats]:
    """Return numbers and dummies of the variables of both files, shape (n1, m) and (n2, m)."""
    require_values(comparison.masked)
    return [_columns(comparison.original, table) for table in comparison.tables]


def _model_columns(parts: Sequence[Floats], terms: Terms) -> Floats:
    """Return the terms of a model of both files, scaled; those that vary, shape (n1 + n2, c)."""
    stacked = np.concatenate(parts)
    stacked = stacked[:, varies(stacked)]
    if not stacked.shape[1]:
        raise NotApplicable("No variable varies, so no model can tell the two files apart.")
    stacked = _scaled(stacked)
    if terms == "main":
        return stacked
    m = stacked.shape[1]
    count = m + m * (m + 1) // 2
    if count > MOST_TERMS:
        raise NotApplicable(
            f"All pairs of variables and levels make {count:,} terms, and the model takes at "
            f"most {MOST_TERMS}; give variables of many levels the role identifier."
        )
    one, two = np.triu_indices(m)
    return _scaled(np.column_stack([stacked, stacked[:, one] * stacked[:, two]]))


def _basis(columns: Floats) -> Floats:
    """Return an orthonormal basis of the intercept and the columns; dependent ones drop out."""
    # Shapes: columns (n, c); the answer (n, d), d at most c + 1.
    scaled = np.column_stack([np.ones(len(columns)), columns])
    scaled /= np.linalg.norm(scaled, axis=0)
    # of the small triangle of an unpivoted factorization: pivoting long columns is slow
    _, left, turn = linalg.svd(np.linalg.qr(scaled, mode="r"), full_matrices=False)
    independent = left > DEPENDENT * left[0]
    return np.asarray(scaled @ (turn[independent].T / left[independent]))


def _columns(original: Microdata, table: Microdata) -> Floats:
    """Return numbers and dummies of every variable, with an indicator of missing values."""
    columns: list[Floats] = []
    for variable in original.schema.released:
        if variable.kind is Kind.CATEGORICAL:
            code, _ = codes(original, table, variable.name)
            levels = len(original.codes(variable.name)[1])
            columns += [(code == level).astype(np.float64) for level in range(levels)]
            if len(columns) > MOST_TERMS:
                raise NotApplicable(
                    f"Variable {variable.name} has so many levels that the model would have more "
                    f"than {MOST_TERMS} terms; give it the role identifier."
                )
            continue
        values = numbers(original, table, variable.name)
        missing = np.isnan(values)
        known = numbers(original, original, variable.name)
        known = known[~np.isnan(known)]
        middle, half_width = (
            (float(known.min()), float(np.ptp(known / 2))) if len(known) else (0, 0)
        )
        # in half ranges of the original: the squares of huge numbers must not overflow
        values = np.where(missing, 0.0, (values - middle) / (half_width or 1.0))
        columns += [np.clip(values, -1e6, 1e6), missing.astype(np.float64)]
    return np.column_stack(columns)


def _scaled(columns: Floats) -> Floats:
    # Shapes: columns (n, m); the answer (n, v), of the columns that vary.
    centered = columns - columns.mean(axis=0)
    spread = np.abs(centered).max(axis=0)
    varying = spread > DEPENDENT
    return np.asarray(centered[:, varying] / spread[varying])


def _probabilities(basis: Floats, labels: Floats) -> Floats:
    """Fit by Newton's method; with separated records it stops near 0 and 1."""
    share = labels.mean()
    coefficients = basis.T @ np.full(len(labels), np.log(share / (1 - share)))
    best = np.full(len(labels), share)
    deviance = np.inf
    for _ in range(STEPS):
        linear = np.clip(basis @ coefficients, -FARTHEST, FARTHEST)
        result = special.expit(linear)
        now = float(-2 * special.log_expit(np.where(labels > 0, linear, -linear)).sum())
        if now < deviance:
            best = result
        if abs(deviance - now) <= CONVERGED * (1 + now):
            break
        deviance = min(now, deviance)
        weight = np.maximum(result * (1 - result), 1e-9)
        weighed = basis * np.sqrt(weight)[:, None]
        information = weighed.T @ weighed
        step = linalg.solve(information, basis.T @ (labels - result), assume_a="pos")
        coefficients = coefficients + step * min(1.0, 10.0 / max(np.abs(basis @ step).max(), 1e-12))
    return np.asarray(best)


def compute_pmse(comparison: Comparison) -> Reading[Propensity]:
    """Return pMSE over its expectation for a release from the fitted model, pairwise terms."""
    detail = replace(propensity(comparison, "pairwise"), main=propensity(comparison, "main"))
    return Reading(value=detail.ratio, baseline=0.0, detail=detail)


def _of_ends(comparison: Comparison) -> Reading:
    """Return the same reading without the model of main effects, and without a fit to one file."""
    parts = _parts(comparison)
    if np.array_equal(parts[0], parts[1]):
        _model_columns(parts, "pairwise")  # refused where there is no such model
        return Reading(value=0.0, baseline=0.0, detail=Detail())
    return Reading(value=propensity(comparison, "pairwise").ratio, baseline=0.0, detail=Detail())


def propensity_table(reading: Reading[Propensity], _: int) -> dict[str, Any]:
    """Propensity scores of main effects and of all pairs, with their null."""
    names = ("pmse", "null_mean", "ratio", "standardized", "specks", "parameters")
    models = (("main effects", reading.detail.main), ("all pairs", reading.detail))
    return {
        "title": "Propensity score: can a model tell released records from original ones?",
        "columns": [
            "model",
            "pMSE",
            "its null mean",
            "ratio",
            "standardized (S_pMSE)",
            "SPECKS",
            "parameters",
        ],
        "rows": [[words, *(getattr(one, name) for name in names)] for words, one in models],
        "caption": "Main effects see each variable alone and are blind to lost relations; all "
        "pairs see those, too. Ratio 1: as if drawn from the fitted model; 2: like a fresh sample.",
    }


PMSE = utility_measure(
    key="pmse",
    title="Propensity score (pMSE)",
    bounds=FROM_ZERO,
    unit="times its null expectation; 2: as different as a fresh sample",
    question="Can a model of all pairs of variables tell released records from original ones?",
    source="Woo and others 2009; Snoke and others 2018; SPECKS: Bowen, Liu, Su 2021",
    compute=compute_pmse,
    of_ends=_of_ends,
    is_slow=True,
    tile=Tile(
        places={"utility": 5},
        label="Propensity ratio",
        help="How well a model of all pairs of variables tells released records from "
        "original ones (pMSE), over what chance gives. 0 is no difference at all.",
        context="2: like a fresh sample".format,
    ),
    tables=(propensity_table,),
    places={"tables of utility": 2, "report": 99},
)
