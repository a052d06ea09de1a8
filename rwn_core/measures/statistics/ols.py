"""The steward's regression: design matrix, coefficients and standard errors in both tables.

Own code, as for the intervals of proportions: a slider move would take 1.3 times as long with
statsmodels, and its first picture 1 s more (decision 45).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import complete, numbers, standardized, varies
from rwn_core.measures.statistics.distributions import standard_deviation

MOST_COEFFICIENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """A regression's response and predictors, complete records only."""

    question: Question
    terms: tuple[str, ...]  # names of the columns without the intercept
    response: Floats  # shape (m,)
    # shape (m, len(terms)): categories as treatment dummies; the original's first level is the
    # reference
    columns: Floats
    records: Integers  # shape (m,): the records used, those without a missing value


def design_matrix(
    original: Microdata, table: Microdata, question: Question | None, where: str = ""
) -> Design:
    """Build the design matrix of the original or its release; every column varies."""
    # Raises NotApplicable with a reason that ends in `where`.
    usable = [v for v in original.schema.released if v.kind is not Kind.CATEGORICAL]
    if question is None:
        raise NotApplicable("No regression is chosen; choose a response and its predictors.")
    named = (question.response, *question.predictors)
    if released_kinds(original, named, "regression")[question.response] is Kind.CATEGORICAL:
        choices = ", ".join(v.name for v in usable if v.name not in question.predictors)
        raise NotApplicable(
            f"The response {question.response} is categorical, and a linear regression needs "
            f"numbers; choose another response{': ' + choices if choices else ''}."
        )
    widths = {name: len(dummy_levels(original, name)) for name in question.predictors}
    if sum(widths.values()) > MOST_COEFFICIENTS:
        widest = max(widths, key=lambda name: widths[name])
        raise NotApplicable(
            f"The regression would have {sum(widths.values()):,} coefficients, most of them for "
            f"the levels of {widest}; choose predictors with at most {MOST_COEFFICIENTS} together."
        )
    made = [predictor_columns(original, table, name) for name in question.predictors]
    terms = chain.from_iterable([terms_of_name for terms_of_name, _ in made])
    columns = chain.from_iterable([columns_of_name for _, columns_of_name in made])
    response = numbers(original, table, question.response)
    return complete_design(question, list(terms), [response, *columns], where)


def complete_design(
    question: Question, terms: list[str], columns: list[Floats], where: str = ""
) -> Design:
    """Keep the complete records; refuse a design that no regression can be fitted to."""
    # Shapes: each of columns (n,).
    # The first column is the response; the others belong to `terms`.
    every = np.column_stack(columns)
    records = complete(every)
    every = every[records]
    needed = every.shape[1] + 1
    if len(records) < needed:
        raise NotApplicable(
            f"The regression has {len(records):,} records without a missing value{where} and needs "
            f"at least {needed:,}; choose fewer predictors."
        )
    different = varies(every)
    if not different[0]:
        raise NotApplicable(
            f"The response {question.response} is constant{where}; choose another response."
        )
    if not terms:
        names = ", ".join(question.predictors)
        raise NotApplicable(f"The predictors are constant: {names}; choose others.")
    constant = [term for term, known in zip(terms, different[1:], strict=True) if not known]
    if constant:
        raise NotApplicable(
            f"These predictors are constant{where}: {', '.join(constant)}; take them out of the "
            "regression."
        )
    return Design(
        question=question,
        terms=tuple(terms),
        response=every[:, 0],
        columns=every[:, 1:],
        records=records,
    )


def released_kinds(original: Microdata, names: Iterable[str], what: str) -> dict[str, Kind]:
    """Return the kind of each released variable; refuse names that a release does not have."""
    known = {variable.name: variable.kind for variable in original.schema.released}
    for name in names:
        if name not in known:
            raise NotApplicable(
                f"The {what} names the variable {name}, which a release does not have; its "
                f"variables are: {', '.join(known)}."
            )
    return known


def dummy_levels(original: Microdata, name: str) -> list[int]:
    """Return the numbers of the levels that get a dummy; [0] for a number."""
    if original.schema.variable(name).kind is not Kind.CATEGORICAL:
        return [0]
    present, levels = original.codes(name)
    occur = np.bincount(present[present >= 0], minlength=len(levels)) > 0
    return [number for number in range(len(levels)) if occur[number]][1:]


def predictor_columns(
    original: Microdata, table: Microdata, name: str
) -> tuple[list[str], list[Floats]]:
    """Return terms and columns of one predictor: numbers, or dummies of all levels but one."""
    if original.schema.variable(name).kind is not Kind.CATEGORICAL:
        return [name], [numbers(original, table, name)]
    levels = original.codes(name)[1]
    codes, _ = table.codes(name, levels)
    others = dummy_levels(original, name)
    unknown = codes < 0  # missing, or a level that the original never has
    dummies = [np.where(unknown, np.nan, codes == number) for number in others]
    return [f"{name} = {levels[number]}" for number in others], dummies


