"""Are reported standard errors true: bootstrap and repeated releases against what is printed.

A user of a release reads standard errors that know of sampling, not of the masking. Drawing the
setting many times shows what the masking adds; drawing samples as well shows whether 95 %
intervals still hold the truth 95 times in 100.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast import forecast
from rwn_core.evaluation.repeated_draws import releases
from rwn_core.masking import Method
from rwn_core.measures.comparison import RELEASED
from rwn_core.measures.statistics.glm import generalized_fit, response_design, response_family
from rwn_core.measures.statistics.intervals import t95
from rwn_core.measures.statistics.ols import design_matrix, least_squares
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

LEAST_SHARE = 0.5  # of the repeats that must give an estimate
Estimate = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Validity(Summarized):
    """Hold how well the standard errors of a regression are calibrated under a setting.

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
    means : pandas.DataFrame or None
        The same of the released means, in closed form: see `mean_inflation`; None for a method or
        a table that it does not cover.
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
    means: pd.DataFrame | None = None

    def _summary(self) -> Summary:
        frame = self.frame()
        shown = ("se_original", "se_reported", "se_true", "coverage", "multiply_by")
        return Summary(
            title=f"Standard errors of the {self.model} regression of {self.response} "
            f"({self.repeats} masked samples)",
            columns=("term", *shown),
            rows=[
                (str(row["term"]), *(f"{row[name]:.4g}" for name in shown))
                for _, row in frame.iterrows()
            ],
        )

    @property
    def ratio(self) -> Floats:
        """Reported over true standard error; below 1 the reported one is too small."""
        return np.asarray(self.reported / self.true)

    @property
    def factor(self) -> Floats:
        """Factor that makes a reported standard error true, at least 1."""
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

    def notice(self) -> str:
        """A text for users of the release; it holds no estimate."""
        lines = [
            f"Standard errors computed from the masked file ({self.model} regression of "
            f"{self.response}) do not know of the masking. Multiply them by the factor below. "
            "Without it a nominal 95 % interval holds the unmasked value in about the share of "
            "cases given; where the share is far below 95 %, the masking moves the coefficient.",
            "",
            "| term | multiply the standard error by | real coverage of a 95 % interval |",
            "|---|---|---|",
        ]
        for term, factor, coverage in zip(self.terms, self.factor, self.coverage, strict=True):
            lines.append(f"| {term} | {factor:.1f} | {100 * coverage:.0f} % |")
        if self.means is not None:
            lines += ["", "| mean of | multiply the standard error by |", "|---|---|"]
            factors = np.sqrt(self.means["inflation_with_bias"])
            lines += [f"| {name} | {factor:.1f} |" for name, factor in factors.items()]
        return "\n".join(lines) + "\n"


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
    model = QuestionModel(microdata, question)
    report = progress or (lambda share: None)
    draws = releases(microdata, params, repeats, seed, lambda share: report(share / 2))
    coefficients, _ = _stacked([model.fit(masked) for masked, _ in draws], "releases")
    samples = masked_samples(
        microdata, params, repeats, seed, lambda share: report(0.5 + share / 2)
    )
    sampled = [model.fit(masked) for masked in samples]
    estimates, errors = _stacked(sampled, "masked bootstrap samples")
    own, error = model.own
    shift, between = coefficients.mean(axis=0) - own, coefficients.std(axis=0, ddof=1)
    inside = np.abs(estimates - own) <= model.reach * errors
    return Validity(
        response=model.question.response,
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
        coverage=inside.mean(axis=0),
        error=np.sqrt(((estimates - own) ** 2).mean(axis=0)),
        repeats=len(estimates),
        means=_means(microdata, params),
    )


def _means(microdata: Microdata, params: Method) -> pd.DataFrame | None:
    try:
        return mean_inflation(microdata, params) if params.has_forecast else None
    except (NotApplicable, ParameterError):  # such as missing values
        return None


class QuestionModel:
    """The steward's regression, ready to be fitted to any masked table.

    `reach`: standard errors from a coefficient to an end of its 95 % interval, by the original's
    residual degrees of freedom.
    """

    def __init__(self, original: Microdata, question: Question | None) -> None:
        if question is None:
            raise NotApplicable("No regression is chosen; choose a response and its predictors.")
        self.original, self.question = original, question
        names = [variable.name for variable in original.schema.released]
        categorical = (
            question.response in names
            and original.schema.variable(question.response).kind is Kind.CATEGORICAL
        )
        self.family: str = response_family(original, question) if categorical else "linear"
        self.reach = t95(math.inf)
        self.own, self.terms = self._fit(original, "")

    def _fit(self, table: Microdata, where: str) -> tuple[Estimate, tuple[str, ...]]:
        if self.family == "linear":
            design = design_matrix(self.original, table, self.question, where)
            fit = least_squares(design, where)
            if fit.residual_variance == 0:
                raise NotApplicable(
                    f"The predictors explain {self.question.response} exactly{where}, so there are "
                    "no standard errors to judge; choose other predictors."
                )
            if table is self.original:
                self.reach = fit.reach
            fitted = fit.coefficients, fit.standard_errors
        else:
            design = response_design(self.original, table, self.question, where)
            other = generalized_fit(design, response_family(self.original, self.question), where)
            fitted = other.coefficients, other.standard_errors
        return fitted, ("(intercept)", *design.terms)

    def fit(self, masked: Microdata) -> Estimate | None:
        """Coefficients and standard errors; none where this draw has no answer."""
        try:
            return self._fit(masked, RELEASED)[0]
        except NotApplicable:
            return None


def _stacked(fitted: list[Estimate | None], what: str) -> Estimate:
    known = [one for one in fitted if one is not None]
    if len(known) < max(LEAST_SHARE * len(fitted), 2):
        raise NotApplicable(
            f"The regression could be fitted to only {len(known)} of {len(fitted)} {what}; "
            "choose fewer predictors or a weaker masking."
        )
    return np.array([one[0] for one in known]), np.array([one[1] for one in known])


def mean_inflation(microdata: Microdata, params: Method) -> pd.DataFrame:
    """Variance inflation of every released mean, in closed form."""
    expected = forecast(microdata, params)
    frame = microdata.frame[list(expected.means.index)].astype(np.float64)
    spread = frame.std(ddof=1)
    names = spread.index[(spread > 0) & frame.notna().all()]
    mean, unit = frame[names].mean(), (spread[names] / np.sqrt(microdata.n)) ** 2
    shift = expected.means[names] - mean
    added = expected.mean_variances[names]
    return pd.DataFrame(
        {
            "mean": mean,
            "expected": expected.means[names],
            "shift": shift,
            "se": np.sqrt(unit),
            "inflation": 1 + added / unit,
            "inflation_with_bias": 1 + (added + shift**2) / unit,
        }
    )


def masked_samples(
    microdata: Microdata, params: Method, repeats: int, seed: int | None, progress: Progress
) -> Iterator[Microdata]:
    """Draw bootstrap samples of the records and mask each under its own key."""
    root = np.random.default_rng(seed)
    prepared = params.prepare(microdata)
    for number in range(repeats):
        rows = np.sort(root.integers(0, microdata.n, microdata.n))
        key = SecretKey.fresh() if seed is None else SecretKey.from_seed(seed + number)
        yield prepared.resampled(rows).release(key).masked
        progress((number + 1) / repeats)
