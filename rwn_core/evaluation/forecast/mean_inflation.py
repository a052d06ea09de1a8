"""What the masking adds to the variance of every released mean, in closed form."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.forecast import forecast
from rwn_core.masking import Method


def mean_inflation(microdata: Microdata, params: Method) -> pd.DataFrame:
    """Variance inflation of every released mean, in closed form."""
    expected = forecast(microdata, params)
    frame = microdata.frame[list(expected.means.index)].astype(np.float64)
    spread = frame.std(ddof=1)
    names = spread.index[(spread > 0) & frame.notna().all()]
    mean, unit = frame[names].mean(), (spread[names] / np.sqrt(microdata.n)) ** 2
    shift = expected.means[names] - mean
    added = expected.mean_variances[names]
    return pd.DataFrame(
        {
            "mean": mean,
            "expected": expected.means[names],
            "shift": shift,
            "se": np.sqrt(unit),
            "inflation": 1 + added / unit,
            "inflation_with_bias": 1 + (added + shift**2) / unit,
        }
    )
