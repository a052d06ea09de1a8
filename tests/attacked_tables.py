"""Tables and releases that the red team attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from rwn_core import Comparison, Microdata, Role, mask
from rwn_core.masking.method import Method
from rwn_core.measures.attacks.red_team import Finding, attack
from rwn_core.measures.attacks.red_team.files import Files
from tests import tables

N = 150


def described(
    frame: pd.DataFrame,
    keys: Sequence[str],
    secrets: Sequence[str],
    slices: Sequence[Sequence[str]] = (),
    fixed: Sequence[str] = (),
) -> Microdata:
    """A table with keys, secrets, slices, and variables without a part in distances."""
    roles = dict.fromkeys(secrets, "confidential") | dict.fromkeys(keys, "key")
    return tables.described(frame, slices, **roles).with_weights(dict.fromkeys(fixed, 0.0))


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
    keys = ["age", "region", "edu"]
    labs = [f"lab{j}" for j in range(5)]
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


def flagged_register(seed: int = 1, n: int = 600, positive: int = 13) -> Microdata:
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
    return described(frame.assign(flag=flag), keys, ["flag"], slices=[keys])


def coarse_survey(seed: int = 23, n: int = 1000, answers: int = 14) -> Microdata:
    """Answers of yes and no, two coarse keys and a diagnosis; nothing depends on anything."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"a{j}": rng.choice(["yes", "no"], n) for j in range(answers)})
    frame["age"] = rng.choice(["young", "middle", "old"], n)
    frame["sex"] = rng.choice(["m", "f"], n)
    frame["diagnosis"] = rng.choice(list("abcdef"), n)
    return described(frame, ["age", "sex"], ["diagnosis"])


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
    return described(frame, keys, ["wealth"], fixed=["wealth"])


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
        unit=np.arange(len(people)),
        levels={n: [f"level {i}" for i in range(4)] for n in people if n.isupper()},
        keys=tuple(keys),
        secrets=tuple(secrets),
    )
