"""What is evaluated over many releases, under soft kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.draws import draws
from rwn_core.evaluation.weakly_masked import changed_shares, weakly_masked
from rwn_core.masking import SoftRWN
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import plain
from rwn_core.randomness import SecretKey

BALANCED = SoftRWN(kernel="gaussian", balance=1.0, width=0.5)
SETTINGS = (replace(BALANCED, balance=0.0), BALANCED, SoftRWN(kernel="exponential", own=True))


def table() -> Microdata:
    return rwn.load_demo("bodyfat").take(np.arange(120))


def mean_inflation(data: Microdata, params: SoftRWN) -> pd.DataFrame:
    """The variance of every released mean over that of the original's, in closed form."""
    expected, unit = rwn.forecast(data, params), data.frame.var() / data.n
    shift, added = expected.means - data.frame.mean(), expected.mean_variances
    return pd.DataFrame({"se": np.sqrt(unit), "shift": shift, "inflation": 1 + added / unit})


def test_expected_means_of_balance_have_no_shift() -> None:
    data = table()
    balanced, free = mean_inflation(data, BALANCED), mean_inflation(data, SETTINGS[0])
    error = balanced["se"]
    assert (abs(balanced["shift"]) < 1e-4 * error).all()
    assert (abs(free["shift"]) > 0.1 * error).any()


def test_the_inflation_of_means_is_that_of_masked_bootstrap_samples() -> None:
    """Over 300 samples of the records; the planted fault counts no noise of the masking."""
    data = table()
    said = mean_inflation(data, BALANCED)
    names = list(said.index)
    samples = draws(data, BALANCED, 300, 1, resampled=True)
    means = np.array([each.masked.frame[names].mean() for each in samples])
    ratio = means.var(axis=0, ddof=1) / said["se"] ** 2
    error = np.sqrt(2 / 300) * ratio.mean() * 2  # the variables of a body are related
    assert abs((ratio - said["inflation"]).mean()) < error
    assert abs((ratio - 1).mean()) > 2 * error


def test_a_narrow_width_among_clones_is_called_weak() -> None:
    values = np.repeat(np.arange(12.0), 10)
    frame = table().frame.iloc[:, :2].assign(siri=values, age=values.astype(int))
    data = Microdata.from_frame(frame[["siri", "age"]])
    weak = []
    for width in (0.05, 30.0):
        params = SoftRWN(kernel="gaussian", width=width, cap=0.2, bandwidth="absolute")
        release = params.prepare(data).release(SecretKey.from_seed(1))
        reading = MEASURES["cells_changed"].compute(
            Comparison(original=data, masked=release.masked, law=release.law)
        )
        weak.append(weakly_masked(data, params, changed_shares(plain(reading.detail))))
    assert weak == [["siri", "age"], []]
