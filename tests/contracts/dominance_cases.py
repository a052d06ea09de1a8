"""Tables, slices and settings on which no ordinary attack may beat the worst case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import rwn_core
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, NBRS2015, RWN, Method, Rounded, at_levers, mask, unrounded
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.comparison import Comparison

SEED = 11
PART = 400  # records of a large demo table
STEP = 0.5  # standard deviations that a rounded number is a multiple of
ALONG = (0.1, 0.4)  # shares of the way along the lever of a method's strength


def holes() -> Microdata:
    """Numbers and categories, one cell in twelve missing."""
    rng = np.random.default_rng(8)
    n = 300
    shared = rng.normal(size=n)
    frame = pd.DataFrame({f"x{j}": shared + rng.normal(size=n) for j in range(4)}).round(2)
    frame["age"] = rng.integers(18, 80, n).astype(float)
    frame["town"] = rng.choice(list("abcde"), n)
    frame["ill"] = np.where(frame["x0"] + rng.normal(size=n) > 0.3, "yes", "no")
    frame = frame.mask(rng.random(frame.shape) < 1 / 12)
    role = {"ill": Role.CONFIDENTIAL, "x0": Role.CONFIDENTIAL, "x1": Role.KEY, "age": Role.KEY,
            "town": Role.KEY}  # fmt: skip
    variables = tuple(
        Variable(
            name=name,
            kind=Kind.CATEGORICAL if name in ("town", "ill") else Kind.CONTINUOUS,
            role=role.get(name, Role.OTHER),
        )
        for name in frame
    )
    return Microdata.from_frame(frame, Schema(variables=variables))


@cache
def table(name: str) -> Microdata:
    """One of the tables."""
    if name == "holes":
        return holes()
    data = rwn_core.load_demo(name)
    if data.n <= PART:
        return data
    chosen = np.random.default_rng(SEED).choice(data.n, PART, replace=False)
    return data.take(np.sort(chosen))


TABLES = ("bodyfat", "pima", "cps1988", "holes")
LARGER = ("pima", "cps1988")
SLICES: Mapping[str, Mapping[Role, str]] = {
    "each alone": {},
    "two slices": {Role.KEY: "k", Role.CONFIDENTIAL: "o", Role.OTHER: "o"},
    "three slices": {Role.KEY: "k", Role.CONFIDENTIAL: "c", Role.OTHER: "o"},
    "whole rows": {Role.KEY: "k", Role.CONFIDENTIAL: "k", Role.OTHER: "k"},
}
"""Which variables travel together: the group of each role."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One release to attack.

    Attributes
    ----------
    table, slices : str
    params : Method
        Whatever method, rounded or not.
    """

    table: str
    slices: str
    params: Any

    @property
    def words(self) -> str:
        """What a failure says."""
        return f"{self.table}, {self.slices}, {self.params}"

    @property
    def original(self) -> Microdata:
        """The table with its slices."""
        return sliced(self.table, self.slices)


def along(kind: type[Method], data: Microdata, shares: Sequence[float]) -> list[Method]:
    """A method at shares of the way along the lever of its strength; none if it refuses a table."""
    start = kind(**neutral_levers(kind))
    try:
        lever = start.prepare(data).ranges[kind.strength]
    except ParameterError:
        return []
    whole = next(each.whole_number for each in kind.levers if each.name == kind.strength)
    values = [lever.low + share * (lever.high - lever.low) for share in shares]
    return [
        at_levers(start, {kind.strength: round(value) if whole else round(value, 3)})
        for value in values
    ]


@cache
def sliced(name: str, slices: str) -> Microdata:
    """A table whose variables travel together by their roles."""
    data, group = table(name), SLICES[slices]
    variables = (replace(each, group=group.get(each.role)) for each in data.schema.variables)
    return Microdata(data.frame, Schema(variables=tuple(variables)))


@cache
def steps(name: str) -> dict[str, float]:
    """Half a standard deviation of each number, in one digit."""
    data = table(name)
    numbers = data.schema.numeric_names
    return {each: float(f"{STEP * data.frame[each].std():.1g}") for each in numbers}


def released(case: Case) -> Comparison:
    """A release beside its original, with its law."""
    plain, precision = unrounded(case.params)
    release = mask(case.original, plain, seed=SEED, precision=precision)
    return Comparison(original=case.original, masked=release.masked, law=release.law)


def _rwn() -> Iterator[Case]:
    """Every table, slices, q and k, half of them of the larger tables; every second one rounded."""
    grid = product(enumerate(TABLES), enumerate(SLICES), enumerate((1.0, 0.5)), enumerate((5, 50)))
    for (a, name), (b, slices), (c, q), (d, k) in grid:
        if name in LARGER and (a + b + c + d) % 2:
            continue
        params: Any = RWN(q=q, k=k)
        if (b // 2 + c + d) % 2:
            params = Rounded(params=params, precision=steps(name))
        yield Case(table=name, slices=slices, params=params)


def _others() -> Iterator[Case]:
    """The 2015 method, and neighbors from a sample, the same for all or fresh for each."""
    radius = {"bodyfat": 3.0, "pima": 1.5, "cps1988": 0.7, "holes": 1.5}
    for number, (name, slices) in enumerate(product(TABLES, SLICES)):
        params: Any = NBRS2015(epsilon=radius[name], q=(1.0, 0.5)[number % 2])
        if number % 3 == 0:
            params = Rounded(params=params, precision=steps(name))
        yield Case(table=name, slices=slices, params=params)
    for number, name in enumerate(TABLES):
        params = RWN(k=5, neighbors="sample", m=100, fresh=number % 2 == 1)
        yield Case(table=name, slices=("each alone", "whole rows")[number // 2], params=params)


def _every_method() -> Iterator[Case]:
    """Whatever method there is, at two positions of the lever of its strength."""
    for kind, slices in product(METHODS.values(), ("each alone", "whole rows")):
        for params in along(kind, sliced("bodyfat", slices), ALONG):  # none if it takes no groups
            yield Case(table="bodyfat", slices=slices, params=params)


@cache
def cases() -> tuple[Case, ...]:
    """All of them."""
    return (*_rwn(), *_others(), *_every_method())
