"""What a table leaves open, as questions to the steward, each with the answer that settles it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.schema import Schema
from rwn_core.data.suspicions import far_codes, identifier_form
from rwn_core.data.variable import Kind, Role, Variable

_NAMES = re.compile(
    r"(^|[_. -])(id|ids|uid|uuid|guid|pid|ssn|name|names|surname|firstname|lastname|forename|email|"
    r"e[-_ ]?mail|phone|telephone|mobile|address|street|iban|passport|nino|nhs)($|[_. -])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = re.compile(r"n/?a|n\.a\.|missing|none|null|unknown|not known|no answer|\?+|\.+|-+", re.I)
NEARLY_ALL = 0.99  # of the known values that are one and the same
UNIQUE = 0.95  # of the records have a value of their own
OFTEN = 0.5  # the same, for a variable that is named like an identifier
LEVELS = 0.1  # levels a record, beyond which a category is hardly one
FEWEST = 20  # levels, below which none of this is asked
WORDY = 3.0  # blanks in a text, on average, that make it free text


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Ask about one variable.

    Attributes
    ----------
    variable : str
    kind : str
        What the doubt is about: "identifier", "free text", "levels", "constant" or "missing".
    sentence : str
        What is seen, without a value but for codes of missing.
    answer : str
        What settles it, as the words of a button.
    changes : mapping
        Fields of the variable that the answer changes.
    """

    variable: str
    kind: str
    sentence: str
    answer: str
    changes: Mapping[str, Any]


def doubts(frame: pd.DataFrame, schema: Schema) -> list[Doubt]:
    """Ask what a table's variables leave open, at most one question of a kind each.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (n, p)
    schema : Schema

    Returns
    -------
    list of Doubt
        In the order of the variables; none about an identifier.
    """
    found = []
    for variable in schema.released:
        column = frame[variable.name]
        identity = _identity(column, variable)
        about = (identity or _constant(column, variable), _missing(column, variable))
        found += [doubt for doubt in about if doubt is not None]
    return found


def _identity(column: pd.Series[Any], variable: Variable) -> Doubt | None:
    """Whether it names people, or is a text that nobody can mask."""
    if variable.kind not in (Kind.CATEGORICAL, Kind.COUNT):
        return None
    name, records = variable.name, len(column)
    different = int(column.nunique())
    texts = [value for value in column.dropna().unique()[:10_000] if isinstance(value, str)]
    form = identifier_form(texts)
    if form:
        return _leave_out(name, "identifier", f"{name} looks like {form}.")
    share = different / records
    if different > FEWEST and (share > UNIQUE or (share > OFTEN and named_like_identifier(name))):
        wordy = " It is free text, which no method here masks." if _is_wordy(texts) else ""
        return _leave_out(
            name,
            "free text" if wordy else "identifier",
            f"{name} has {different:,} different values in {records:,} records, so that it may "
            f"name people.{wordy}",
        )
    if variable.kind is not Kind.CATEGORICAL or different <= max(FEWEST, LEVELS * records):
        return None
    if _is_wordy(texts):
        return _leave_out(
            name,
            "free text",
            f"{name} looks like free text ({different:,} different ones in {records:,} records): "
            "no method here masks text, and copied it may name people.",
        )
    return _leave_out(
        name,
        "levels",
        f"{name} has {different:,} levels in {records:,} records: hardly any record has a neighbor "
        "of its own level. Merge levels in the file, or leave it out.",
    )


def _constant(column: pd.Series[Any], variable: Variable) -> Doubt | None:
    counts = column.value_counts()
    known = int(counts.sum())
    rare = known - int(counts.iloc[0]) if len(counts) else 0
    if not 0 < rare <= (1 - NEARLY_ALL) * known:
        return None
    records = "record has" if rare == 1 else "records have"
    return _leave_out(
        variable.name,
        "constant",
        f"{variable.name} is nearly constant: {rare:,} {records} another value, which may single "
        "people out.",
    )


def _missing(column: pd.Series[Any], variable: Variable) -> Doubt | None:
    if variable.missing_codes:
        return None  # somebody has decided
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        codes: list[Any] = [int(value) for value in far_codes(values)]
    else:
        texts = [value for value in column.dropna().unique() if isinstance(value, str)]
        codes = sorted(text for text in texts if _WORDS.fullmatch(text.strip()))
        if len(codes) == len(texts):
            codes = []
    if not codes:
        return None
    words = ", ".join(map(str, codes))
    return Doubt(
        variable=variable.name,
        kind="missing",
        sentence=f"{variable.name} has {int(column.isin(codes).sum()):,} values {words}, which may "
        "mean missing.",
        answer="They are missing",
        changes={"missing_codes": tuple(codes)},
    )


def _leave_out(name: str, kind: str, sentence: str) -> Doubt:
    return Doubt(
        variable=name,
        kind=kind,
        sentence=sentence,
        answer="Leave it out of every release",
        changes={"role": Role.IDENTIFIER},
    )


def named_like_identifier(name: str) -> bool:
    """Whether a variable has a name that direct identifiers have, such as e-mail or PersonID."""
    return _NAMES.search(_CAMEL.sub("_", name)) is not None


def _is_wordy(texts: list[str]) -> bool:
    return bool(texts) and sum(text.count(" ") for text in texts) >= WORDY * len(texts)
