"""The design matrix of the steward's regression, with the original's levels for categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import complete, numbers, varies

MOST_COEFFICIENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """A regression's response and predictors, complete records only.

    Attributes
    ----------
    question : Question
    terms : tuple of str
        Names of the columns without the intercept.
    response : ndarray of float64, shape (m,)
    columns : ndarray of float64, shape (m, len(terms))
        Categories as treatment dummies; the original's first level is the reference.
    records : ndarray of int64, shape (m,)
        The records used, those without a missing value.
    """

    question: Question
    terms: tuple[str, ...]
    response: Floats
    columns: Floats
    records: Integers


def design_matrix(
    original: Microdata, table: Microdata, question: Question | None, where: str = ""
) -> Design:
    """Build the design matrix of the original or its release; every column varies."""
    # Raises NotApplicable with a reason that ends in `where`.
    question = _checked(original, question)
    _check_size(original, question)
    terms: list[str] = []
    columns = [numbers(original, table, question.response)]
    for name in question.predictors:
        new_terms, new_columns = predictor_columns(original, table, name)
        terms += new_terms
        columns += new_columns
    return complete_design(question, terms, columns, where)


def complete_design(
    question: Question, terms: list[str], columns: list[Floats], where: str = ""
) -> Design:
    """Keep the complete records; refuse a design that no regression can be fitted to."""
    # The first column is the response; the others belong to `terms`.
    every = np.column_stack(columns)
    records = complete(every)
    every = every[records]
    needed = every.shape[1] + 1
    if len(records) < needed:
        raise NotApplicable(
            f"The regression has {len(records):,} records without a missing value{where} and needs "
            f"at least {needed:,}; choose fewer predictors."
        )
    _check_variation(question, terms, varies(every), where)
    return Design(
        question=question,
        terms=tuple(terms),
        response=every[:, 0],
        columns=every[:, 1:],
        records=records,
    )


def released_kinds(original: Microdata, names: Iterable[str], what: str) -> dict[str, Kind]:
    """Return the kind of each released variable; refuse names that a release does not have."""
    known = {variable.name: variable.kind for variable in original.schema.released}
    for name in names:
        if name not in known:
            raise NotApplicable(
                f"The {what} names the variable {name}, which a release does not have; its "
                f"variables are: {', '.join(known)}."
            )
    return known


def _checked(original: Microdata, question: Question | None) -> Question:
    usable = [v for v in original.schema.released if v.kind is not Kind.CATEGORICAL]
    if question is None:
        raise NotApplicable("No regression is chosen; choose a response and its predictors.")
    named = (question.response, *question.predictors)
    if released_kinds(original, named, "regression")[question.response] is Kind.CATEGORICAL:
        choices = ", ".join(v.name for v in usable if v.name not in question.predictors)
        raise NotApplicable(
            f"The response {question.response} is categorical, and a linear regression needs "
            f"numbers; choose another response{': ' + choices if choices else ''}."
        )
    return question


def _check_size(original: Microdata, question: Question) -> None:
    widths = {name: len(_levels(original, name)) for name in question.predictors}
    if sum(widths.values()) > MOST_COEFFICIENTS:
        widest = max(widths, key=lambda name: widths[name])
        raise NotApplicable(
            f"The regression would have {sum(widths.values()):,} coefficients, most of them for "
            f"the levels of {widest}; choose predictors with at most {MOST_COEFFICIENTS} together."
        )


def _levels(original: Microdata, name: str) -> list[int]:
    """Return the numbers of the levels that get a dummy; [0] for a number."""
    if original.schema.variable(name).kind is not Kind.CATEGORICAL:
        return [0]
    present, levels = original.codes(name)
    occur = np.bincount(present[present >= 0], minlength=len(levels)) > 0
    return [number for number in range(len(levels)) if occur[number]][1:]


def predictor_width(original: Microdata, name: str) -> int:
    """Return the number of columns that `predictor_columns` gives."""
    return len(_levels(original, name))


def predictor_columns(
    original: Microdata, table: Microdata, name: str
) -> tuple[list[str], list[Floats]]:
    """Return terms and columns of one predictor: numbers, or dummies of all levels but one."""
    if original.schema.variable(name).kind is not Kind.CATEGORICAL:
        return [name], [numbers(original, table, name)]
    levels = original.codes(name)[1]
    codes, _ = table.codes(name, levels)
    others = _levels(original, name)
    unknown = codes < 0  # missing, or a level that the original never has
    dummies = [np.where(unknown, np.nan, codes == number) for number in others]
    return [f"{name} = {levels[number]}" for number in others], dummies


def _check_variation(question: Question, terms: list[str], different: Booleans, where: str) -> None:
    if not different[0]:
        raise NotApplicable(
            f"The response {question.response} is constant{where}; choose another response."
        )
    if not terms:
        names = ", ".join(question.predictors)
        raise NotApplicable(f"The predictors are constant: {names}; choose others.")
    constant = [term for term, known in zip(terms, different[1:], strict=True) if not known]
    if constant:
        raise NotApplicable(
            f"These predictors are constant{where}: {', '.join(constant)}; take them out of the "
            "regression."
        )
