"""Points, and who is in a neighborhood of them."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import chisquare

import rwn_core as rwn
from rwn_core.datasets.mask_dataset import prepare_run
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.measures.statistics.key_variables import only
from rwn_core.neighbors import DrawRequest, slider_range
from rwn_core.neighbors.chacha_kernel import last_rank, uniforms_of_block
from rwn_core.neighbors.distance import (
    CodedPoints,
    squared_between,
    squared_distances,
    squared_of_pairs,
)
from rwn_core.neighbors.draw_kernel import draw_rows
from rwn_core.neighbors.find import check_outside
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import discrete_weights
from rwn_core.neighbors.record_draws import order_by, random_order, two_uniforms
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import LARGEST_DENSE, complete_table
from rwn_core.randomness import ORDER_STREAM, uniforms
from tests import tables
from tests.attacked_tables import released
from tests.core.laws.cell_probability import probability
from tests.core.neighbors.brute_force import callable_here
from tests.oracles.record_chain import RecordChain
from tests.oracles.soft_weights import balanced_by_projections
from tests.properties.reference_rwn import points

NUMBERS = [1.0, 2.0, 4.0, 9.0]
GROUPS = ["a", "a", "b", "c"]


def table(schema: rwn.Schema | None = None, **columns: object) -> rwn.Microdata:
    return rwn.Microdata.from_frame(pd.DataFrame(columns), schema)


def test_numbers_are_z_scores_with_divisor_n_less_1_or_span_one():
    points = rwn.coordinates(table(x=NUMBERS))
    expected = (np.array(NUMBERS) - 4.0) / np.sqrt(38 / 3)
    np.testing.assert_allclose(points[:, 0], expected, rtol=1e-14)
    assert not points.flags.writeable
    points = rwn.coordinates(table(x=NUMBERS, g=GROUPS), scale="range")
    np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(NUMBERS) / 8, rtol=1e-14)
    assert np.ptp(points, axis=0) == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("scale", ["sd", "range"])
@pytest.mark.parametrize("size", [1e-145, 1e-300, 1e140])
def test_numbers_of_any_size_stay_in_the_distance(size, scale):
    """Squares of tiny differences are 0 in this computer; the variable counts all the same."""
    points = rwn.coordinates(table(x=size * np.array(NUMBERS), y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    plain = rwn.coordinates(table(x=NUMBERS, y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    np.testing.assert_allclose(points, plain, rtol=1e-12, atol=1e-12)


def test_categories_are_z_scored_dummies_or_one_apart():
    points = rwn.coordinates(table(g=GROUPS))
    assert points.shape == (4, 3)
    for column, level in enumerate("abc"):
        dummy = np.array([float(value == level) for value in GROUPS])
        expected = (dummy - dummy.mean()) / dummy.std(ddof=1)
        np.testing.assert_allclose(points[:, column], expected, rtol=1e-14)
    points = rwn.coordinates(table(g=GROUPS), encoding="matching")
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    unlike = np.array([[first != second for second in GROUPS] for first in GROUPS])
    np.testing.assert_allclose(distances, unlike.astype(float), rtol=1e-14)


@pytest.mark.parametrize("scale", ["sd", "range"])
def test_a_missing_number_sits_at_the_mean_beside_its_indicator(scale):
    points = rwn.coordinates(table(x=[1.0, 3.0, np.nan, 5.0]), scale=scale)
    assert points.shape == (4, 2)
    assert points[2, 0] == 0.0
    known = points[[0, 1, 3], 0]
    np.testing.assert_allclose(known, [-known[2], 0, known[2]], atol=1e-15)
    assert len(np.unique(points[[0, 1, 3], 1])) == 1
    assert points[2, 1] > points[0, 1]


def test_a_missing_category_is_a_level_and_two_missing_values_are_not_apart():
    missing = rwn.coordinates(table(g=["a", "a", None, "b"]))
    named = rwn.coordinates(table(g=["a", "a", "c", "b"]))
    far = [np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (missing, named)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-14)
    points = rwn.coordinates(table(x=[np.nan, np.nan, 1.0, 2.0], g=[None, None, "a", "b"]))
    assert np.array_equal(points[0], points[1])


def test_ordered_levels_count_as_numbers_and_dates_in_days():
    levels = ("low", "middle", "high")
    schema = rwn.Schema(variables=(rwn.Variable(name="o", kind=rwn.Kind.ORDERED, levels=levels),))
    points = rwn.coordinates(table(schema, o=["low", "high", "middle", "high"]))
    np.testing.assert_allclose(points, rwn.coordinates(table(x=[0.0, 2, 1, 2])), rtol=1e-14)
    points = rwn.coordinates(table(d=pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-11"])))
    np.testing.assert_allclose(points, rwn.coordinates(table(x=[0.0, 1, 10])), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("encoding", ["dummies", "matching"])
@pytest.mark.parametrize("scale", ["sd", "range"])
def test_constants_do_not_count(scale, encoding):
    alone = rwn.coordinates(table(x=NUMBERS), scale, encoding)
    beside = table(x=NUMBERS, c=[0.1] * 4, g=["a"] * 4, i=[3] * 4)
    np.testing.assert_array_equal(rwn.coordinates(beside, scale, encoding), alone)


def test_weights_stretch_all_coordinates_of_a_variable_and_0_leaves_it_out():
    microdata = table(x=NUMBERS, g=GROUPS, m=[1.0, np.nan, 2.0, 3.0])
    reference = rwn.coordinates(microdata)
    weighted = rwn.coordinates(microdata.with_weights({"x": 2.0, "g": 0.5, "m": 3.0}))
    np.testing.assert_allclose(weighted, reference * [2.0, 0.5, 0.5, 0.5, 3.0, 3.0], rtol=1e-14)
    points = rwn.coordinates(microdata.with_weights({"g": 0.0, "m": 0.0}))
    np.testing.assert_array_equal(points, rwn.coordinates(table(x=NUMBERS)))


def test_a_release_is_measured_in_the_units_of_its_original():
    metric = rwn.Metric.fit(table(x=NUMBERS, g=GROUPS))
    other = metric.points(table(x=[4.0, 4.0], g=["a", "unseen"]))
    assert other[:, 0].tolist() == [0.0, 0.0]
    assert other[0, 1] > 0
    assert (other[1, 1:] < 0).all()


def test_discrete_weights_shrink_with_the_records_and_the_numbers_beside():
    data = table(x=NUMBERS, y=NUMBERS, g=GROUPS).with_weights({"g": 3.0})
    assert discrete_weights(data.schema, 64) == pytest.approx({"g": 3.0 / 64 ** (1 / 6)})
    assert discrete_weights(data.with_weights({"x": 0.0}).schema, 32) == pytest.approx({"g": 1.5})


KEY = rwn.SecretKey.from_seed(3)
DRAWING = DrawRequest(key=KEY, streams=(0, 1, 2), q=np.array([1.0, 0.6, 1.0]))
SCHEMA = rwn.Schema(
    variables=(
        rwn.Variable(name="x", kind=rwn.Kind.CONTINUOUS),
        rwn.Variable(name="c", kind=rwn.Kind.CATEGORICAL),
    )
)


def table_coded(number: int) -> rwn.Microdata:
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
        rwn.Variable(
            name=name,
            kind=rwn.Kind.CATEGORICAL if name[0] == "c" else rwn.Kind.CONTINUOUS,
            weight=float(rng.choice([0.05, 0.3, 1.0])),
        )
        for name in columns
    ]
    return rwn.Microdata.from_frame(pd.DataFrame(columns), rwn.Schema(variables=tuple(kinds)))


def both(number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[CodedPoints, np.ndarray]:
    """A table's points without and with dummies."""
    monkeypatch.setattr("rwn_core.neighbors.metric.CODED_LEVELS", 3)
    microdata = table_coded(number)
    encoding = ("dummies", "matching")[number % 2]
    metric = rwn.Metric.fit(microdata, encoding=encoding)
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
    complete = complete_table(dummies)
    index = build_index(coded, leaf=4 + number)
    some = np.flatnonzero(np.random.default_rng(number).random(n) < 0.3)
    for k, epsilon in settings(dummies, number):
        expected = complete.cut(k=k, epsilon=epsilon)
        search = Search(index, ball=RadiusAndK(k=k, epsilon=epsilon))
        result = search.run(DRAWING)
        np.testing.assert_array_equal(result.sizes, expected.sizes)
        np.testing.assert_array_equal(result.within, expected.within)
        draws = rwn.Draws(KEY, np.arange(n), DRAWING.streams)
        np.testing.assert_array_equal(result.donors, rwn.draw_donors(expected, draws, DRAWING.q))
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
        return rwn.Microdata.from_frame(frame, SCHEMA)

    metric = rwn.Metric.fit(made(["a", "b", "c", "d"]))
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


