"""Bias, mean squared error and its root of k-PRAM and k-noise, as in their paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.lessons.k_methods import resampling_error
from rwn_core.evaluation.published_results.replay import Number, mean_number
from rwn_core.masking import KPRAM, KNoise
from rwn_core.masking.intervals import intervals
from rwn_core.masking.k_noise import delta
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

RELEASES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberErrors:
    """Return the errors of released numbers: bias, MSE and RMSE."""

    method: str  # its key
    words: str  # what k made of the variable: how many intervals, or how wide the noise
    # bias, mse, rmse: mean of released minus original, in the variable's unit; mean of its square;
    # and the root of that, of each release
    bias: Number
    mse: Number
    rmse: Number
    expected_mse: float  # what the law of the method says; its bias is exactly 0


def errors_of_numbers(
    microdata: Microdata,
    variable: str,
    *,
    k: int,
    releases: int = RELEASES,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[NumberErrors]:
    """Draw releases of one variable by k-PRAM and by k-noise, and say how far they are off."""
    values = _numbers(microdata, variable)
    if not 2 <= k <= len(values):
        raise ParameterError(f"k must be a whole number from 2 to {len(values):,}.")
    if releases < 2:
        raise ParameterError("releases must be a whole number of at least 2.")
    # a table of their own, with noise that is not rounded
    schema = Schema(variables=(Variable(name="x", kind=Kind.CONTINUOUS, role=Role.OTHER),))
    alone = Microdata(pd.DataFrame({"x": values}), schema)
    group, half = intervals(values, k), delta(np.sort(values), k)
    count = int(group.max()) + 1
    in_words = "one interval" if count == 1 else f"{count:,} intervals"
    found = []
    cases: tuple[tuple[KPRAM | KNoise, str, float], ...] = (
        (KPRAM(k=k), in_words, resampling_error(values, group)),
        (KNoise(k=k), f"noise from {-half:.4g} to {half:.4g}", half**2 / 3),
    )
    for place, (params, words, expected) in enumerate(cases):
        prepared = params.prepare(alone)
        off = np.empty((releases, 2))
        for release in range(releases):
            key = SecretKey.from_seed(seed + release)
            error = prepared.release(key, threads=1).masked.values("x") - values
            off[release] = error.mean(), (error**2).mean()
            if progress is not None:
                progress((place + (release + 1) / releases) / 2)
        bias, squares = off.T
        found.append(
            NumberErrors(
                method=params.method,
                words=words,
                bias=mean_number(bias),
                mse=mean_number(squares),
                rmse=mean_number(np.sqrt(squares)),
                expected_mse=expected,
            )
        )
    return found


def _numbers(microdata: Microdata, variable: str) -> NDArray[np.float64]:
    if variable not in microdata.numeric_names:
        raise NotApplicable(f"{variable} has no numbers; choose a variable with numbers.")
    values = microdata.values(variable)
    return np.asarray(values[~np.isnan(values)], dtype=np.float64)
