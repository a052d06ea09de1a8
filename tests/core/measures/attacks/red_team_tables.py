"""Tables and releases on which the attacks of the red team are tried."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import mask
from rwn_core.masking.method import Method
from rwn_core.measures.attacks.red_team import Finding, attack
from rwn_core.measures.attacks.red_team.files import Files
from rwn_core.measures.comparison import Comparison


def with_roles(
    frame: pd.DataFrame,
    keys: Sequence[str],
    secrets: Sequence[str],
    *,
    slices: Sequence[Sequence[str]] = (),
    fixed: Sequence[str] = (),
) -> Microdata:
    """A table with keys and secrets; what is fixed has no part in distances."""
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name in data.names:
        role = Role.KEY if name in keys else Role.CONFIDENTIAL if name in secrets else Role.OTHER
        weight = {"weight": 0.0} if name in fixed else {}
        schema = schema.replace_variable(name, role=role, **weight)
    return data.with_schema(schema.with_slices(slices) if slices else schema)


def rare_flag(seed: int = 1, n: int = 600, positive: int = 13) -> Microdata:
    """Six keys that travel together, and a flag of few people."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(60, 95, n),
            "school": rng.integers(4, 18, n),
            "income": np.round(np.exp(rng.normal(10, 0.7, n))),
            "visits": rng.poisson(6, n),
            "region": rng.choice(list("nesw"), n),
            "sex": rng.choice(["m", "f"], n),
        }
    )
    keys = list(frame)
    flag = np.array(["no"] * n, dtype=object)
    flag[rng.choice(n, positive, replace=False)] = "yes"
    return with_roles(frame.assign(flag=flag), keys, ["flag"], slices=[keys])


def coarse_answers(seed: int = 23, n: int = 1000, answers: int = 14) -> Microdata:
    """Answers of yes and no, two coarse keys and a diagnosis; nothing depends on anything."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"a{j}": rng.choice(["yes", "no"], n) for j in range(answers)})
    frame["age"] = rng.choice(["young", "middle", "old"], n)
    frame["sex"] = rng.choice(["m", "f"], n)
    frame["diagnosis"] = rng.choice(list("abcdef"), n)
    return with_roles(frame, ["age", "sex"], ["diagnosis"])


def rich_person(wealth: float | None = None, seed: int = 0, n: int = 600) -> Microdata:
    """Five keys and a wealth with a heavy tail, of the first person as given."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.round(np.exp(rng.normal(3.5, 0.6, n)), 1),
            "age": rng.integers(25, 65, n),
            "size": rng.integers(1, 8, n),
            "married": rng.integers(0, 2, n),
            "male": rng.integers(0, 2, n),
        }
    )
    keys = list(frame)
    frame["wealth"] = np.round(np.exp(rng.normal(2.5, 1.6, n)), 2)
    if wealth is not None:
        frame.loc[0, "wealth"] = wealth
    return with_roles(frame, keys, ["wealth"], fixed=["wealth"])


def released(data: Microdata, params: Method, seed: int = 1) -> Comparison:
    release = mask(data, params, seed=seed)
    return Comparison(original=data, masked=release.masked, law=release.law)


def found(comparison: Comparison, kind: str = "attribute") -> list[Finding]:
    return [each for each in attack(comparison) if each.kind == kind]


def best(comparison: Comparison, kind: str = "attribute") -> float:
    """The largest score of a kind of attack."""
    return max((each.score for each in found(comparison, kind)), default=0.0)


def files(
    people: pd.DataFrame, rows: pd.DataFrame, owner: Sequence[int], keys: str, secrets: str
) -> Files:
    """Plain numbers as an intruder has them; capital letters hold level numbers 0, 1, ..."""
    return Files(
        names=tuple(people),
        people=people.to_numpy(float),
        truth=people.to_numpy(float),
        rows=rows.to_numpy(float),
        owner=np.array(owner),
        levels={n: [f"level {i}" for i in range(4)] for n in people if n.isupper()},
        keys=tuple(keys),
        secrets=tuple(secrets),
    )
