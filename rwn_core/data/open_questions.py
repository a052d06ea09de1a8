"""Open questions about a table, each with its answers, the safest first; doubts found once.

Here alone an answer is proposed, for the form of the Data page and for `rwn describe`. No proposed
answer releases a variable unmasked or drops a value: where each answer costs something, as for a
sampling weight, nothing is proposed and a person has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.belonging.gate import refuse_together
from rwn_core.data.file_layout import FOR_MISSING
from rwn_core.data.identity import SAMPLING_WEIGHT, IdentityDoubt, identity_doubts
from rwn_core.data.identity.gate import doubts_of_schema, open_doubts, refuse_open
from rwn_core.data.identity.panel import COMES_AGAIN
from rwn_core.data.identity.profile import Subject
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded_values, step_of_weight
from rwn_core.data.same_looks import equal_looks, may_join
from rwn_core.data.schema import Schema
from rwn_core.data.validation import far_codes, stands_for_people
from rwn_core.data.variable import NUMBERS, Kind, Role, Variable, level_names
from rwn_core.errors import ReleaseError

NEARLY_ALL = 0.99  # of the known values that are one and the same
LEVELS = 0.1  # levels a record, beyond which a category is doubtful
FEWEST_NUMBERS = 10  # different ones, from which a category may be a quantity
NEARLY_NUMBERS = 0.6  # of the known values
NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?")
FEWEST = 20  # levels, below which none of this is asked
_PANEL = "It numbers people with several rows"
_BY_ROLE = (
    (SAMPLING_WEIGHT, "weight", Role.SAMPLING_WEIGHT, "It is the sampling weight"),
    (COMES_AGAIN, "person", Role.PERSON, f"{_PANEL}, and no release has it"),
    (Subject.HOUSEHOLD, "household", Role.HOUSEHOLD, "It numbers households, which no release has"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A decision about one variable."""

    words: str  # of a button
    changes: Mapping[str, Any] = field(default_factory=dict)  # fields of the variable
    step: float | None = None  # in steps of which the variable is released
    option: str = ""  # of `rwn mask`, or the line of a schema, that says the same
    joins: bool = False  # whether levels that look the same become one


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question about one variable."""

    variable: str
    # what the doubt is about: "identifier", "household", "person", "weight", "masked weight",
    # "free text", "levels", "constant", "mixed", "same look" or "missing"
    kind: str
    sentence: str  # what is seen, without a value but for codes of missing
    answers: tuple[Answer, ...]  # the safest first
    # chosen at first; None where a person has to choose
    proposed: Answer | None
    stops: bool = False  # whether no release leaves before it is answered


def open_questions(frame: pd.DataFrame, schema: Schema) -> list[OpenQuestion]:
    """Ask what a table's variables leave open, at most one question of a kind each."""
    found: list[OpenQuestion | None] = []
    identity = {e.variable: _identity(e, schema) for e in doubts_of_schema(frame, schema)}
    for variable in schema.released:
        column = frame[variable.name]
        doubt = identity.get(variable.name) or _mixed(column, variable)
        found.append(doubt or _by_values(column, variable))
        found.append(_missing(column, variable))
        found.append(_same_look(column, variable))
    return [question for question in found if question is not None]


def asks_population(frame: pd.DataFrame, schema: Schema) -> str | None:
    """Ask for the size of the population where the sampling weight does not count people."""
    name = schema.name_with_role(Role.SAMPLING_WEIGHT)
    if name is None or schema.population or stands_for_people(frame[name], schema.variable(name)):
        return None
    return (
        f"{name} says how much a record counts, not how many people it stands for. Without their "
        "number, risks take the file for the whole population. How many people are in it?"
    )


def _left_out(name: str) -> Answer:
    return Answer(
        words="Leave it out of every release",
        changes={"role": Role.IDENTIFIER},
        option=f"--drop {name}",
    )


def _kept(name: str) -> Answer:
    return Answer(words="Keep it, masked", changes={"confirmed": True}, option=f"--keep {name}")


