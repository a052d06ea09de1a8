"""Which results of a masked file can be trusted, judged over many releases of its setting.

A claim is made where it holds in at least nine of ten releases, with 97.5 % confidence, and holds
so against the original without the record that moves it most, too: one person makes no claim.
Nothing is corrected: a shift that varies with the data is stated as a bound, or the result is
refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.special import stdtr

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.belonging.gate import dependence
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import MODELS, Formula
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.draws import draws as drawn
from rwn_core.evaluation.draws import unmasked
from rwn_core.evaluation.registered_analysis import (
    Analysis,
    AnalysisPlan,
)
from rwn_core.masking import Method
from rwn_core.measures.comparison import RELEASED, Comparison, matrix, standardized
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.measures.statistics.formula import fit_design, model_design
from rwn_core.measures.statistics.intervals import exact_interval, t95
from rwn_core.measures.statistics.ols import Design

WITHIN = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Bounds on the change of an estimate, in the original's standard errors."""
FACTORS = (1.0, 1.2, 1.5, 2.0, 3.0)
"""By which a standard error of the masked file is multiplied."""
LEAST_DRAWS = 36  # below it no share of the releases is known to be nine of ten
MOST_CONDITION = 30.0
"""Condition of standardized predictors, beyond which they are nearly collinear (Belsley 1991)."""
RARE = 10  # records of a level, below which a model that names it gets no claim
FEW_ANSWERS = "Many masked files give no answer, or have nearly collinear predictors."
NO_ANSWER = "The original gives no answer."
TIED = "The predictors are nearly collinear in the original."
RARE_LEVELS = "A variable has levels of few records."
CLUSTERED = (
    "Records share a household or a person, or follow one another in time, so they are no "
    "independent sample."
)

Fit = tuple[Floats, Floats]
"""Slopes and their standard errors, each of shape (p,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The conclusion that one number of the masked file allows."""

    term: str  # the coefficient, or the variables
    sign: bool = False  # the estimate has the original's sign
    # the estimate differs from the original's by at most so many of the original's standard errors;
    # None: no bound
    within_standard_errors: float | None = None
    # the standard error of the masked file times this covers sampling and masking in 95 % of
    # intervals. None: no factor of `FACTORS` does.
    factor: float | None = None
    pair: tuple[str, str] = ("", "")  # the two variables of a correlation

    @property
    def usable(self) -> bool:
        """True if at least one thing may be concluded."""
        return self.sign or self.within_standard_errors is not None or self.factor is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisClaims:
    """The conclusions that one analysis allows."""

    analysis: Analysis
    claims: tuple[Claim, ...] = ()  # of each slope
    refusal: str = ""  # why the analysis must not be made on the masked file; empty if it may

    @property
    def usable(self) -> bool:
        """True if at least one claim can be used."""
        return any(claim.usable for claim in self.claims)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimTable(Summarized):
    """The claims of a setting on a table."""

    analyses: tuple[AnalysisClaims, ...]
    pairs: tuple[Claim, ...]  # of the correlation of each two numbers; `term` is "one ~ other"
    draws: int  # releases that judged them
    refusal: str = ""  # why no pair is judged; empty if they are

    def _summary(self) -> Summary:
        rows: list[tuple[str, ...]] = []
        for each in self.analyses:
            name = each.analysis.name
            shown = map(_claim_row, each.claims)
            if each.refusal:
                rows.append((name, f"do not use: {each.refusal}", "", ""))
            rows += [(f"{name}: {term}", *others) for term, *others in shown]
        if self.refusal:
            rows.append(("pairs of numbers", f"do not use: {self.refusal}", "", ""))
        return Summary(
            title=f"Claims({len(self.analyses)} analyses, {len(self.pairs)} pairs of numbers, "
            f"judged by {self.draws} releases)",
            columns=("result", "sign", "within", "standard error times"),
            rows=[*rows, *map(_claim_row, self.pairs)],
        )


def _claim_row(claim: Claim) -> tuple[str, ...]:
    if not claim.usable:
        return claim.term, "do not use", "", ""
    within = bound_words(claim)
    factor = "" if claim.factor is None else f"{claim.factor:g}"
    return claim.term, "as in the original" if claim.sign else "", within, factor


