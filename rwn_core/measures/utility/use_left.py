"""What a release leaves of what its file is for: three shares, and the least of them counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.use import StatedRegression, Use
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison, complete, standardized, varies
from rwn_core.measures.measure import Detail, Reading, utility_measure
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.association import associations, original_chance, relation_loss
from rwn_core.measures.statistics.distributions import standard_deviation
from rwn_core.measures.statistics.formula import (
    fit_design,
    fit_model,
    formula_columns,
    model_tables,
)
from rwn_core.measures.statistics.ols import Design, Fit, standardized_difference
from rwn_core.measures.statistics.usual_use import use_of
from rwn_core.measures.view import Tile

NO_CONFIDENTIAL = "No variable is confidential. Say which is."
NO_OTHER = "No two of the other variables are related beyond chance."
NO_RELATION = "No confidential variable is related to another variable beyond chance."
NO_REGRESSION = "No regression is stated, and no confidential variable is a number or a flag."
_PARTS = {
    "relations": "of confidential relations",
    "regression": "of what a regression says",
    "others": "of the other relations",
}
HALF = 0.5  # left of a part of the use; below, nothing is to be praised


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegressionLeft:
    """All that a release leaves of one regression.

    Attributes
    ----------
    regression : StatedRegression
    left : float, optional
        1 less the sum of squared differences of the fitted values at the original's rows, released
        coefficients against the original's, over the sum of squares of the original's fitted
        values around their mean; 0 at least. Of the linear predictor in logistic and Poisson
        models. None where the original has no answer.
    worst_slope : float, optional
        The largest change of a slope, in standard errors of the original.
    worst_term : str
        The term of that slope.
    r2_original, r2_released : float, optional
        Share of the variance, or of the deviance, that each file's own fit explains.
    reason : str
        Why it could not be read, or fitted to the release.
    """

    regression: StatedRegression
    left: float | None = None
    worst_slope: float | None = None
    worst_term: str = ""
    r2_original: float | None = None
    r2_released: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UseLeft(Detail):
    """The part that a release leaves of its use: 1 is all of it.

    Attributes
    ----------
    names : sequence of str
        The confidential variables.
    relations : float, optional
        Of the relations of confidential variables with each other and with all others.
    others : float, optional
        Of the relations between the other variables.
    regressions : tuple of RegressionLeft
    reasons : tuple of str
        Why a part has no answer.
    """

    relations: float | None = None
    others: float | None = None
    regressions: tuple[RegressionLeft, ...] = ()
    reasons: tuple[str, ...] = field(default=())

    @property
    def regression(self) -> float | None:
        """The least that is left of a regression."""
        read = [each.left for each in self.regressions if each.left is not None]
        return min(read, default=None)

    @property
    def worst_slope(self) -> float | None:
        """The largest change of a slope of any regression, in standard errors of the original."""
        read = [each.worst_slope for each in self.regressions if each.worst_slope is not None]
        return max(read, default=None)

    @property
    def shares(self) -> dict[str, float]:
        """The shares that could be read, by "relations", "regression" and "others"."""
        every = {
            "relations": self.relations,
            "regression": self.regression,
            "others": self.others,
        }
        return {name: share for name, share in every.items() if share is not None}

    @property
    def stated_parts(self) -> dict[str, float]:
        """The shares and the largest change of a slope, by name, as far as they could be read."""
        if self.worst_slope is None:
            return self.shares
        return {**self.shares, "worst_slope": self.worst_slope}

    @property
    def least(self) -> float | None:
        """The least share; None where none could be read."""
        return min(self.shares.values(), default=None)

    @property
    def least_words(self) -> str:
        """Say of what the least share is; empty where none could be read."""
        shares = self.shares
        if not shares:
            return ""
        return _PARTS[min(shares, key=shares.__getitem__)]

    @property
    def below_half(self) -> bool:
        """True if a share is below a half, so that nothing is to be praised."""
        return self.least is not None and self.least < HALF

    @property
    def sentence(self) -> str:
        """The shares in words; empty where none could be read."""
        return left_words(self)


def verdict_left(verdict: str, left: UseLeft | None, *, kept: bool) -> str:
    """Say a verdict and what is left in the same breath; no praise where a share is below a half.

    >>> little = UseLeft(names=["siri"], relations=0.21, others=0.97)
    >>> verdict_left("Keeps all 4 limits", little, kept=True)
    'Keeps all 4 limits, but little is left: 21 % of siri’s relations, 97 % of the others'
    """
    shares = "" if left is None else ", ".join(_share_words(left))
    if left is None or not shares:
        return verdict
    if kept and left.below_half:
        return f"{verdict}, but little is left: {shares}"
    return f"{verdict}. Left: {shares}"


def slope_words(left: UseLeft) -> str:
    """Say which slope moved most, and how far; empty where no regression could be read.

    >>> about = StatedRegression(formula="siri ~ abdomen")
    >>> moved = RegressionLeft(regression=about, left=0.9, worst_slope=1.84, worst_term="abdomen")
    >>> slope_words(UseLeft(names=["siri"], regressions=(moved,)))
    'Slope that moved most: abdomen for siri, by 1.8 of its standard errors'
    """
    read = [each for each in left.regressions if each.worst_slope is not None]
    if not read:
        return ""
    worst = max(read, key=lambda each: each.worst_slope or 0.0)
    term = f"{worst.worst_term} for {worst.regression.response}"
    return f"Slope that moved most: {term}, by {worst.worst_slope:.1f} of its standard errors"


def left_words(left: UseLeft) -> str:
    """Say what is left of a use; empty where no share could be read.

    >>> about = StatedRegression(formula="siri ~ abdomen")
    >>> regression = RegressionLeft(regression=about, left=0.96)
    >>> left_words(UseLeft(names=["siri"], relations=0.95, others=0.97, regressions=(regression,)))
    'Left: 95 % of siri’s relations, 96 % of its regression, 97 % of the others'
    """
    parts = _share_words(left)
    return f"Left: {', '.join(parts)}" if parts else ""


def _share_words(left: UseLeft) -> list[str]:
    """Say each share that could be read, and of what it is."""
    parts = []
    subject = _subject(left.names)
    if left.relations is not None:
        parts.append(f"{percent(left.relations)} of {subject}")
    if left.regression is not None:
        parts.append(f"{percent(left.regression)} of {_regressions_words(left)}")
    if left.others is not None:
        which = "the others" if left.relations is not None else "the relations"
        parts.append(f"{percent(left.others)} of {which}")
    return parts


def parts_words(parts: Mapping[str, float]) -> str:
    """Say the shares of `stated_parts` where no variable may be named; empty where there are none.

    >>> parts_words({"relations": 0.95, "others": 0.97})
    'Left: 95 % of confidential relations, 97 % of the other relations'
    """
    said = [f"{percent(parts[name])} {words}" for name, words in _PARTS.items() if name in parts]
    return f"Left: {', '.join(said)}" if said else ""


def _subject(names: Sequence[str]) -> str:
    """Name the relations of confidential variables; of many none of them."""
    if len(names) == 1:
        return f"{names[0]}’s relations"
    if len(names) == 2:
        return f"the relations of {names[0]} and {names[1]}"
    return "the confidential relations"


def _regressions_words(left: UseLeft) -> str:
    """Name the regressions that were read, after the relations of the confidential variables."""
    read = [each.regression for each in left.regressions if each.left is not None]
    if len(read) > 1:
        return f"the worst of {len(read)} regressions"
    same = left.relations is not None and list(left.names) == [read[0].response]
    return "its regression" if same else f"{read[0].response}’s regression"


def stated_left(use: Use, parts: Mapping[str, float]) -> UseLeft:
    """Return what is left of a use from its `stated_parts`, as scenarios and records state them."""
    regressions: tuple[RegressionLeft, ...] = ()
    if "regression" in parts:
        regressions = tuple(
            RegressionLeft(
                regression=each, left=parts["regression"], worst_slope=parts.get("worst_slope")
            )
            for each in use.regressions
        )
    return UseLeft(
        names=list(use.confidential),
        relations=parts.get("relations"),
        others=parts.get("others"),
        regressions=regressions,
    )


def mean_left(several: Iterable[UseLeft]) -> UseLeft:
    """Return the mean of each part over releases of one setting.

    Raises
    ------
    ValueError
        There is none.
    """
    read = list(several)
    if not read:
        raise ValueError("The mean of what is left needs at least one release.")
    regressions = zip(*(each.regressions for each in read), strict=True)
    return replace(
        read[0],
        relations=_mean(each.relations for each in read),
        others=_mean(each.others for each in read),
        regressions=tuple(_mean_regression(same) for same in regressions),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _mean_regression(same: Sequence[RegressionLeft]) -> RegressionLeft:
    """Return the mean over releases of what is left of one regression."""
    return replace(
        same[0],
        left=_mean(each.left for each in same),
        worst_slope=_mean(each.worst_slope for each in same),
        worst_term="",
        r2_released=_mean(each.r2_released for each in same),
        reason=next((each.reason for each in same if each.reason), ""),
    )


def compute_use_left(comparison: Comparison) -> Reading[UseLeft]:
    """Return the least share that is left of the use, and each of them."""
    original = comparison.original
    use = use_of(original, comparison.question)
    reasons = []
    confidential = _marks(original, use)
    relations = _related_left(comparison, confidential[:, None] | confidential[None, :])
    others = _related_left(comparison, ~(confidential[:, None] | confidential[None, :]))
    if relations is None:
        reasons.append(NO_RELATION if use.confidential else NO_CONFIDENTIAL)
    if others is None:
        reasons.append(NO_OTHER)
    regressions = tuple(regression_left(comparison, each) for each in use.regressions)
    if not regressions:
        reasons.append(NO_REGRESSION)
    reasons += [each.reason for each in regressions if each.left is None]
    detail = UseLeft(
        names=list(use.confidential),
        relations=relations,
        others=others,
        regressions=regressions,
        reasons=tuple(reasons),
    )
    if detail.least is None:
        raise NotApplicable(" ".join(reasons))
    return Reading(value=detail.least, baseline=1.0, detail=detail)


def _marks(original: Microdata, use: Use) -> Booleans:
    """Mark the confidential variables of a use, shape (p,), in the schema's order."""
    named = set(use.confidential)
    return np.array([v.name in named for v in original.schema.released], dtype=bool)


