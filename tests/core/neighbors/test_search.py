"""The search against all pairs: ties, radii, leaves, codes, records that were stored."""

import hashlib
import pickle
import threading
from itertools import cycle
from math import isqrt

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from rwn_core import RWN, Microdata, Neighborhoods, Radii, find_neighborhoods, mask, nearest_radii
from rwn_core.errors import ParameterError
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors import DrawRequest, Finder, NeighborTable, candidates, find, neighbor_table
from rwn_core.neighbors.candidates import LARGEST_N, numbered_pairs, random_pairs
from rwn_core.neighbors.distance import squared_distances, squared_to_all
from rwn_core.neighbors.distance_kernel import (
    error_between,
    leaf_gaps,
    rows_near,
    widened_edge,
    write_products,
)
from rwn_core.neighbors.index import Index, build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search, Sizes, known_sizes
from rwn_core.neighbors.table import LARGEST_DENSE, complete_table
from rwn_core.parallel import threads as worker_threads
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey
from tests.check_values import check_values
from tests.core.neighbors.brute_force import (
    callable_here,
    hard_settings,
    hard_table,
    member_sets,
    searched_table,
    squared_pairs,
)
from tests.lanes import lanes, some
from tests.oracles.pair_numbers import pair_of
from tests.oracles.record_chain import RecordChain, assigned
from tests.tables import described

TABLES = 120
KEY = SecretKey.from_seed(7)
DRAWING = DrawRequest(key=KEY, streams=(0, 1, 0, 3), q=np.array([1.0, 0.5, 0.7, 0.0]))


def draw_all(neighborhoods, drawing):
    """Every record's donors."""
    draws = Draws(KEY, np.arange(neighborhoods.n), drawing.streams)
    return draw_donors(neighborhoods, draws, drawing.q)


