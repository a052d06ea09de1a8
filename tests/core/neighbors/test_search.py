"""The compiled search: against all pairs, and the same donors however it is run."""

from __future__ import annotations

import hashlib
import threading
from itertools import cycle, product

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors import (
    DrawRequest,
    NeighborTable,
    all_neighbors,
    find,
    find_neighborhoods,
    neighbor_table,
)
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.table import complete_table
from rwn_core.parallel import threads as worker_threads
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey
from tests.core.neighbors.brute_force import hard_settings, hard_table, member_sets, squared_pairs
from tests.oracles.record_chain import RecordChain, assigned

TABLES = 240
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


@pytest.mark.parametrize("group", range(4))
def test_sizes_distances_and_donors_of_hard_tables(group):
    """Lattices, clones, constants, n = 2, k = n - 1, a radius on a tie or beyond the data."""
    for number in range(group, TABLES, 4):
        points = hard_table(number)
        index = build_index(points, leaf=4)
        complete = complete_table(points)
        nearest = np.sqrt(squared_pairs(points).min(axis=1))
        for k, epsilon in hard_settings(points, number):
            result = Search(index, ball=RadiusAndK(k=k or 0, epsilon=epsilon)).run(DRAWING)
            expected = member_sets(points, k=k, epsilon=epsilon)
            assert result.sizes.tolist() == [len(members) for members in expected]
            some = result.sizes > 0
            np.testing.assert_allclose(np.sqrt(result.nearest[some]), nearest[some], rtol=1e-14)
            assert np.isnan(result.nearest[~some]).all()
            reference = complete.cut(k=k, epsilon=epsilon)
            np.testing.assert_array_equal(result.within, reference.within)
            donors = draw_donors(
                reference, Draws(KEY, np.arange(len(points)), DRAWING.streams), DRAWING.q
            )
            np.testing.assert_array_equal(result.donors, donors)


@pytest.fixture
def ranges_of(monkeypatch):
    """Let threads take ranges of a fixed size."""

    def fix(size: int) -> None:
        class Fixed(worker_threads.Ranges):
            def take(self) -> tuple[int, int] | None:
                self._size = size
                return super().take()

        monkeypatch.setattr(worker_threads, "Ranges", Fixed)

    return fix


def test_one_hash_for_every_way_to_run(ranges_of, monkeypatch):
    """12 chunkings x stored table or search, by 1, 2, 4 threads in turn."""
    points = census(2400)
    setting = {"k": 5, "epsilon": 0.6}
    hashes = set()
    threads = cycle((1, 2, 4))
    tried = set()
    for leaf in (16, 64, 128):
        search = Search(build_index(points, leaf=leaf), ball=RadiusAndK(**setting))
        for size in (1, 2, 7, 1000):
            ranges_of(size)
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
    for module in (find, all_neighbors):
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


@pytest.mark.parametrize("number", range(9))
def test_donors_among_many_members(number):
    points = crowded_table(number)
    squared = squared_pairs(points)
    radii = np.quantile(squared[np.isfinite(squared)], [0.3, 0.8], method="lower")
    index, complete = build_index(points, leaf=32), complete_table(points)
    for epsilon in (*np.sqrt(radii), 1e9, np.inf):
        drawing = DrawRequest(key=KEY, streams=range(6), q=np.ones(6))
        result = Search(index, ball=RadiusAndK(k=2, epsilon=epsilon)).run(drawing)
        reference = complete.cut(k=2, epsilon=epsilon)
        np.testing.assert_array_equal(result.sizes, reference.sizes)
        np.testing.assert_array_equal(np.sqrt(result.nearest), reference.nearest)
        np.testing.assert_array_equal(result.donors, draw_all(reference, drawing))


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


def test_stored_tables_do_not_depend_on_threads():
    points = census(2500)
    with work(threads=1):
        one = neighbor_table(points, k=7, epsilon=0.5)
    with work(threads=3):
        two = neighbor_table(points, k=7, epsilon=0.5)
    for name in ("offsets", "records", "squared"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e-9, 1e9, 1e30, 1e150])
def test_a_scale_changes_nothing(scale):
    """Squares of such numbers are beyond single precision; 0 or infinity would count as near."""
    points = np.random.default_rng(2).normal(size=(300, 3))
    reference = Search(build_index(points), ball=RadiusAndK(k=4, epsilon=0.3)).run(DRAWING)
    scaled = Search(build_index(scale * points), ball=RadiusAndK(k=4, epsilon=0.3 * scale)).run(
        DRAWING
    )
    np.testing.assert_array_equal(scaled.sizes, reference.sizes)
    np.testing.assert_array_equal(scaled.donors, reference.donors)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e160])
def test_points_whose_distances_are_no_numbers_are_refused(wrong):
    points = census(2500)
    points[3, 1] = wrong
    with pytest.raises(ParameterError, match="coordinate of the records must be a number"):
        find_neighborhoods(points, k=5, epsilon=None)


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
    draws, q = Draws(KEY, np.arange(2300), (0, 1, 2)), np.array([1.0, 0.4, 0.0])
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


def test_compiled_cuts_equal_plain_ones():
    table = neighbor_table(census(2200), k=8, epsilon=0.9)
    rows = np.split(table.squared, table.offsets[1:-1])
    for k, epsilon, strict in product((0, 1, 8), (0.0, 0.5, 0.9), (False, True)):
        cut = table.cut(k=k or None, epsilon=epsilon, strict=strict)
        edge = epsilon**2 * (1 + (-1e-9 if strict else 1e-9))
        within = [int(((row < edge) if strict else (row <= edge)).sum()) for row in rows]
        assert cut.within.tolist() == within
        sizes = [
            count if count >= k else int((row <= row[k - 1] * (1 + 1e-9)).sum())
            for count, row in zip(within, rows, strict=True)
        ]
        assert cut.sizes.tolist() == sizes


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


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, np.sqrt(2.0), 3.0])
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
        points[0], points[1] = 1.0, -1.0
    complete, index = complete_table(points), build_index(points, leaf=32)
    for quantile in (0.1, 0.3, 0.9):
        epsilon = float(np.quantile(np.sqrt(complete.squared), quantile))
        expected = complete.cut(k=3, epsilon=epsilon)
        result = Search(index, ball=RadiusAndK(k=3, epsilon=epsilon)).run(DRAWING)
        np.testing.assert_array_equal(result.sizes, expected.sizes)
        donors = draw_donors(expected, Draws(KEY, np.arange(212), DRAWING.streams), DRAWING.q)
        np.testing.assert_array_equal(result.donors, donors)
