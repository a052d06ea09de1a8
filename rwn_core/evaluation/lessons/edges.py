"""Compares a hard edge, a soft edge and balance: donors of a record, loads, and their prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.masking import RWN, SoftRWN
from rwn_core.measures.attacks.value_survival import appearance

N, CROWD = 120, 60  # records, and those of them in the crowd
SEED = 1  # a lesson is the same for all users
NEAREST = 10  # k of the hard edge
_TOGETHER, _CROWD_SPREAD, _TAILS, _SHIFT = 0.7, 0.2, 3, 0.6
RECORDS = {"in the crowd": 3, "outside the crowd": 67, "the outlier": 77}
"""Records worth a look, by where they are."""
_AT_EACH_END = 5  # values of a variable that count as extremes


def table(*, together: bool = False) -> Microdata:
    """Draw 120 records of two numbers, half of them in a crowd, a few far out."""
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((2, N))
    spread = np.sqrt(_TAILS / rng.chisquare(_TAILS, N))
    spread[:CROWD] = _CROWD_SPREAD
    x, y = spread * a, spread * (_TOGETHER * a + np.sqrt(1 - _TOGETHER**2) * b)
    x[CROWD:] += _SHIFT
    variables = tuple(Variable(name=name, kind=Kind.CONTINUOUS) for name in "xy")
    data = Microdata.from_frame(pd.DataFrame({"x": x, "y": y}), Schema(variables=variables))
    return data.with_slices([("x", "y")]) if together else data


def extremes(data: Microdata) -> NDArray[np.intp]:
    """Return the records of the five smallest and five largest values of each variable."""
    # Shapes: the answer (20,): two variables, two ends, five records each, with a record as often
    # as it is at an end.
    order = np.argsort(data.matrix(["x", "y"]), axis=0)
    return np.concatenate([order[:_AT_EACH_END], order[-_AT_EACH_END:]]).ravel()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edges:
    """The donors of one record, the number of gifts of each record, and three prices."""

    points: Floats  # shape (n, 2): in standard deviations
    record: int  # the record that receives, from 0
    weights: Floats  # shape (n,): the probability of each donor of that record
    radius: float | None  # of that record's ball; None for a soft edge
    # shape (n,): expected number of times that each record gives, for one variable
    loads: Floats
    extremes: float  # expected share of the extreme values that appear in a release
    paired: float  # expected share of the records with their x and y in one row
    # of y on x: the original's, and the ratio of the expected covariance and variance
    slope: tuple[float, float]
    spread: float  # expected variance of x over the original's, as a ratio of standard deviations


def expected_covariances(shares: csr_array, values: Floats, *, together: bool) -> Floats:
    """Return the expected covariances of a release at q = 1, shape (2, 2).

    Parameters
    ----------
    shares : csr_array, shape (n, n)
        The probability of each donor, by records that receive.
    values : ndarray, shape (n, 2)
        Two variables.
    together : bool
        Whether one donor gives both.
    """
    means = shares @ values
    # shape (2, 2): over records, the sum of the covariances of their cells
    noise = np.diag((shares @ values**2 - means**2).sum(axis=0))
    if together:
        products = shares @ (values[:, 0] * values[:, 1])
        shared = (products - means[:, 0] * means[:, 1]).sum()
        noise[0, 1] = shared
        noise[1, 0] = shared
    return np.asarray(np.cov(means, rowvar=False) + noise / len(values))


def edges(data: Microdata, setting: RWN | SoftRWN, *, record: int = 0) -> Edges:
    """Compute everything from the exact law, at q = 1."""
    law = setting.prepare(data).law
    assert law is not None  # both have one
    shares, found = law.probabilities, law.neighborhoods
    assert found is not None
    appears = appearance(shares)
    pairs = shares if data.schema.slices else shares * shares  # one donor for both, or drawn twice
    before = np.cov(data.matrix(["x", "y"]), rowvar=False)
    after = expected_covariances(shares, data.matrix(["x", "y"]), together=bool(data.schema.slices))
    return Edges(
        points=setting.metric(data).points(data),
        record=record,
        weights=shares[[record]].toarray()[0],
        radius=float(found.radius[record]) if setting.ball.kernel.has_edge else None,
        loads=np.asarray(shares.sum(axis=0)).ravel(),
        extremes=float(appears[extremes(data)].mean()),
        paired=float(appearance(pairs).mean()),
        slope=(float(before[0, 1] / before[0, 0]), float(after[0, 1] / after[0, 0])),
        spread=float(np.sqrt(after[0, 0] / before[0, 0])),
    )
