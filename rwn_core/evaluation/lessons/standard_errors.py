"""Counts how often the intervals of masked samples hold the truth, which here is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.question import Question
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.evaluation.standard_errors import Z95
from rwn_core.masking import Prepared
from rwn_core.measures.statistics.design_matrix import design_matrix
from rwn_core.measures.statistics.ols import least_squares
from rwn_core.randomness import SecretKey

N = 150  # records of a sample: a hundred of them fit into memory and into a slider move
TRUTH = 1.0  # the slope of each predictor
SEED = 1  # a lesson is the same for everybody
PREDICTORS = ("x1", "x2", "x3")
_TOGETHER = 0.5  # correlation of the predictors
_NOISE = 2.0  # standard deviation of what they do not explain


def sample(number: int) -> Microdata:
    """Draw a sample of a population in which y = x1 + x2 + x3 and noise.

    Parameters
    ----------
    number : int
        Which one, from 0; each is independent of the others.

    Examples
    --------
    >>> sample(0)
    Microdata(150 records x 4 variables)
    """
    normals = np.random.default_rng([SEED, number]).standard_normal((5, N))
    columns = np.sqrt(_TOGETHER) * normals[0] + np.sqrt(1 - _TOGETHER) * normals[1:4]
    frame = pd.DataFrame(dict(zip(PREDICTORS, columns, strict=True)))
    frame["y"] = TRUTH * columns.sum(axis=0) + _NOISE * normals[4]
    variables = tuple(Variable(name=name, kind=Kind.CONTINUOUS) for name in frame.columns)
    question = Question(response="y", predictors=PREDICTORS)
    return Microdata.from_frame(frame, Schema(variables=variables, question=question))


def slope(original: Microdata, table: Microdata) -> tuple[float, float]:
    """Fit y on the predictors: the slope of x1 and the standard error that is reported."""
    fit = least_squares(design_matrix(original, table, original.schema.question))
    return float(fit.coefficients[1]), float(fit.standard_errors[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slopes:
    """Hold the slope of every sample with its reported standard error, shape (m,) each."""

    slope: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which nominal 95 % intervals hold the truth."""
        return np.abs(self.slope - TRUTH) <= Z95 * self.error

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth."""
        return float(self.covered.mean())

    @property
    def ratio(self) -> float:
        """Mean reported standard error over the real one, the spread of the slopes."""
        return float(self.error.mean() / self.slope.std(ddof=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StandardErrors:
    """Hold the same samples before and after masking.

    Attributes
    ----------
    original, released : Slopes
    """

    original: Slopes
    released: Slopes


def slopes(samples: Sequence[Prepared], *, masked: bool) -> Slopes:
    """Fit every sample, or a release of it.

    Parameters
    ----------
    samples : sequence of Prepared
        At least two of `sample`, each with the setting.
    masked : bool
    """
    fits = [slope(one.microdata, _table(one, i, masked)) for i, one in enumerate(samples)]
    found = np.array(fits)
    return Slopes(slope=found[:, 0], error=found[:, 1])


def _table(one: Prepared, number: int, masked: bool) -> Microdata:
    return one.release(SecretKey.from_seed(number)).masked if masked else one.microdata