def _related_left(comparison: Comparison, pairs: Booleans) -> float | None:
    """Return what is left of the relations of some pairs; None where there were none."""
    # Shapes: pairs (p, p), symmetric.
    if len(pairs) < 2:
        return None
    before = associations(comparison, comparison.original)
    after = associations(comparison, comparison.masked)
    lost = relation_loss(before, after, original_chance(comparison), pairs).value
    return None if np.isnan(lost) else 1.0 - lost


def regression_left(comparison: Comparison, regression: StatedRegression) -> RegressionLeft:
    """Return what a release leaves of one regression; without an answer with the reason."""
    original, masked = comparison.original, comparison.masked
    try:
        own = comparison.cached_for_original(
            ("stated regression", regression), lambda: fit_model(regression, original, original, "")
        )
    except NotApplicable as refusal:
        return RegressionLeft(regression=regression, reason=refusal.reason)
    nothing = RegressionLeft(regression=regression, left=0.0, r2_original=own.r2)
    try:
        coefficients, r2 = released_coefficients(regression, original, masked, own.design.terms)
    except NotApplicable as refusal:
        return replace(nothing, reason=refusal.reason)
    left = fitted_values_left(own, coefficients)
    if left is None:
        reason = f"The fitted values of {regression.response} do not vary in the original."
        return RegressionLeft(regression=regression, reason=reason)
    moved = standardized_difference(own.coefficients, coefficients, own.standard_errors)[1:]
    worst = int(np.argmax(moved))
    return replace(
        nothing,
        left=left,
        worst_slope=float(moved[worst]),
        worst_term=own.design.terms[worst],
        r2_released=r2,
    )


