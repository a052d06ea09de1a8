"""The regression that pages and reports show: the one that was asked, stated, or is usual."""

from __future__ import annotations

from rwn_core.data.regression import Question
from rwn_core.data.use import StatedRegression
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import RELEASED, Comparison
from rwn_core.measures.statistics.formula import fit_model, model_design
from rwn_core.measures.statistics.ols import (
    Fit,
    LeastSquares,
    design_matrix,
    fit_family,
    least_squares,
    response_design,
    response_family,
)
from rwn_core.measures.statistics.usual_use import use_of


def main_regression(comparison: Comparison) -> Question | StatedRegression:
    """Return the regression that is shown.

    A question that was asked, other than the schema's, comes first, then the first regression that
    the use of the file states, the schema's question, and the first of the usual regressions.

    Raises
    ------
    NotApplicable
        None is asked or stated, and no confidential variable has a usual one.
    """
    original, question = comparison.original, comparison.question
    use = original.schema.use
    stated = () if use is None else use.regressions
    if stated and question == original.schema.question:
        return stated[0]
    if question is not None:
        return question
    usual = use_of(original).regressions
    if not usual:
        raise NotApplicable("No regression is chosen; choose a response and its predictors.")
    return usual[0]


def fits(comparison: Comparison, *, recoded: bool = False) -> tuple[LeastSquares, LeastSquares]:
    """Fit the main regression by least squares to the original and to the release.

    With `recoded` also a logistic or Poisson one, its two values as 0 and 1.
    """
    asked = main_regression(comparison)
    original, masked = comparison.original, comparison.masked
    about = "least squares", asked
    if isinstance(asked, Question):
        before = comparison.cached_for_original(
            about, lambda: least_squares(design_matrix(original, original, asked))
        )
        return before, comparison.cached_for_release(
            about, lambda: least_squares(design_matrix(original, masked, asked, RELEASED), RELEASED)
        )
    if asked.kind != "linear" and not recoded:
        raise NotApplicable(f"The regression of {asked.response} is {asked.kind}, not linear.")
    before = comparison.cached_for_original(
        about, lambda: least_squares(model_design(asked, original, original))
    )
    return before, comparison.cached_for_release(
        about, lambda: least_squares(model_design(asked, original, masked, RELEASED), RELEASED)
    )


def generalized_fits(comparison: Comparison) -> tuple[Fit, Fit]:
    """Fit the logistic or Poisson regression that suits the response to both files."""
    asked = main_regression(comparison)
    original, masked = comparison.original, comparison.masked
    about = "generalized", asked
    if isinstance(asked, StatedRegression):
        if asked.kind == "linear":
            raise NotApplicable(f"The regression of {asked.response} is linear.")
        before = comparison.cached_for_original(
            about, lambda: fit_model(asked, original, original, "")
        )
        return before, fit_model(asked, original, masked, RELEASED)
    family = response_family(original, asked)
    before = comparison.cached_for_original(
        about, lambda: fit_family(response_design(original, original, asked), family)
    )
    after = response_design(original, masked, asked, RELEASED)
    return before, fit_family(after, family, RELEASED)
