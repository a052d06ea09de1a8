"""Prediction on records that were never masked: split, mask the rest, fit, test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import Method, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.parallel.threads import steps, work


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionTrial:
    """Errors on the holdout over repeated splits."""

    # original, released: shape (repeats,): error of the learner fitted on the original and on the
    # masked training records
    original: NDArray[np.float64]
    released: NDArray[np.float64]
    # originals, releaseds: shape (repeats, learners): the same for every learner that `detail`
    # names, the forest first
    originals: NDArray[np.float64]
    releaseds: NDArray[np.float64]
    # of the last reading: response, error_name, n_train, n_test, learner, learners
    detail: dict[str, object]

    def differences(self) -> list[tuple[str, float, float, float, float]]:
        """Every learner: its name, mean errors, and the difference with its standard error."""
        names = [str(name) for name in list(self.detail["learners"])]  # type: ignore[call-overload]  # a list, by the measure
        change = self.releaseds - self.originals
        spread = np.full(len(names), np.nan)
        if len(change) > 1:
            spread = change.std(axis=0, ddof=1) / np.sqrt(len(change))
        means = (each.mean(axis=0).tolist() for each in (self.originals, self.releaseds, change))
        return list(zip(names, *means, spread.tolist(), strict=True))


def predict_on_holdout(
    microdata: Microdata,
    params: Method,
    *,
    seed: int = 0,
    repeats: int = 5,
    train_share: float = 0.7,
    progress: Callable[[float], None] | None = None,
) -> PredictionTrial:
    """Fit on masked records, test on untouched ones."""
    if repeats < 1:
        raise ParameterError("repeats must be a whole number of at least 1.")
    if not 0 < train_share < 1:
        raise ParameterError("train_share must lie between 0 and 1.")
    readings = []
    with work(progress=progress):
        for repeat in steps(range(repeats)):
            order = np.random.default_rng(seed + repeat).permutation(microdata.n)
            cut = round(train_share * microdata.n)
            training, holdout = microdata.take(order[:cut]), microdata.take(order[cut:])
            masked = mask(training, params, seed=seed + repeat).masked
            compared = Comparison(original=training, masked=masked, holdout=holdout)
            reading = MEASURES["prediction"].read(compared, bare=True)
            if isinstance(reading, NotApplicable):
                raise reading
            readings.append(reading)
    detail = dict(readings[-1].detail)
    return PredictionTrial(
        original=np.array([reading.detail["error_original"] for reading in readings]),
        released=np.array([reading.detail["error_released"] for reading in readings]),
        originals=np.array([reading.detail["errors_original"] for reading in readings]),
        releaseds=np.array([reading.detail["errors_released"] for reading in readings]),
        detail={name: detail[name] for name in detail if not name.startswith("error")}
        | {"error_name": detail["error_name"]},
    )
