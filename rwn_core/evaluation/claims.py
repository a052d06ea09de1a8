"""Which results of a masked file can be trusted, judged over many releases of its setting.

A claim is made where it holds in at least nine of ten releases, with 97.5 % confidence. Nothing is
corrected: a shift that varies with the data is stated as a bound, or the result is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.registered_analysis import (
    MODELS,
    Analysis,
    fit_design,
    model_design,
    verdict,
)
from rwn_core.evaluation.repeated_draws import released_only, releases
from rwn_core.evaluation.standard_errors import Z95
from rwn_core.evaluation.tied_terms import (
    MOST_CONDITION,
    NOT_EXAMINED,
    TiedTerms,
    condition_number,
    has_rare_levels,
    tied_terms,
)
from rwn_core.masking import Method
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.statistics.association import original_associations, released_associations
from rwn_core.measures.statistics.formula import Formula
from rwn_core.measures.statistics.intervals import exact_interval

WITHIN = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Bounds on the change of an estimate, in the original's standard errors."""
FACTORS = (1.0, 1.2, 1.5, 2.0, 3.0)
"""By which a standard error of the masked file is multiplied."""
DISTANCES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Bounds on what has no standard error: associations, tables, means of groups."""
LEAST_DRAWS = 36  # below it no share of the releases is known to be nine of ten
FEW_ANSWERS = "Many masked files give no answer, or have nearly collinear predictors."
NO_ANSWER = "The original gives no answer."
TIED = "The predictors are nearly collinear in the original."
RARE_LEVELS = "A variable has levels of few records."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """State what may be concluded from one number of the masked file."""

    term: str  # the coefficient, or the variables
    sign: bool = False  # the estimate has the original's sign
    # the estimate differs from the original's by at most this: in the original's standard errors
    # where there is a factor to be had, else as it is. None: by more than any bound.
    within: float | None = None
    # the standard error of the masked file times this covers sampling and masking in 95 % of
    # intervals. None: no factor of `FACTORS` does.
    factor: float | None = None
    pair: tuple[str, str] = ("", "")  # the two variables of an association
    tied: bool = False  # they are nearly collinear in the original, which a masked file may hide

    @property
    def usable(self) -> bool:
        """True if at least one thing may be concluded."""
        return self.sign or self.within is not None or self.factor is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisClaims:
    """State what may be concluded from one analysis."""

    analysis: Analysis
    claims: tuple[Claim, ...] = ()  # of each slope; of a table or of means one
    refusal: str = ""  # why the analysis must not be made on the masked file; empty if it may

    @property
    def usable(self) -> bool:
        """True if at least one claim can be used."""
        return any(claim.usable for claim in self.claims)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimTable(Summarized):
    """Hold the claims of a setting on a table."""

    analyses: tuple[AnalysisClaims, ...]
    pairs: tuple[Claim, ...]  # of the association of each two variables; `term` is "one ~ other"
    draws: int  # releases that judged them
    tied: TiedTerms = NOT_EXAMINED  # what no model may hold, registered or not

    def _summary(self) -> Summary:
        rows = [row for each in self.analyses for row in _analysis_rows(each)]
        return Summary(
            title=f"Claims({len(self.analyses)} analyses, {len(self.pairs)} pairs of variables, "
            f"judged by {self.draws} releases)",
            columns=("result", "sign", "within", "standard error times"),
            rows=[*rows, *map(_claim_row, self.pairs)],
        )


def _analysis_rows(each: AnalysisClaims) -> list[tuple[str, ...]]:
    name = each.analysis.name
    if each.refusal:
        return [(name, f"do not use: {each.refusal}", "", "")]
    return [(f"{name}: {row[0]}", *row[1:]) for row in map(_claim_row, each.claims)]


def _claim_row(claim: Claim) -> tuple[str, ...]:
    if not claim.usable:
        return claim.term, "do not use", "", ""
    within, factor = (f"{x:g}" if x is not None else "" for x in (claim.within, claim.factor))
    return claim.term, "as in the original" if claim.sign else "", within, factor


@takes_tables
def claim_table(
    microdata: Microdata,
    params: Method,
    plan: AnalysisPlan | None = None,
    *,
    draws: int = 200,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> ClaimTable:
    """Judge registered analyses and all pairs of variables over fresh releases of a setting."""
    if draws < LEAST_DRAWS:
        raise ParameterError(
            f"Claims need at least {LEAST_DRAWS} draws: fewer do not show that a claim holds in "
            "nine of ten releases."
        )
    comparison = compare(microdata, released_only(microdata))
    judged = [_judged(analysis, comparison) for analysis in _analyses(microdata, plan)]
    pairs = _Pairs(comparison)
    for masked, law in releases(microdata, params, draws, seed, progress):
        release = comparison.with_masked(masked, law)
        for each in [*judged, pairs]:
            if not isinstance(each, AnalysisClaims):
                each.add(release)
    return ClaimTable(
        analyses=tuple(
            each if isinstance(each, AnalysisClaims) else each.result(draws) for each in judged
        ),
        pairs=pairs.claims(draws),
        draws=draws,
        tied=tied_terms(microdata),
    )


def _analyses(microdata: Microdata, plan: AnalysisPlan | None) -> tuple[Analysis, ...]:
    if plan is not None and plan.analyses:
        return tuple(each for each in plan.analyses if each.kind != "measure")
    question = microdata.schema.question
    return () if question is None else (question_analysis(question),)


def question_analysis(question: Question) -> Analysis:
    """Return the linear regression of a schema's question as an analysis."""
    names = [f"`{name}`" for name in (question.response, *question.predictors)]
    formula = f"{names[0]} ~ {' + '.join(names[1:])}"
    return Analysis(name=question.response, kind="linear", tolerance=1.0, formula=formula)