def fitted_values_left(own: Fit, coefficients: Floats) -> float | None:
    """Return 1 less the squared change of the fitted values over their own squares, at least 0.

    None where the original's fitted values do not vary.
    """
    # Shapes: coefficients (t,), the intercept first. Centered columns: a large mean costs no digits
    columns = own.design.columns
    center = columns.mean(axis=0)
    change = coefficients - own.coefficients
    fitted = (columns - center) @ own.coefficients[1:]
    differences = (change[0] + center @ change[1:]) + (columns - center) @ change[1:]
    total = float(fitted @ fitted)
    if total <= 0:
        return None
    return max(1.0 - float(differences @ differences) / total, 0.0)


def released_coefficients(
    regression: StatedRegression, original: Microdata, masked: Microdata, terms: Sequence[str]
) -> tuple[Floats, float]:
    """Fit a regression to a release; a term that does not vary there has the slope 0.

    Returns
    -------
    coefficients : ndarray of float64, shape (t,)
        The intercept first, then the slopes of `terms`.
    r2 : float
    """
    formula, own, released = model_tables(regression, original, masked)
    names, columns = formula_columns(own, released, formula, RELEASED)
    if tuple(names) != tuple(terms):
        raise NotApplicable(f"The regression has other terms{RELEASED}.")
    values = np.column_stack(columns)
    records = complete(values)
    values = values[records]
    if len(records) <= values.shape[1]:
        raise NotApplicable(f"The regression has fewer complete records than terms{RELEASED}.")
    differ = varies(values)
    if not differ[0]:
        raise NotApplicable(f"The response {regression.response} is constant{RELEASED}.")
    places = np.flatnonzero(differ[1:])
    coefficients = np.zeros(len(terms) + 1)
    if not len(places):
        raise NotApplicable(f"The predictors are constant{RELEASED}.")
    response = values[:, 0]
    predictors = values[:, 1:][:, places]
    if regression.kind == "linear":
        intercept, slopes, r2 = _least_squares(response, predictors)
    else:
        design = Design(
            question=formula.question,
            terms=tuple(names[place] for place in places),
            response=response,
            columns=predictors,
            records=records,
        )
        fit = fit_design(regression, design, RELEASED, own=False)
        intercept = float(fit.coefficients[0])
        slopes = fit.coefficients[1:]
        r2 = fit.r2
    coefficients[0] = intercept
    coefficients[1 + places] = slopes
    return coefficients, r2


