"""Validity of a regression over many releases: its standard errors, and slopes to be trusted.

A user of a release reads standard errors that know of sampling, not of the masking. Drawing the
setting many times shows what the masking adds, and a shift, which no wider interval corrects: one
release may be near the original by luck. Drawing samples as well shows whether 95 % intervals
still hold the truth 95 times in 100.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import MODELS, Formula
from rwn_core.data.schema import Question
from rwn_core.data.sizes import ESTIMATED_CELLS
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Kind, checks_form
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.draws import draws, released_only
from rwn_core.evaluation.registered_analysis import (
    Analysis,
    AnalysisPlan,
)
from rwn_core.masking import Masked, Method
from rwn_core.measures.comparison import RELEASED
from rwn_core.measures.statistics.formula import fit_model
from rwn_core.measures.statistics.intervals import t95
from rwn_core.measures.statistics.ols import (
    SIGNIFICANT,
    Fit,
    design_matrix,
    fit_family,
    refuse_exact,
    response_design,
    response_family,
)
from rwn_core.parallel.threads import Progress

LEAST_SHARE = 0.5  # of the repeats that must give an estimate
FEWEST, MOST = 3, 60  # releases: 60 of a small table, 3 of a large one
LEAST_COVERAGE = 0.8  # of 95 % intervals over releases
LEAST_SIGNS = 0.95  # of the releases that show the original's sign
_LEVEL = re.compile(r" = [^:]*")
Estimate = tuple[Floats, Floats]
"""Coefficients and their standard errors, the intercept first, each of shape (t,)."""


class Regression:
    """A regression with the original's estimate, ready to be fitted to any masked table."""

    def __init__(self, original: Microdata, asked: Question | Analysis | None) -> None:
        """Fit the steward's regression, or a registered one, to the original."""
        if asked is None:
            raise NotApplicable("No regression is chosen; choose a response and its predictors.")
        self.original, self.asked = original, asked
        if isinstance(asked, Analysis):
            formula = Formula.parse(asked.formula)
            self.response = formula.response.name
            self.predictors = tuple(formula.names)
            self.family: str = asked.kind
        else:
            self.response, self.predictors = asked.response, asked.predictors
            kinds = {variable.name: variable.kind for variable in original.schema.released}
            categorical = kinds.get(asked.response) is Kind.CATEGORICAL
            self.family = response_family(original, asked) if categorical else "linear"
        fit = self._fit(original, "")
        self.own = fit.estimate
        self.terms = ("(intercept)", *fit.design.terms)
        # standard errors from a coefficient to an end of its 95 % interval
        freedom = len(fit.design.response) - len(self.terms)
        self.reach = t95(freedom if self.family == "linear" else math.inf)

    def _fit(self, table: Microdata, where: str) -> Fit:
        if isinstance(self.asked, Analysis):
            return fit_model(self.asked, self.original, table, where)
        made = design_matrix if self.family == "linear" else response_design
        fit = fit_family(made(self.original, table, self.asked, where), self.family, where)
        refuse_exact(fit, where, "there are no standard errors to judge")
        return fit

    def fit(self, masked: Microdata) -> Estimate:
        """Return coefficients and standard errors of a draw; NotApplicable without an answer."""
        return self._fit(masked, RELEASED).estimate

    def owners(self) -> list[tuple[str, ...]]:
        """Return the variables of each term but the intercept, without the levels it names."""
        found = []
        for term in self.terms[1:]:
            exact = [n for n in self.predictors if term == n or term.startswith(f"{n} = ")]
            plain = _LEVEL.sub("", term)
            parts = [
                n for n in self.predictors if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", plain)
            ]
            found.append(tuple(exact[:1] or parts))
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Validity(Summarized):
    """The calibration of a regression's standard errors under a setting.

    Arrays have shape (t,), the intercept first.

    Attributes
    ----------
    response : str
    model : {"linear", "logistic", "poisson"}
    terms : tuple of str
    coefficient, standard_error : ndarray of float64
        Of the original.
    shift : ndarray of float64
        Mean over releases of the original table, less the original's coefficient.
    between : ndarray of float64
        Standard deviation over those releases: what the masking adds.
    inflation : ndarray of float64
        1 + B / U: variance with the masking over variance without it (B = between squared, U =
        the original's squared standard error).
    inflation_with_bias : ndarray of float64
        1 + (B + shift^2) / U.
    reported : ndarray of float64
        Mean standard error that masked bootstrap samples report.
    true : ndarray of float64
        Standard deviation of the coefficient over masked bootstrap samples.
    coverage : ndarray of float64
        Share of the nominal 95 % intervals of masked bootstrap samples that hold the original's
        coefficient; Student's t of a linear model, the normal 1.96 of another.
    error : ndarray of float64
        Root mean squared distance of masked bootstrap samples from the original's coefficient:
        spread and shift together.
    repeats : int
        Bootstrap samples with an estimate; the coverage's standard error follows from it.
    """

    response: str
    model: str
    terms: tuple[str, ...]
    coefficient: Floats
    standard_error: Floats
    shift: Floats
    between: Floats
    inflation: Floats
    inflation_with_bias: Floats
    reported: Floats
    true: Floats
    coverage: Floats
    error: Floats
    repeats: int

    def _summary(self) -> Summary:
        shown = ("se_original", "se_reported", "se_true", "coverage", "multiply_by")
        return Summary(
            title=f"Standard errors of the {self.model} regression of {self.response} "
            f"({self.repeats} masked samples)",
            columns=("term", *shown),
            rows=[
                (str(row["term"]), *(f"{row[name]:.4g}" for name in shown))
                for _, row in self.frame().iterrows()
            ],
        )

    @property
    def ratio(self) -> Floats:
        """Reported over true standard error; below 1 the reported one is too small."""
        # Shapes: the answer (t,), the intercept first.
        return np.asarray(self.reported / self.true)

    @property
    def factor(self) -> Floats:
        """Factor that makes a reported standard error true, at least 1."""
        # Shapes: the answer (t,), the intercept first.
        return np.asarray(np.maximum(self.error / self.reported, 1.0))

    def frame(self) -> pd.DataFrame:
        """A row for each coefficient."""
        return pd.DataFrame(
            {
                "term": list(self.terms),
                "coefficient": self.coefficient,
                "se_original": self.standard_error,
                "shift": self.shift,
                "sd_between_releases": self.between,
                "variance_inflation": self.inflation,
                "inflation_with_bias": self.inflation_with_bias,
                "se_reported": self.reported,
                "se_true": self.true,
                "reported_over_true": self.ratio,
                "coverage": self.coverage,
                "multiply_by": self.factor,
            }
        )