class _Slopes:
    """The slopes of one model over releases."""

    def __init__(
        self,
        analysis: Analysis,
        own: tuple[NDArray[np.float64], NDArray[np.float64]],
        terms: Sequence[str],
    ) -> None:
        self._analysis, (self._own, self._error), self._terms = analysis, own, terms
        self._found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []

    def add(self, release: Comparison) -> None:
        """Fit the model to a release, if that gives an answer."""
        with suppress(NotApplicable):
            design = model_design(self._analysis, release.original, release.masked, RELEASED)
            if condition_number(design.columns) <= MOST_CONDITION:
                slopes, errors = fit_design(self._analysis, design, RELEASED, own=False)
                self._found.append((slopes[1:], errors[1:]))

    def result(self, draws: int) -> AnalysisClaims:
        """Return the claims of all slopes."""
        if not holds(len(self._found), draws):
            return AnalysisClaims(analysis=self._analysis, refusal=FEW_ANSWERS)
        slopes, errors = (np.array(part) for part in zip(*self._found, strict=True))
        claims = tuple(
            slope_claim(term, own, error, slopes[:, at], errors[:, at], draws)
            for at, (term, own, error) in enumerate(
                zip(self._terms, self._own, self._error, strict=True)
            )
        )
        return AnalysisClaims(analysis=self._analysis, claims=claims)


