"""The gate: no file leaves before every doubt about identity has an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from rwn_core.data.identity import IdentityDoubt, identity_doubts
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError, ReleaseError

Answers = list[dict[str, str]]
"""Of each doubt its variable, looks_like, reason, confidence and answer: what a record holds."""

DROP, KEEP, OPEN = "drop", "keep", "open"


def open_doubts(
    doubts: Iterable[IdentityDoubt], schema: Schema, keep: Iterable[str] = ()
) -> list[IdentityDoubt]:
    """Return the doubts about released variables that stop a release and have no answer."""
    waiting = {v.name for v in schema.released if not v.is_answered} - {*keep}
    return [doubt for doubt in doubts if doubt.stops and doubt.variable in waiting]


def doubts_of_schema(frame: pd.DataFrame, schema: Schema) -> list[IdentityDoubt]:
    """Judge the released variables of a table that no answer was given for."""
    waiting = {v.name for v in schema.released if not v.is_answered}
    # random records of a dataset come without its identifiers
    names = [name for name in schema.names if name in frame.columns] if waiting else []
    return [doubt for doubt in identity_doubts(frame, names) if doubt.variable in waiting]


def refuse_open(doubts: Sequence[IdentityDoubt]) -> None:
    """Refuse a release while doubts are open; each is a note of the refusal."""
    if not doubts:
        return
    names = ", ".join(doubt.variable for doubt in doubts)
    refusal = ReleaseError(
        f"These variables may identify people: {names}. Answer for each: --drop NAME or "
        "--keep NAME (in Python drop= or keep=), or its role in a schema."
    )
    for doubt in doubts:
        refusal.add_note(doubt.sentence)
    raise refusal


def with_answers(schema: Schema, *, drop: Iterable[str] = (), keep: Iterable[str] = ()) -> Schema:
    """Write answers into a schema: dropped variables become identifiers, others stay."""
    dropped, retained = list(drop), list(keep)
    refuse_both(dropped, retained)
    schema = schema.replace_variables({name: {"role": Role.IDENTIFIER} for name in dropped})
    for name in retained:
        if not schema.variable(name).is_released:
            raise ParameterError(
                f"{name} has a role that no release holds; give it another role to keep it."
            )
        schema = schema.replace_variable(name, confirmed=True)
    return schema


def refuse_both(drop: Iterable[str], keep: Iterable[str]) -> None:
    """Refuse a variable with two answers."""
    both = sorted(set(drop) & set(keep))
    if both:
        raise ParameterError(f"{both[0]} is both dropped and kept; give one answer.")


def answers(doubts: Iterable[IdentityDoubt], schema: Schema) -> Answers:
    """List all doubts with their answers, for the internal record."""
    names = ("variable", "looks_like", "reason", "confidence")
    return [
        {name: str(getattr(doubt, name)) for name in names} | {"answer": _answer(schema, doubt)}
        for doubt in doubts
    ]


def _answer(schema: Schema, doubt: IdentityDoubt) -> str:
    variable = schema.variable(doubt.variable)
    if not variable.is_released:
        return DROP
    if not variable.is_answered:
        return OPEN
    return KEEP if variable.role is Role.OTHER else f"{KEEP}, as {variable.role}"
