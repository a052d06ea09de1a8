"""Random candidates, records that are watched or shown, and draws without a law."""

import os
import threading
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import rwn_core as rwn
from rwn_core import Draws, Microdata, NotApplicable, ParameterError, draw_donors
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.masking import RWN, SoftRWN, mask
from rwn_core.neighbors import DrawRequest, Finder, find, find_neighborhoods, neighbor_table
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.candidates import (
    Scheme,
    random_others,
    random_pairs,
    random_parts,
    restricted_table,
    restriction_cost,
)
from rwn_core.neighbors.distance import CodedPoints
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.kernel import Kernel, RadiusAndK
from rwn_core.neighbors.record_draws import random_order
from rwn_core.neighbors.search import Search, check_search
from rwn_core.neighbors.slider_range import find_slider_range
from rwn_core.neighbors.soft_lists import list_neighbors
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes, search_bytes
from rwn_core.parallel.threads import Cancelled, Work, current_work, thread_count, work
from rwn_core.randomness import SAMPLE_STREAM, SecretKey
from tests.lanes import lanes
from tests.oracles.fresh_sample import fresh_sample_law
from tests.waiting import HANG_S

KEY = SecretKey.from_seed(7)
SMALL = np.random.default_rng(1).integers(0, 9, (150, 3)).astype(float)
LARGE = np.random.default_rng(2).normal(size=(2600, 3)).round(1)
SCHEMES = {
    "sample": Scheme(neighbors="sample", m=60),
    "fresh sample": Scheme(neighbors="sample", m=60, fresh=True),
    "pairs": Scheme(neighbors="pairs", m=12),
    "partition": Scheme(neighbors="partition", u=4),
    "partition of pairs": Scheme(neighbors="partition", u=4, m=20),
}


def candidates(scheme: Scheme, n: int) -> list[set[int]]:
    """Who may be a neighbor of each record."""
    if scheme.neighbors == "sample" and scheme.fresh:
        others = random_others(KEY, np.arange(n), n, scheme.m, 2**32 - 4)
        return [set(row) for row in others.tolist()]
    if scheme.neighbors == "sample":
        sample = set(random_order(KEY, n, SAMPLE_STREAM)[: scheme.m].tolist())
        return [sample - {record} for record in range(n)]
    if scheme.neighbors == "pairs":
        return partners(KEY, n, scheme.m)
    result: list[set[int]] = [set() for _ in range(n)]
    for number, part in enumerate(random_parts(KEY, n, scheme.u)):
        if scheme.m is not None:
            own = partners(KEY.derived(f"part {number}"), len(part), scheme.m)
        for place, record in enumerate(part.tolist()):
            if scheme.m is None:
                result[record] = set(part.tolist()) - {record}
            else:
                result[record] = set(part[list(own[place])].tolist())
    return result


def partners(key: SecretKey, n: int, m: int) -> list[set[int]]:
    result: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(*(side.tolist() for side in random_pairs(key, n, n * m // 2)), strict=True):
        result[i].add(j)
        result[j].add(i)
    assert all(result), "a table without isolated records was meant"
    return result


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize(
    ("points", "k", "epsilon"),
    [(SMALL, 5, 1.0), (SMALL, 3, None), (SMALL, None, 1.5), (LARGE, 5, 1.0)],
    ids=["both", "k", "epsilon", "large"],
)
def test_members_are_those_of_the_method_among_the_candidates(points, name, k, epsilon):
    table = restricted_table(points, RadiusAndK(k=k, epsilon=epsilon), SCHEMES[name], KEY)
    result = table.cut(k=k, epsilon=epsilon)
    for record, allowed in enumerate(candidates(SCHEMES[name], len(points))):
        if len(points) > 600 and record % 37:
            continue
        others = np.array(sorted(allowed))
        distance = np.square(points[others] - points[record]).sum(axis=1)
        edge = -1.0 if epsilon is None else epsilon**2
        if k is not None:
            edge = max(edge, np.sort(distance)[min(k, len(others)) - 1])
        near = distance <= edge * (1 + 1e-9)
        order = np.lexsort((others[near], np.round(distance[near], 9)))
        assert result.members(record).tolist() == others[near][order].tolist()


@pytest.mark.parametrize("draws", lanes(400, 1000))
def test_the_law_of_a_fresh_sample(draws):
    """M1-1, and its donors by simulation: n = 6, m = 3, without ties."""
    assert [str(p) for p in fresh_sample_law(6, 3, 1)] == ["3/5", "3/10", "1/10", "0", "0"]
    assert [str(p) for p in fresh_sample_law(6, 3, 2)] == ["3/10", "3/10", "1/4", "3/20", "0"]
    for n, m, k in ((9, 4, 3), (30, 29, 5), (12, 5, 5)):
        assert sum(fresh_sample_law(n, m, k)) == 1
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 2.1, 3.3, 4.6, 6.0]}))
    for k in (1, 2):
        params = RWN(k=k, neighbors="sample", m=3, fresh=True)
        prepared = params.prepare(data)
        donors = [prepared.release(SecretKey.from_seed(s)).donors[0, 0] for s in range(draws)]
        law = np.array([float(Fraction(p)) for p in fresh_sample_law(6, 3, k)])
        counts = np.bincount(donors, minlength=6)[1:]
        assert counts[law == 0].sum() == 0
        assert stats.chisquare(counts[law > 0], draws * law[law > 0]).pvalue > 1e-6