METRICS = {
    "usual": {},
    "range and matching": {"scale": "range", "encoding": "matching"},
    "discrete weights": {"weights": "discrete"},
}


def crowd(n: int = 90) -> rwn.Microdata:
    return tables.table("ties", n).with_weights({"y": 0.6})


def own_neighborhoods(neighborhoods) -> list[set[int]]:
    """Every record's members and the record itself."""
    return [{i, *neighborhoods.members(i).tolist()} for i in range(neighborhoods.n)]


def found_outside(law, people: rwn.Microdata) -> list[set[int]]:
    """Everybody's members; each is as likely to be the donor."""
    shares = law.outside(people)[0]
    sizes = np.diff(shares.indptr)
    np.testing.assert_allclose(shares.data, np.repeat(1 / sizes[sizes > 0], sizes[sizes > 0]))
    return [set(one.tolist()) for one in np.split(shares.indices, shares.indptr[1:-1])]


def middle_distance(data: rwn.Microdata, options: dict) -> float:
    """A distance that some pairs of records have exactly."""
    params = rwn.RWN(k=1, **options)
    points = params.points(data)
    pairs = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    return float(np.sort(pairs[pairs > 0])[pairs.size // 4])


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_a_record_posed_as_an_outsider_has_its_own_neighborhood(options):
    data = crowd()
    epsilon = middle_distance(data, options)
    release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=1, **options), seed=1)
    expected = own_neighborhoods(release.law.neighborhoods)
    assert found_outside(release.law, data) == expected
    if options:
        usual = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=1), seed=1).law
        assert found_outside(usual, data) != expected


