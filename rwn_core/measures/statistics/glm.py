"""Logistic and Poisson regression, fitted to the original and to the release."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.statistics.ols import Design, design_matrix, least_squares, released_kinds

Family = Literal["logistic", "poisson"]

RUNAWAY = 50.0  # standard error of a standardized coefficient that has no finite estimate
STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneralizedLinear:
    """One fitted logistic or Poisson regression."""

    response: str
    family: Family
    terms: tuple[str, ...]  # without the intercept
    # coefficients, standard_errors: shape (t,): the intercept first; on the scale of the log odds
    # or the log of the mean
    coefficients: Floats
    standard_errors: Floats
    r2: float  # share of the deviance explained, from 0 to 1
    records: int  # complete records used


def generalized_fits(comparison: Comparison) -> tuple[GeneralizedLinear, GeneralizedLinear]:
    """Fit the regression that suits the response to the original and to the release."""
    original, question = comparison.original, comparison.question
    family = response_family(original, question)
    before = comparison.cached_for_original(
        ("generalized", question),
        lambda: generalized_fit(response_design(original, original, question), family),
    )
    after = response_design(original, comparison.masked, question, RELEASED)
    return before, generalized_fit(after, family, RELEASED)


def response_family(original: Microdata, question: Question | None) -> Family:
    """Return "logistic" for a response with two values, "poisson" for a count."""
    if question is None:
        raise NotApplicable("No regression is chosen; choose a response and its predictors.")
    name = question.response
    kind = released_kinds(original, (name,), "regression")[name]
    different = len(_different(original, name))
    if different == 2:
        return "logistic"
    if different < 2:
        raise NotApplicable(f"The response {name} is constant; choose another response.")
    if kind is Kind.COUNT and float(np.nanmin(original.values(name))) >= 0:
        return "poisson"
    words = "negative" if kind is Kind.COUNT else kind
    raise NotApplicable(
        f"The response {name} is {words} with {different:,} values; a logistic regression needs "
        "two values and a Poisson regression counts from 0."
    )


def _different(original: Microdata, name: str) -> list[object]:
    return list(original.frame[name].dropna().unique())


def response_design(
    original: Microdata, table: Microdata, question: Question | None, where: str = ""
) -> Design:
    """Build the design matrix; a response with two values is coded 0 and 1."""
    if question is None or len(_different(original, question.response)) != 2:
        return design_matrix(original, table, question, where)
    return design_matrix(*recoded_pair(original, table, question.response), question, where)


def recoded_pair(original: Microdata, table: Microdata, name: str) -> tuple[Microdata, Microdata]:
    """Return both tables with a variable of two values coded 0 and 1."""
    level_codes = original.codes(name)[0] if name in original.names else np.empty(0)
    present = np.unique(level_codes[level_codes >= 0])
    if len(present) != 2:
        raise NotApplicable(
            f"The response {name} has {len(present)} values; a logistic regression needs two."
        )
    first, second = (int(code) for code in present)
    recoded = []
    for each in (original, table):
        codes, _ = each.codes(name, original.codes(name)[1])
        numbers = np.where(codes == second, 1.0, np.where(codes == first, 0.0, np.nan))
        schema = each.schema.replace_variable(name, kind=Kind.CONTINUOUS, levels=None)
        recoded.append(Microdata(each.frame.assign(**{name: numbers}), schema))
    return recoded[0], recoded[1]


def generalized_fit(design: Design, family: Family, where: str = "") -> GeneralizedLinear:
    """Fit by maximum likelihood; refuse collinear predictors and separated responses."""
    least_squares(design, where)  # refuses collinear predictors, by name
    center = design.columns.mean(axis=0)
    unit = np.abs(design.columns - center).max(axis=0)
    scaled = (design.columns - center) / unit
    spread = scaled.std(axis=0, ddof=1)
    exog = np.column_stack([np.ones(len(scaled)), scaled / spread])
    import statsmodels.api as sm  # as long to import as all the rest

    law = sm.families.Binomial() if family == "logistic" else sm.families.Poisson()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of is checked below
        try:
            result = sm.GLM(design.response, exog, family=law).fit(maxiter=STEPS, tol=1e-12)
            errors = np.sqrt(np.diag(result.cov_params()))
        except (np.linalg.LinAlgError, ValueError):
            errors = np.full(exog.shape[1], np.inf)
    lost = ~(np.isfinite(errors[1:]) & (errors[1:] < RUNAWAY))
    if lost.any():
        names = np.array(design.terms)[lost]
        raise NotApplicable(
            f"These predictors tell the response {design.question.response} exactly{where}, so "
            f"their coefficients have no finite estimate: {', '.join(names)}; take them out of "
            "the regression."
        )
    slopes = result.params[1:] / spread / unit
    nothing = float(law.deviance(design.response, np.full(len(scaled), design.response.mean())))
    back = np.concatenate(([1.0], -center / spread / unit))
    variance = float(back @ result.cov_params() @ back)
    return GeneralizedLinear(
        response=design.question.response,
        family=family,
        terms=design.terms,
        coefficients=np.concatenate(([back @ result.params], slopes)),
        standard_errors=np.concatenate(([np.sqrt(variance)], errors[1:] / spread / unit)),
        r2=float(np.clip(1 - result.deviance / nothing, 0.0, 1.0)),
        records=len(design.records),
    )