COLLINEAR = 1e-7  # smallest over largest singular value of the standardized predictors, as in R
EXACT = 1e-20  # residual over total sum of squares that rounding alone leaves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """One fitted regression: linear, logistic or Poisson."""

    design: Design  # m records, t coefficients with the intercept
    family: str = "linear"
    # coefficients, standard_errors: shape (t,): the intercept first; in the units of the data, on
    # the scale of the response, the log odds or the log of the mean
    coefficients: Floats
    standard_errors: Floats
    r2: float  # share of the response's variance or deviance explained, from 0 to 1

    @property
    def estimate(self) -> tuple[Floats, Floats]:
        """Return coefficients and standard errors, shape (t,) each."""
        return self.coefficients, self.standard_errors

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """Return the same without the intercept, shape (t - 1,) each."""
        return self.coefficients[1:], self.standard_errors[1:]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeastSquares(Fit):
    """One linear regression, fitted by least squares."""

    residuals: Floats  # shape (m,): in standard deviations of the response
    leverages: Floats  # shape (m,): diagonal of the hat matrix, from 0 to 1
    residual_variance: float  # divisor m - t; 0 where the predictors explain the response exactly
    # shape (t, m): what each record contributes to each standardized coefficient
    dependence: Floats


def least_squares(design: Design, where: str = "") -> LeastSquares:
    """Fit a regression by QR; refuse collinear predictors by name."""
    # standardized columns: neither a large unit nor a large mean costs digits or rank
    scaled = standardized(design.columns)
    response = standardized(design.response[:, None])[:, 0]
    exog = np.column_stack([np.ones(len(scaled)), scaled])
    basis, triangle = np.linalg.qr(exog)
    # refuse predictors that others give, of the rank by singular values, shape (t + 1,)
    singular = np.linalg.svd(triangle, compute_uv=False)
    if singular.min() <= COLLINEAR * singular.max():
        left = np.abs(np.diag(np.linalg.qr(scaled, mode="r"))) / np.sqrt(len(scaled) - 1)
        tied = left <= max(10 * COLLINEAR, left.min())
        names = [term for term, one in zip(design.terms, tied, strict=True) if one]
        raise NotApplicable(
            f"These predictors are collinear with the others{where}: {', '.join(names)}; take them "
            "out of the regression."
        )
    inverse = np.linalg.inv(triangle)
    dependence = inverse @ basis.T
    params = dependence @ response
    residuals = response - exog @ params
    unexplained = float(residuals @ residuals)
    records = len(response)
    ratio = unexplained / float(((response - response.mean()) ** 2).sum())
    exact = ratio < EXACT
    variance = unexplained / (records - exog.shape[1]) if records > exog.shape[1] else np.nan
    # coefficients and standard errors in the units of the columns
    covariance = inverse @ inverse.T * variance
    # Shapes: params (t,); covariance (t, t), the intercept first; each answer (t,).
    unit = standard_deviation(design.response)
    center = design.response.mean()
    units = np.array([standard_deviation(column) for column in design.columns.T])
    back = np.concatenate(([1.0], -design.columns.mean(axis=0) / units))
    slopes = params[1:] * (unit / units)
    intercept = center + unit * (back @ params)
    error = np.sqrt(max(float(back @ covariance @ back), 0.0)) * unit
    errors = np.sqrt(np.diag(covariance)[1:]) * (unit / units)
    return LeastSquares(
        design=design,
        r2=1.0 if exact else 1 - ratio,
        residuals=residuals,
        leverages=np.clip(np.einsum("ij,ij->i", basis, basis), 0.0, 1.0),
        residual_variance=0.0 if exact else variance,
        dependence=dependence,
        coefficients=np.concatenate(([intercept], slopes)),
        standard_errors=np.concatenate(([error], errors)),
    )


def refuse_exact(fit: Fit, where: str, because: str) -> None:
    """Refuse a linear fit without residual variance."""
    if isinstance(fit, LeastSquares) and fit.residual_variance == 0:
        raise NotApplicable(
            f"The predictors explain {fit.design.question.response} exactly{where}, so {because}; "
            "choose other predictors."
        )


SIGNIFICANT = 2.0  # standard errors of the original from 0, from which on its sign counts


def standardized_difference(before: Floats, after: Floats, error: Floats) -> Floats:
    """Return the change of each coefficient in standard errors of the original, shape (t,)."""
    return np.abs(after - before) / error


def turned(before: Floats, after: Floats, error: Floats) -> Booleans:
    """Return True for coefficients that changed a sign that was significant in the original."""
    # Shapes: before, after, error, the answer (t,).
    return (np.sign(before) * np.sign(after) < 0) & (np.abs(before) > SIGNIFICANT * error)


# Logistic and Poisson regression, fitted to the original and to the release

RUNAWAY = 50.0  # standard error of a standardized coefficient that has no finite estimate
STEPS = 60


def response_family(original: Microdata, question: Question | None) -> str:
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


def fit_family(design: Design, family: str, where: str = "") -> Fit:
    """Fit by maximum likelihood; refuse collinear predictors and separated responses."""
    linear = least_squares(design, where)  # refuses collinear predictors, by name
    if family == "linear":
        return linear
    center = design.columns.mean(axis=0)
    unit = np.abs(design.columns - center).max(axis=0)
    scaled = (design.columns - center) / unit
    spread = scaled.std(axis=0, ddof=1)
    exog = np.column_stack([np.ones(len(scaled)), scaled / spread])
    # only these: all of statsmodels takes four times as long to import
    from statsmodels.genmod.families import Binomial, Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    law = Binomial() if family == "logistic" else Poisson()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of is checked below
        try:
            result = GLM(design.response, exog, family=law).fit(maxiter=STEPS, tol=1e-12)
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
    return Fit(
        design=design,
        family=family,
        coefficients=np.concatenate(([back @ result.params], slopes)),
        standard_errors=np.concatenate(([np.sqrt(variance)], errors[1:] / spread / unit)),
        r2=float(np.clip(1 - result.deviance / nothing, 0.0, 1.0)),
    )
