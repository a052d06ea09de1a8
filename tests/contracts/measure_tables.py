"""Tables and releases that every measure reads, each made and read once for all rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.edit_rules import EditRule
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.masking import RWN, SoftRWN, mask
from rwn_core.measures import read
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading

OF_A_POPULATION = {"categories", "holes"}
PARAMS = RWN(epsilon=0.5, k=3, q=0.8)
SOFT = SoftRWN(kernel="exponential", width=2.0, own=True)


def numbers(n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    shared = rng.normal(size=(n, 1))
    values = shared + rng.normal(size=(n, 5))
    return pd.DataFrame(values, columns=["y", "a", "b", "c", "e"])


def mixed() -> pd.DataFrame:
    rng = np.random.default_rng(12)
    frame = numbers(60)[["y", "a"]]
    size = pd.Categorical(rng.choice(["s", "m", "l"], 60), ["s", "m", "l"], ordered=True)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")
    return frame.assign(
        g=rng.choice(["north", "south", "west"], 60),
        yes=rng.choice(["yes", "no"], 60),
        n=rng.poisson(3, 60),
        size=size,
        day=day,
    )


def holes() -> pd.DataFrame:
    rng = np.random.default_rng(13)
    frame = mixed()
    return frame.mask(rng.random(frame.shape) < 0.05)


def constants() -> pd.DataFrame:
    return numbers(20).assign(c=0.1, g="same")


TABLES: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "numbers": (numbers, ("a", "b", "c", "e")),
    "mixed": (mixed, ("a", "g", "yes", "n", "size", "day")),
    "holes": (holes, ("a", "g", "n")),
    "constants": (constants, ("a", "c")),
    "huge": (lambda: numbers() * 1e149, ("a", "b")),
    "tiny": (lambda: numbers() * 1e-120, ("a", "b")),
    "two records": (lambda: numbers(4).head(2), ("a",)),
    "categories": (lambda: mixed()[["g", "yes"]].rename(columns={"yes": "y"}), ("g",)),
    "one variable": (lambda: numbers()[["y"]], ("a",)),
    "soft kernel": (numbers, ("a", "b", "c", "e")),
    "half unknown question": (numbers, ("a", "nowhere")),
}


def _described(microdata: Microdata, table: str) -> Microdata:
    """The table, one of them as that of a survey with an edit rule that every record keeps."""
    if table != "mixed":
        return microdata
    schema = microdata.schema.replace_variable("n", role=Role.SAMPLING_WEIGHT)
    schema = schema.replace_variable("yes", role=Role.TIME)
    rule = EditRule('n >= 0 and (yes != "no" or g in ["north", "south", "west"])')
    return microdata.with_schema(replace(schema, edit_rules=(rule,)))


@cache
def data(table: str) -> tuple[Microdata, Microdata, Question]:
    make, predictors = TABLES[table]
    microdata = _described(Microdata.from_frame(make()), table)
    n = microdata.n
    holdout = microdata.take(np.arange(max(n // 3, 2)))
    return microdata, holdout, Question(response="y", predictors=predictors)


def params(table: str, n: int) -> RWN:
    if table == "soft kernel":
        return SOFT
    return PARAMS if n > 3 else RWN(k=1)


def compared(table: str, original: Microdata, masked: Microdata, law: CellLaw) -> Comparison:
    _, holdout, question = data(table)
    sampling = Sampling(population=3.0 * original.n) if table in OF_A_POPULATION else None
    return Comparison(
        original=original,
        masked=masked,
        law=law,
        holdout=holdout,
        question=question,
        sampling=sampling,
    )


@cache
def released(table: str) -> Comparison:
    original = data(table)[0]
    release = mask(original, params(table, original.n), seed=5)
    return compared(table, original, release.masked, release.law)


@cache
def against_itself(table: str) -> Comparison:
    first = released(table)
    return compared(table, first.original, first.original, first.law)


@cache
def shuffled(table: str) -> Comparison:
    first = released(table)
    order = np.random.default_rng(1).permutation(first.original.n)
    original = first.original.take(order)
    law = mask(original, params(table, original.n), seed=9).law
    return compared(table, original, first.masked.take(order), law)


@cache
def another(table: str) -> tuple[Comparison, Comparison]:
    """Another release of the same original, beside the first one and alone."""
    first = released(table)
    release = mask(first.original, params(table, first.original.n), seed=77)
    beside = first.with_masked(release.masked, release.law)
    return beside, compared(table, first.original, release.masked, release.law)


@cache
def copies(table: str) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """The tables of a comparison, and what they were before any measure was read."""
    comparison = released(table)
    tables = (comparison.original, comparison.masked, comparison.holdout)
    return [(one.frame, one.frame.copy(deep=True)) for one in tables]


@cache
def first_reading(key: str, table: str) -> tuple[Reading | NotApplicable, bool]:
    """What a measure finds on a release, and whether the tables are as they were."""
    before = copies(table)
    found = read(key, released(table))
    return found, all(frame.equals(copy) for frame, copy in before)


def reading(key: str, table: str) -> Reading | NotApplicable:
    """What a measure finds on a release, read once for all rules."""
    return first_reading(key, table)[0]