def test_the_open_ball_of_2015_has_nobody_at_its_edge():
    data = crowd()
    epsilon = middle_distance(data, {})
    law = rwn.mask(data, rwn.NBRS2015(epsilon=epsilon), seed=1).law
    expected = own_neighborhoods(
        rwn.find_neighborhoods(rwn.coordinates(data), epsilon=epsilon, strict=True)
    )
    assert found_outside(law, data) == expected
    closed = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=1), seed=1).law
    assert found_outside(closed, data) != expected


@pytest.mark.parametrize("rounding", [{}, {"x": 4.0}])
def test_an_outsider_may_have_nobody_and_rounding_changes_nothing(rounding):
    data = crowd()
    far = data.frame.iloc[:2].assign(x=[500.0, 2.0])
    people = rwn.Microdata(far, data.schema)
    law = rwn.mask(data, rwn.NBRS2015(epsilon=0.8), precision=rounding, seed=1).law
    alone, at_home = found_outside(law, people)
    assert alone == set()
    reference = rwn.mask(data, rwn.NBRS2015(epsilon=0.8), seed=1).law
    assert at_home == found_outside(reference, people)[1] != set()


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_who_has_the_keys_only_finds_neighborhoods_in_the_distance_of_the_release(options):
    data = crowd()
    keys = ["x", "g"]
    law = rwn.mask(data, rwn.RWN(epsilon=0.7, k=4, **options), seed=1).law
    guess = law.restricted_to(only(law.original, keys))
    params = rwn.RWN(k=1, **options)
    axes = [axis.variable.name in keys for axis in params.metric(data).axes]
    expected = rwn.find_neighborhoods(params.points(data)[:, axes], k=4, epsilon=0.7)
    assert guess.neighborhoods.sizes.tolist() == expected.sizes.tolist()
    assert [v.name for v in guess.original.schema.released] == keys
    assert guess.q.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "method", [rwn.RWN(epsilon=0.7, k=4), rwn.SoftRWN(), rwn.NBRS2015(epsilon=3.0)]
)
def test_who_knows_all_of_the_distance_knows_the_neighborhoods(method):
    law = rwn.mask(crowd(), method, seed=1).law
    found = DonorTables(law.rule.find(law.original)).matrix
    np.testing.assert_array_equal(
        law.restricted_to(law.original).donors.matrix.toarray(), found.toarray()
    )


