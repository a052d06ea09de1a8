"""Models of a formula: their columns, and their fits to the original and to a release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import chain, product
from typing import Protocol

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import Factor, Formula
from rwn_core.data.sizes import STORED_NUMBERS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import numbers
from rwn_core.measures.statistics.ols import (
    MOST_COEFFICIENTS,
    Design,
    Fit,
    LeastSquares,
    complete_design,
    dummy_levels,
    fit_family,
    predictor_columns,
    recoded_pair,
    released_kinds,
)

_TRANSFORMS: Mapping[str, Callable[[Floats], Floats]] = {
    "log": np.log,
    "sqrt": np.sqrt,
    "square": np.square,
    "": np.asarray,
}


def formula_design(
    original: Microdata, table: Microdata, formula: Formula, where: str = ""
) -> Design:
    """Build the design matrix of a formula for the original or its release."""
    terms, columns = formula_columns(original, table, formula, where)
    return complete_design(formula.question, terms, columns, where)


def formula_columns(
    original: Microdata, table: Microdata, formula: Formula, where: str = ""
) -> tuple[list[str], list[Floats]]:
    """Return the names of a formula's terms, and its response with their columns, (n,) each."""
    # Raises NotApplicable with a reason that ends in `where`; constant columns are not refused.
    known = released_kinds(original, formula.names, "formula")
    response = formula.response
    if known[response.name] is Kind.CATEGORICAL:
        raise NotApplicable(
            f"The response {response.name} is categorical; a linear or Poisson model needs numbers."
        )
    # refuse a model with too many columns before any is built
    width = design_width(original, formula)
    if width > MOST_COEFFICIENTS:
        raise NotApplicable(
            f"The model would have more than {MOST_COEFFICIENTS} coefficients; choose fewer terms."
        )
    if width * table.n > STORED_NUMBERS:
        raise NotApplicable(
            f"The model would take more than {STORED_NUMBERS:,} numbers (records times "
            "coefficients); choose fewer terms."
        )
    terms: list[str] = []
    columns = [_transformed(numbers(original, table, response.name), response, where)]
    for term in formula.terms:
        # a product: each column of one factor times each of the next, shape (n,)
        names, made = [""], [np.ones(table.n)]
        for factor in term:
            if factor.transform and original.schema.variable(factor.name).kind is Kind.CATEGORICAL:
                raise NotApplicable(f"{factor} has no value: {factor.name} is categorical.")
            own_names, own_columns = predictor_columns(original, table, factor.name)
            if factor.transform:
                own_names = [str(factor)]
                own_columns = [_transformed(own_columns[0], factor, where)]
            names = [f"{a}:{b}" if a else b for a, b in product(names, own_names)]
            made = [a * b for a, b in product(made, own_columns)]
        terms += names
        columns += made
    return terms, columns


def design_width(original: Microdata, formula: Formula) -> int:
    """Return the number of columns of a formula's terms, without making any."""
    widths = {
        factor: 1 if factor.transform else len(dummy_levels(original, factor.name))
        for factor in chain.from_iterable(formula.terms)
    }
    return sum(math.prod(widths[factor] for factor in term) for term in formula.terms)


def _transformed(values: Floats, factor: Factor, where: str) -> Floats:
    # Shapes: values, the answer (n,).
    least = np.min(values, where=~np.isnan(values), initial=1.0)
    if (factor.transform == "log" and least <= 0) or (factor.transform == "sqrt" and least < 0):
        sign = "0 or negative" if factor.transform == "log" else "negative"
        raise NotApplicable(f"{factor} has no value{where}: {factor.name} is {sign} somewhere.")
    return np.asarray(_TRANSFORMS[factor.transform](values))


class Model(Protocol):
    """A regression as registered analyses and uses state it."""

    @property
    def formula(self) -> str:
        """Its response and terms, as `Formula` reads them."""

    @property
    def kind(self) -> str:
        """One of `MODELS`."""


def model_tables(
    model: Model, original: Microdata, table: Microdata
) -> tuple[Formula, Microdata, Microdata]:
    """Return a model's formula and both tables, the response of a logistic one as 0 and 1."""
    formula = Formula.parse(model.formula)
    if model.kind == "logistic":
        original, table = recoded_pair(original, table, formula.response.name)
    return formula, original, table


def model_design(model: Model, original: Microdata, table: Microdata, where: str = "") -> Design:
    """Return the design of a stated model on the original or its release."""
    formula, original, table = model_tables(model, original, table)
    return formula_design(original, table, formula, where)


def fit_model(model: Model, original: Microdata, table: Microdata, where: str) -> Fit:
    """Fit a stated model to a table."""
    design = model_design(model, original, table, where)
    return fit_design(model, design, where, own=table is original)


def fit_design(model: Model, design: Design, where: str, *, own: bool) -> Fit:
    """Fit a stated model to its design; `own`: it is the original's."""
    if model.kind == "poisson" and design.response.min() < 0:
        raise NotApplicable(f"The response {design.question.response} has negative values{where}.")
    fit = fit_family(design, model.kind, where)
    if isinstance(fit, LeastSquares) and fit.residual_variance == 0 and own:
        raise NotApplicable(
            "The model explains its response exactly in the original, so there are no "
            "standard errors to compare with; choose other terms."
        )
    return fit