@takes_tables
def standard_error_validity(
    microdata: Microdata,
    params: Method,
    *,
    question: Question | None = None,
    repeats: int = 100,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Validity:
    """Hold reported standard errors of a regression against true ones, with their coverage.

    Parameters
    ----------
    microdata : Microdata
    params : Method
    question : Question, optional
        The schema's by default. A categorical response of two values makes it logistic.
    repeats : int
        Releases of the table, and masked bootstrap samples; at least 10.
    seed : int, optional
        Of the samples and the maskings; fresh if left out.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    Validity

    Raises
    ------
    NotApplicable, ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 4; Efron 1979 for the bootstrap.
    """
    if repeats < 10:
        raise ParameterError("repeats must be a whole number of at least 10.")
    question = microdata.schema.question if question is None else question
    model = Regression(microdata, question)
    report = progress or (lambda share: None)
    # what the masking adds: releases of the table itself
    drawn = draws(microdata, params, repeats, seed, lambda share: report(share / 2))
    coefficients, _ = _estimates(model, drawn, repeats, "releases")
    # what is printed, and what is true: masked samples of the records
    samples = draws(
        microdata, params, repeats, seed, lambda share: report(0.5 + share / 2), resampled=True
    )
    estimates, errors = _estimates(model, samples, repeats, "masked bootstrap samples")
    own, error = model.own
    shift = coefficients.mean(axis=0) - own
    between = coefficients.std(axis=0, ddof=1)
    return Validity(
        response=model.response,
        model=model.family,
        terms=model.terms,
        coefficient=own,
        standard_error=error,
        shift=shift,
        between=between,
        inflation=1 + between**2 / error**2,
        inflation_with_bias=1 + (between**2 + shift**2) / error**2,
        reported=errors.mean(axis=0),
        true=estimates.std(axis=0, ddof=1),
        coverage=(np.abs(estimates - own) <= model.reach * errors).mean(axis=0),
        error=np.sqrt(((estimates - own) ** 2).mean(axis=0)),
        repeats=len(estimates),
    )


def _estimates(model: Regression, drawn: Iterable[Masked], repeats: int, what: str) -> Estimate:
    """Return the estimates of all draws with an answer, shape (draws, t) each."""
    found = []
    for work in drawn:
        with suppress(NotApplicable):
            found.append(model.fit(work.masked))
    if len(found) < max(LEAST_SHARE * repeats, 2):
        raise NotApplicable(
            f"The regression could be fitted to only {len(found)} of {repeats} {what}; "
            "choose fewer predictors or a weaker masking."
        )
    return np.array([one for one, _ in found]), np.array([error for _, error in found])


def misses(slopes: Mapping[str, Any]) -> list[str]:
    """Return the predictors with intervals that miss the original's slope too often."""
    failed = slopes["releases"] < LEAST_COVERAGE * slopes["drawn"]
    rated = zip(slopes["names"], slopes["coverage"], strict=True)
    return [name for name, held in rated if failed or held < LEAST_COVERAGE]


def turns(slopes: Mapping[str, Any]) -> list[str]:
    """Return the predictors with a sign that may change, beyond chance in the original."""
    rated = zip(slopes["names"], slopes["signs"], strict=True)
    return [name for name, agrees in rated if agrees < LEAST_SIGNS]


def slope_trust(
    microdata: Microdata,
    params: Method,
    *,
    plan: AnalysisPlan | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[dict[str, Any], ...]:
    """Judge the slopes of the registered regressions over fresh releases of a setting.

    Plain data of each, for the record of a release: its `response` and the `names` of its
    predictors, of a category the worst of its levels. For each of them `coverage`, the share of the
    releases with the original's slope in the 95 % interval; `signs`, the share that show the
    original's sign, 1 where that is not beyond chance; and `shift`, the mean change in the
    original's standard errors. Then how many `releases` have an estimate, of how many `drawn`.
    """
    registered = [each for each in (plan.analyses if plan else ()) if each.kind in MODELS]
    models: list[Regression] = []
    original = released_only(microdata) if registered else microdata
    for asked in registered or (microdata.schema.question,):
        with suppress(NotApplicable):
            models.append(Regression(original, asked))
    if not models:
        return ()
    cells = microdata.n * max(len(microdata.schema.released), 1)
    drawn = repeats or int(np.clip(ESTIMATED_CELLS // cells, FEWEST, MOST))
    found: list[list[Estimate]] = [[] for _ in models]
    for work in draws(microdata, params, drawn, seed, progress):
        for model, each in zip(models, found, strict=True):
            with suppress(NotApplicable):
                each.append(model.fit(work.masked))
    return tuple(_trusted(m, e, drawn) for m, e in zip(models, found, strict=True))


def _trusted(model: Regression, found: list[Estimate], drawn: int) -> dict[str, Any]:
    """Return coverage, signs and shift of each variable: those of its worst term."""
    owners = model.owners()
    names = tuple(dict.fromkeys(chain.from_iterable(owners)))
    rated: tuple[tuple[float, ...], ...] = ((0.0,) * len(names),) * 3
    if found:
        own, error = (part[1:] for part in model.own)
        # shape (releases, slopes) each
        slopes, errors = (np.array([each[at] for each in found])[:, 1:] for at in (0, 1))
        coverage = (np.abs(slopes - own) <= model.reach * errors).mean(axis=0)
        signs = (np.sign(slopes) == np.sign(own)).mean(axis=0)
        signs = np.where(np.abs(own) > SIGNIFICANT * error, signs, 1.0)
        shift = (slopes - own).mean(axis=0) / error
        judged = ((coverage, min), (signs, min), (shift, lambda parts: max(parts, key=abs)))
        own_terms = [[at for at, owner in enumerate(owners) if name in owner] for name in names]
        rated = tuple(tuple(float(worst(v[at])) for at in own_terms) for v, worst in judged)
    coverage, signs, shift = rated
    about = {"response": model.response, "names": names, "releases": len(found), "drawn": drawn}
    return about | {"coverage": coverage, "signs": signs, "shift": shift}


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """One estimate from several releases of the same table.

    Attributes
    ----------
    estimate : float
    within : float
        Mean of the releases' squared standard errors.
    between : float
        Variance of the releases' estimates, divisor M - 1.
    variance : float
        within + between / M.
    degrees : float
        Of freedom of its t distribution; infinite where the estimates are equal.
    """

    estimate: float
    within: float
    between: float
    variance: float
    degrees: float


@checks_form
def combine_releases(estimates: Floats, variances: Floats) -> Combined:
    """Combine one estimate over M releases of the same table.

    An approximation: a masking is not a draw from a posterior. Publishing several releases also
    multiplies what an intruder learns; one release with its variance inflation is safer.

    Parameters
    ----------
    estimates, variances : ndarray of float64, shape (M,)
        M at least 2; variances are squared standard errors, above 0.

    Returns
    -------
    Combined

    Raises
    ------
    ParameterError

    References
    ----------
    Reiter 2003, partially synthetic data.

    Examples
    --------
    >>> combined = combine_releases(np.array([1.0, 2.0]), np.array([0.5, 0.5]))
    >>> combined.estimate, combined.variance
    (1.5, 0.75)
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    m = len(q)
    if m < 2 or q.shape != u.shape or not (u > 0).all():
        raise ParameterError(
            "Give at least two estimates, and a squared standard error above 0 for each."
        )
    within, between = float(u.mean()), float(q.var(ddof=1))
    degrees = np.inf if between == 0 else (m - 1) * (1 + m * within / between) ** 2
    return Combined(
        estimate=float(q.mean()),
        within=within,
        between=between,
        variance=within + between / m,
        degrees=float(degrees),
    )