def test_who_has_the_keys_only_knows_that_the_ball_is_open():
    data = only(crowd(), ["x", "g"])
    law = rwn.mask(data, rwn.NBRS2015(epsilon=middle_distance(data, {}), q=0.5), seed=1).law
    guess = law.restricted_to(data)
    assert guess.neighborhoods.sizes.tolist() == law.neighborhoods.sizes.tolist()
    assert [weight for weight, _ in guess.components()] == [0.5, 0.5]
    with pytest.raises(rwn.ParameterError, match="has a weight"):  # of y, which has none
        rwn.mask(crowd().with_weights({"y": 0.0}), rwn.RWN(k=3), seed=1).law.restricted_to(
            only(crowd().with_weights({"y": 0.0}), ["y"])
        )


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (rwn.RWN(epsilon=np.full(90, 0.9), k=1), "radius for each record"),
        (rwn.RWN(k=2, neighbors="sample", m=30), "random candidates"),
        (rwn.RWN(k=2, neighbors="pairs", m=30), "random candidates"),
    ],
)
def test_some_rules_say_nothing_of_people_outside(params, reason):
    data = crowd()
    with pytest.raises(rwn.NotApplicable, match=reason):
        rwn.mask(data, params, seed=1).law.outside(data)


@pytest.mark.parametrize(("k", "epsilon"), [(4, 0.0), (4, 1.0), (1, 1.3), (9, 0.7)])
def test_added_people_change_neighborhoods_as_in_a_table_of_one_more(k, epsilon):
    data = crowd(50)
    people = crowd(90).take(np.arange(50, 90))
    law = rwn.mask(data, rwn.RWN(k=k, epsilon=epsilon), seed=1).law
    enlarged = law.rule.joins(people, data, law.neighborhoods)
    own, added = (law.rule.metric.points(each) for each in (data, people))
    displaced = [set(row.tolist()) for row in np.split(enlarged.leaving.indices, _ends(enlarged))]
    seen = 0
    for number, person in enumerate(added):
        found = rwn.find_neighborhoods(np.vstack([own, person]), k=k, epsilon=epsilon)
        nearer = ((own - person) ** 2).sum(axis=1) < law.neighborhoods.radius**2 * (1 - 1e-9)
        for record in range(data.n):
            before = set(law.neighborhoods.members(record).tolist())
            after = set(found.members(record).tolist())
            share = 1 / len(after) if data.n in after else 0.0
            assert enlarged.shares[number, record] == pytest.approx(share)
            gone = before - after
            assert gone == (displaced[record] if nearer[record] else set())
            seen += len(gone)
    assert (seen > 0) == (k in (4, 9))


def _ends(enlarged) -> np.ndarray:
    return enlarged.leaving.indptr[1:-1]


SETTING = rwn.RWN(k=4, epsilon=0.5, outside_household=True)


def table_household(n, sizes=(1, 2, 3, 4)):
    """Whole numbers, so that there are ties; households of several sizes, two of them unknown."""
    rng = np.random.default_rng(n)
    household = np.repeat(np.arange(n), np.resize(sizes, n))[:n]
    texts = pd.Series([f"h{number}" for number in household], dtype="str")
    texts[[0, n - 1]] = None
    frame = pd.DataFrame(
        {"home": texts, "age": rng.integers(0, 30, n), "pay": household % 7 + rng.integers(0, 3, n)}
    )
    home = rwn.Variable(name="home", kind="categorical", role="household")
    numbers = (rwn.Variable(name=name, kind="count") for name in ("age", "pay"))
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=(home, *numbers)))


def reference(data, records, k, epsilon):
    """S_i of some records by looking at everybody who lives elsewhere."""
    frame = data.frame
    at = np.array(points([frame["age"].tolist(), frame["pay"].tolist()]))
    homes = [name if isinstance(name, str) else number for number, name in enumerate(frame["home"])]
    found = []
    for i in records:
        far = ((at - at[i]) ** 2).sum(axis=1).tolist()
        elsewhere = [j for j in range(data.n) if homes[j] != homes[i]]
        kth = sorted(far[j] for j in elsewhere)[k - 1]
        edge = max(epsilon**2, kth) * (1 + 1e-9)
        found.append(({j for j in elsewhere if far[j] <= edge}, sqrt(max(epsilon**2, kth))))
    return found


