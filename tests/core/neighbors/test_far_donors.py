"""Beyond the stored table: every position of the slider, as a search of its own finds it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.neighbors import Drawing, metric_axes, preview
from rwn_core.neighbors.far_donors import FarDonors
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.preview import build_preview
from rwn_core.neighbors.source import Ball, search
from rwn_core.randomness import SecretKey

N = 2400
DRAWING = Drawing(key=SecretKey.from_seed(5), streams=(0, 1, 1, 4), q=np.array([1.0, 0.5, 1, 0.8]))


def points_of(kind: str, monkeypatch):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(N, 3)) + rng.normal(size=(N, 1))
    if kind == "clones":  # and distances that tie with positions of the slider
        return np.round(points * 2) / 2
    if kind == "coded":
        monkeypatch.setattr(metric_axes, "MANY_LEVELS", 5)
        monkeypatch.setattr("rwn_core.neighbors.metric.MANY_LEVELS", 5)
        frame = pd.DataFrame(points, columns=["a", "b", "c"])
        frame["place"] = np.char.add("p", rng.integers(0, 12, N).astype(str))
        data = Microdata.from_frame(frame)
        return Metric.fit(data, encoding="matching").coded(data)
    if kind == "outliers":
        points[::40] *= 30
    return points


@pytest.fixture(params=["plain", "clones", "outliers", "coded"])
def built(request, monkeypatch):
    monkeypatch.setattr(preview, "LARGEST_PAIRS", 30_000)
    monkeypatch.setattr(preview, "LARGEST_SEARCHED", 900_000)
    points = points_of(request.param, monkeypatch)
    if request.param == "plain":
        monkeypatch.setattr(preview, "LARGEST_WHOLE", 2000)
        monkeypatch.setattr(preview, "SHOWN", 700)
    return build_preview(points)


def test_every_position_has_the_sizes_and_donors_of_its_own_search(built):
    beyond = [r for r in built.slider_range.positions.tolist() if r > built.slider_range.stored]
    assert len(beyond) > 10
    for number, epsilon in enumerate(beyond[:: max(1, len(beyond) // 4)] + beyond[-1:]):
        ball = Ball(k=(None, 1, 5, 60)[number % 4], epsilon=epsilon)
        found, donors = built.find(ball, DRAWING)
        full, expected = search(built.points, ball, DRAWING)
        rows = built.records
        np.testing.assert_array_equal(donors, expected[rows])
        np.testing.assert_array_equal(found.sizes, full.sizes[rows])
        np.testing.assert_array_equal(found.within, full.within[rows])
        np.testing.assert_array_equal(found.radius, full.radius[rows])
        np.testing.assert_array_equal(found.nearest, full.nearest[rows])
        assert not found.is_stored
        np.testing.assert_array_equal(found.members(7), full.members(rows[7]))


def test_only_another_key_is_looked_up_again(built, monkeypatch):
    ball = Ball(k=5, epsilon=built.slider_range.epsilon)
    built.find(ball, DRAWING)
    mine = built._far[0]
    other = Drawing(key=SecretKey.from_seed(6), streams=DRAWING.streams, q=DRAWING.q)
    with monkeypatch.context() as patch:
        patch.setattr(FarDonors, "belong_to", lambda self, drawing: self is mine)
        lower = built.slider_range.positions[-2]
        assert built.find(Ball(k=5, epsilon=float(lower)), DRAWING)[1] is not None
        assert built._far == [mine]
    donors = built.find(ball, other)[1]
    assert built._far != [mine]
    np.testing.assert_array_equal(donors, search(built.points, ball, other)[1][built.records])


def test_between_two_positions_it_searches(built):
    epsilon = float(built.slider_range.positions[-2:].mean())
    ball = Ball(k=5, epsilon=epsilon)
    donors = built.find(ball, DRAWING)[1]
    assert built._far == []
    np.testing.assert_array_equal(donors, search(built.points, ball, DRAWING)[1][built.records])
