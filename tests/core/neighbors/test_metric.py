"""Points: scales, codes of categories, weights; the range of a slider."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Draws, Kind, Microdata, Schema, SecretKey, Variable, draw_donors
from rwn_core.neighbors import DrawRequest, slider_range
from rwn_core.neighbors.distance import CodedPoints, squared_distances
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import Metric, coordinates, discrete_weights
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import complete_table
from tests.attacked_tables import released

NUMBERS = [1.0, 2.0, 4.0, 9.0]
GROUPS = ["a", "a", "b", "c"]


def table(schema: Schema | None = None, **columns: object) -> Microdata:
    return Microdata.from_frame(pd.DataFrame(columns), schema)


def test_numbers_are_z_scores_with_divisor_n_less_1_or_span_one():
    points = coordinates(table(x=NUMBERS))
    expected = (np.array(NUMBERS) - 4.0) / np.sqrt(38 / 3)
    np.testing.assert_allclose(points[:, 0], expected, rtol=1e-14)
    assert not points.flags.writeable
    points = coordinates(table(x=NUMBERS, g=GROUPS), scale="range")
    np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(NUMBERS) / 8, rtol=1e-14)
    assert np.ptp(points, axis=0) == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("scale", ["sd", "range"])
@pytest.mark.parametrize("size", [1e-145, 1e-300, 1e140])
def test_numbers_of_any_size_stay_in_the_distance(size, scale):
    """Squares of tiny differences are 0 in this computer; the variable counts all the same."""
    points = coordinates(table(x=size * np.array(NUMBERS), y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    plain = coordinates(table(x=NUMBERS, y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    np.testing.assert_allclose(points, plain, rtol=1e-12, atol=1e-12)


def test_categories_are_z_scored_dummies_or_one_apart():
    points = coordinates(table(g=GROUPS))
    assert points.shape == (4, 3)
    for column, level in enumerate("abc"):
        dummy = np.array([float(value == level) for value in GROUPS])
        expected = (dummy - dummy.mean()) / dummy.std(ddof=1)
        np.testing.assert_allclose(points[:, column], expected, rtol=1e-14)
    points = coordinates(table(g=GROUPS), encoding="matching")
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    unlike = np.array([[first != second for second in GROUPS] for first in GROUPS])
    np.testing.assert_allclose(distances, unlike.astype(float), rtol=1e-14)


@pytest.mark.parametrize("scale", ["sd", "range"])
def test_a_missing_number_sits_at_the_mean_beside_its_indicator(scale):
    points = coordinates(table(x=[1.0, 3.0, np.nan, 5.0]), scale=scale)
    assert points.shape == (4, 2)
    assert points[2, 0] == 0.0
    known = points[[0, 1, 3], 0]
    np.testing.assert_allclose(known, [-known[2], 0, known[2]], atol=1e-15)
    assert len(np.unique(points[[0, 1, 3], 1])) == 1
    assert points[2, 1] > points[0, 1]


def test_a_missing_category_is_a_level_and_two_missing_values_are_not_apart():
    missing = coordinates(table(g=["a", "a", None, "b"]))
    named = coordinates(table(g=["a", "a", "c", "b"]))
    far = [np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (missing, named)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-14)
    points = coordinates(table(x=[np.nan, np.nan, 1.0, 2.0], g=[None, None, "a", "b"]))
    assert np.array_equal(points[0], points[1])


def test_ordered_levels_count_as_numbers_and_dates_in_days():
    levels = ("low", "middle", "high")
    schema = Schema(variables=(Variable(name="o", kind=Kind.ORDERED, levels=levels),))
    points = coordinates(table(schema, o=["low", "high", "middle", "high"]))
    np.testing.assert_allclose(points, coordinates(table(x=[0.0, 2, 1, 2])), rtol=1e-14)
    points = coordinates(table(d=pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-11"])))
    np.testing.assert_allclose(points, coordinates(table(x=[0.0, 1, 10])), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("encoding", ["dummies", "matching"])
@pytest.mark.parametrize("scale", ["sd", "range"])
def test_constants_do_not_count(scale, encoding):
    alone = coordinates(table(x=NUMBERS), scale, encoding)
    beside = table(x=NUMBERS, c=[0.1] * 4, g=["a"] * 4, i=[3] * 4)
    np.testing.assert_array_equal(coordinates(beside, scale, encoding), alone)


def test_weights_stretch_all_coordinates_of_a_variable_and_0_leaves_it_out():
    microdata = table(x=NUMBERS, g=GROUPS, m=[1.0, np.nan, 2.0, 3.0])
    reference = coordinates(microdata)
    weighted = coordinates(microdata.with_weights({"x": 2.0, "g": 0.5, "m": 3.0}))
    np.testing.assert_allclose(weighted, reference * [2.0, 0.5, 0.5, 0.5, 3.0, 3.0], rtol=1e-14)
    points = coordinates(microdata.with_weights({"g": 0.0, "m": 0.0}))
    np.testing.assert_array_equal(points, coordinates(table(x=NUMBERS)))


def test_a_release_is_measured_in_the_units_of_its_original():
    metric = Metric.fit(table(x=NUMBERS, g=GROUPS))
    other = metric.points(table(x=[4.0, 4.0], g=["a", "unseen"]))
    assert other[:, 0].tolist() == [0.0, 0.0]
    assert other[0, 1] > 0
    assert (other[1, 1:] < 0).all()


def test_discrete_weights_shrink_with_the_records_and_the_numbers_beside():
    data = table(x=NUMBERS, y=NUMBERS, g=GROUPS).with_weights({"g": 3.0})
    assert discrete_weights(data.schema, 64) == pytest.approx({"g": 3.0 / 64 ** (1 / 6)})
    assert discrete_weights(data.with_weights({"x": 0.0}).schema, 32) == pytest.approx({"g": 1.5})


KEY = SecretKey.from_seed(3)
DRAWING = DrawRequest(key=KEY, streams=(0, 1, 2), q=np.array([1.0, 0.6, 1.0]))
SCHEMA = Schema(
    variables=(Variable(name="x", kind=Kind.CONTINUOUS), Variable(name="c", kind=Kind.CATEGORICAL))
)


def table_coded(number: int) -> Microdata:
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
    microdata = table_coded(number)
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


@pytest.mark.parametrize("number", range(6))
def test_a_search_finds_what_all_pairs_of_dummies_find(number, monkeypatch):
    """Sizes, nearest distances, donors and stored members; all records, some, and candidates."""
    coded, dummies = both(number, monkeypatch)
    n = len(dummies)
    rows = np.meshgrid(*[np.arange(n)] * 2)
    np.testing.assert_array_equal(
        squared_distances(coded, *rows), squared_distances(dummies, *rows), "the bits of dummies"
    )
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
    queries = [build_index(points) for points in (coded, dummies)]
    one, other = (
        Search(
            build_index(points[candidates], numbers=candidates, frame=query.frame),
            query,
            ball=RadiusAndK(k=4, epsilon=0.5),
        ).table()
        for points, query in zip((coded, dummies), queries, strict=True)
    )
    np.testing.assert_array_equal(one.records, other.records)
    np.testing.assert_array_equal(one.squared, other.squared)


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


def test_a_radius_stays_between_its_ends():
    values = np.arange(1.0, 101.0) ** 2
    ends = [(0.0, np.inf), (0.0, 30.0), (0.0, 21.0), (21.0, 30.0), (20.5, 21.5)]
    for least, most in ends:
        assert slider_range.radius_of_mean_size(values, 0.2, least, most) == 21.0
    assert slider_range.radius_of_mean_size(values, 0.2, most=4.5) == 4.5
    assert slider_range.radius_of_mean_size(values, 0.2, 35.5, 40.0) == 35.5


def test_the_low_distance_is_that_of_records_that_are_apart():
    squared = np.square(np.random.default_rng(9).integers(0, 40, 5000) / 7.0)
    squared[::500] = np.inf
    apart = squared[(squared > 0) & np.isfinite(squared)]
    assert slider_range.low_distance(squared) == np.sqrt(np.quantile(apart, 0.01))
    assert slider_range.low_distance(np.zeros(6)) == 1.0


@pytest.mark.parametrize(
    ("records", "stored", "end"),
    [
        (241, 12_000_000, 100),
        (90, 12_000_000, 89),
        (9_000, 6_000_000, 150),
        (12_000, 3_000_000, 120),
        (12_000, 100_000, 60),
    ],
)
def test_k_goes_as_far_as_its_neighbors_are_stored(records, stored, end):
    points = np.random.default_rng(3).normal(size=(records, 2))
    assert slider_range.find_slider_range(points, stored).k == end


@pytest.mark.parametrize(
    # one rule gives both ends, and how far a radius goes is tested by itself
    ("demo", "lever"),
    [
        ("cps1988", "k"),
        *(
            pytest.param(demo, lever, marks=pytest.mark.nightly)
            for demo, lever in (("randhie", "epsilon"), ("randhie", "k"), ("cps1988", "epsilon"))
        ),
    ],
)
def test_the_end_of_a_slider_keeps_the_limit_of_linkage(demo, lever):
    """In this release, by the upper bound of so large a table and not only by what is known."""
    data = rwn.load_demo(demo)
    ranges = rwn.RWN(k=5, q=1.0).preview(data).ranges
    params = rwn.RWN(**({"k": 5} | {lever: ranges[lever].high}), q=1.0)
    linked = rwn.MEASURES["bayes_linkage"].read(released(data, params))
    limit = rwn.Policy().limit("bayes_linkage")
    assert linked.value <= linked.detail.at_most <= limit.at_most