@pytest.mark.parametrize("n", [60, 2100], ids=["all pairs at once", "by a tree"])
def test_neighbors_are_those_who_live_elsewhere(n):
    data = table_household(n)
    records = range(0, n, n // 20)
    found = SETTING.rule(data).find(data)
    for i, (members, radius) in zip(records, reference(data, records, 4, 0.5), strict=True):
        assert set(found.members(i).tolist()) == members
        assert found.sizes[i] == len(members)
        assert found.radius[i] == pytest.approx(radius, rel=1e-9)


def test_the_law_and_the_releases_draw_from_them_alone():
    data = table_household(60)
    release = rwn.mask(data, SETTING, seed=3)
    members = reference(data, range(60), 4, 0.5)
    for i in range(60):
        inside = members[i][0]
        assert set(release.donors[i].tolist()) <= inside
        ages = data.frame["age"].to_numpy()[sorted(inside)]
        chance = probability(release.law, i, "age", int(ages[0]))
        assert chance == pytest.approx((ages == ages[0]).mean(), rel=1e-12)
    assert release.masked.names == ("age", "pay")


def test_a_screen_a_sweep_and_random_records_find_the_same():
    data = table_household(2100)
    wanted = rwn.mask(data, SETTING, seed=3).donors
    key = rwn.SecretKey.from_seed(3)
    assert (SETTING.preview(data).release(key).donors == wanted).all()
    wide = SETTING.prepare(data, settings=[rwn.RWN(k=9, epsilon=0.7, outside_household=True)])
    assert (wide.with_levers(k=4, epsilon=0.5).release(key).donors == wanted).all()
    some = np.arange(0, 2100, 7)
    few = SETTING.prepare(data, settings=[SETTING], records=some)
    assert (few.release(key).donors == wanted[some]).all()


def test_an_intruder_who_knows_one_key_finds_them_by_it():
    data = table_household(60)
    law = rwn.mask(data, SETTING, seed=3).law
    of_age = law.restricted_to(only(data, ["age"]))
    homes = data.frame["home"].tolist()
    for i in range(1, 59):
        assert homes[i] not in [homes[j] for j in of_age.neighborhoods.members(i)]
    with pytest.raises(rwn.NotApplicable, match="outside_household"):
        law.outside(data)


SOFT = rwn.SoftRWN(kernel="gaussian", outside_household=True, balance=1.0)


def homes_of(data):
    """A number for each home; records without one live alone."""
    names = data.frame["home"].tolist()
    return np.unique(
        [name if isinstance(name, str) else f"alone {i}" for i, name in enumerate(names)],
        return_inverse=True,
    )[1]


@pytest.mark.parametrize("setting", [SOFT, replace(SOFT, own=True, kernel="exponential")])
def test_a_soft_kernel_weighs_those_who_live_elsewhere(setting):
    data = table_household(60)
    homes = homes_of(data)
    frame = data.frame
    at = np.array(points([frame["age"].tolist(), frame["pay"].tolist()]))
    away = np.sqrt(((at[:, None] - at) ** 2).sum(axis=2))
    together = (homes[:, None] == homes) & ~np.eye(60, dtype=bool)
    others = np.where(together | np.eye(60, dtype=bool), np.inf, away)
    scales = np.sort(others, axis=1)[:, 9]
    scales = np.maximum(scales, 0.05 * np.median(scales[scales > 0]))
    far = away / np.sqrt(np.outer(scales, scales))
    kernel = np.exp(-(far**2) / 2) if setting.kernel == "gaussian" else np.exp(-far)
    allowed = ~together if setting.own else ~together & ~np.eye(60, dtype=bool)
    expected = balanced_by_projections(np.where(allowed, kernel, 0.0), 0.1, rounds=4_000)
    found = setting.prepare(data).law.probabilities.toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
    assert not found[together].any()
    anywhere = replace(setting, outside_household=False).prepare(data).law.probabilities.toarray()
    assert anywhere[together].sum() > 1  # the planted fault: households are not left out
    donors = rwn.mask(data, setting, seed=1).donors
    assert not together[np.arange(60)[:, None], donors].any()


def test_soft_donors_of_a_large_table_live_elsewhere():
    data = table_household(2100)
    found = SOFT.rule(data).find(data)
    homes = homes_of(data)
    rows = np.repeat(np.arange(2100), found.sizes)
    assert (homes[rows] != homes[found.table.records]).all()
    assert found.imbalance <= 1e-6


def test_a_household_of_nearly_all_records_is_refused_or_not_balanced():
    frame = pd.DataFrame({"home": ["a"] * 30, "x": np.arange(30.0)})
    home = rwn.Variable(name="home", kind="categorical", role="household")
    schema = rwn.Schema(variables=(home, rwn.Variable(name="x", kind="continuous")))
    data = rwn.Microdata.from_frame(frame, schema)
    with pytest.raises(rwn.ParameterError, match="A household holds all that a record lists"):
        rwn.mask(data, SOFT, seed=1)
    frame.loc[20:, "home"] = [f"b{number}" for number in range(10)]
    data = rwn.Microdata.from_frame(frame, schema)
    with pytest.raises(rwn.ParameterError, match="cap must be at least 1/10"):
        rwn.mask(data, replace(SOFT, cap=0.05), seed=1)
    release = rwn.mask(data, replace(SOFT, cap=0.5), seed=1)  # 20 records take from 10
    remarks = release.params.remarks(data, release.law)
    assert any("balance is not reached" in text for text in remarks)


def test_copies_in_a_bootstrap_sample_are_no_soft_donors():
    data = table_household(60)
    rows = np.sort(np.random.default_rng(2).integers(0, 60, 60))
    for setting in (replace(SOFT, outside_household=False), SOFT):
        sample = setting.prepare(data).resampled(rows)
        weights = sample.law.probabilities.toarray()
        assert not weights[rows[:, None] == rows].any()
        np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-6)
    fault = replace(SOFT, outside_household=False).prepare(data.take(rows))
    assert fault.law.probabilities.toarray()[rows[:, None] == rows].sum() > 2