def census(n: int, seed: int = 1) -> np.ndarray:
    """Clones, ties and near records: numbers, rounded numbers and a 0/1 column."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 5)) + rng.normal(size=(n, 1))
    points[:, 2] = np.round(points[:, 2])
    points[:, 3] = np.round(points[:, 3] * 2) / 2
    points[:, 4] = points[:, 4] > 1
    points[: n // 3] = np.round(points[: n // 3])
    return points


def sha256(donors: np.ndarray) -> str:
    return hashlib.sha256(donors.tobytes()).hexdigest()


def found_sets(result) -> list[set[int]]:
    return [set(result.members(i).tolist()) for i in range(result.n)]


# an even group has trees, an odd one none
@pytest.mark.parametrize("group", some((2, 3), range(4)))
def test_all_pairs_a_table_and_a_search_of_hard_tables(group):
    """Lattices, clones, constants, n = 2, k = n - 1, a radius on a tie or beyond the data."""
    for number in range(group, TABLES, 4):
        points = hard_table(number)
        index = build_index(points, leaf=4)
        complete = complete_table(points)
        nearest = np.sqrt(squared_pairs(points).min(axis=1))
        for k, epsilon in hard_settings(points, number):
            expected = member_sets(points, k=k, epsilon=epsilon)
            dense = complete.cut(k=k, epsilon=epsilon)
            assert found_sets(dense) == expected, (number, k, epsilon)
            result = searched_like(dense, index, k, epsilon)
            some = result.sizes > 0
            np.testing.assert_allclose(np.sqrt(result.nearest[some]), nearest[some], rtol=1e-14)
            assert np.isnan(result.nearest[~some]).all()
            if number % 2:
                continue
            tree = searched_table(points, k=k, epsilon=epsilon).cut(k=k, epsilon=epsilon)
            for record in range(len(points)):  # the same ranks, so the same donors
                assert np.array_equal(dense.members(record), tree.members(record))
            assert np.array_equal(dense.radius, tree.radius)


def searched_like(
    expected: Neighborhoods, index: Index, k: int | None, epsilon: float, drawing=DRAWING
):
    """The result of a search: sizes and donors are those of the neighborhoods of all pairs."""
    result = Search(index, ball=RadiusAndK(k=k, epsilon=epsilon)).run(drawing)
    np.testing.assert_array_equal(result.sizes, expected.sizes)
    np.testing.assert_array_equal(result.within, expected.within)
    np.testing.assert_array_equal(result.donors, draw_all(expected, drawing))
    return result


def test_one_hash_for_every_way_to_run(monkeypatch):
    """12 chunkings x stored table or search, by 1, 2, 4 threads in turn."""
    size = 1

    class Fixed(worker_threads.Ranges):
        def take(self) -> tuple[int, int] | None:
            self._size = size
            return super().take()

    monkeypatch.setattr(worker_threads, "Ranges", Fixed)
    points = census(2400)
    setting = {"k": 5, "epsilon": 0.6}
    hashes = set()
    threads = cycle((1, 2, 4))
    tried = set()
    for leaf in (16, 64, 128):
        search = Search(build_index(points, leaf=leaf), ball=RadiusAndK(**setting))
        for size in (1, 2, 7, 1000):
            with work(threads=next(threads)) as now:
                tried |= {(now.threads, leaf), (now.threads, -size)}
                result = search.run(DRAWING)
                hashes.add(sha256(result.donors))
                table = search.fill(result)
            stored = NeighborTable(
                offsets=table.starts, records=table.members, squared=table.squared, **setting
            ).cut(**setting)
            hashes.add(sha256(draw_all(stored, DRAWING)))
    assert len(tried) == 3 * (3 + 4), "every number of threads meets every other choice"
    for module in (find, candidates):
        monkeypatch.setattr(module, "LARGEST_DENSE", 3000)
    reference = find_neighborhoods(points, **setting)
    chain = RecordChain(KEY, np.arange(2400), DRAWING.streams)
    donors = assigned(reference, chain.records, chain.modify, chain.ranks, DRAWING.q)
    assert hashes == {sha256(donors)}


def crowded_table(number: int) -> np.ndarray:
    """Many members for everybody, no clones: a lattice, near-ties, or nothing tied."""
    rng = np.random.default_rng(number)
    n, d = int(rng.integers(150, 400)), int(rng.integers(2, 11))
    if number % 3 == 0:  # 400 different points of a lattice
        return np.unique(rng.integers(0, 5 if d > 3 else 30, (400, d)), axis=0).astype(float)
    points = rng.normal(size=(n, d))
    if number % 3 == 1:  # pairs that single precision cannot tell apart, some within a tie
        points[n // 2 : 2 * (n // 2)] = points[: n // 2] * (1 + 10.0 ** -rng.integers(7, 12))
    return points


@pytest.mark.parametrize("number", range(6))
def test_donors_among_many_members(number):
    points = crowded_table(number)
    squared = squared_pairs(points)
    radii = np.quantile(squared[np.isfinite(squared)], [0.3, 0.8], method="lower")
    index = build_index(points, leaf=32)
    complete = complete_table(points)
    for epsilon in (*np.sqrt(radii), 1e9, np.inf):
        expected = complete.cut(k=2, epsilon=epsilon)
        drawing = DrawRequest(key=KEY, streams=range(6), q=np.ones(6))
        result = searched_like(expected, index, 2, epsilon, drawing)
        np.testing.assert_array_equal(np.sqrt(result.nearest), expected.nearest)


def test_an_index_does_not_depend_on_threads_and_may_be_cancelled():
    points = census(20_000)
    with work(threads=1):
        one = build_index(points)
    with work(threads=2):
        two = build_index(points)
    for mine, theirs in zip(one.side, two.side, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(worker_threads.Cancelled), work(cancel=cancel):
        build_index(points)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e150])
def test_a_scale_changes_nothing(scale):
    """Squares of such numbers are beyond single precision; 0 or infinity would count as near."""
    points = np.random.default_rng(2).normal(size=(300, 3))
    reference = complete_table(points).cut(k=4, epsilon=0.3)
    searched_like(reference, build_index(scale * points), 4, 0.3 * scale)


def test_far_from_the_origin_and_wide_scales_lose_nothing():
    """Where single precision can tell nothing apart, the exact check does."""
    near = np.random.default_rng(5).normal(size=(2100, 3))
    for points in (near + 1e6, near * [1e-7, 1.0, 1e7], np.column_stack((near, near[:, 0] * 1e9))):
        one = find_neighborhoods(points, k=4, epsilon=0.3)
        two = complete_table(points).cut(k=4, epsilon=0.3)
        np.testing.assert_array_equal(one.sizes, two.sizes)
        np.testing.assert_array_equal(one.pairs()[1], two.pairs()[1])
        np.testing.assert_array_equal(one.radius, two.radius)
        np.testing.assert_array_equal(one.nearest, two.nearest)


def test_donors_beyond_a_stored_radius_are_those_of_a_wider_table():
    points = census(2300)
    draws = Draws(KEY, np.arange(2300), (0, 1, 2))
    q = np.array([1.0, 0.4, 0.0])
    wide = neighbor_table(points, k=9, epsilon=1.0)
    stored = draw_donors(wide.cut(k=9, epsilon=0.8), draws, q)
    direct = find_neighborhoods(points, k=9, epsilon=0.8)
    assert not direct.is_stored
    np.testing.assert_array_equal(draw_donors(direct, draws, q), stored)
    some = Draws(KEY, np.arange(100, 900), (0, 1, 2))
    np.testing.assert_array_equal(draw_donors(direct, some, q), stored[100:900])
    assert not direct.is_stored
    np.testing.assert_array_equal(direct.members(5), wide.cut(k=9, epsilon=0.8).members(5))
    assert direct.is_stored
    np.testing.assert_array_equal(draw_donors(direct, draws, q), stored)


def test_rows_with_more_candidates_than_are_held_at_a_time():
    """Then a leaf is searched in parts, and every part among the same leaves."""
    points = np.random.default_rng(3).normal(size=(9000, 3))
    with work(threads=2):
        result = Search(build_index(points), ball=RadiusAndK(k=0, epsilon=1.9)).run()
    assert result.sizes.mean() > 3000
    edge = 1.9 * 1.9
    for record in range(0, 9000, 90):
        squared = np.square(points - points[record]).sum(axis=1)
        assert result.sizes[record] == (squared <= edge).sum() - 1


@pytest.mark.parametrize("epsilon", lanes(1.0, 0.0, np.sqrt(2.0)))
def test_a_strict_search_leaves_out_what_is_at_exactly_the_radius(epsilon):
    points = census(2500)
    strict = find_neighborhoods(points, epsilon=epsilon, strict=True)
    reference = complete_table(points).cut(k=None, epsilon=epsilon, strict=True)
    np.testing.assert_array_equal(strict.sizes, reference.sizes)
    np.testing.assert_array_equal(strict.pairs()[1], reference.pairs()[1])
    ours, theirs = (draw_all(f, DRAWING) for f in (strict, reference))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("spread", [1e-155, 1e-22])
def test_products_below_the_smallest_numbers_lose_nothing(spread):
    """All of a table so small, or a crowd at its center: approximate distances tell nothing."""
    rng = np.random.default_rng(9)
    points = rng.normal(size=(212, 3)) * spread
    if spread > 1e-100:
        points[0] = 1.0
        points[1] = -1.0
    complete = complete_table(points)
    index = build_index(points, leaf=32)
    for quantile in (0.1, 0.3, 0.9):
        epsilon = float(np.quantile(np.sqrt(complete.squared), quantile))
        searched_like(complete.cut(k=3, epsilon=epsilon), index, 3, epsilon)


widened_edge, leaf_gaps = callable_here(widened_edge, leaf_gaps)
error_between, rows_near, write_products = callable_here(error_between, rows_near, write_products)

ROWS = 300


def table(kind: str) -> np.ndarray:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(ROWS, 7))
    if kind == "far":
        points += 1e4
    elif kind == "outliers":
        points[::50] *= 1e4
    elif kind == "lattice":
        points = np.unique(np.round(3 * points), axis=0)
    return points


def test_near_ties_within_one_part_in_a_billion_belong_together():
    """1 and 1 + 3e-10 are one tie; the k-th distance never cuts it in two."""
    points = np.array([[0.0], [1.0], [-(1 + 3e-10)], [2.0]])
    for table in (complete_table(points), searched_table(points, k=1, epsilon=0.0)):
        assert set(table.cut(k=1, epsilon=None).members(0).tolist()) == {1, 2}
    for table in (complete_table(points), searched_table(points, k=None, epsilon=1.0)):
        assert set(table.cut(k=None, epsilon=1.0).members(0).tolist()) == {1, 2}


def test_a_radius_in_single_precision_keeps_its_boundary():
    """The tie rule needs float64 even where the radius came as a float32."""
    epsilon = np.float32(0.1)
    points = np.array([[0.0], [float(epsilon) * (1 + 4e-10)]])
    assert find_neighborhoods(points, epsilon=epsilon).sizes.tolist() == [1, 1]


def test_a_table_refuses_what_it_does_not_hold():
    table = searched_table(np.arange(9.0)[:, None], k=2, epsilon=1.0)
    assert table.covers(k=2, epsilon=1.0)
    assert not table.covers(k=3, epsilon=None)
    assert not table.covers(k=None, epsilon=1.5)
    with pytest.raises(ParameterError, match="does not reach"):
        table.cut(k=3, epsilon=1.0)
    radii = np.linspace(0.1, 2.0, 30)
    table = searched_table(np.random.default_rng(1).normal(size=(30, 2)), k=1, epsilon=radii)
    assert table.covers(k=1, epsilon=0.9 * radii)
    assert not table.covers(k=1, epsilon=radii[::-1].copy())
    assert not table.covers(k=1, epsilon=1.0)


def test_the_radius_of_a_row_with_fewer_than_k_stored():
    """Epsilon takes all three; k, which is not reached, must not turn the radius to 0."""
    table = NeighborTable(
        offsets=np.array([0, 3, 5]),
        records=np.array([1, 2, 3, 0, 2], dtype=np.int32),
        squared=np.array([0.25, 1.0, 2.25, 0.25, 9.0]),
        k=5,
        epsilon=2.0,
    )
    result = table.cut(k=5, epsilon=2.0)
    assert result.sizes.tolist() == [3, 2]
    assert result.radius.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("number", range(0, 100, 17))
@pytest.mark.parametrize("k", [None, 1])
def test_every_engine_gives_each_record_its_own_radius(number, k):
    points = hard_table(number)
    squared = squared_pairs(points)
    radii = np.sqrt(
        np.random.default_rng(number).choice(squared[np.isfinite(squared)], len(points))
    )
    expected = member_sets(points, k=k, epsilon=radii)
    index = build_index(points, epsilon=radii)
    ball = RadiusAndK(k=k, epsilon=radii)
    direct, _ = Search(index, ball=ball).neighborhoods()
    tables = [
        complete_table(points).cut(k=k, epsilon=Radii(radii)),
        searched_table(points, k=k, epsilon=radii).cut(k=k, epsilon=radii),
        find_neighborhoods(points, k=k, epsilon=Radii(radii)),
        direct,
    ]
    for result in tables:
        assert found_sets(result) == expected
        np.testing.assert_array_equal(result.radius, tables[0].radius)


def test_a_quantile_of_the_nearest_distances():
    points = np.random.default_rng(2).normal(size=(300, 2))
    distance = np.sqrt(np.sort(squared_pairs(points), axis=1)[:, :20])
    radii = nearest_radii(points, neighbors=20, quantile=0.5)
    np.testing.assert_allclose(radii.values, np.quantile(distance, 0.5, axis=1), rtol=1e-12)
    sizes = find_neighborhoods(points, epsilon=radii).sizes
    assert (sizes == 10).all()


def test_a_release_with_radii_of_its_own():
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(80, 3)), columns=list("abc"))
    data = Microdata.from_frame(frame)
    params = RWN(epsilon=np.linspace(0.1, 2.0, 80), k=2)
    assert isinstance(params.epsilon, Radii)
    assert params == RWN(epsilon=Radii(np.linspace(0.1, 2.0, 80)), k=2)
    assert hash(params) == hash(RWN(epsilon=np.linspace(0.1, 2.0, 80), k=2))
    assert params != RWN(epsilon=np.linspace(0.1, 2.1, 80), k=2)
    release = mask(data, params, seed=7)
    sizes = release.law.neighborhoods.sizes
    assert sizes[:20].mean() < sizes[-20:].mean()
    assert "0.1 to 2" in repr(params)
    assert pickle.loads(pickle.dumps(params)) == params


def test_a_variable_that_stays_inside_multiplies_the_radius():
    """The bytes of the same radii as numbers, also beside other settings and in a sample."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    frame["own"] = rng.choice([0.5, 1.0, 3.0], 60)
    data = described(frame, own="identifier")
    by_name = RWN(epsilon=0.4, k=2, radius_variable="own")
    by_number = RWN(epsilon=0.4 * frame["own"].to_numpy(), k=2)
    expected = mask(data, by_number, seed=3).masked.frame
    assert mask(data, by_name, seed=3).masked.frame.equals(expected)
    assert not mask(data, RWN(epsilon=0.4, k=2), seed=3).masked.frame.equals(expected)
    wider = RWN(epsilon=0.8, k=2, radius_variable="own")
    moved = by_name.prepare(data, settings=[wider]).with_levers(epsilon=0.8)
    sizes = moved.law.neighborhoods.sizes
    assert (sizes == mask(data, wider, seed=3).law.neighborhoods.sizes).all()
    assert by_name.prepare(data).resampled(np.r_[5:30, 5:30]).law.neighborhoods.sizes.size == 50
    frame.loc[7, "own"] = np.nan
    for broken, message in (("own", "in every record"), ("z", "not z")):
        with pytest.raises(ParameterError, match=message):
            mask(Microdata.from_frame(frame), RWN(epsilon=1, radius_variable=broken), seed=1)
    for wrong in ({"k": 2}, {"epsilon": np.ones(60)}):
        with pytest.raises(ParameterError, match="radius_variable needs"):
            RWN(radius_variable="own", **wrong)