def _identity(doubt: IdentityDoubt, schema: Schema) -> OpenQuestion:
    """Ask whether a variable identifies people; weights and households may get their role."""
    name = doubt.variable
    # three roles explain a doubt: weight, person, household
    for looks_like, kind, role, words in _BY_ROLE:
        weighs = role is Role.SAMPLING_WEIGHT
        if doubt.looks_like == looks_like and (weighs or schema.name_with_role(role) is None):
            counted = " Risk is counted in people then, not in rows." if kind == "person" else ""
            takes_role = Answer(
                words=words, changes={"role": role}, option=f'role = "{role}" in a schema'
            )
            return OpenQuestion(
                variable=name,
                kind=kind,
                sentence=f"{doubt.sentence}{counted}",
                answers=(takes_role, Answer(words="It is none") if weighs else _kept(name)),
                proposed=takes_role,
                stops=not weighs,
            )
    # a variable with another doubt is left out, or keeps its place by the answer of the user
    text = doubt.looks_like == str(Subject.TEXT)
    return _leave_or_keep(
        name,
        "free text" if text else "identifier",
        f"{doubt.sentence}{' No method here masks text.' if text else ''}",
        stops=doubt.stops,
    )


def _leave_or_keep(name: str, kind: str, sentence: str, *, stops: bool = False) -> OpenQuestion:
    """Ask whether a variable is left out; proposed only where it stops every release."""
    leaves = _left_out(name)
    keeps = _kept(name) if stops else Answer(words="Keep it, masked")
    return OpenQuestion(
        variable=name,
        kind=kind,
        sentence=sentence,
        answers=(leaves, keeps),
        proposed=leaves if stops else keeps,
        stops=stops,
    )


def _by_values(column: pd.Series[Any], variable: Variable) -> OpenQuestion | None:
    """Ask about too many levels, a masked sampling weight, or values that are nearly all equal."""
    name, counts = variable.name, column.value_counts()
    records, different, known = len(column), int((counts > 0).sum()), int(counts.sum())
    if variable.kind is Kind.CATEGORICAL and different > max(FEWEST, LEVELS * records):
        sentence = (
            f"{name} has {different:,} levels in {records:,} records: almost no record has a "
            "neighbor of its own level. Merge levels in the file, or leave it out."
        )
        return _leave_or_keep(name, "levels", sentence)
    if variable.role is Role.SAMPLING_WEIGHT and variable.masked:
        return _masked_weight(column, variable)
    rare = known - int(counts.max()) if known else 0
    if not 0 < rare <= (1 - NEARLY_ALL) * known:
        return None
    have = "record has" if rare == 1 else "records have"
    sentence = (
        f"{name} is nearly constant: {rare:,} {have} another value, which may single people out."
    )
    return _leave_or_keep(name, "constant", sentence)


def _mixed(column: pd.Series[Any], variable: Variable) -> OpenQuestion | None:
    """Ask about a category that is nearly all numbers: some other text made it one."""
    others = texts_among_numbers(column, variable)
    if not others:
        return None
    values = "1 record" if others == 1 else f"{others:,} records"
    sentence = (
        f"{variable.name} has numbers, and another text in {values}: it is masked as a category. "
        "Texts for a missing value are named by the layout of the file (--file missing=TEXT)."
    )
    return _leave_or_keep(variable.name, "mixed", sentence, stops=True)


def texts_among_numbers(column: pd.Series[Any], variable: Variable) -> int:
    """Count the records with another text in an unanswered category of numbers."""
    free = not variable.is_answered and not variable.value_labels and variable.levels is None
    if not (free and variable.kind is Kind.CATEGORICAL and _has_texts(column)):
        return 0
    counts = column.value_counts()
    numbers = counts[[NUMBER.fullmatch(text.strip()) is not None for text in counts.index]]
    others = int(counts.sum() - numbers.sum())
    many = len(numbers) >= FEWEST_NUMBERS and numbers.sum() >= NEARLY_NUMBERS * counts.sum()
    return others if many else 0


def _has_texts(column: pd.Series[Any]) -> bool:
    category = isinstance(column.dtype, pd.CategoricalDtype)
    return bool(pd.api.types.is_string_dtype(column.dtype)) and not category