def test_what_cannot_be_followed_is_refused_by_name(tmp_path):
    data = table_household(60, sizes=(30,))
    with pytest.raises(rwn.ParameterError, match="leaves 31 records outside it; choose k"):
        rwn.mask(data, rwn.RWN(k=32, outside_household=True), seed=1)
    with pytest.raises(rwn.ParameterError, match="leaves 0 records"):
        check_outside(np.zeros(6, np.int64), None)
    data.frame.to_parquet(tmp_path / "in.parquet")
    options = rwn.RunOptions(schema=data.schema)
    with pytest.raises(rwn.ParameterError, match="leave out outside_household"):
        prepare_run(tmp_path / "in.parquet", tmp_path / "out", SETTING, 1, options)


N = 20_000
LISTS = {
    "nearest weigh most": [0.5, 0.3, 0.15, 0.05],
    "farthest weighs most": [0.1, 0.2, 0.3, 0.4],
    "up and down": [0.1, 0.4, 0.05, 0.45],
    "equal": [0.25, 0.25, 0.25, 0.25],
}


def donors(weights: list[float], q: float) -> NDArray[np.int64]:
    """One list of members, number 100,000 and on, for all records; shape (N,)."""
    size = len(weights)
    found = np.empty((N, 1), np.int64)
    keys = np.ascontiguousarray(rwn.SecretKey.from_seed(4).words.reshape(1, 8))
    of_each = (keys, np.arange(N), np.array([7]), np.array([q]), np.zeros(N, np.int64))
    members = np.arange(100_000, 100_000 + size, dtype=np.int32)
    of_table = (np.array([size]), np.array([0, size]), members, np.array(weights))
    draw_rows(*of_each, *of_table, found, 0, N)
    return found[:, 0]


@pytest.mark.parametrize("order", LISTS)
def test_each_donor_has_its_share(order):
    weights = LISTS[order]
    counts = np.bincount(donors(weights, 1.0) - 100_000, minlength=len(weights))
    assert chisquare(counts, N * np.array(weights)).pvalue > 1e-4


def test_a_cell_that_is_not_modified_has_itself():
    found = donors([0.7, 0.3], 0.25)
    own = found < 100_000
    assert (found[own] == np.flatnonzero(own)).all()
    assert abs(own.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / N)