def _least_squares(response: Floats, columns: Floats) -> tuple[float, Floats, float]:
    """Return intercept, slopes and R squared; of columns that others give the shortest slopes."""
    # Shapes: response (m,), columns (m, t), all varying. A release may tie predictors that were
    # free in the original, such as by losing a rare level.
    scaled = standardized(columns)
    target = response - response.mean()
    standardized_slopes = np.linalg.lstsq(scaled, target, rcond=None)[0]
    units = np.array([standard_deviation(column) for column in columns.T])
    slopes = standardized_slopes / units
    intercept = float(response.mean() - columns.mean(axis=0) @ slopes)
    residuals = target - scaled @ standardized_slopes
    return intercept, slopes, 1.0 - float(residuals @ residuals) / float(target @ target)


USE_LEFT = utility_measure(
    key="use_left",
    title="Left of the use",
    better="higher",
    unit="share of its parts, the least of them",
    question="How much is left of what the file is for: 1 all, 0 nothing?",
    source="relations as in Relations lost; fitted values of the released coefficients at the "
    "original's rows",
    compute=compute_use_left,
    recorded=lambda reading: {
        "shares": reading.detail.shares,
        "worst_slope": reading.detail.worst_slope,
        "confidential": list(reading.detail.names),
        "regressions": [each.regression.formula for each in reading.detail.regressions],
    },
    tile=Tile(
        places={"tune": 1, "utility": 1},
        label="Least left of the use",
        words=percent,
        help="The least of three shares: of the relations of the confidential variables, of what "
        "the regressions say, and of the other relations. 100 % as in the original, 0 nothing.",
        context=lambda reading: reading.detail.least_words,
    ),
    places={"picture": 4, "sweep": 8, "report": 99},
)
