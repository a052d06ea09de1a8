"""Open questions about a table, each with the answer that closes it; doubts found once."""

from __future__ import annotations

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
from rwn_core.data.schema import Schema
from rwn_core.data.validation import far_codes, stands_for_people
from rwn_core.data.variable import Kind, Role, Variable

NEARLY_ALL = 0.99  # of the known values that are one and the same
LEVELS = 0.1  # levels a record, beyond which a category is doubtful
FEWEST = 20  # levels, below which none of this is asked
_PANEL = "It numbers people with several rows"
_BY_ROLE = (
    (SAMPLING_WEIGHT, "weight", Role.SAMPLING_WEIGHT, "It is the sampling weight"),
    (COMES_AGAIN, "person", Role.PERSON, f"{_PANEL}, and no release has it"),
    (Subject.HOUSEHOLD, "household", Role.HOUSEHOLD, "It numbers households, which no release has"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question about one variable."""

    variable: str
    # what the doubt is about: "identifier", "household", "person", "weight", "masked weight",
    # "free text", "levels", "constant" or "missing"
    kind: str
    sentence: str  # what is seen, without a value but for codes of missing
    # the decision, as the words of a button, and the fields of the variable that it changes
    answer: str = "Leave it out of every release"
    changes: Mapping[str, Any] = field(default_factory=lambda: {"role": Role.IDENTIFIER})
    # fields that change where the steward declines; none where the schema does not hold that
    declined: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stops(self) -> bool:
        """True if no release leaves before the question is answered."""
        return bool(self.declined)


def open_questions(frame: pd.DataFrame, schema: Schema) -> list[OpenQuestion]:
    """Ask what a table's variables leave open, at most one question of a kind each."""
    found: list[OpenQuestion | None] = []
    identity = {e.variable: _identity(e, schema) for e in doubts_of_schema(frame, schema)}
    for variable in schema.released:
        column = frame[variable.name]
        found.append(identity.get(variable.name) or _by_values(column, variable))
        found.append(_missing(column, variable))
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


def _identity(doubt: IdentityDoubt, schema: Schema) -> OpenQuestion:
    """Ask whether a variable identifies people; weights and households may get their role."""
    # three roles explain a doubt: weight, person, household
    for looks_like, kind, role, answer in _BY_ROLE:
        weighs = role is Role.SAMPLING_WEIGHT
        if doubt.looks_like == looks_like and (weighs or schema.name_with_role(role) is None):
            counted = " Risk is counted in people then, not in rows." if kind == "person" else ""
            return OpenQuestion(
                variable=doubt.variable,
                kind=kind,
                sentence=f"{doubt.sentence}{counted}",
                answer=answer,
                changes={"role": role},
                declined={} if weighs else {"confirmed": True},
            )
    # a variable with another doubt is left out, or keeps its place by the answer of the user
    text = doubt.looks_like == str(Subject.TEXT)
    return OpenQuestion(
        variable=doubt.variable,
        kind="free text" if text else "identifier",
        sentence=f"{doubt.sentence}{' No method here masks text.' if text else ''}",
        declined={"confirmed": True} if doubt.stops else {},
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
        return OpenQuestion(variable=name, kind="levels", sentence=sentence)
    if variable.role is Role.SAMPLING_WEIGHT and variable.masked:
        return OpenQuestion(
            variable=name,
            kind="masked weight",
            sentence=f"{name} is the sampling weight and is masked as other variables are: "
            "estimates for the population change. Released as it is, an exact weight may identify "
            "records.",
            answer="Release it as it is",
            changes={"masked": False},
        )
    rare = known - int(counts.max()) if known else 0
    if not 0 < rare <= (1 - NEARLY_ALL) * known:
        return None
    have = "record has" if rare == 1 else "records have"
    sentence = (
        f"{name} is nearly constant: {rare:,} {have} another value, which may single people out."
    )
    return OpenQuestion(variable=name, kind="constant", sentence=sentence)


def _missing(column: pd.Series[Any], variable: Variable) -> OpenQuestion | None:
    if variable.missing_codes:
        return None  # the user has decided
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        codes: list[Any] = [int(value) for value in far_codes(values)]
    else:
        texts = [value for value in column.dropna().unique() if isinstance(value, str)]
        codes = sorted(text for text in texts if FOR_MISSING.fullmatch(text.strip()))
        codes *= len(codes) < len(texts)
    if not codes:
        return None
    words = ", ".join(map(str, codes))
    return OpenQuestion(
        variable=variable.name,
        kind="missing",
        sentence=f"{variable.name} has {int(column.isin(codes).sum()):,} values {words}, which may "
        "mean missing.",
        answer="They are missing",
        changes={"missing_codes": tuple(codes)},
    )


def table_doubts(microdata: Microdata) -> tuple[IdentityDoubt, ...]:
    """Judge all variables of a table once, whatever its schema answers."""
    frame = microdata.frame
    return microdata.cached("identity", lambda: tuple(identity_doubts(frame, frame.columns)))


def require_answers(microdata: Microdata) -> None:
    """Refuse a table with open doubts, or unexplained rows, before anything is drawn of it."""
    if not all(variable.is_answered for variable in microdata.schema.released):
        refuse_open(open_doubts(table_doubts(microdata), microdata.schema))
    refuse_together(microdata)