def test_many_records_have_the_numbers_of_the_reference():
    key = rwn.SecretKey.from_seed(7)
    every = np.concatenate((np.arange(LARGEST_DENSE), 2**32 + np.arange(-3, 9), [2**40]))
    every.setflags(write=False)
    for records in (every, every[::-1], every[: LARGEST_DENSE + 1], every[:16], every[:0]):
        for stream in (5, ORDER_STREAM):
            wanted = uniforms(key, records, stream)[:2]
            np.testing.assert_array_equal(two_uniforms(key, records, stream), wanted)


def test_random_order_is_a_keyed_permutation():
    order = random_order(rwn.SecretKey.from_seed(7), 100)
    assert sorted(order) == list(range(100))
    assert not np.array_equal(order, random_order(rwn.SecretKey.from_seed(8), 100))
    orders = [tuple(random_order(rwn.SecretKey.from_seed(seed), 3)) for seed in range(1200)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-6


last_rank, uniforms_of_block = callable_here(last_rank, uniforms_of_block)

KEYS = [rwn.SecretKey(bytes(32)), rwn.SecretKey(bytes(range(32))), rwn.SecretKey.from_seed(7)]
LARGEST = 2**31 - 2


def block_of(key: rwn.SecretKey, record: int, stream: int, block: int) -> np.ndarray:
    out = np.empty(8)
    uniforms_of_block(key.words, record, stream, block, out)
    return out


@pytest.mark.parametrize("key", KEYS)
def test_every_address_gives_the_same_bits(key):
    rng = np.random.default_rng(1)
    addresses = [(0, 0, 0), (5, 7, 3), (2**32 + 5, 2**32 - 1, 1), (2**40, 0, 2**32 - 1)]
    addresses += [tuple(rng.integers(0, [2**33, 2**32, 40])) for _ in range(200)]
    for record, stream, block in addresses:
        reference = uniforms(key, np.array([record]), stream, block)[:, 0]
        np.testing.assert_array_equal(block_of(key, record, stream, block), reference)


def test_the_published_block_of_a_zero_key():
    """RFC 8439, appendix A.1, vector 1: words ade0b876 903df1a0 ... 69b687c3 8665eeb2."""
    result = block_of(KEYS[0], 0, 0, 0)
    assert result[0] == ((0xADE0B876903DF1A0 >> 12) + 0.5) / 2**52
    assert result[7] == ((0x69B687C38665EEB2 >> 12) + 0.5) / 2**52


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10, 100, 1000, 10**6, LARGEST])
def test_the_chains_end_where_the_plain_ones_do(size):
    key = KEYS[2]
    columns = range(8)
    records = np.arange(120)
    reference = RecordChain(key, records, columns)
    ends = reference.ranks(np.full(len(records), size))
    for record in records:
        for column in columns:
            unit = block_of(key, record, column, 0)
            assert unit[0] == reference.modify[record, column]
            assert last_rank(key.words, record, column, 0, size, unit) == ends[record, column]


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_it_is_itself_one_of_its_k_nearest(options):
    data = crowd()
    law = rwn.mask(data, rwn.RWN(k=6, **options), seed=1).law
    among_others = rwn.find_neighborhoods(rwn.RWN(k=5, **options).points(data), k=5)
    assert found_outside(law, data) == own_neighborhoods(among_others)


def test_ties_are_ordered_by_the_second_number():
    first, second = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.3, 0.2, 0.1])
    assert order_by(first, second).tolist() == [3, 1, 2, 0]
    assert order_by(second, first).tolist() == [3, 2, 1, 0]


def test_pairs_at_the_same_place_are_as_far_apart_as_among_all_pairs() -> None:
    rng = np.random.default_rng(5)
    squares = {2: np.array([0.0, 0.0, 0.5, 1.0])}
    for levels in ({}, squares):
        one, other = (
            np.column_stack((rng.normal(size=(9, 2)), rng.integers(1, 4, 9))) for _ in range(2)
        )
        if levels:
            one, other = (CodedPoints(values=each, squares=levels) for each in (one, other))
        wanted = np.diag(squared_between(one, other))
        np.testing.assert_allclose(squared_of_pairs(one, other), wanted, rtol=1e-12)
        assert np.ptp(wanted) > 0
