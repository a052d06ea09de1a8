"""The use of a file: relations of confidential variables, and stated regressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rwn_core.data.plain import MOST_ANALYSES, check_number
from rwn_core.data.regression import MODELS, Factor, Formula, Question, Term
from rwn_core.data.variable import NamedParameters, refuse_repeats
from rwn_core.errors import ParameterError

_NO_PREDICTOR = "The regression needs at least one predictor; add a term."
_PLAIN = re.compile(r"[^\W\d][\w.]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRegression(NamedParameters):
    """A regression that the users of a file will fit.

    Parameters
    ----------
    formula : str
        Response and terms, such as ``"siri ~ age + square(age) + bmi:abdomen"``.
    kind : {"linear", "logistic", "poisson"}

    Raises
    ------
    ParameterError
        The formula cannot be read, or there is no such kind.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.StatedRegression(formula="siri ~ abdomen * weight").response
    'siri'
    """

    formula: str
    kind: str = "linear"
    parsed: Formula = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the formula, and refuse a regression that could never be fitted."""
        object.__setattr__(self, "parsed", Formula.parse(self.formula))
        if self.kind not in MODELS:
            raise ParameterError(f"The kind of a regression must be one of: {', '.join(MODELS)}.")
        if not self.names[1:]:
            raise ParameterError(_NO_PREDICTOR)
        if self.response in self.predictors:
            raise ParameterError(
                f"Variable {self.response} is both response and predictor of the regression; "
                "take it out of one of the two."
            )

    @classmethod
    def of_question(cls, question: Question, kind: str = "linear") -> StatedRegression:
        """Return the regression of a response on its predictors, without products or squares."""
        terms = " + ".join(map(_quoted, question.predictors))
        return cls(formula=f"{_quoted(question.response)} ~ {terms}", kind=kind)

    @classmethod
    def of_parts(
        cls, response: str, predictors: Iterable[str], terms: str = "", kind: str = "linear"
    ) -> StatedRegression:
        """Return a regression on predictors and on further terms, such as "square(age)"."""
        written = [*map(_quoted, predictors)]
        if terms.strip():
            written.append(terms.strip())
        if not written:
            raise ParameterError(_NO_PREDICTOR)
        return cls(formula=f"{_quoted(response)} ~ {' + '.join(written)}", kind=kind)

    @classmethod
    def of_line(cls, line: str) -> StatedRegression:
        """Read a line such as "logistic: diabetes ~ glucose"; without a kind it is linear.

        >>> StatedRegression.of_line("poisson: visits ~ age").kind
        'poisson'
        """
        before, colon, formula = line.partition(":")
        if colon and before.strip() in MODELS:
            return cls(formula=formula.strip(), kind=before.strip())
        return cls(formula=line.strip())

    @property
    def line(self) -> str:
        """Return it as `of_line` reads it."""
        return self.formula if self.kind == "linear" else f"{self.kind}: {self.formula}"

    @property
    def question(self) -> Question:
        """Return the response and the variables that explain it."""
        return self.parsed.question

    @property
    def predictors(self) -> tuple[str, ...]:
        """Return the variables that stand as they are, each as a term of its own."""
        terms = self.parsed.terms
        return tuple(term[0].name for term in terms if _is_plain(term))

    @property
    def terms(self) -> str:
        """Return the other terms: products, squares, roots and logarithms.

        >>> StatedRegression(formula="siri ~ age + square(age) + age:bmi").terms
        'square(age) + age:bmi'
        """
        terms = self.parsed.terms
        return " + ".join(
            ":".join(map(_factor_text, term)) for term in terms if not _is_plain(term)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return every variable once, the response first."""
        return self.parsed.names

    @property
    def response(self) -> str:
        """Return the variable that it explains."""
        return self.names[0]


def _quoted(name: str) -> str:
    """Write a variable as a formula names it: in backticks where it is no plain word."""
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


def written_formula(formula: str) -> str:
    """Write a formula as this program writes one: each product out, backticks where needed.

    >>> written_formula("`siri`~age*bmi")
    'siri ~ age + bmi + age:bmi'
    """
    parsed = Formula.parse(formula)
    terms = (":".join(map(_factor_text, term)) for term in parsed.terms)
    return f"{_factor_text(parsed.response)} ~ {' + '.join(terms)}"


def _is_plain(term: tuple[Factor, ...]) -> bool:
    """True if a term is one variable, not transformed."""
    return len(term) == 1 and not term[0].transform


def _factor_text(factor: Factor) -> str:
    """Write a factor as a formula has it."""
    name = _quoted(factor.name)
    return f"{factor.transform}({name})" if factor.transform else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(NamedParameters):
    """The use of a file, by which a release is priced.

    Parameters
    ----------
    confidential : tuple of str
        The variables that users relate to all others; those with the role confidential where none
        is named.
    regressions : tuple of StatedRegression
        What the file's users will fit; the usual ones where none is stated.

    Raises
    ------
    SchemaError
        A variable is named twice.
    ParameterError
        There are too many regressions.

    See Also
    --------
    usual_use : the use of a table that states none.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> stated = rwn.StatedRegression(formula="siri ~ abdomen + weight")
    >>> rwn.Use(confidential=("siri",), regressions=(stated,)).responses
    ('siri',)
    """

    confidential: tuple[str, ...] = ()
    regressions: tuple[StatedRegression, ...] = ()

    def __post_init__(self) -> None:
        """Refuse repeats."""
        object.__setattr__(self, "confidential", tuple(self.confidential))
        object.__setattr__(self, "regressions", tuple(self.regressions))
        refuse_repeats(self.confidential, "as a confidential variable of the use")
        check_number(self.regressions, MOST_ANALYSES, "The regressions of the use", ParameterError)

    @property
    def responses(self) -> tuple[str, ...]:
        """The confidential variables, then other responses of the regressions."""
        explained = (each.response for each in self.regressions)
        return tuple(dict.fromkeys((*self.confidential, *explained)))

    @property
    def names(self) -> tuple[str, ...]:
        """Return every variable that it names, once."""
        named = list(self.confidential)
        for each in self.regressions:
            named += each.names
        return tuple(dict.fromkeys(named))

    def products_for(self, names: Iterable[str]) -> tuple[Term, ...]:
        """Return the products and squares of the regressions that explain one of some variables.

        >>> stated = StatedRegression(formula="siri ~ age + age:bmi + log(hip) + square(age)")
        >>> found = Use(regressions=(stated,)).products_for(["siri"])
        >>> [":".join(map(str, term)) for term in found]
        ['age:bmi', 'square(age)']
        """
        responses = set(names)
        terms: dict[frozenset[Factor], Term] = {}
        for each in self.regressions:
            if each.response not in responses:
                continue
            for term in Formula.parse(each.formula).terms:
                plain = all(factor.transform in ("", "square") for factor in term)
                if plain and not _is_plain(term):
                    terms.setdefault(frozenset(term), term)
        return tuple(terms.values())

    def with_regression(self, regression: StatedRegression) -> Use:
        """Return this use with a regression first, in place of the one of the same response."""
        others = (each for each in self.regressions if each.response != regression.response)
        return replace(self, regressions=(regression, *others))

    def of_variables(self, names: Iterable[str]) -> Use | None:
        """Return the part of the use that some variables still answer; None where nothing is."""
        known = set(names)
        confidential = tuple(name for name in self.confidential if name in known)
        fits = tuple(each for each in self.regressions if known.issuperset(each.names))
        if not confidential and not fits:
            return None
        return replace(self, confidential=confidential, regressions=fits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        regressions = [{"formula": each.formula, "kind": each.kind} for each in self.regressions]
        document: Mapping[str, Any] = {
            "confidential": list(self.confidential),
            "regressions": regressions,
        }
        return {name: value for name, value in document.items() if value}
