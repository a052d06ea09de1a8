"""Attacks a small table: an intruder with two key variables of a person looks for its row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.masking import Prepared
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SecretKey

N = 24
SEED = 1  # a lesson is the same for all users
DRAWS = 100  # releases that the two shares are means over; the first one is shown
NAMES = ("age", "height", "income")
PERSONS = {"Anna": 5, "Carl, the tallest": 17}
"""People with an age and a height that the class knows, by their record from 0."""
CLOSE = 0.1  # of a person's income: an income as near as this counts as learned
LIMIT = 0.05  # of the people: the most that may be linked, in this lesson's policy
_TALLEST = 205.0  # cm


def table() -> Microdata:
    """Draw 24 people with age, height in cm and income in thousands; one is far taller."""
    a, b, c = np.random.default_rng(SEED).standard_normal((3, N))
    age = np.round(np.clip(45 + 13 * a, 20, 79))
    height = np.round(172 + 8 * b)
    height[PERSONS["Carl, the tallest"]] = _TALLEST
    income = np.round(np.exp(3.6 + 0.02 * (age - 45) + 0.35 * c), 1)
    roles = (Role.KEY, Role.KEY, Role.CONFIDENTIAL)
    kinds = (Kind.COUNT, Kind.CONTINUOUS, Kind.CONTINUOUS)
    variables = tuple(
        Variable(name=name, kind=kind, role=role)
        for name, kind, role in zip(NAMES, kinds, roles, strict=True)
    )
    frame = pd.DataFrame(dict(zip(NAMES, (age, height, income), strict=True)))
    return Microdata.from_frame(frame, Schema(variables=variables))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DisclosedPerson:
    """A released file, an intruder's knowledge of one person, and what the file discloses."""

    person: str
    known: Floats  # shape (2,): age and height of the person: what the intruder knows
    income: float  # of the person: what the intruder wants to know
    rows: Floats  # shape (n, 3): the released rows in their secret order
    own: int  # the row that was made from the person's record, from 0
    nearest: int  # the row with key variables nearest to the known ones, from 0
    # means over releases: share of all people with their own row as the nearest, where ties share
    # it, and share with an income close to theirs in the nearest row
    linked: float
    learned: float
    by_chance: float  # the same for a random row of the original

    def close(self, row: int) -> bool:
        """True if the income of a row is within a tenth of the person's."""
        return bool(_close(self.rows[row, 2], np.array(self.income)))


def disclosure(ready: Prepared, original: Microdata, *, person: str) -> DisclosedPerson:
    """Show the first release, and attack every person of many by distance on standardized keys."""
    before = original.matrix(NAMES)
    incomes = original.values("income")
    spread = before[:, :2].std(axis=0, ddof=1)
    record = PERSONS[person]
    shares = []
    for seed in range(DRAWS, 0, -1):  # the shown release last
        after = ready.release(SecretKey.from_seed(seed)).masked.matrix(NAMES)
        apart = (((before[:, np.newaxis, :2] - after[:, :2]) / spread) ** 2).sum(axis=2)
        nearest = np.isclose(apart, apart.min(axis=1, keepdims=True))
        chosen = nearest / nearest.sum(axis=1, keepdims=True)  # an intruder picks one that ties
        named = chosen * _close(after[:, 2], incomes[:, None])
        shares.append((np.diagonal(chosen).mean(), named.sum() / N))
    order = random_order(SecretKey.from_seed(SEED), len(before))
    place = np.argsort(order)  # of each record in the released file
    linked, learned = np.mean(shares, axis=0).tolist()
    return DisclosedPerson(
        person=person.partition(",")[0],
        known=before[record, :2],
        income=float(incomes[record]),
        rows=after[order],
        own=int(place[record]),
        nearest=int(place[nearest[record].argmax()]),
        linked=linked,
        learned=learned,
        by_chance=float(_close(incomes, incomes[:, None]).mean()),
    )


def _close(shown: Floats, true: Floats) -> Booleans:
    # Shapes: shown (n,), or a number; true (m, 1), or a number; the answer as they broadcast.
    return np.asarray(np.abs(shown - true) <= CLOSE * true)
