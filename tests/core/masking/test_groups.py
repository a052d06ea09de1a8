"""Methods that work by groups: intervals, merged levels, MDAV, suppression, whole rows, samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.masking.intervals import equal_length, intervals
from rwn_core.masking.local_suppression import suppressed
from rwn_core.masking.microaggregation import mdav
from rwn_core.masking.recoding import merged
from tests.check_values import check_values

ENTRIES = check_values("method")


def test_KPRAM_1_groups_of_equal_length():
    given, expected = ENTRIES["KPRAM-1"]["input"], ENTRIES["KPRAM-1"]["expected"]
    values = np.array(given["x"], dtype=float)
    assert (values.max() - values.min()) / given["m"] == expected[0]
    assert (equal_length(values, given["m"]) + 1).tolist() == expected[1]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_every_interval_holds_k_and_one_more_interval_would_not(k):
    values = np.random.default_rng(3).exponential(size=200)
    group = intervals(values, k)
    count = group.max() + 1
    assert np.bincount(group).min() >= k
    for more in range(count + 1, 200 // k + 1):
        assert np.bincount(equal_length(values, more), minlength=more).min() < k


def test_KN_3_mean_squared_error_of_k_pram():
    expected = ENTRIES["KN-3"]["expected"]
    ages = Microdata.from_frame(pd.DataFrame({"age": np.repeat(np.arange(20.0, 25.0), 40)}))
    law = rwn.KPRAM(k=200).prepare(ages).law
    chances, values = law.table("age")
    apart = (np.array(values)[None] - ages.values("age")[:, None]) ** 2
    error = (chances.toarray() * apart).sum(axis=1).mean()
    assert error == pytest.approx(expected["kpram_discrete"])


def test_REC_1_the_recoding_matrix():
    codes = np.repeat(np.arange(5), [3, 2, 1, 6, 6]).astype(np.int32)
    shown = codes[merged(codes, 6, ordered=True)]
    matrix = np.zeros((3, 5), dtype=int)
    rows = {0: 0, 3: 1, 4: 2}  # the merged class carries its most frequent level's name
    for true, released in zip(codes, shown, strict=True):
        matrix[rows[released], true] = 1
    assert matrix.tolist() == ENTRIES["REC-1"]["expected"]


@pytest.mark.parametrize("ordered", [True, False])
def test_merged_classes_have_k_records_and_neighbors_stay_together(ordered):
    rng = np.random.default_rng(6)
    for _ in range(50):
        codes = rng.geometric(0.2, size=60).astype(np.int32) - 1
        result = codes[merged(codes, 6, ordered)]
        assert np.unique(result, return_counts=True)[1].min() >= 6
        if ordered:
            order = result[np.argsort(codes, kind="stable")]
            assert (np.diff(np.flatnonzero(np.diff(order, prepend=-9))) > 0).all()
            assert len(np.unique(order)) == (np.diff(order) != 0).sum() + 1


def slow_mdav(points: np.ndarray, k: int) -> list[set[int]]:
    """The published algorithm, word by word."""
    left, groups = list(range(len(points))), []

    def apart(i, center):
        return float(((points[i] - center) ** 2).sum())

    def gather(center):
        group = sorted(left, key=lambda i: apart(i, center))[:k]
        groups.append(set(group))
        for i in group:
            left.remove(i)

    while len(left) >= 3 * k:
        far = points[max(left, key=lambda i: apart(i, points[left].mean(axis=0)))]
        gather(far)
        gather(points[max(left, key=lambda i: apart(i, far))])
    if len(left) >= 2 * k:
        gather(points[max(left, key=lambda i: apart(i, points[left].mean(axis=0)))])
    if left:
        groups.append(set(left))
    return groups


@pytest.mark.parametrize(("n", "k"), [(30, 3), (31, 5), (7, 3), (5, 5), (9, 2), (4, 1)])
def test_mdav_is_the_published_algorithm(n, k):
    points = np.random.default_rng(n).normal(size=(n, 3))
    group = mdav(points, k)
    found = [set(np.flatnonzero(group == number).tolist()) for number in range(group.max() + 1)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, slow_mdav(points, k)))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_every_combination_that_is_left_occurs_k_times(k):
    rng = np.random.default_rng(7)
    for n in (10, 40, 200):
        cells = rng.geometric(0.3, size=(n, 3)) - 1
        lost = suppressed(cells, k)
        shown = np.where(lost, -1, cells)
        assert np.unique(shown, axis=0, return_counts=True)[1].min() >= k
    assert not suppressed(np.zeros((12, 2), dtype=np.int64), 12).any()


def test_whole_rows_are_true_records_of_neighbors():
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RowCopy(epsilon=3.0, k=5), seed=1)
    donors = release.donors
    assert (donors == donors[:, :1]).all()
    assert (donors[:, 0] != np.arange(data.n)).all()
    rows = set(map(tuple, data.frame.to_numpy()))
    assert all(tuple(row) in rows for row in release.masked.frame.to_numpy())
    half = rwn.mask(data, rwn.RowCopy(epsilon=3.0, k=5, q=0.5), seed=1)
    kept = (half.donors[:, 0] == np.arange(data.n)).mean()
    assert kept == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(data.n))
