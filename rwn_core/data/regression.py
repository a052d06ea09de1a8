"""Regressions in words: a response with its predictors, or a formula of terms as in R.

Scenario files are data: the grammar of a formula parses the text, nothing evaluates it as a
program. `wage ~ education * smsa + log(experience)` reads as in R and statsmodels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

from rwn_core.data.plain import LONGEST_FORMULA, MOST_FACTORS, MOST_TERMS, check_letters
from rwn_core.data.variable import NamedParameters, refuse_repeats
from rwn_core.errors import ParameterError, SchemaError

MODELS = ("linear", "logistic", "poisson")
"""The kinds of regressions that a formula states."""
_FACTOR = re.compile(r"(?:(log|sqrt|square)\(\s*)?(`[^`]+`|[^\W\d][\w.]*+)\s*+(\))?")
_WORDS = "A formula reads like: response ~ one + log(two) + three:four + `a name`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(NamedParameters):
    """The regression that the data steward wants to keep.

    Parameters
    ----------
    response : str
    predictors : tuple of str
    """

    response: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a question without an answerable form."""
        object.__setattr__(self, "predictors", tuple(self.predictors))
        if not self.predictors:
            raise SchemaError("The regression needs at least one predictor; choose one.")
        if self.response in self.predictors:
            raise SchemaError(
                f"Variable {self.response} is both response and predictor of the regression; "
                "take it out of one of the two."
            )
        refuse_repeats(self.predictors, "as a predictor")


Term = tuple["Factor", ...]
"""A product of factors."""


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
    terms: tuple[Term, ...]  # each term is a product of factors

    @classmethod
    def parse(cls, text: str) -> Formula:
        """Parse `response ~ term + term`; a term joins factors by `:` or `*`, as in R."""
        # A factor is a name, a name in backticks, or log, sqrt or square of one. Raises
        # ParameterError.
        check_letters(text, LONGEST_FORMULA, "The formula", ParameterError)
        left, tilde, right = text.partition("~")
        if not tilde:
            raise ParameterError(f"The formula has no ~ between response and terms. {_WORDS}")
        return cls(response=_factor(left), terms=parse_terms(right))

    @property
    def names(self) -> tuple[str, ...]:
        """Return every variable once, the response first."""
        predictors = [factor.name for factor in chain.from_iterable(self.terms)]
        return tuple(dict.fromkeys([self.response.name, *predictors]))

    @property
    def question(self) -> Question:
        """Return the response and its predictors."""
        return Question(response=self.names[0], predictors=self.names[1:])


def parse_terms(text: str) -> tuple[Term, ...]:
    """Parse the right side of a formula: terms joined by +, each of them once."""
    # The terms are counted before `*` is expanded. Raises ParameterError.
    terms: dict[frozenset[Factor], Term] = {}
    parts = [_crossed(part) for part in text.split("+")]
    if sum(2 ** len(crossed) - 1 for crossed in parts) > MOST_TERMS:
        raise ParameterError(
            f"The formula has more than {MOST_TERMS:,} terms once each * is written out; join "
            "fewer variables by *."
        )
    for crossed in parts:
        written: list[Term] = [()]  # a * b * c: the product of each subset
        for each in crossed:
            written += [tuple(dict.fromkeys(known + each)) for known in written]
        for term in sorted(filter(None, written), key=len):
            if len(term) > MOST_FACTORS:
                raise ParameterError(
                    f"A term of the formula has more than {MOST_FACTORS} factors; take some out."
                )
            terms.setdefault(frozenset(term), term)
    return tuple(terms.values())


def product_terms(text: str) -> tuple[Term, ...]:
    """Return the products and squares that a text names, such as ``age*bmi + square(age)``.

    >>> [[str(each) for each in term] for term in product_terms("age*bmi + square(age)")]
    [['age', 'bmi'], ['square(age)']]
    """
    if not text.strip():
        return ()
    terms = parse_terms(text)
    for factor in chain.from_iterable(terms):
        if factor.transform not in ("", "square"):
            raise ParameterError(
                f"terms takes products and squares, such as age:bmi or square(age), not {factor}."
            )
    return tuple(term for term in terms if len(term) > 1 or term[0].transform)


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
