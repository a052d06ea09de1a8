"""Shows a neighborhood: the k nearest or all within epsilon, whichever are more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers32
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.masking import Prepared
from rwn_core.neighbors import Neighborhoods

N = 200
SEED = 1  # a lesson is the same for all users
GROUP_AT = 1.0  # x from where on the second group is the more frequent one
OUTLIER = N - 1
RECORDS = {"in the middle": 19, "where the groups meet": 56, "the outlier": OUTLIER}
"""Records worth a look, by where they are."""


def table(weight: float) -> Microdata:
    """Draw 200 records of two numbers and a category; the last record is far from all others."""
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((2, N))
    x = a
    y = 0.6 * a + 0.8 * b
    second = rng.random(N) < 1 / (1 + np.exp(-6 * (x - GROUP_AT)))
    x[OUTLIER] = -2.2
    y[OUTLIER] = 3.6
    second[OUTLIER] = False
    frame = pd.DataFrame({"x": x, "y": y, "group": np.where(second, "B", "A")})
    variables = (
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="y", kind=Kind.CONTINUOUS),
        Variable(name="group", kind=Kind.CATEGORICAL, weight=weight),
    )
    return Microdata.from_frame(frame, Schema(variables=variables))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighborhood:
    """The neighborhood of one record, and statistics of all neighborhoods."""

    points: Floats  # shape (n, 2): the two numbers, in standard deviations
    second: Booleans  # shape (n,): True for the second group
    record: int  # the record of the neighborhood, from 0
    members: Integers32  # shape (m,): possible donors of that record
    # epsilon, kth: the radius, and the distance of the k-th nearest other record, in standard
    # deviations
    epsilon: float
    kth: float
    # what being of different groups adds to the distance: d^2 = (distance in x and y)^2 + apart^2
    apart: float
    by_k: float  # share of all records with a neighborhood that k makes larger than epsilon
    mixed: float  # share of neighborhoods that hold records of both groups, or of the other one
    changed: float  # expected share of records that change group when every cell is redrawn


def neighborhood(prepared: Prepared, *, record: int) -> Neighborhood:
    """Find the neighborhood of one record of `table`, and count over all of them."""
    found = _found(prepared)
    data = prepared.microdata
    law = prepared.law
    assert law is not None  # RWN has one
    points = prepared.params.metric(data).points(data)
    second = data.array("group") == "B"
    other = law.probabilities @ second.astype(float)
    crossing = np.where(second, 1 - other, other)  # P(the donor is of the other group)
    one = np.flatnonzero(second)[0]
    two = np.flatnonzero(~second)[0]
    return Neighborhood(
        points=points[:, :2],
        second=second,
        record=record,
        members=found.members(record),
        epsilon=float(prepared.params.epsilon),
        kth=float(_found(prepared.with_levers(epsilon=0.0)).radius[record]),
        apart=float(np.linalg.norm(points[one, 2:] - points[two, 2:])),
        by_k=float((found.within < (prepared.params.k or 0)).mean()),
        mixed=float((crossing > 1e-12).mean()),
        changed=float(crossing.mean()),
    )


def _found(prepared: Prepared) -> Neighborhoods:
    """The neighborhoods of a setting that has some."""
    found = None if prepared.law is None else prepared.law.neighborhoods
    assert found is not None
    return found