EXPECTED = {key: entry["expected"] for key, entry in check_values("method").items()}


def both(number: int) -> tuple[int, int]:
    i, j = numbered_pairs(np.array([number]))
    assert pair_of(number) == (i[0], j[0])
    return pair_of(number)


def test_PAIR_1_the_first_pairs():
    expected = EXPECTED["PAIR-1"]["correct"]
    assert [[number, list(both(number))] for number, _ in expected] == expected
    printed = EXPECTED["PAIR-1"]["as_printed_in_paper"]
    differing = [number for number, pair in printed if list(both(number)) != pair]
    assert differing == [2, 5, 8, 9, 13, 14]  # those of the paper are no pairs


def test_PAIR_2_large_numbers():
    expected = EXPECTED["PAIR-2"]
    last, before = expected["n1e9_last"], expected["n1e9_last_minus_1"]
    for number, pair in (last, before, *expected["big"]):
        assert list(both(number)) == pair
    square = 8 * before[0] + 1
    roots = [int(np.sqrt(float(square))), isqrt(square)]  # a float root would be wrong
    assert roots == expected["float_sqrt_vs_isqrt_at_n1e9_last_minus_1"]
    assert expected["largest_n_for_signed_64bit"] == LARGEST_N


def test_numbers_around_whole_roots_up_to_the_largest_table():
    total = LARGEST_N * (LARGEST_N - 1) // 2
    assert 8 * total + 1 < 2**63
    for j in (2, 3, 10**6, 94_906_266, 10**9, LARGEST_N):
        last = j * (j - 1) // 2
        for number in (last - 1, last, last + 1):
            if 1 <= number <= total:
                i, column = both(number)
                assert 1 <= i < column
                assert (column - 1) * (column - 2) // 2 + i == number


