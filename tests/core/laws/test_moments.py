"""What laws without neighborhoods say of numbers, counts and cells, against many releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.evaluation.forecast import forecast, forecast_scan
from rwn_core.laws.law import Law
from rwn_core.masking import (
    KPRAM,
    NBRS2015,
    PRAM,
    AdditiveNoise,
    CorrelatedNoise,
    LocalSuppression,
    Microaggregation,
    RandomSample,
    RandomSwapping,
    RankSwapping,
    Recoding,
    RecordSwapping,
)
from rwn_core.randomness import SecretKey

RELEASES = 120
SETTINGS = (
    AdditiveNoise(size=0.6),
    AdditiveNoise(size=0.6, shape="laplace", reflected=True),
    CorrelatedNoise(size=0.5),
    KPRAM(k=12),
    KPRAM(k=12, draw_from="permute"),
    PRAM(change=0.4, invariant=False, variables="rooms,kind"),
    RandomSwapping(share=0.6, variables="rooms,area,kind"),
    RecordSwapping(share=0.7, within="kind", variables="area,rent"),
)
CERTAIN = (Recoding(k=10), Microaggregation(k=4), LocalSuppression(k=3))


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    """60 dwellings; some rents are missing."""
    generator = np.random.default_rng(4)
    rooms = generator.integers(0, 6, 60)
    area = 20.0 + 12 * rooms + generator.normal(0, 8, 60)
    rent = np.where(generator.random(60) < 0.1, np.nan, 9 * area + generator.normal(0, 60, 60))
    kind = np.array(["flat", "house", "attic"])[generator.integers(0, 3, 60)]
    frame = pd.DataFrame({"rooms": rooms, "area": area, "rent": rent, "kind": kind})
    return rwn.Microdata.from_frame(frame)


def simulated(data: rwn.Microdata, params) -> dict[str, np.ndarray]:
    """The statistics of many releases, by name: one row a release."""
    prepared, rows = params.prepare(data), []
    own = data.frame.astype(object)
    for seed in range(RELEASES):
        frame = prepared.release(SecretKey.from_seed(seed)).masked.frame
        same = (frame.astype(object) == own) | (frame.isna() & own.isna())
        numbers = frame[["rooms", "area"]]
        rows.append(
            {
                "means": frame[list(data.numeric_names)].mean().to_numpy(float),
                "covariances": numbers.cov().to_numpy().ravel(),
                "counts": frame["kind"].value_counts().reindex(["attic", "flat", "house"]),
                "cells": same.sum().to_numpy(float),
                "rows": [same.all(axis=1).sum()],
            }
        )
    return {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}


def stated(law: Law) -> dict[str, np.ndarray]:
    """What a law says of the same statistics, and the variances of the means."""
    own, cells = law.moments(), law.components()[0].cells
    names, n = [v.name for v in law.original.schema.released], law.original.n
    known = (~np.isnan(own.means)).sum(axis=0)
    place = [own.names.index(name) for name in law.original.numeric_names]
    two = [own.names.index(name) for name in ("rooms", "area")]
    shown, together, totals = own.means[:, two], own.together, own.totals
    second = shown.T @ shown + together[np.ix_(two, two)]
    of_sums = np.outer(shown.sum(axis=0), shown.sum(axis=0)) + totals[np.ix_(two, two)]
    table, values = cells.table("kind")
    levels = [values.index(each) for each in ("attic", "flat", "house")]
    return {
        "means": np.nanmean(own.means, axis=0)[place],
        "covariances": ((second - of_sums / n) / (n - 1)).ravel(),
        "counts": np.asarray(table.sum(axis=0)).ravel()[levels],
        "cells": np.array([cells.retained(name).sum() for name in names]),
        "rows": np.array([law.rows_unchanged().sum()]),
        "mean_variances": (np.diag(totals) / known**2)[place],
    }


def differs(releases: np.ndarray, expected: np.ndarray) -> bool:
    """Whether a mean over releases is more than 4 standard errors away, or not exact."""
    error = releases.std(axis=0, ddof=1) / np.sqrt(len(releases))
    apart = np.abs(np.nan_to_num(releases).mean(axis=0) - np.nan_to_num(expected))
    return bool((apart > 4 * error + 1e-9 * (1 + np.abs(np.nan_to_num(expected)))).any())


@pytest.mark.parametrize("params", SETTINGS, ids=lambda params: params.method)
def test_releases_are_as_expected_and_a_wrong_factor_is_seen(data, params) -> None:
    releases, expected = simulated(data, params), stated(params.prepare(data).law)
    for name, values in releases.items():
        rare = name == "rows" and expected[name][0] * RELEASES < 5
        assert rare or not differs(values, expected[name]), name
    wrong = expected["covariances"] * 1.06 + 0.5
    assert differs(releases["covariances"], wrong)
    spread, variances = releases["means"].var(axis=0, ddof=1), expected["mean_variances"]
    certain = variances < 1e-12
    assert (spread[certain] < 1e-9).all()
    ratio = spread[~certain] / variances[~certain]
    assert ((ratio > 0.5) & (ratio < 1.7)).all()


@pytest.mark.parametrize("params", CERTAIN, ids=lambda params: params.method)
def test_a_method_without_chance_does_what_is_expected(data, params) -> None:
    prepared = params.prepare(data)
    frame = prepared.release(SecretKey.from_seed(0)).masked.frame
    found, names = stated(prepared.law), list(data.numeric_names)
    np.testing.assert_allclose(found["means"], frame[names].mean(), rtol=1e-12)
    kept = (frame.astype(object) == data.frame.astype(object)) | frame.isna() & data.frame.isna()
    np.testing.assert_allclose(found["cells"], kept.sum(), rtol=1e-12)
    assert found["mean_variances"].max() == 0


def test_noise_adds_its_variance_to_the_original() -> None:
    table = rwn.Microdata.from_frame(pd.DataFrame({"x": [0.5, 1.0, 4.0], "y": [2.0, 0.5, 1.0]}))
    own, found = table.frame.cov(), AdditiveNoise(size=0.5).prepare(table).law.moments()
    np.testing.assert_allclose(found.together, 3 * np.diag(0.25 * np.diag(own)), rtol=1e-12)
    np.testing.assert_allclose(found.means, table.frame, rtol=1e-12)


REFUSED = (
    rwn.RWN(k=3, neighbors="sample", m=20),
    RandomSample(left_out=0.5),
    RankSwapping(p=0.2),
    NBRS2015(epsilon=0.6, q=0.6),
    AdditiveNoise(size=0.6),
    PRAM(change=0.4),
)


@pytest.mark.parametrize("params", REFUSED, ids=lambda params: params.method)
def test_methods_without_closed_forms_are_refused(data, params) -> None:
    with pytest.raises(ParameterError, match="draw releases instead"):
        forecast(data, params)
    with pytest.raises(ParameterError, match="draw releases instead"):
        forecast_scan(data, [params, replace(params)])