def bound_words(claim: Claim) -> str:
    """Write a claim's bound; empty if there is none."""
    within = claim.within_standard_errors
    return "" if within is None else f"at most {within:g} standard errors"


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
    """Judge registered models and all pairs of numbers over fresh releases of a setting."""
    if draws < LEAST_DRAWS:
        raise ParameterError(
            f"Claims need at least {LEAST_DRAWS} draws: fewer do not show that a claim holds in "
            "nine of ten releases."
        )
    # the registered analyses, or the steward's regression
    question = microdata.schema.question
    analyses: tuple[Analysis, ...] = ()
    if plan is not None and plan.analyses:
        analyses = tuple(each for each in plan.analyses if each.kind in MODELS)
    elif question is not None:
        response, *names = (f"`{name}`" for name in (question.response, *question.predictors))
        formula = f"{response} ~ {' + '.join(names)}"
        about = Analysis(name=question.response, kind="linear", tolerance=1.0, formula=formula)
        analyses = (about,)
    comparison = unmasked(microdata)
    judged = [_judged(analysis, comparison) for analysis in analyses]
    refusal = "" if dependence(microdata) is None else CLUSTERED
    related, pairs = _correlations(comparison)
    for work in drawn(microdata, params, draws, seed, progress):
        release = comparison.with_masked(work.masked, work.law)
        for each in [*judged, related]:
            if isinstance(each, _Estimates) and (fit := each.read(release)) is not None:
                each.found.append(fit)
    made = []
    for analysis, each in zip(analyses, judged, strict=True):
        why = each if isinstance(each, str) else ""
        if isinstance(each, _Estimates) and not holds(len(each.found), draws):
            why = FEW_ANSWERS
        claims = () if why or isinstance(each, str) else each.claims(draws)
        made.append(AnalysisClaims(analysis=analysis, claims=claims, refusal=why))
    stated = () if refusal else zip(related.claims(draws), pairs, strict=True)
    return ClaimTable(
        analyses=tuple(made),
        pairs=tuple(replace(claim, pair=pair) for claim, pair in stated),
        draws=draws,
        refusal=refusal,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Estimates:
    """The estimates of the original, and those of its releases as they are read."""

    terms: Sequence[str]
    originals: tuple[Fit, Fit]  # whole, and without the record that moves each one most
    freedom: Sequence[float]  # of each term
    read: Callable[[Comparison], Fit | None]  # of a release, if that gives an answer
    found: list[Fit] = field(default_factory=list)

    def claims(self, draws: int) -> tuple[Claim, ...]:
        """Return a claim for each term; one without an estimate has nothing to conclude."""
        found, errors = (np.array(part) for part in zip(*self.found, strict=True))
        claims = []
        for at, term in enumerate(self.terms):
            claim = Claim(term=term)
            known = ~np.isnan(found[:, at])
            originals = [(own[at], error[at]) for own, error in self.originals]
            if np.isfinite(originals).all():
                slopes = found[known, at], errors[known, at]
                claim = slope_claim(term, originals, slopes, draws, self.freedom[at])
            claims.append(claim)
        return tuple(claims)


def _correlations(comparison: Comparison) -> tuple[_Estimates, list[tuple[str, str]]]:
    """Return the correlations of all pairs of numbers, on the scale of Fisher's z."""
    variables = comparison.original.schema.released
    names = [v.name for v in variables if v.kind in (Kind.CONTINUOUS, Kind.COUNT)]
    one, two = np.triu_indices(len(names), 1)

    def read(release: Comparison) -> Fit:
        """Return Fisher's z and its standard error, of each pair's complete records."""
        values = matrix(release.original, release.masked, names)
        known = (~np.isnan(values)).astype(np.float64)
        errors = 1 / np.sqrt(np.maximum((known.T @ known)[one, two] - 3, 1))
        return _fisher(correlation_matrix(values)[one, two]), errors

    original = read(comparison)
    values = matrix(comparison.original, comparison.original, names)
    shorter = [_without_one(values[:, pair]) for pair in zip(one, two, strict=True)]
    left = np.array(shorter).reshape(-1, 2).T
    pairs = list(combinations(names, 2))
    found = _Estimates(
        terms=[" ~ ".join(pair) for pair in pairs],
        originals=(original, (left[0], left[1])),
        freedom=[round(error**-2) for error in original[1]],
        read=read,
    )
    return found, pairs


def _fisher(related: Floats) -> Floats:
    # Shapes: related and the answer (m,), or both a number.
    return np.arctanh(np.clip(related, -1 + 1e-12, 1 - 1e-12))


def _without_one(columns: Floats) -> tuple[float, float]:
    """Return Fisher's z of two columns without the record that moves it most, and its error."""
    known = columns[~np.isnan(columns).any(axis=1)]
    n = len(known)
    if n < 5:
        return np.nan, np.nan
    x, y = (known - known.mean(axis=0)).T
    # sums of squares and products without each record, shape (n,)
    xx, yy, xy = (a @ b - n / (n - 1) * a * b for a, b in ((x, x), (y, y), (x, y)))
    if not ((xx > 1e-12 * (x @ x)) & (yy > 1e-12 * (y @ y))).all():
        return np.nan, np.nan  # one record alone makes a column vary
    left = _fisher(xy / np.sqrt(xx * yy))
    moved = np.abs(left - _fisher(x @ y / np.sqrt((x @ x) * (y @ y))))
    return float(left[moved.argmax()]), float(1 / np.sqrt(n - 4))


def slope_claim(
    term: str, originals: Sequence[tuple[float, float]], slopes: Fit, draws: int, freedom: float
) -> Claim:
    """Return what may be concluded from a slope of releases, by every fit of the original."""
    # originals: the original's slope and standard error, then those without one record;
    # slopes: of the releases, and their standard errors, each of shape (r,).
    half = t95(max(freedom, 1))
    signs = []
    bounds = list[float | None]()
    factors = list[float | None]()
    for own, error in originals:
        change = slopes[0] - own
        beyond = abs(own) > half * error  # a sign that is chance in the original is no result
        times = int(np.count_nonzero(np.sign(slopes[0]) == np.sign(own)))
        signs.append(bool(beyond and holds(times, draws)) * int(np.sign(own)))
        size = np.abs(change)
        width = half * slopes[1]
        bounds.append(_least(WITHIN, size, error, draws))
        factor = _least(FACTORS, size, width, draws)
        while factor is not None:
            # the chance that an interval holds the population's slope, over all its luck
            high, low = (change + factor * width) / error, (change - factor * width) / error
            covered = stdtr(max(freedom, 1), high) - stdtr(max(freedom, 1), low)
            if covered.mean() + 1e-9 >= 0.95:  # of rounding
                break
            factor = next((each for each in FACTORS if each > factor), None)
        factors.append(factor)
    return Claim(
        term=term,
        sign=bool(signs[0]) and len(set(signs)) == 1,
        within_standard_errors=_weakest(bounds),
        factor=_weakest(factors),
    )


def _weakest(bounds: Sequence[float | None]) -> float | None:
    """Return the bound that all keep; None if one has none."""
    return None if None in bounds else max(bound for bound in bounds if bound is not None)


def _least(
    bounds: Sequence[float], sizes: Floats, unit: float | Floats, draws: int
) -> float | None:
    """Return the smallest bound, times the unit, that sizes keep in nine of ten releases."""
    held = (b for b in bounds if holds(int(np.count_nonzero(sizes <= b * unit)), draws))
    return next(held, None)


def holds(times: int, draws: int) -> bool:
    """True if this number of draws shows that nine of ten releases do, at 97.5 % confidence.

    >>> holds(189, 200), holds(188, 200), holds(36, 36), holds(35, 35)
    (True, False, True, False)
    """
    return exact_interval(times, draws)[0] >= 0.9


def _judged(analysis: Analysis, comparison: Comparison) -> _Estimates | str:
    """Return the slopes of a model, to be read over releases, or why it is refused."""
    # refused: a level with few records, several rows a person
    original = comparison.original
    names = Formula.parse(analysis.formula).names
    if any(name in original.names and has_rare_levels(original, name) for name in names):
        return RARE_LEVELS
    if dependence(original) is not None:
        return CLUSTERED
    try:
        # the original's slopes, and each without the record that moves it most
        design = model_design(analysis, original, original)
        fitted = fit_design(analysis, design, "", own=True).slopes
        own, error = np.full((2, len(design.terms)), np.nan)
        places = _most_influential(analysis, design)
        shorter = {place: _left_out(design, place) for place in sorted({*places.tolist()})}
        for place, left in shorter.items():
            slopes, errors = fit_design(analysis, left, "", own=True).slopes
            own[places == place] = slopes[places == place]
            error[places == place] = errors[places == place]
    except NotApplicable:
        return NO_ANSWER
    if any(condition_number(e.columns) > MOST_CONDITION for e in (design, *shorter.values())):
        return TIED

    def read(release: Comparison) -> Fit | None:
        with suppress(NotApplicable):
            made = model_design(analysis, release.original, release.masked, RELEASED)
            if condition_number(made.columns) <= MOST_CONDITION:
                return fit_design(analysis, made, RELEASED, own=False).slopes
        return None

    return _Estimates(
        terms=design.terms,
        originals=(fitted, (own, error)),
        freedom=[len(design.response) - len(design.terms) - 1] * len(design.terms),
        read=read,
    )


def _left_out(design: Design, place: int) -> Design:
    """Return a design without one of its records."""
    others = np.arange(len(design.response)) != place
    if not np.ptp(design.columns[others], axis=0).all() or not np.ptp(design.response[others]):
        raise NotApplicable("One record alone makes a variable of the model vary.")
    return replace(
        design,
        response=design.response[others],
        columns=design.columns[others],
        records=design.records[others],
    )


def _most_influential(analysis: Analysis, design: Design) -> Integers:
    """Return for each slope the record without which it moves most, to first order, (p,)."""
    # Belsley, Kuh and Welsch (1980); for generalized models one step (Pregibon 1981)
    import statsmodels.api as sm

    law = {"logistic": sm.families.Binomial, "poisson": sm.families.Poisson}
    family = law.get(analysis.kind, sm.families.Gaussian)()
    exog = sm.add_constant(standardized(design.columns))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a record of leverage 1 moves its slope without bound
        moves = sm.GLM(design.response, exog, family=family).fit().get_influence().d_params
    return np.asarray(np.abs(moves[:, 1:]).argmax(axis=0), dtype=np.int64)


def condition_number(columns: Floats) -> float:
    """Return the condition of predictors once they are standardized: 1 if none are related."""
    # Shapes: columns (n, t).
    return float(np.linalg.cond(standardized(columns)))


def has_rare_levels(microdata: Microdata, name: str) -> bool:
    """True if a variable is a category with a level that few records have."""
    if microdata.schema.variable(name).kind is not Kind.CATEGORICAL:
        return False
    codes, levels = microdata.codes(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return bool((counts[counts > 0] < RARE).any())
