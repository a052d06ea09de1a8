"""The 2015 method: whole records, a strict radius, missing rows, two ways to select."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import NO_DONOR, Draws, draw_donors, random_streams
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey, uniforms

LINE = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 30.0], "y": [5, 6, 7, 8, 9]})


@pytest.fixture(scope="module")
def cloud() -> Microdata:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.normal(size=90)})
    frame["g"] = rng.choice(["a", "b"], 90)
    return Microdata.from_frame(frame)


def modified(release) -> np.ndarray:
    return (release.donors != np.arange(len(release.donors))[:, None]).any(axis=1)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.29, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_as_coded_the_number_of_records_is_fixed(cloud, q, seed):
    release = mask(cloud, NBRS2015(epsilon=5.0, q=q), seed=seed)
    assert modified(release).sum() == math.floor(90 * q)


def test_as_coded_takes_the_records_of_the_smallest_numbers(cloud):
    selected = NBRS2015(epsilon=1.0, q=0.5).selected(SecretKey.from_seed(7), 90)
    draws = uniforms(SecretKey.from_seed(7), np.arange(90), 2**32 - 2)[0]
    assert set(np.flatnonzero(selected)) == set(np.argsort(draws)[:45])


@pytest.mark.parametrize("way", ["count", "bernoulli"])
def test_raising_q_only_adds_records(cloud, way):
    before = np.zeros(90, dtype=bool)
    for q in (0.0, 0.2, 0.5, 0.9, 1.0):
        params = NBRS2015(epsilon=1.0, q=q, record_selection=way)
        now = params.selected(SecretKey.from_seed(7), 90)
        assert (now >= before).all()
        before = now
    assert before.all()


def test_the_radius_is_strict():
    """Records 1, 2, 3 and 4 stand exactly 1/sd apart; that radius reaches none of them."""
    sd = LINE["x"].std()
    microdata = Microdata.from_frame(LINE[["x"]])
    at, beyond = (
        NBRS2015(epsilon=factor / sd).neighborhoods(microdata).sizes.tolist()
        for factor in (1.0, 1.0 + 1e-6)
    )
    assert at == [0] * 5
    assert beyond == [1, 2, 2, 1, 0]


def test_a_record_without_neighbors_becomes_missing():
    frame = LINE.assign(g=list("abcde"), flag=[True, False, True, False, True])
    schema = Microdata.from_frame(frame).schema.with_weights({"y": 0, "g": 0, "flag": 0})
    release = mask(Microdata.from_frame(frame, schema), NBRS2015(epsilon=0.2), seed=7)
    assert (release.donors[4] == NO_DONOR).all()
    masked = release.masked.frame
    assert masked.isna().all(axis=1).tolist() == [False] * 4 + [True]
    assert masked["x"].dtype == "float64"
    assert masked["y"].dtype == "Int64"
    assert masked["flag"].dtype == "boolean"
    assert masked["g"].dtype == frame["g"].dtype
    assert release.to_bytes("csv").count(b",,,") == 1


def test_donors_are_strict_members(cloud):
    params = NBRS2015(epsilon=0.8, q=0.7)
    release = mask(cloud, params, seed=7)
    neighborhoods = params.neighborhoods(cloud)
    for record in np.flatnonzero(modified(release)):
        members = set(neighborhoods.members(record).tolist())
        assert set(release.donors[record]) <= (members or {NO_DONOR})


def test_with_every_record_selected_it_is_the_2022_method_of_that_radius(cloud):
    neighborhoods = find_neighborhoods(coordinates(cloud), epsilon=5.0)
    donors = draw_donors(
        neighborhoods,
        Draws(SecretKey.from_seed(7), np.arange(cloud.n), random_streams(cloud)),
        np.ones(3),
    )
    release = mask(cloud, NBRS2015(epsilon=5.0), seed=7)
    np.testing.assert_array_equal(release.donors, donors)
    np.testing.assert_array_equal(release.donors, mask(cloud, RWN(epsilon=5.0), seed=7).donors)


def test_selection_and_donors_come_from_different_numbers(cloud):
    """A record's selection says nothing about which of its members it takes."""
    params = NBRS2015(epsilon=50.0, q=0.5)
    prepared = params.prepare(cloud)
    neighborhoods = prepared.law.neighborhoods
    low = []
    for seed in range(200):
        donors = prepared.release(SecretKey.from_seed(seed)).donors[:, 0]
        for record in np.flatnonzero(donors != np.arange(90))[:20]:
            members = neighborhoods.members(record)
            low.append(np.flatnonzero(members == donors[record])[0] / len(members) < 0.5)
    error = 0.5 / math.sqrt(len(low))
    assert abs(np.mean(low) - 45 / 89) < 5 * error


@pytest.mark.parametrize("way", ["coded", "", None, "Count", 1, True, ["count"]])
def test_an_unknown_selection_is_refused(way):
    with pytest.raises(ParameterError, match="record_selection must be one of: count, bernoulli"):
        NBRS2015(epsilon=1.0, record_selection=way)


def test_who_has_no_neighbor_is_said_with_what_happens_and_what_to_do():
    """Of LINE the last record alone: selected, it loses both values."""
    release = mask(Microdata.from_frame(LINE), NBRS2015(epsilon=1.0, q=1.0), seed=1)
    (remark,) = release.params.remarks(Microdata.from_frame(LINE), release.law)
    assert remark.startswith("1 record has no neighbor within epsilon: ")
    assert "loses all its masked values" in remark
    assert remark.endswith("take a larger epsilon, or method rwn")
    assert release.masked.frame.iloc[-1].isna().all()
