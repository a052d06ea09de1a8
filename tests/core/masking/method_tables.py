"""The tables that every masking method is tried on, and methods at their standard preset."""

from typing import Any

import numpy as np

from rwn_core import METHODS, Microdata, ParameterError, SecretKey
from rwn_core.masking.lever import neutral_levers
from tests import tables

TABLES = (
    "mixed",
    "holes",
    "two records",
    "a constant column",
    "one level",
    "identical records",
)
WITHOUT = "a column without values"  # the gate refuses it, but a bootstrap sample may have one


def table(name: str) -> Microdata:
    if name != WITHOUT:
        return tables.table(name)
    frame = tables.frame("mixed")
    frame.loc[2:, "x"] = np.nan
    return tables.described(frame, **tables.MIXED).take(np.arange(2, 80))


def defaults(method: str, **levers: float) -> Any:
    """A method as its defaults have it, with what any table takes where it has none."""
    few = {"cap": 1.0} if method == "soft_rwn" else {}  # as donors of a tiny table
    return METHODS[method](**{**neutral_levers(METHODS[method]), **few, **levers})


def prepared(method: str, data: Microdata) -> Any:
    """A table made ready for a method, at the standard preset."""
    try:
        made = defaults(method).prepare(data)
    except ParameterError:  # a count that a tiny table does not have
        made = defaults(method, **{METHODS[method].strength: 1}).prepare(data)
    return made.with_levers(**made.presets["Standard"])


def key(number: int) -> SecretKey:
    return SecretKey.from_seed(number)
