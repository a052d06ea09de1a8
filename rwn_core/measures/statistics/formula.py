"""Model formulas such as `wage ~ education * smsa + log(experience)`, as in R and statsmodels.

Scenario files are data: this grammar parses the text, nothing evaluates it as a program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import LONGEST_FORMULA, MOST_FACTORS, MOST_TERMS, check_letters
from rwn_core.data.schema import Question
from rwn_core.data.sizes import STORED_NUMBERS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.comparison import numbers
from rwn_core.measures.statistics.ols import (
    MOST_COEFFICIENTS,
    Design,
    complete_design,
    dummy_levels,
    predictor_columns,
    released_kinds,
)

_FACTOR = re.compile(r"(?:(log|sqrt|square)\(\s*)?(`[^`]+`|[^\W\d][\w.]*+)\s*+(\))?")
_TRANSFORMS: Mapping[str, Callable[[Floats], Floats]] = {
    **{"log": np.log, "sqrt": np.sqrt, "square": np.square, "": np.asarray},
}
_WORDS = "A formula reads like: response ~ one + log(two) + three:four + `a name`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One variable, as it is or transformed."""

    name: str
    transform: str = ""  # empty, "log", "sqrt" or "square"

    def __str__(self) -> str:
        """Return the factor as a formula shows it."""
        return f"{self.transform}({self.name})" if self.transform else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A regression in words."""

    response: Factor
    terms: tuple[tuple[Factor, ...], ...]  # each term is a product of factors

    @classmethod
    def parse(cls, text: str) -> Formula:
        """Parse `response ~ term + term`; a term joins factors by `:` or `*`, as in R."""
        # A factor is a name, a name in backticks, or log, sqrt or square of one. The terms are
        # counted before `*` is expanded. Raises ParameterError.
        check_letters(text, LONGEST_FORMULA, "The formula", ParameterError)
        left, tilde, right = text.partition("~")
        if not tilde:
            raise ParameterError(f"The formula has no ~ between response and terms. {_WORDS}")
        terms: dict[frozenset[Factor], tuple[Factor, ...]] = {}
        parts = [_crossed(part) for part in right.split("+")]
        if sum(2 ** len(crossed) - 1 for crossed in parts) > MOST_TERMS:
            raise ParameterError(
                f"The formula has more than {MOST_TERMS:,} terms once each * is written out; join "
                "fewer variables by *."
            )
        for crossed in parts:
            written: list[tuple[Factor, ...]] = [()]  # a * b * c: the product of each subset
            for each in crossed:
                written += [tuple(dict.fromkeys(known + each)) for known in written]
            for term in sorted(filter(None, written), key=len):
                if len(term) > MOST_FACTORS:
                    raise ParameterError(
                        f"A term of the formula has more than {MOST_FACTORS} factors; take some "
                        "out."
                    )
                terms.setdefault(frozenset(term), term)
        return cls(response=_factor(left), terms=tuple(terms.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """Return every variable once, the response first."""
        result = [self.response.name, *(f.name for term in self.terms for f in term)]
        return tuple(dict.fromkeys(result))

    @property
    def question(self) -> Question:
        """Return the response and its predictors."""
        return Question(response=self.names[0], predictors=self.names[1:])


def _crossed(text: str) -> list[tuple[Factor, ...]]:
    """Return the products that `*` joins, without repeats."""
    found: dict[frozenset[Factor], tuple[Factor, ...]] = {}
    for each in text.split("*"):
        product = tuple(dict.fromkeys(_factor(part) for part in each.split(":")))
        found.setdefault(frozenset(product), product)
    return list(found.values())


def _factor(text: str) -> Factor:
    match = _FACTOR.fullmatch(text.strip())
    if match is None or bool(match[1]) != bool(match[3]):
        raise ParameterError(f"A part of the formula cannot be read. {_WORDS}")
    return Factor(name=match[2].strip("`"), transform=match[1] or "")


def formula_design(
    original: Microdata, table: Microdata, formula: Formula, where: str = ""
) -> Design:
    """Build the design matrix of a formula for the original or its release."""
    # Raises NotApplicable with a reason that ends in `where`.
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
            names = [f"{a}:{b}" if a else b for a in names for b in own_names]
            made = [a * b for a in made for b in own_columns]
        terms += names
        columns += made
    return complete_design(formula.question, terms, columns, where)


def design_width(original: Microdata, formula: Formula) -> int:
    """Return the number of columns of a formula's terms, without making any."""
    widths = {
        factor: 1 if factor.transform else len(dummy_levels(original, factor.name))
        for term in formula.terms
        for factor in term
    }
    return sum(math.prod(widths[factor] for factor in term) for term in formula.terms)


def _transformed(values: Floats, factor: Factor, where: str) -> Floats:
    # Shapes: values, the answer (n,).
    least = np.min(values, where=~np.isnan(values), initial=1.0)
    if (factor.transform == "log" and least <= 0) or (factor.transform == "sqrt" and least < 0):
        sign = "0 or negative" if factor.transform == "log" else "negative"
        raise NotApplicable(f"{factor} has no value{where}: {factor.name} is {sign} somewhere.")
    return np.asarray(_TRANSFORMS[factor.transform](values))
