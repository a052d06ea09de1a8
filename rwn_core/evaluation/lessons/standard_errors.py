"""Counts how often the intervals of masked samples hold the truth, which here is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question, Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.masking import Prepared
from rwn_core.measures.measure import Sides
from rwn_core.measures.statistics.intervals import t95
from rwn_core.randomness import SecretKey

N = 150  # records of a sample: a hundred of them fit into memory and into a slider move
TRUTH = 1.0  # the slope of each predictor
SEED = 1  # a lesson is the same for all users
PREDICTORS = ("x1", "x2", "x3")
REACH = t95(N - len(PREDICTORS) - 1)  # standard errors from a slope to an end of its interval
_TOGETHER = 0.5  # correlation of the predictors
_NOISE = 2.0  # standard deviation of what they do not explain


def sample(number: int) -> Microdata:
    """Draw a sample of a population in which y = x1 + x2 + x3 and noise."""
    normals = np.random.default_rng([SEED, number]).standard_normal((5, N))
    columns = np.sqrt(_TOGETHER) * normals[0] + np.sqrt(1 - _TOGETHER) * normals[1:4]
    frame = pd.DataFrame(dict(zip(PREDICTORS, columns, strict=True)))
    frame["y"] = TRUTH * columns.sum(axis=0) + _NOISE * normals[4]
    variables = tuple(Variable(name=name, kind=Kind.CONTINUOUS) for name in frame.columns)
    question = Question(response="y", predictors=PREDICTORS)
    return Microdata.from_frame(frame, Schema(variables=variables, question=question))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slopes:
    """The slope of every sample with its reported standard error, shape (m,) each."""

    slope: Floats
    error: Floats

    @property
    def covered(self) -> Booleans:
        """Which nominal 95 % intervals hold the truth."""
        return np.abs(self.slope - TRUTH) <= REACH * self.error

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth."""
        return float(self.covered.mean())

    @property
    def ratio(self) -> float:
        """Mean reported standard error over the real one, the spread of the slopes."""
        return float(self.error.mean() / self.slope.std(ddof=1))


StandardErrors = Sides[Slopes]
"""The same samples before and after masking."""


def slopes(tables: Sequence[Microdata]) -> Slopes:
    """Fit y on the predictors in every table: the slope of x1 and the error that is reported."""
    values = np.array([table.matrix([*PREDICTORS, "y"]) for table in tables])
    values -= values.mean(axis=1, keepdims=True)  # which fits the intercept
    x, y = values[..., :3], values[..., 3:]
    inverse = np.linalg.inv(x.swapaxes(1, 2) @ x)
    coefficients = inverse @ (x.swapaxes(1, 2) @ y)
    squares = ((y - x @ coefficients) ** 2).sum(axis=(1, 2))
    error = np.sqrt(squares / (N - len(PREDICTORS) - 1) * inverse[:, 0, 0])
    return Slopes(slope=coefficients[:, 0, 0], error=error)


def release(one: Prepared, number: int) -> Microdata:
    """Mask a sample, each with its own key."""
    return one.release(SecretKey.from_seed(number)).masked
