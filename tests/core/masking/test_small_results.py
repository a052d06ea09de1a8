"""Results of small tables, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Microdata, Role, SecretKey
from rwn_core.masking import KNoise, LocalSuppression, Microaggregation, RandomSample, Recoding
from rwn_core.masking.additive_noise import known_spread
from rwn_core.masking.correlated_noise import moments
from rwn_core.masking.intervals import equal_counts, group_means, intervals
from rwn_core.masking.k_noise import delta
from rwn_core.masking.local_suppression import suppressed
from rwn_core.masking.microaggregation import _scaled
from rwn_core.masking.recoding import merged
from tests.tables import described

NAN_SMALL = np.nan
KEY = SecretKey.from_seed(1)


def shown(method: object, frame: pd.DataFrame, **roles: Role) -> pd.DataFrame:
    return method.prepare(described(frame, **roles)).release(KEY).masked.frame  # type: ignore[attr-defined]


def test_intervals_by_hand():
    values = np.array([0.0, 1.0, NAN_SMALL, 2.0, 6.0, 9.0])
    # five: 0 1 | 2 | - | 6 | 9; four: 0 1 2 | - | 6 | 9; three: 0 1 2 | - | 6 9; two: 0 1 2 | 6 9
    assert intervals(values, 1).tolist() == [0, 0, 2, 0, 1, 1]
    assert intervals(values, 2).tolist() == [0, 0, 2, 0, 1, 1]
    assert intervals(values, 3).tolist() == [0, 0, 1, 0, 0, 0]
    assert intervals(np.array([4.0, 4.0, NAN_SMALL]), 1).tolist() == [0, 0, 1]
    assert intervals(np.array([NAN_SMALL, NAN_SMALL]), 1).tolist() == [1, 1]
    assert intervals(np.array([1.0, 2.0]), 5).tolist() == [0, 0]
    assert intervals(np.array([1.0, 2.0, 3.0, 4.0]), 1).tolist() == [0, 1, 2, 3]
    # two equal values in the middle share their ranks, 2 and 3 of 4
    assert equal_counts(np.array([1.0, 5.0, 5.0, 9.0]), 2).tolist() == [0, 1, 1, 1]
    assert equal_counts(np.array([3.0, 1.0, 2.0, 4.0]), 4).tolist() == [2, 0, 1, 3]
    assert equal_counts(np.array([3.0, 1.0]), 1).tolist() == [0, 0]
    assert equal_counts(np.array([1.0, 1.0, 1.0, 2.0]), 2).tolist() == [0, 0, 0, 1]


def test_delta_by_hand():
    values = np.array([1.0, 2.0, 4.0, 8.0])
    assert [delta(values, k) for k in (2, 3)] == [2.0, 3.0]
    assert [delta(np.empty(0), k) for k in (1, 2)] == [0.0, 0.0]
    assert delta(np.array([5.0]), 1) == 0.0
    assert delta(np.array([5.0, 5.0, 5.0]), 2) == 0.0


def test_nothing_is_added_where_k_have_the_same_value():
    frame = pd.DataFrame({"x": [5.5] * 4, "y": [1.0, 2.0, 4.0, 8.0]})
    assert shown(KNoise(k=4), frame)["x"].tolist() == [5.5] * 4
    data = Microdata.from_frame(frame)
    law = KNoise(k=2).prepare(data).law
    assert law._part("x").keeps_value_counts
    assert law._part("y").noise.sd == pytest.approx(2 / np.sqrt(3))
    assert not law._part("y").discrete


def test_spreads_have_the_divisor_n_less_one():
    frame = pd.DataFrame(
        {"x": [1.0, 3.0, NAN_SMALL], "y": [2.0, NAN_SMALL, NAN_SMALL], "z": [1.0, 2.0, 6.0]}
    )
    data = Microdata.from_frame(frame)
    spreads = [known_spread(data, name) for name in "xyz"]
    assert spreads == pytest.approx([np.sqrt(2.0), 0.0, np.sqrt(7.0)])


def test_means_of_known_numbers_and_covariances_of_complete_records():
    values = np.array([[1.0, 2.0], [3.0, 8.0], [8.0, NAN_SMALL]])
    mean, covariance = moments(values)
    assert mean.tolist() == [4.0, 5.0]
    assert covariance.tolist() == [[2.0, 6.0], [6.0, 18.0]]
    # one complete record: each variance by itself, around the mean of the known numbers
    mean, covariance = moments(np.array([[1.0, 2.0], [3.0, NAN_SMALL], [5.0, NAN_SMALL]]))
    assert mean.tolist() == [3.0, 2.0]
    assert covariance.tolist() == [[4.0, 0.0], [0.0, 0.0]]
    mean, covariance = moments(np.array([[NAN_SMALL], [NAN_SMALL]]))
    assert (mean.tolist(), covariance.tolist()) == ([0.0], [[0.0]])
    assert moments(np.array([[1.0], [3.0]]))[1].tolist() == [[2.0]]


def test_without_correlated_noise_every_variable_is_as_it_is():
    data = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.5], "y": [3.0, 1.0, 2.5]}))
    none, some = (rwn.CorrelatedNoise(size=size).prepare(data).law for size in (0, 0.5))
    assert (none.units(), some.units()) == ([("x",), ("y",)], [("x", "y")])
    assert none.rows_unchanged().tolist() == [1.0, 1.0, 1.0]
    assert some.rows_unchanged().tolist() == [0.0, 0.0, 0.0]


def test_the_largest_and_the_smallest_become_their_mean():
    frame = pd.DataFrame({"x": [9.0, 1.0, 2.5, NAN_SMALL, 8.0, 3.0], "g": list("aabbcc")})
    tails = shown(Recoding(k=1, top=0.4, bottom=0.2), frame)
    assert tails["x"].fillna(0).tolist() == [8.5, 1.0, 2.5, 0.0, 8.5, 3.0]
    both = shown(Recoding(k=1, bottom=0.4), frame)["x"]
    assert both.fillna(0).tolist() == [9.0, 1.75, 1.75, 0.0, 8.0, 3.0]
    assert tails["g"].tolist() == list("aabbcc")
    # two intervals, each shown as its mean, after the tops are 8.5
    classes = shown(Recoding(k=2, top=0.4), frame)["x"]
    assert classes.fillna(0).tolist() == pytest.approx([8.5, 6.5 / 3, 6.5 / 3, 0.0, 8.5, 6.5 / 3])


def test_rare_levels_are_merged_under_the_name_of_the_most_frequent():
    #                  a  a  b  c  c  c  -   d
    codes = np.array([0, 0, 1, 2, 2, 2, -1, 3], dtype=np.int32)
    # from the rarest on: b and d make two, a has two by itself, c has three
    assert merged(codes, 2, ordered=False).tolist() == [0, 1, 2, 3, 4, 5, 6, 2]
    # in their order: a alone, b with c, and d, too few, with those before
    assert merged(codes, 2, ordered=True).tolist() == [0, 1, 3, 3, 4, 5, 6, 3]
    assert merged(codes, 1, ordered=True).tolist() == list(range(8))
    assert merged(codes, 7, ordered=False).tolist() == [3, 3, 3, 3, 4, 5, 6, 3]
    assert merged(np.array([-1, -1], dtype=np.int32), 2, ordered=True).tolist() == [0, 1]


def test_groups_of_similar_records_become_their_means():
    # x and y in standard deviations, where the missing y counts as the mean: 20 with 10, then the
    # farthest from 20, which is 0.5, with 3.0, and 1.0 is left with 4.0
    frame = pd.DataFrame({"x": [0.5, 1.0, 3.0, 4.0, 10.0, 20.0]})
    frame["y"] = [0.5, NAN_SMALL, 3.0, 4.0, 10.0, 20.0]
    law = Microaggregation(k=6).prepare(Microdata.from_frame(frame.assign(g="a"))).law
    assert (law.units(), law.rows_unchanged().tolist()) == ([("x", "y"), ("g",)], [0.0] * 6)
    masked = shown(Microaggregation(k=2), frame)
    assert masked["x"].tolist() == [1.75, 2.5, 1.75, 2.5, 15.0, 15.0]
    assert masked["y"].fillna(0).tolist() == [1.75, 0.0, 1.75, 4.0, 15.0, 15.0]


def test_distances_count_standard_deviations_and_a_missing_number_its_mean():
    values = np.array(
        [[1.0, 5.0, 3.0, NAN_SMALL], [3.0, NAN_SMALL, 3.0, NAN_SMALL], [5.0, 7.0, 3.0, NAN_SMALL]]
    )
    half = np.sqrt(0.5)
    expected = [[-1.0, -half, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, half, 0.0, 0.0]]
    np.testing.assert_allclose(_scaled(values), expected)
    means = group_means(np.append(values[:, 1], 8.0), np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(means, [5.0, NAN_SMALL, 7.5, 7.5])


def test_keys_are_lost_until_k_share_each_combination():
    cells = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [2, 0]])
    # the first key has more values: (0, 1) and (2, 0) lose it, then also their second
    lost = suppressed(cells, 2)
    assert lost.tolist() == [[False, False]] * 2 + [[True, True]] + [[False, False]] * 2 + [
        [True] * 2
    ]
    # one record alone without keys: the rarest others join it
    cells = np.array([[0], [0], [1], [1], [1], [2]])
    assert suppressed(cells, 2).ravel().tolist() == [True, True, False, False, False, True]
    assert not suppressed(cells, 1).any()
    assert suppressed(cells, 6).all()


def test_numeric_keys_become_means_of_classes_and_other_variables_stay():
    frame = pd.DataFrame(
        {"age": [20.0, 30.0, 41.5, 60.0, NAN_SMALL, 70.0], "sex": list("mmffmf"), "pay": [1.5] * 6}
    )
    roles = {"age": Role.KEY, "sex": Role.KEY, "pay": Role.CONFIDENTIAL}
    masked = shown(LocalSuppression(k=1, classes=2), frame, **roles)
    assert masked.equals(frame)
    masked = shown(LocalSuppression(k=2, classes=2), frame, **roles)
    # 25 for 20 and 30, and the mean of the other three; the one without an age has the sex of
    # the first two, loses it, and is alone without keys until they join
    assert masked["age"].fillna(0).tolist() == [0.0, 0.0, 171.5 / 3, 171.5 / 3, 0.0, 171.5 / 3]
    assert masked["sex"].fillna("-").tolist() == list("--ff-f")
    assert masked["pay"].equals(frame["pay"])
    # a key that nobody has a value of stays so
    some = Microdata.from_frame(
        pd.DataFrame({"x": [NAN_SMALL, NAN_SMALL, 1.0], "y": [1.0, 1.0, 5.0]})
    )
    none = LocalSuppression(k=2).prepare(some.take(np.array([0, 1]))).release(KEY).masked.frame
    assert none["x"].isna().all()
    assert none["y"].tolist() == [1.0, 1.0]


def test_a_sample_loses_whole_records_and_says_how_likely():
    frame = pd.DataFrame({"x": np.arange(10) + 0.5, "g": list("ababababab")})
    data = Microdata.from_frame(frame)
    made = RandomSample(left_out=0.35).prepare(data)
    lost = made.release(KEY).masked.frame.isna()
    assert lost.sum().tolist() == [3, 3]
    assert (lost["x"] == lost["g"]).all()
    np.testing.assert_allclose(made.law.rows_unchanged(), 0.7)
    lost = [RandomSample(left_out=share).count(10) for share in (0.0, 0.05, 0.1, 0.99)]
    assert lost == [0, 0, 1, 9]
