"""The forecast of tied slices: a published value, many releases, and rows that are enumerated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.forecast import forecast
from rwn_core.masking import SoftRWN
from rwn_core.measures.risk.repeated_releases import simulated_donors

TIED = SoftRWN(tie=True, balance=1.0, cap=0.3)


def table(n: int = 60, *, holes: bool = False) -> rwn.Microdata:
    """Related numbers, two of them in a slice, and two related categories."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "a": base + 0.5 * rng.normal(size=n),
            "b": base + 0.5 * rng.normal(size=n),
            "c": base + 0.5 * rng.normal(size=n),
            "g": np.where(base + 0.5 * rng.normal(size=n) > 0, "high", "low"),
            "h": np.where(base + 0.5 * rng.normal(size=n) > 0.4, "yes", "no"),
        }
    )
    if holes:
        frame.loc[rng.random(n) < 0.15, "a"] = np.nan
    return rwn.Microdata.from_frame(frame).with_slices([("a", "b")])


@pytest.mark.parametrize("holes", [False, True])
def test_expected_covariances_and_counts_are_those_of_releases(holes: bool) -> None:
    data = table(holes=holes)
    made = forecast(data, TIED)
    law = TIED.prepare(data).law
    numbers, tables, draws = [], [], 600
    values, codes = data.matrix(["a", "b", "c"]), [data.codes(name)[0] for name in ("g", "h")]
    for seed in range(draws):
        donors = simulated_donors(law, np.random.default_rng(seed))
        drawn = np.take_along_axis(values, donors[:, :3], axis=0)
        numbers.append(pd.DataFrame(drawn).cov().to_numpy() if holes else np.cov(drawn.T))
        g, h = (code[donors[:, 3 + i]].astype(int) for i, code in enumerate(codes))
        tables.append(np.bincount(2 * g + h, minlength=4).reshape(2, 2))
    apart = forecast(data, replace(TIED, tie=False))
    for found, expected, without in (
        (numbers, made.covariances.to_numpy(), apart.covariances.to_numpy()),
        (tables, made.cross_tab("g", "h").to_numpy(), apart.cross_tab("g", "h").to_numpy()),
    ):
        error = np.std(found, axis=0) / np.sqrt(draws)
        mean = np.mean(found, axis=0)
        assert (np.abs(mean - expected) < 4 * error + 0.01 * holes).all()
        assert (np.abs(mean - without) > 4 * error).any()  # slices drawn apart are another law
    for same in ("means", "mean_variances", "cells_intact"):
        pd.testing.assert_series_equal(getattr(made, same), getattr(apart, same))


def test_rows_intact_are_those_of_the_law() -> None:
    data = table()
    setting = SoftRWN(tie=True, own=True)
    law = setting.prepare(data).law
    assert forecast(data, setting).rows_intact == pytest.approx(law.rows_unchanged().sum())
    apart = forecast(data, replace(setting, tie=False)).rows_intact
    assert forecast(data, setting).rows_intact > apart
