"""Categories of many levels: the neighborhoods and donors of their dummies, without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors import DrawRequest
from rwn_core.neighbors.distance import CodedPoints, squared_distances
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import complete_table
from rwn_core.randomness import SecretKey

KEY = SecretKey.from_seed(3)
DRAWING = DrawRequest(key=KEY, streams=(0, 1, 2), q=np.array([1.0, 0.6, 1.0]))
SCHEMA = Schema(
    variables=(
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="c", kind=Kind.CATEGORICAL),
    )
)


def table(number: int) -> Microdata:
    """Numbers, some of them rounded, between categories of some levels, some values missing."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(60, 320))
    columns: dict[str, object] = {}
    for column in range(int(rng.integers(0, 4))):
        values = rng.normal(size=n)
        columns[f"x{column}"] = values if column % 2 else np.round(values, 1)
    for column in range(int(rng.integers(1, 4))):
        levels = int(rng.integers(4, 60))
        share = 1 / (1 + np.arange(levels)) ** (number % 3)  # alike, or some of them rare
        codes = rng.choice(levels, n, p=share / share.sum())
        columns[f"c{column}"] = np.where(rng.random(n) < 0.05, None, codes.astype(str))
    kinds = [
        Variable(
            name=name,
            kind=Kind.CATEGORICAL if name[0] == "c" else Kind.CONTINUOUS,
            weight=float(rng.choice([0.05, 0.3, 1.0])),
        )
        for name in columns
    ]
    return Microdata.from_frame(pd.DataFrame(columns), Schema(variables=tuple(kinds)))


def both(number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[CodedPoints, np.ndarray]:
    """A table's points without and with dummies."""
    monkeypatch.setattr("rwn_core.neighbors.metric.CODED_LEVELS", 3)
    microdata = table(number)
    encoding = ("dummies", "matching")[number % 2]
    metric = Metric.fit(microdata, encoding=encoding)
    coded = metric.coded(microdata)
    assert isinstance(coded, CodedPoints)
    return coded, metric.points(microdata)


def settings(points: np.ndarray, number: int) -> list[tuple[int | None, float | None]]:
    """Radii on a distance that occurs, small and large, with k and without."""
    n = len(points)
    rng = np.random.default_rng(number)
    i, j = rng.integers(0, n, (2, 3))
    radii = np.sqrt(squared_distances(points, i, j)).tolist()
    return [(5, radii[0]), (None, radii[1]), (3, None), (n // 3, radii[2] / 4), (2, 0.0)]


@pytest.mark.parametrize("number", range(4))
def test_distances_have_the_bits_of_the_dummies(number, monkeypatch):
    coded, dummies = both(number, monkeypatch)
    rows, others = np.meshgrid(*[np.arange(len(dummies))] * 2)
    np.testing.assert_array_equal(
        squared_distances(coded, rows, others), squared_distances(dummies, rows, others)
    )


@pytest.mark.parametrize("number", range(12))
def test_a_search_finds_what_all_pairs_of_dummies_find(number, monkeypatch):
    """Sizes, nearest distances, donors and stored members; all records, some, and candidates."""
    coded, dummies = both(number, monkeypatch)
    n = len(dummies)
    complete, index = complete_table(dummies), build_index(coded, leaf=4 + number)
    some = np.flatnonzero(np.random.default_rng(number).random(n) < 0.3)
    for k, epsilon in settings(dummies, number):
        expected = complete.cut(k=k, epsilon=epsilon)
        search = Search(index, ball=RadiusAndK(k=k, epsilon=epsilon))
        result = search.run(DRAWING)
        np.testing.assert_array_equal(result.sizes, expected.sizes)
        np.testing.assert_array_equal(result.within, expected.within)
        draws = Draws(KEY, np.arange(n), DRAWING.streams)
        np.testing.assert_array_equal(result.donors, draw_donors(expected, draws, DRAWING.q))
        stored = search.fill(result)
        for record in range(0, n, 7):
            mine = stored.members[stored.starts[record] : stored.starts[record + 1]]
            np.testing.assert_array_equal(mine, expected.members(record))
        few = Search.of_some(index, coded, some, RadiusAndK(k=k, epsilon=epsilon)).run(DRAWING)
        np.testing.assert_array_equal(few.donors, result.donors[some])
    candidates = np.arange(0, n, 2)
    one = Search.among(coded, candidates, RadiusAndK(k=4, epsilon=0.5)).table()
    other = Search.among(dummies, candidates, RadiusAndK(k=4, epsilon=0.5)).table()
    np.testing.assert_array_equal(one.records, other.records)
    np.testing.assert_array_equal(one.squared, other.squared)


def test_many_levels_take_no_more_room_than_few():
    n = 4000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n), "c": rng.integers(0, n, n).astype(str)})
    microdata = Microdata.from_frame(frame, SCHEMA)
    points = Metric.fit(microdata).coded(microdata)
    assert points.shape == (n, 2)
    levels = len(set(frame["c"]))
    assert [len(square) for square in points.squares.values()] == [levels + 1]
    # the closed form of a dummy's deviation is that of the dummy itself
    one = (frame["c"] == frame["c"][0]).to_numpy().astype(float)
    level = int(points.values[0, 1])
    assert points.squares[1][level] == pytest.approx(1 / one.var(ddof=1), rel=1e-12)


def test_people_with_a_level_that_the_table_has_not_are_as_far_as_without_any(monkeypatch):
    monkeypatch.setattr("rwn_core.neighbors.metric.CODED_LEVELS", 2)

    def made(levels):
        frame = pd.DataFrame({"x": np.arange(4.0), "c": levels})
        return Microdata.from_frame(frame, SCHEMA)

    metric = Metric.fit(made(["a", "b", "c", "d"]))
    others = made(["a", "z", "y", "b"])
    rows, columns = np.meshgrid(np.arange(4), np.arange(4))
    np.testing.assert_array_equal(
        squared_distances(metric.coded(others), rows, columns),
        squared_distances(metric.points(others), rows, columns),
    )