def _same_look(column: pd.Series[Any], variable: Variable) -> OpenQuestion | None:
    """Ask whether levels that look the same are one."""
    if not may_join(column, variable):
        return None
    count = equal_looks(text for text in column.dropna().unique() if isinstance(text, str))
    if not count:
        return None
    name = variable.name
    apart = Answer(words="They are levels of their own")
    one = Answer(words="Join them", joins=True, option="--file join=true")
    pairs = "1 pair of levels that looks" if count == 1 else f"{count:,} pairs of levels that look"
    return OpenQuestion(
        variable=name,
        kind="same look",
        sentence=f"{name} has {pairs} the same but for case, blanks or invisible letters.",
        answers=(apart, one),
        proposed=apart,
    )


def _masked_weight(column: pd.Series[Any], variable: Variable) -> OpenQuestion:
    """Ask what becomes of a sampling weight: each answer costs something, so none is proposed."""
    name = variable.name
    answers = [Answer(words="Mask it")]
    rounding = ""
    step = _step(column, variable)
    if step is not None:
        values = column.dropna().to_numpy(dtype=np.float64)
        left = len(np.unique(rounded_values(values, step)))
        answers.append(
            Answer(
                words=f"Round it to {step:g}",
                changes={"masked": False},
                step=step,
                option=f"--as-is {name} --round {name}={step:g}",
            )
        )
        rounding = f" Rounded to {step:g} it has {left:,} different values."
    answers.append(
        Answer(
            words="Release it unmasked",
            changes={"masked": False},
            option=f"--as-is {name}",
        )
    )
    return OpenQuestion(
        variable=name,
        kind="masked weight",
        sentence=f"{name} is the sampling weight. Masked as other variables are, it changes "
        f"estimates for the population.{rounding} Released unmasked, an exact weight may identify "
        "records.",
        answers=tuple(answers),
        proposed=None,
    )


def _step(column: pd.Series[Any], variable: Variable) -> float | None:
    if variable.kind not in NUMBERS:
        return None
    return step_of_weight(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _missing(column: pd.Series[Any], variable: Variable) -> OpenQuestion | None:
    if variable.missing_codes:
        return None  # the user has decided
    codes = _codes_for_missing(column, variable)
    if not codes:
        return None
    words = ", ".join(map(str, codes))
    stay = Answer(words="They are values")
    gone = Answer(
        words="They are missing",
        changes={"missing_codes": tuple(codes)},
        option=f"missing_codes = [{', '.join(map(repr, codes))}] in a schema",
    )
    return OpenQuestion(
        variable=variable.name,
        kind="missing",
        sentence=f"{variable.name} has {int(column.isin(codes).sum()):,} values {words}, which may "
        "mean missing.",
        answers=(stay, gone),
        proposed=stay,
    )


def _codes_for_missing(column: pd.Series[Any], variable: Variable) -> list[Any]:
    """Values that may stand for missing; none that the file has a label for.

    A file that labels its codes also declares which of them are missing, and those are gone.
    """
    labelled = {code for code, _ in variable.value_labels}
    if variable.kind in NUMBERS:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return [int(value) for value in far_codes(values) if value not in labelled]
    labelled |= {*level_names(variable.value_labels).values()}
    texts = [value for value in column.dropna().unique() if isinstance(value, str)]
    codes = sorted(text for text in texts if FOR_MISSING.fullmatch(text.strip()))
    if len(codes) == len(texts):
        return []
    return [code for code in codes if code not in labelled]


def table_doubts(microdata: Microdata) -> tuple[IdentityDoubt, ...]:
    """Judge all variables of a table once, whatever its schema answers."""
    frame = microdata.frame
    return microdata.cached("identity", lambda: tuple(identity_doubts(frame, frame.columns)))


def require_answers(microdata: Microdata) -> None:
    """Refuse a table with open doubts, or unexplained rows, before anything is drawn of it."""
    if not all(variable.is_answered for variable in microdata.schema.released):
        refuse_open(open_doubts(table_doubts(microdata), microdata.schema))
        _refuse_mixed(microdata)
    refuse_together(microdata)


def _refuse_mixed(microdata: Microdata) -> None:
    """Refuse a table with categories that are nearly all numbers, until each is answered."""
    frame = microdata.frame
    schema = microdata.schema
    mixed = [v.name for v in schema.released if texts_among_numbers(frame[v.name], v)]
    if mixed:
        raise ReleaseError(
            f"These variables hold numbers with other texts among them: {', '.join(mixed)}. Answer "
            "for each: --drop NAME or --keep NAME (in Python drop= or keep=), or say which texts "
            "are missing values (--file missing=TEXT)."
        )
