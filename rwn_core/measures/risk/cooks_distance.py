"""Cook's distance of the original and of the masked data, each with a regression of its own."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View, largest_of_both
from rwn_core.measures.statistics.ols import LeastSquares, fits, refuse_exact

FULL_LEVERAGE = 1e-10  # a leverage closer to 1 than this leaves no residual to judge


def _distances(fit: LeastSquares, where: str) -> Floats:
    """Return Cook's distance (1977) of each record, shape (n,)."""
    refuse_exact(fit, where, "no record sways the regression")
    full = np.flatnonzero(fit.leverages > 1 - FULL_LEVERAGE)
    if full.size:
        swayed = np.abs(fit.dependence[1:, full]).max(axis=1)
        names = np.array(fit.design.terms)[swayed > 1e-6 * swayed.max()]
        raise NotApplicable(
            f"Single records alone decide the coefficient of {', '.join(names)}{where} "
            "(leverage 1); take it out of the regression."
        )
    scale = len(fit.coefficients) * fit.residual_variance * (1 - fit.leverages) ** 2
    return fit.residuals**2 * fit.leverages / scale


def compute(comparison: Comparison) -> Reading:
    """Return the largest Cook's distance of the release."""
    before_fit, after_fit = fits(comparison)
    question = before_fit.design.question
    before = comparison.cached_for_original(("cook", question), lambda: _distances(before_fit, ""))
    after = _distances(after_fit, RELEASED)
    return largest_of_both(
        (before_fit.design.records, before),
        (after_fit.design.records, after),
        response=question.response,
        predictors=list(question.predictors),
    )


def sentence(reading: Reading, n: int) -> str:
    """Say how far one record influences the regression."""
    return (
        f"The record that sways the regression most has a Cook's distance of {reading.value:.3g} "
        f"(original: {reading.baseline or 0:.3g}); a large one stands out."
    )


MEASURE = Measure(
    key="cooks_distance",
    title="Cook's distance",
    side="risk",
    bounds=FROM_ZERO,
    unit="largest distance",
    question="Does a single record still stand out by its sway over the regression?",
    sentence=sentence,
    source="Cook 1977; Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
    reads_some=True,
    view=View(
        charts=("cooks_distance",), bands={"max_released": FROM_ZERO}, on={"report": 13, "tune": 6}
    ),
)