def test_M2_1_the_mean_number_of_partners_is_exact_and_its_spread_as_expected():
    expected = EXPECTED["M2-1"]
    variances = []
    n, pairs = expected["n"], expected["ns"]
    for seed in range(20):
        degree = partners(seed, n, pairs)
        assert degree.mean() == expected["mean_degree"]
        assert degree.min() > 0
        variances.append(degree.var())
    assert np.mean(variances) == pytest.approx(expected["var_degree"], rel=0.03)
    assert np.mean(variances) == pytest.approx(19.79, rel=0.03)  # m (1 - m / n), less 1/n


def test_M2_1_who_is_nobodys_partner():
    """With m partners on average a share exp(-m) has none."""
    expected = EXPECTED["M2-1"]
    assert stats.poisson.pmf(0, 20) == pytest.approx(expected["p_zero_m20"])
    share = expected["expected_isolated_m5_n1e6"] / 1e6
    assert stats.poisson.pmf(0, 5) == pytest.approx(share)
    alone = sum((partners(seed, 20_000, 50_000) == 0).sum() for seed in range(5))
    assert alone == pytest.approx(100_000 * share, abs=4 * np.sqrt(100_000 * share))


def partners(seed: int, n: int, pairs: int) -> NDArray[np.int64]:
    i, j = random_pairs(SecretKey.from_seed(seed), n, pairs)
    return np.bincount(np.concatenate((i, j)), minlength=n)


