"""k-PRAM and k-noise: records within reach of the noise, and what each does to values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.io.demo import load_demo
from rwn_core.laws.noise_law import Noise, Shape
from rwn_core.masking import KPRAM, KNoise, mask
from rwn_core.masking.intervals import intervals
from rwn_core.masking.k_noise import delta

SEED = 1  # of the one release
TABLES = ("ages of 241 men", "a gap around one person")
_ALONE, _GAP, _SIDE = 50.0, 10.0, 60  # one person, and so many at each end of a gap


def table(name: str) -> Microdata:
    """Give the ages of the demo table bodyfat, or those that attain the bound of theorem 1."""
    ages = np.concatenate([[_ALONE], np.repeat([_ALONE - _GAP, _ALONE + _GAP], _SIDE)])
    if name == TABLES[0]:
        ages = load_demo("bodyfat").values("age")
    schema = Schema(variables=(Variable(name="age", kind=Kind.CONTINUOUS),))
    return Microdata.from_frame(pd.DataFrame({"age": ages.astype(float)}), schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Hold what a method does to a variable Y of true values X."""

    # bias, mse: mean of Y - X and of its square, of one release
    bias: float
    mse: float
    # bias_error, mse_error: their standard errors: one release is one draw
    bias_error: float
    mse_error: float
    expected: float  # of the mean square, over all releases


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KMethods:
    """Hold both methods at one k."""

    # half the length that holds k records around every record, halved: the noise is uniform on
    # [-delta, delta], or has the same variance
    delta: float
    at: Floats  # shape (v,): the different values, ascending
    near: Integers  # shape (v,): records within 2 delta of each
    # shape (v,): expected number of records that are released within 2 delta of it
    expected: Floats
    borders: Floats  # where the intervals of k-PRAM begin, and where the last ends
    smallest: float  # the least of expected / near; theorem 1 says at least 1/2 for uniform noise
    noise: Change
    pram: Change
    # values, noisy, drawn: shape (n,): as they are, after k-noise and after k-PRAM, row by row
    values: Floats
    noisy: Floats
    drawn: Floats


def k_methods(data: Microdata, *, k: int, shape: Shape = "uniform") -> KMethods:
    """Mask one variable both ways."""
    values = data.values("age")
    half = delta(np.sort(values), k)
    noise = Noise(shape=shape, sd=half / np.sqrt(3))
    at = np.unique(values)
    near = (np.abs(values - at[:, None]) <= 2 * half).sum(axis=1)
    # Biswal, Arbuckle, Kulik, theorem 1, in its exact form
    apart = values - at[:, None]  # shape (v, n)
    expected = (noise.below(2 * half - apart) - noise.below(-2 * half - apart)).sum(axis=1)
    group = intervals(values, k)
    count = int(group.max()) + 1
    methods: tuple[Any, ...] = (KNoise(k=k, shape=shape), KPRAM(k=k))
    noisy, drawn = (mask(data, each, seed=SEED).masked.values("age") for each in methods)
    return KMethods(
        delta=half,
        at=at,
        near=near,
        expected=expected,
        borders=np.linspace(values.min(), values.max(), count + 1),
        smallest=float((expected / near).min()),
        noise=_change(noisy - values, noise.sd**2),
        pram=_change(drawn - values, resampling_error(values, group)),
        values=values,
        noisy=noisy,
        drawn=drawn,
    )


def resampling_error(values: Floats, group: Integers) -> float:
    """The expected mean square of k-PRAM: twice the variance within groups."""
    size = np.bincount(group)
    mean = np.bincount(group, values) / size
    return float(2 * ((values - mean[group]) ** 2).mean())


def _change(moved: Floats, expected: float) -> Change:
    root = np.sqrt(len(moved))
    return Change(
        bias=float(moved.mean()),
        mse=float((moved**2).mean()),
        bias_error=float(moved.std(ddof=1) / root),
        mse_error=float((moved**2).std(ddof=1) / root),
        expected=expected,
    )
