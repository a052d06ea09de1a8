"""Tables on which no release that the policy keeps may be read by a simple attack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role

N = 150


def described(
    frame: pd.DataFrame,
    keys: Sequence[str],
    secrets: Sequence[str],
    slices: Sequence[Sequence[str]] = (),
    fixed: Sequence[str] = (),
) -> Microdata:
    """A table with keys, secrets, slices, and variables without a part in distances."""
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name in data.names:
        role = Role.KEY if name in keys else Role.CONFIDENTIAL if name in secrets else Role.OTHER
        weight = {"weight": 0.0} if name in fixed else {}
        schema = schema.replace_variable(name, role=role, **weight)
    return data.with_schema(schema.with_slices(slices) if slices else schema)


def people(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "income": np.round(np.exp(rng.normal(10, 0.7, n))),
            "region": rng.choice(list("nesw"), n),
            "sex": rng.choice(["m", "f"], n),
        }
    )


def rare_flag(rng: np.random.Generator) -> Microdata:
    frame = people(rng)
    flag = np.full(N, "no", dtype=object)
    flag[rng.choice(N, 8, replace=False)] = "yes"
    keys = list(frame)
    return described(frame.assign(flag=flag), keys, ["flag"], [keys])


def heavy_tail(rng: np.random.Generator) -> Microdata:
    frame = people(rng)
    wealth = np.round(np.exp(rng.normal(2.5, 1.6, N)), 2)
    wealth[0] = 1e6
    keys = list(frame)
    return described(frame.assign(wealth=wealth), keys, ["wealth"], fixed=["wealth"])


def coarse_answers(rng: np.random.Generator) -> Microdata:
    frame = pd.DataFrame({f"a{j}": rng.choice(["yes", "no"], N) for j in range(9)})
    frame["sex"] = rng.choice(["m", "f"], N)
    frame["ill"] = rng.choice(list("abcd"), N)
    return described(frame, ["sex"], ["ill"])


def dilution(rng: np.random.Generator) -> Microdata:
    frame = people(rng).drop(columns="income")
    frame["edu"] = rng.integers(1, 6, N)
    ill = (frame["edu"] + frame["region"].map({"n": 0, "e": 1, "s": 2, "w": 3})) % 3
    flips = rng.random(N) < 0.05
    frame["ill"] = np.where(flips, rng.integers(0, 3, N), ill).astype(str)
    keys, labs = ["age", "region", "edu"], [f"lab{j}" for j in range(5)]
    for name in labs:
        frame[name] = rng.normal(size=N)
    return described(frame, keys, ["ill", *labs], fixed=labs)


def mixed_units(rng: np.random.Generator) -> Microdata:
    frame = people(rng)
    frame["share"] = rng.random(N) * 1e-6
    frame["assets"] = np.exp(rng.normal(size=N)) * 1e9 + frame["income"] * 1e3
    return described(frame, ["age", "income", "share", "sex"], ["assets"])


def survey(rng: np.random.Generator) -> Microdata:
    """A sample of a population, with weights and missing values."""
    frame = people(rng)
    frame["health"] = rng.choice(["good", "fair", "poor"], N, p=[0.6, 0.3, 0.1])
    frame = frame.mask(rng.random(frame.shape) < 0.06)
    frame["weight"] = rng.integers(2, 60, N)
    data = described(frame, ["age", "income", "region", "sex"], ["health"])
    return data.with_schema(data.schema.replace_variable("weight", role=Role.SAMPLING_WEIGHT))


def whole_rows(rng: np.random.Generator) -> Microdata:
    frame = people(rng)
    frame["debt"] = np.round(np.exp(rng.normal(6, 1, N)))
    keys = list(frame)[:4]
    return described(frame, keys, ["debt"], [list(frame)])


def one_slicing(rng: np.random.Generator) -> Microdata:
    frame = _four(rng)
    return described(frame, ["a", "b"], ["s"], [["a", "b"], ["c", "s"]])


def another_slicing(rng: np.random.Generator) -> Microdata:
    frame = _four(rng)
    return described(frame, ["a", "b"], ["s"], [["b", "c"]])


def _four(rng: np.random.Generator) -> pd.DataFrame:
    covariance = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    values = rng.multivariate_normal(np.zeros(4), covariance, N) * 10 + 50
    return pd.DataFrame(values.round(2), columns=["a", "b", "c", "s"])


TABLES: Mapping[str, Callable[[np.random.Generator], Microdata]] = {
    each.__name__: each
    for each in (
        rare_flag,
        heavy_tail,
        coarse_answers,
        dilution,
        mixed_units,
        survey,
        whole_rows,
        one_slicing,
        another_slicing,
    )
}


def register(rng: np.random.Generator) -> Microdata:
    frame = people(rng, 500).drop(columns="income")
    return described(frame.assign(wage=rng.normal(50, 10, 500).round(1)), list(frame), ["wage"])


def numbers(rng: np.random.Generator) -> Microdata:
    covariance = np.full((4, 4), 0.4) + 0.6 * np.eye(4)
    values = rng.multivariate_normal(np.zeros(4), covariance, 500) * 10 + 50
    return described(pd.DataFrame(values.round(1), columns=list("abcd")), list("abc"), ["d"])


def visits(rng: np.random.Generator) -> Microdata:
    frame = pd.DataFrame({"age": rng.integers(18, 90, 500), "visits": rng.poisson(6, 500)})
    frame["cost"] = np.round(np.exp(rng.normal(5, 0.5, 500)), 1)
    return described(frame, ["age", "visits"], ["cost"])


HARMLESS = {each.__name__: each for each in (register, numbers, visits)}
"""Tables of which a strong setting keeps the usual policy."""