@pytest.mark.parametrize("draws", lanes(800, 2000))
@pytest.mark.parametrize("count", [3, 8])
def test_every_pair_is_equally_likely(count, draws):
    """Drawn one by one, and by what is left out."""
    seen = np.zeros((5, 5))
    for seed in range(draws):
        i, j = random_pairs(SecretKey.from_seed(seed), 5, count)
        seen[i, j] += 1
    counts = seen[np.triu_indices(5, 1)]
    assert counts.sum() == draws * count
    # without replacement the counts vary less than a multinomial's: scale by what is left out
    mean = draws * count / 10
    statistic = ((counts - mean) ** 2 / mean).sum() / (1 - count / 10) * 9 / 10
    assert stats.chi2.sf(statistic, 9) > 1e-6


def test_distances_have_the_same_bits_both_ways_and_in_any_batch():
    points = np.random.default_rng(2).normal(size=(40, 7))
    first, second = np.meshgrid(np.arange(40), np.arange(40), indexing="ij")
    there = squared_distances(points, first, second)
    np.testing.assert_array_equal(there, there.T)
    for record in range(40):
        alone = squared_distances(points, np.array(record), np.arange(40))
        np.testing.assert_array_equal(alone, there[record])
    for record, alone in zip((3, 17), squared_to_all(points, np.array([3, 17])), strict=True):
        np.testing.assert_array_equal(alone, there[record])
    np.testing.assert_allclose(there, np.square(points[:, None] - points[None]).sum(-1), rtol=1e-13)


