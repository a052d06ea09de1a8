"""Tables that every masking method is tried on, and methods at their standard preset."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.io.demo import load_demo
from rwn_core.masking import METHODS
from rwn_core.masking.lever import neutral_levers
from rwn_core.randomness import SecretKey


def described(frame: pd.DataFrame, **roles: Role) -> Microdata:
    """A table of which some variables have roles."""
    guessed = Microdata.from_frame(frame).schema
    variables = [
        Variable(name=v.name, kind=v.kind, role=roles.get(v.name, v.role), levels=v.levels)
        for v in guessed.variables
    ]
    return Microdata.from_frame(frame, Schema(variables=tuple(variables)))


def mixed(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(3),
            "age": rng.integers(18, 90, n),
            "g": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "s": rng.choice(["yes", "no"], n),
            "y": rng.exponential(size=n).round(2),
        }
    )


def holes() -> pd.DataFrame:
    frame = mixed().astype({"age": "Int64"})
    return frame.mask(np.random.default_rng(6).random(frame.shape) < 0.1)


def many_levels() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    names = [f"level {i}" for i in range(5000)]
    return pd.DataFrame({"g": names, "x": rng.normal(size=5000), "s": rng.choice(["a", "b"], 5000)})


TABLES: Mapping[str, Any] = {
    "mixed": mixed,
    "holes": holes,
    "two records": lambda: mixed(2),
    "a constant column": lambda: mixed().assign(x=1.5, y=2),
    "one level": lambda: mixed().assign(g="here", s="yes"),
    "identical records": lambda: mixed(1).loc[[0] * 9].reset_index(drop=True),
}


ROLES = {"g": Role.KEY, "age": Role.KEY, "y": Role.CONFIDENTIAL}
WITHOUT = "a column without values"  # the gate refuses it, but a bootstrap sample may have one


@cache
def table(name: str) -> Microdata:
    if name != WITHOUT:
        return described(TABLES[name](), **ROLES)
    frame = mixed()
    frame.loc[2:, "x"] = np.nan
    return described(frame, **ROLES).take(np.arange(2, 80))


@cache
def demo(name: str) -> Microdata:
    data = load_demo(name)
    if data.n <= 300:
        return data
    rows = np.random.default_rng(1).choice(data.n, 300, replace=False)
    return data.take(np.sort(rows))


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
