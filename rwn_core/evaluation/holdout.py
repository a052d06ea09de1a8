"""Prediction on records that were never masked: split, mask the rest, fit, test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.units import random_places
from rwn_core.errors import ParameterError
from rwn_core.masking import Method, mask
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Sides
from rwn_core.measures.utility import prediction
from rwn_core.measures.utility.prediction import Prediction
from rwn_core.parallel.threads import steps, work


def predict_on_holdout(
    microdata: Microdata,
    params: Method,
    *,
    seed: int = 0,
    repeats: int = 5,
    train_share: float = 0.7,
    progress: Callable[[float], None] | None = None,
) -> Prediction:
    """Fit on masked records, test on untouched ones; errors have the shape (repeats, learners)."""
    if repeats < 1:
        raise ParameterError("repeats must be a whole number of at least 1.")
    if not 0 < train_share < 1:
        raise ParameterError("train_share must lie between 0 and 1.")
    found = list[Prediction]()
    with work(progress=progress):
        for repeat in steps(range(repeats)):
            # of a person or household all rows are on one side
            place = random_places(microdata, seed + repeat)
            rows = np.argsort(place, kind="stable")
            cut = int((place < round(train_share * (place.max() + 1))).sum())
            training, holdout = microdata.take(rows[:cut]), microdata.take(rows[cut:])
            masked = mask(training, params, seed=seed + repeat).masked
            compared = Comparison(original=training, masked=masked, holdout=holdout)
            found.append(cast(Prediction, prediction.MEASURE.compute(compared).detail))
    errors = Sides(*map(np.array, zip(*(one.errors for one in found), strict=True)))
    return replace(found[-1], errors=errors)