N = LARGEST_DENSE + 200
DRAWING_RECALLED = DrawRequest(key=SecretKey.from_seed(5), streams=(0, 1), q=np.ones(2))
BALLS = {
    "a radius": RadiusAndK(k=None, epsilon=0.5),
    "k": RadiusAndK(k=7, epsilon=None),
    "both": RadiusAndK(k=9, epsilon=0.4),
    "an open ball": RadiusAndK(k=None, epsilon=0.5, strict=True),
    "radii": RadiusAndK(k=4, epsilon=Radii(np.arange(N) % 3 / 2)),
}


def points() -> np.ndarray:
    """With many ties, and records without others near."""
    rng = np.random.default_rng(4)
    made = rng.normal(size=(N, 3))
    made[: N // 2] = np.round(2 * made[: N // 2]) / 2
    return made


def members(found: Neighborhoods) -> list[set[int]]:
    """Each record's, as the attacks read them."""
    listed = DonorTables(found)
    result: list[set[int]] = [set()] * N
    for lists in listed.blocks():
        for index, record in enumerate(listed.order[lists.records]):
            begin = lists.begin[index]
            mine = listed.order[lists.members[begin : begin + lists.sizes[index]]]
            result[record] = set(mine.tolist()) - {int(record)}
    return result


@pytest.mark.parametrize("ball", BALLS.values(), ids=BALLS)
def test_they_have_the_members_of_a_search(ball):
    found, _ = Finder(points=points()).find(ball, DRAWING_RECALLED)
    with work(threads=2):
        again = Finder(points=points()).find(ball, known=known_sizes(found))[0]
    for name in ("sizes", "within", "radius"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert members(again) == members(found)
    assert [len(each) for each in members(again)] == found.sizes.tolist()
    np.testing.assert_array_equal(again.members(11), found.members(11))


def test_so_they_have_where_neighbors_are_stored_or_looked_up(monkeypatch):
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    made = Finder(points=points())
    with work(threads=2):
        made.store_for_sliders()
    ends = made.slider_range
    for epsilon in (ends.stored, ends.epsilon):
        ball = RadiusAndK(k=6, epsilon=epsilon)
        known = known_sizes(made.find(ball, DRAWING_RECALLED)[0])
        again = Finder(points=made.points).find(ball, known=known)[0]
        assert members(again) == members(Finder(points=made.points).find(ball)[0])


def test_sizes_of_something_else_are_refused():
    found, _ = Finder(points=points()).find(BALLS["a radius"])
    known = known_sizes(found)
    wrong = Sizes(known.within, known.sizes + 1, known.kth)
    with pytest.raises(ValueError, match="fewer members"):
        members(Finder(points=points()).find(BALLS["a radius"], known=wrong)[0])


def test_those_of_some_records_are_not_known():
    made = Finder(points=points())
    with work(threads=2):
        made.store_for_sliders(most=500)
    for epsilon in (made.slider_range.stored, made.slider_range.epsilon):
        assert known_sizes(made.find(RadiusAndK(k=3, epsilon=epsilon), DRAWING_RECALLED)[0]) is None