class _Distance:
    """The distance of a table, or of means, over releases."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis, self._found = analysis, list[float]()

    def add(self, release: Comparison) -> None:
        """Compare a release with the original."""
        value = verdict(self._analysis, release).value
        if value is not None:
            self._found.append(value)

    def result(self, draws: int) -> AnalysisClaims:
        """Return the one claim."""
        if not holds(len(self._found), draws):
            return AnalysisClaims(analysis=self._analysis, refusal=FEW_ANSWERS)
        within = _least(DISTANCES, lambda bound: np.array(self._found) <= bound, draws)
        term = ", ".join(self._analysis.variables)
        claims = (Claim(term=term, within=within),)
        return AnalysisClaims(analysis=self._analysis, claims=claims)


class _Pairs:
    """The associations of all pairs over releases."""

    def __init__(self, comparison: Comparison) -> None:
        variables = comparison.original.schema.released
        self._pairs = list(combinations(range(len(variables)), 2))
        self._names = [(variables[a].name, variables[b].name) for a, b in self._pairs]
        numeric = [variable.kind is not Kind.CATEGORICAL for variable in variables]
        self._signed = [numeric[a] and numeric[b] for a, b in self._pairs]
        self._own = self._flat(original_associations(comparison))
        self._records = comparison.original.n
        self._found: list[NDArray[np.float64]] = []

    def _flat(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([matrix[pair] for pair in self._pairs])

    def add(self, release: Comparison) -> None:
        """Measure the pairs of a release."""
        self._found.append(self._flat(released_associations(release)))

    def claims(self, draws: int) -> tuple[Claim, ...]:
        """Return a claim for each pair with an association in the original."""
        found = np.array(self._found)
        claims = []
        for at, (names, own) in enumerate(zip(self._names, self._own, strict=True)):
            claim = Claim(term=" ~ ".join(names))
            if not np.isnan(own) and self._signed[at]:
                claim = _correlation(claim.term, own, found[:, at], self._records, draws)
            elif not np.isnan(own):
                claim = _association(claim.term, own, found[:, at], draws)
            claims.append(replace(claim, pair=names))
        return tuple(claims)


def _association(term: str, own: float, found: NDArray[np.float64], draws: int) -> Claim:
    """The claim of an association with a category, which has no sign."""
    change = np.abs(np.maximum(found, 0.0) - max(own, 0.0))
    return Claim(term=term, within=_least(DISTANCES, lambda bound: change <= bound, draws))


def _correlation(
    term: str, own: float, found: NDArray[np.float64], records: int, draws: int
) -> Claim:
    """The claim of a correlation, on the scale of Fisher's z."""
    error = 1 / np.sqrt(max(records - 3, 1))
    tied = (1 + abs(own)) > MOST_CONDITION**2 * (1 - abs(own))
    known = found[~np.isnan(found)]
    scaled = np.arctanh(np.clip(known, -1 + 1e-12, 1 - 1e-12))
    own = float(np.arctanh(np.clip(own, -1 + 1e-12, 1 - 1e-12)))
    claim = slope_claim(term, own, error, scaled, np.full(len(known), error), draws)
    return replace(claim, tied=bool(tied))


def slope_claim(
    term: str,
    own: float,
    error: float,
    slopes: NDArray[np.float64],
    errors: NDArray[np.float64],
    draws: int,
) -> Claim:
    """Return what may be concluded from a slope."""
    # Shapes: slopes, errors (r,).
    change = slopes - own
    beyond = bool(abs(own) > Z95 * error)  # a sign that is chance in the original is no result
    sign = beyond and holds(int(np.count_nonzero(np.sign(slopes) == np.sign(own))), draws)
    within = _least(WITHIN, lambda bound: np.abs(change) <= bound * error, draws)
    factor = _least(FACTORS, lambda bound: np.abs(change) <= bound * Z95 * errors, draws)
    while factor is not None and _coverage(change, error, factor * errors) < 0.95:
        factor = next((each for each in FACTORS if each > factor), None)
    return Claim(term=term, sign=sign, within=within, factor=factor)


def _coverage(change: NDArray[np.float64], error: float, width: NDArray[np.float64]) -> float:
    """Chance that an interval holds the population's slope, over sampling and masking."""
    high, low = (change + Z95 * width) / error, (change - Z95 * width) / error
    return float((ndtr(high) - ndtr(low)).mean())


def _least(
    bounds: Sequence[float], met: Callable[[float], NDArray[np.bool_]], draws: int
) -> float | None:
    """The smallest bound that holds in nine of ten releases."""
    return next((b for b in bounds if holds(int(np.count_nonzero(met(b))), draws)), None)


def holds(times: int, draws: int) -> bool:
    """True if so many of the draws show that nine of ten releases do, at 97.5 % confidence.

    >>> holds(189, 200), holds(188, 200), holds(36, 36), holds(35, 35)
    (True, False, True, False)
    """
    return exact_interval(times, draws)[0] >= 0.9


def _judged(analysis: Analysis, comparison: Comparison) -> AnalysisClaims | _Slopes | _Distance:
    """Return the judge of an analysis over releases, or its refusal."""
    original = comparison.original
    names = Formula.parse(analysis.formula).names if analysis.kind in MODELS else analysis.variables
    if any(name in original.names and has_rare_levels(original, name) for name in names):
        return AnalysisClaims(analysis=analysis, refusal=RARE_LEVELS)
    if analysis.kind not in MODELS:
        return _Distance(analysis)
    try:
        design = model_design(analysis, original, original)
        own, error = fit_design(analysis, design, "", own=True)
    except NotApplicable:
        return AnalysisClaims(analysis=analysis, refusal=NO_ANSWER)
    if condition_number(design.columns) > MOST_CONDITION:
        return AnalysisClaims(analysis=analysis, refusal=TIED)
    return _Slopes(analysis, (own[1:], error[1:]), design.terms)