def test_isolated_records_are_given_partners():
    """With m = 1 every third record is in no pair; it gets max(1, k) others, they not it."""
    points = SMALL
    for k in (None, 4):
        ball = RadiusAndK(k=k, epsilon=None if k else 0.0)
        table = restricted_table(points, ball, Scheme(neighbors="pairs", m=1), KEY)
        i, j = random_pairs(KEY, len(points), len(points) // 2)
        degree = np.bincount(np.concatenate((i, j)), minlength=len(points))
        assert (degree == 0).any()
        lengths = np.diff(table.offsets)
        np.testing.assert_array_equal(lengths, np.where(degree, degree, max(1, k or 0)))
        result = table.cut(k=k or 1, epsilon=None)
        assert (result.sizes >= np.minimum(lengths, k or 1)).all()


@pytest.mark.parametrize(("n", "m"), [(5, 4), (40, 5)])
def test_random_others_are_different_and_uniform(n, m):
    records = np.repeat(np.arange(n), 1)
    counts = np.zeros((n, n))
    for seed in range(400):
        others = random_others(SecretKey.from_seed(seed), records, n, m, 3)
        assert all(len(set(row)) == m for row in others.tolist())
        np.add.at(counts, (np.repeat(records, m), others.ravel()), 1)
    assert (np.diag(counts) == 0).all()
    off = counts[~np.eye(n, dtype=bool)]
    expected = 400 * m / (n - 1)
    spread = expected * (1 - m / (n - 1))
    assert ((off - expected) ** 2).sum() <= spread * len(off) * 1.6 + 1e-9


def test_progress_counts_the_parts_that_are_done():
    told = list[float]()
    ball = RadiusAndK(k=2, epsilon=None)
    scheme = Scheme(neighbors="partition", u=4)
    with work(progress=told.append):
        restricted_table(SMALL, ball, scheme, KEY)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("name", SCHEMES)
def test_a_release_repeats_for_its_key_on_any_number_of_threads(name):
    scheme = SCHEMES[name]
    data = Microdata.from_frame(pd.DataFrame(LARGE, columns=list("abc")))
    params = RWN(
        k=3, epsilon=0.4, neighbors=scheme.neighbors, m=scheme.m, u=scheme.u, fresh=scheme.fresh
    )
    one, two = (mask(data, params, seed=5, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.donors, two.donors)
    other = mask(data, params, seed=6)
    assert (other.donors != one.donors).mean() > 0.5
    again = one.law.neighborhoods
    for record in range(0, 2600, 130):
        assert set(one.donors[record].tolist()) <= set(again.members(record).tolist())
    if scheme.neighbors == "sample" and not scheme.fresh:
        assert len(np.unique(one.donors)) <= scheme.m


@pytest.mark.parametrize("points", [SMALL, LARGE], ids=["small", "large"])
def test_the_cost_is_stated(points):
    ball = RadiusAndK(k=5, epsilon=1.0)
    one_part = Scheme(neighbors="partition", u=1)
    exact = restricted_table(points, ball, one_part, KEY).cut(k=5, epsilon=1.0)
    cost = restriction_cost(points, exact)
    assert cost["recall"] == 1.0
    assert cost["radius"] == cost["exact radius"]
    assert cost["by k"] == cost["exact by k"]
    table = restricted_table(points, ball, SCHEMES["sample"], KEY)
    cost = restriction_cost(points, table.cut(k=5, epsilon=1.0))
    assert 0 < cost["recall"] < 1
    assert cost["by k"] > cost["exact by k"]
    assert cost["radius"] >= cost["exact radius"]


def test_pairs_that_would_not_fit_are_refused(monkeypatch):
    monkeypatch.setenv("RWN_MEMORY", "0.001")
    pairs = Scheme(neighbors="pairs", m=20)
    with pytest.raises(ParameterError, match="Ranking these pairs needs about"):
        restricted_table(LARGE, RadiusAndK(k=3, epsilon=None), pairs, KEY)


LONG = np.random.default_rng(1).normal(size=(30_000, 8))  # some three seconds at epsilon 4


@pytest.mark.parametrize(("count", "shared"), [(2, range(2)), (40, range(1, 39))])
def test_long_pieces_are_shared_from_the_first_or_second_on(monkeypatch, count, shared):
    """Each piece takes 0.03 seconds of a made clock; two threads meet at each that is shared."""
    threads = list[int]()
    together = threading.Barrier(2)
    clock = threading.local()
    monkeypatch.setattr(time, "perf_counter", lambda: getattr(clock, "now", 0.0))

    def piece(first: int, last: int) -> None:
        assert last == first + 1
        if first in shared:
            together.wait(HANG_S)
        clock.now = getattr(clock, "now", 0.0) + 0.03
        threads.append(threading.get_native_id())

    Work(threads=2).run(piece, count)
    assert abs(2 * threads.count(threads[0]) - len(threads)) <= 2
    assert len(set(threads)) == 2


def test_a_failure_in_another_thread_ends_the_work_of_all():
    caller = threading.get_native_id()
    done = list[int]()

    def fail_elsewhere(first: int, last: int) -> None:
        time.sleep(0.01)
        done.append(first)
        if threading.get_native_id() != caller:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Work(threads=2).run(fail_elsewhere, 100_000)
    assert max(done) < 50_000


@pytest.mark.parametrize("threads", [1, 2])
def test_cancelling_ends_the_work_before_its_next_report(threads):
    cancel = threading.Event()
    shares = []

    def report(share: float) -> None:
        shares.append(share)
        cancel.set()

    with pytest.raises(Cancelled), work(threads=threads, cancel=cancel, progress=report):
        Search(build_index(LONG, epsilon=4.0), ball=RadiusAndK(k=5, epsilon=4.0)).neighborhoods()
    assert len(shares) == 1
    assert shares[0] < 1


def test_progress_of_a_table_never_falls_back(monkeypatch):
    fill = Search.fill
    told = list[float]()

    def begin(self, result):
        current_work().report(0.0)
        return fill(self, result)

    monkeypatch.setattr(Search, "fill", begin)
    with work(progress=told.append):
        neighbor_table(LONG[:3000], k=5, epsilon=None)
    assert told == sorted(told)
    assert told[-1] == 1
    search = Search(build_index(LONG[:3000]), ball=RadiusAndK(k=5, epsilon=None))
    result = search.run()
    told.clear()
    with work(progress=told.append):
        search.table(result)
    assert told[0] == 0, "sizes that are known take no half of the time"


def test_threads_come_from_the_call_the_environment_or_the_machine(monkeypatch):
    monkeypatch.delenv("RWN_THREADS", raising=False)
    assert thread_count() >= 1
    with monkeypatch.context() as elsewhere:  # a system without affinity
        elsewhere.delattr(os, "sched_getaffinity", raising=False)
        for counted, used in ((6, 6), (None, 1)):
            elsewhere.setattr(os, "cpu_count", lambda counted=counted: counted)
            assert thread_count() == used
    monkeypatch.setenv("RWN_THREADS", "3")
    assert thread_count() == 3
    assert thread_count(1) == 1
    for wrong in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("RWN_THREADS", wrong)
        with pytest.raises(ParameterError, match="RWN_THREADS must be a whole number"):
            thread_count()


def test_a_table_that_would_not_fit_is_refused_before_the_search(monkeypatch):
    points = LONG[:10_000]
    used = pairs_bytes(len(neighbor_table(points, k=5, epsilon=2.0).records))
    with work(memory=1.2 * used + search_bytes(10_000, 8, 0)):
        neighbor_table(points, k=5, epsilon=2.0)
    monkeypatch.setattr("rwn_core.neighbors.search.Search.table", None)
    with pytest.raises(ParameterError) as refused, work(memory=0.8 * used):
        neighbor_table(points, k=5, epsilon=2.0)
    message = str(refused.value)
    for words in ("table of neighbors", "MB", "epsilon", "neighbors=", "RWN_MEMORY"):
        assert words in message
    with pytest.raises(ParameterError, match="Searching this table needs about"), work(memory=1e5):
        check_search(points, 0)


def test_the_budget_comes_from_the_call_the_environment_or_the_machine(monkeypatch):
    monkeypatch.delenv("RWN_MEMORY", raising=False)
    assert budget_bytes() > 1e6
    monkeypatch.setenv("RWN_MEMORY", "1.5")
    assert budget_bytes() == 1.5e9
    with work(memory=10):
        assert budget_bytes() == 10
    monkeypatch.setenv("RWN_MEMORY", "much")
    with pytest.raises(ParameterError, match="RWN_MEMORY must be a number of gigabytes"):
        budget_bytes()
    with pytest.raises(ParameterError, match=r"Work needs about 3 GB .* 2 MB .*; do less"):
        check_fits(3e9, 2e6, "Work", "do less")


RNG = np.random.default_rng(1)
POINTS = RNG.normal(size=(4000, 3)) @ RNG.normal(size=(3, 3))


def build_preview(points: np.ndarray, progress=None, cancel=None, **options) -> Finder:
    """What the sliders of a screen begin with."""
    made = Finder(points=points)
    with work(progress=progress, cancel=cancel):
        made.store_for_sliders(**options)
    return made


@pytest.fixture(params=["whole", "some"], scope="module")
def built(request):
    return build_preview(POINTS, most=2500 if request.param == "some" else 5000)


def donors_of(neighborhoods, records: np.ndarray, q: float = 0.7) -> np.ndarray:
    return draw_donors(neighborhoods, Draws(KEY, records, (0, 1)), np.full(2, q))


@pytest.mark.parametrize(
    ("end", "beyond"), [("stored", 0.3), ("stored", 1.0), ("epsilon", 1.0), ("epsilon", 1.2)]
)
def test_shown_records_have_the_neighborhoods_of_the_full_table(built, end, beyond):
    setting = {"k": 5, "epsilon": beyond * getattr(built.slider_range, end)}
    full = find_neighborhoods(POINTS, **setting)
    result = built.find(RadiusAndK(**setting))[0]
    np.testing.assert_array_equal(result.sizes, full.sizes[built.records])
    np.testing.assert_array_equal(result.nearest, full.nearest[built.records])
    expected = donors_of(full, np.arange(4000))[built.records]
    np.testing.assert_array_equal(donors_of(result, built.records), expected)


def test_a_radius_for_each_record_is_searched_and_a_wrong_k_refused(built):
    radii = np.linspace(0.2, 1.5 * built.slider_range.stored, 4000)  # some beyond the table
    result = built.find(RadiusAndK(k=5, epsilon=radii))[0]
    full = find_neighborhoods(POINTS, k=5, epsilon=radii)
    np.testing.assert_array_equal(result.sizes, full.sizes[built.records])
    with pytest.raises(ParameterError, match="k must be"):
        built.find(RadiusAndK(k=4000, epsilon=None))


def test_a_table_with_full_places_is_stored_less_far(monkeypatch):
    """Then the sliders' ends are searched when they are asked for."""
    monkeypatch.setattr(find, "TABLE_BYTES", 12e6)
    built = build_preview(POINTS)
    assert built.table.epsilon < built.slider_range.epsilon
    assert 12 * len(built.table.records) <= 12e6
    setting = {"k": 5, "epsilon": built.slider_range.epsilon}
    sizes = built.find(RadiusAndK(**setting))[0].sizes
    np.testing.assert_array_equal(sizes, find_neighborhoods(POINTS, **setting).sizes)


def test_the_slider_goes_farther_than_the_table(monkeypatch):
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    monkeypatch.setattr(find, "LISTED_PAIRS", 200_000)
    built = build_preview(POINTS)
    sizes = {
        end: built.find(RadiusAndK(k=None, epsilon=getattr(built.slider_range, end)))[0].sizes.sum()
        for end in ("stored", "epsilon")
    }
    assert sizes["stored"] == pytest.approx(60_000, rel=0.3)
    assert sizes["epsilon"] == pytest.approx(200_000, rel=0.3)
    assert built.stores(RadiusAndK(k=built.slider_range.k, epsilon=built.slider_range.stored))
    assert not built.stores(RadiusAndK(k=5, epsilon=built.slider_range.epsilon))


@pytest.mark.parametrize("beyond", [1.0, 1.3])
def test_a_search_beyond_the_table_draws_in_the_same_pass(built, beyond):
    setting = {"k": 5, "epsilon": beyond * built.slider_range.epsilon}
    shares: list[float] = []
    q = np.array([1.0, 0.4])
    drawing = DrawRequest(key=KEY, streams=(0, 1), q=q)
    with work(progress=shares.append):
        result, donors = built.find(RadiusAndK(**setting), drawing)
    later = draw_donors(result, Draws(KEY, built.records, (0, 1)), q)
    if built.stores(RadiusAndK(**setting)):
        assert donors is None
    else:
        assert shares[-1] == 1.0
        np.testing.assert_array_equal(donors, later)
    full = find_neighborhoods(POINTS, **setting)
    expected = draw_donors(full, Draws(KEY, np.arange(4000), (0, 1)), q)
    np.testing.assert_array_equal(later, expected[built.records])


def test_twins_by_the_thousand_need_no_table(monkeypatch):
    monkeypatch.setattr(find, "TABLE_BYTES", 1e6)
    twins = (np.arange(3000) % 3)[:, None] * np.ones(2)
    built = build_preview(twins)
    assert built.table is None
    assert built.slider_range.epsilon > 0
    for setting in ({"k": 5, "epsilon": None}, {"k": 5, "epsilon": 1.5}):
        result = built.find(RadiusAndK(**setting))[0]
        expected = find_neighborhoods(twins, **setting)
        np.testing.assert_array_equal(result.sizes, expected.sizes)
        np.testing.assert_array_equal(
            donors_of(result, np.arange(3000)), donors_of(expected, np.arange(3000))
        )


@pytest.mark.parametrize("far", [1e3, 1e13, 1e16])
def test_the_sliders_reach_to_near_records_beside_one_far_away(far):
    """A number meant as "unknown" stretches the scale; the others lie close together on it."""
    points = np.random.default_rng(0).normal(size=(500, 2))
    points[0] = far
    points /= points.std(axis=0)
    slider_range = find_slider_range(points, 12_000_000)
    near = np.array(
        [(np.hypot(*(points - each).T) <= slider_range.epsilon).mean() for each in points]
    )
    assert 0.2 < near.mean() < 0.27  # a quarter of the file, for strict policies
    assert slider_range.epsilon < 15.01 * slider_range.typical
    assert slider_range.stored == slider_range.epsilon
    assert 50 <= slider_range.epsilon / slider_range.step <= 126


CERTIFIED = SoftRWN(kernel="exponential", bandwidth="absolute", own=True, cap=1.0, width=2.0)


def kernel(cap: float) -> Kernel:
    return Kernel(shape="exponential", bandwidth="absolute", own=True, cap=cap, width=0.7)


def points_of(n: int = 150) -> NDArray[np.float64]:
    """Clones, ties, an outlier and records between them."""
    rng = np.random.default_rng(0)
    points = np.round(rng.normal(size=(n, 3)))
    points[: n // 3] = rng.normal(size=(n // 3, 3))
    points[5] = 50.0
    return points


@pytest.mark.parametrize("cap", [1.0, 0.1])
@pytest.mark.parametrize("coded", [False, True])
def test_weights_and_draws_are_those_of_all_pairs(cap, coded):
    values = points_of()
    points = values
    if coded:  # the first level has no length, so that records of two levels can be at one place
        values[:, 2] -= values[:, 2].min()
        levels = np.unique(values[:, 2], return_inverse=True)[1]
        values[:, 2] = np.minimum(levels, 3)
        points = CodedPoints(values=values, squares={2: np.array([0.0, 0.0, 0.5, 1.0])})
    stored = soft_neighborhoods(kernel(cap), scale(kernel(cap), list_neighbors(points, 10)))
    by_row = AllDonors.of_points(points, kernel(cap)).neighborhoods()
    n = len(points)
    draws = Draws(SecretKey.from_seed(1), np.arange(n), (0, 1, 2, 3))
    q = np.array([1, 1, 0.5, 0])
    donors = draw_donors(stored, draws, q)
    assert (draw_donors(by_row, draws, q) == donors).all()
    some = np.array([3, 50, n - 1])
    few = AllDonors.of_points(points, kernel(cap), some).neighborhoods()
    own = Draws(SecretKey.from_seed(1), some, (0, 1, 2, 3))
    assert (draw_donors(few, own, q) == donors[some]).all()
    codes = np.random.default_rng(2).integers(0, 9, n)
    tables = [DonorTables(each).table(codes, 0.7).toarray() for each in (stored, by_row)]
    np.testing.assert_allclose(tables[0], tables[1], atol=1e-13)
    np.testing.assert_allclose(by_row.effective_sizes, stored.effective_sizes, rtol=1e-11)
    for record in (0, 5, n - 1):
        assert (by_row.members(record) == stored.members(record)).all()
        np.testing.assert_array_equal(by_row.weights(record), stored.weights(record))
    np.testing.assert_array_equal(by_row.nearest, stored.nearest)
    np.testing.assert_array_equal(by_row.radius, stored.radius)


def test_a_large_table_is_masked_row_by_row():
    """Above 2,000 records no pair is stored, and what needs all pairs says so."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(2300, 2)).round(1), columns=["a", "b"])
    data = Microdata.from_frame(frame)
    release = mask(data, CERTIFIED, seed=1)
    found = release.law.neighborhoods
    assert isinstance(found.table, AllDonors)
    assert (found.sizes == 2300).all()
    table, values = release.law.table("a")
    assert table.shape == (2300, len(values))
    assert table.data.min() > 0
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
    with pytest.raises(NotApplicable, match="all pairs of 2,300 records"):
        _ = release.law.probabilities
    # without the own record, or balanced, the nearest are weighed as before
    nearest = mask(data, rwn.SoftRWN(kernel="exponential", bandwidth="absolute", cap=1.0), seed=1)
    assert nearest.law.neighborhoods.sizes.max() < 2000


def test_a_screen_shows_the_same_records_of_the_release():
    rng = np.random.default_rng(5)
    data = Microdata.from_frame(pd.DataFrame(rng.normal(size=(2100, 2)), columns=["a", "b"]))
    shown = CERTIFIED.preview(data, most=60)
    assert len(shown.records) == 60
    part = shown.release(SecretKey.from_seed(1)).masked.frame
    whole = mask(data, CERTIFIED, seed=1).masked.frame.iloc[shown.records]
    assert (part.to_numpy() == whole.to_numpy()).all()


def test_a_law_that_does_not_fit_is_refused(monkeypatch):
    tables = DonorTables(AllDonors.of_points(points_of(), kernel(1.0)).neighborhoods())
    monkeypatch.setattr("rwn_core.laws.donor_lists.STORED_NUMBERS", 150 * 50)
    assert tables.table(np.arange(150) % 100, 1.0).nnz == 15_000
    with pytest.raises(NotApplicable, match="22,500 probabilities are too many"):
        tables.table(np.arange(150), 1.0)


def test_others_do_not_depend_on_the_batch():
    whole = random_others(KEY, np.arange(50), 1000, 20, 3)
    for record in (0, 7, 49):
        alone = random_others(KEY, np.array([record]), 1000, 20, 3)
        np.testing.assert_array_equal(alone[0], whole[record])


def test_parts_are_of_equal_size_and_everybody_is_in_one():
    parts = random_parts(KEY, 103, 4)
    assert sorted(len(part) for part in parts) == [25, 26, 26, 26]
    assert sorted(np.concatenate(parts).tolist()) == list(range(103))


def test_members_of_a_direct_search_are_refused_if_they_would_not_fit(monkeypatch):
    monkeypatch.setenv("RWN_MEMORY", "0.02")
    result = find_neighborhoods(LONG[:10_000], k=5, epsilon=4.0)
    assert result.sizes.min() >= 5
    with pytest.raises(ParameterError, match="table of neighbors needs about"):
        result.pairs()
