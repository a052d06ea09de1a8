"""Results of small tables and what a key draws, by hand; settings at their edges."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.laws.rank_swaps import moore_partners, mu_argus_partners
from rwn_core.masking import cart_synthesis
from rwn_core.masking.additive_noise import known_spread
from rwn_core.masking.correlated_noise import moments
from rwn_core.masking.intervals import equal_counts, group_means, intervals
from rwn_core.masking.k_pram import _donors
from rwn_core.masking.local_suppression import suppressed
from rwn_core.masking.microaggregation import _scaled
from rwn_core.masking.recoding import merged
from rwn_core.masking.sliced_method import PREDICTED
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SELECTION_STREAM, uniforms
from tests.tables import described

NAN = np.nan
KEY = rwn.SecretKey.from_seed(1)


def shown(method: object, frame: pd.DataFrame, **roles: rwn.Role) -> pd.DataFrame:
    return method.prepare(described(frame, **roles)).release(KEY).masked.frame  # type: ignore[attr-defined]


def test_intervals_by_hand():
    values = np.array([0.0, 1.0, NAN, 2.0, 6.0, 9.0])
    # five: 0 1 | 2 | - | 6 | 9; four: 0 1 2 | - | 6 | 9; three: 0 1 2 | - | 6 9; two: 0 1 2 | 6 9
    assert intervals(values, 1).tolist() == [0, 0, 2, 0, 1, 1]
    assert intervals(values, 2).tolist() == [0, 0, 2, 0, 1, 1]
    assert intervals(values, 3).tolist() == [0, 0, 1, 0, 0, 0]
    assert intervals(np.array([4.0, 4.0, NAN]), 1).tolist() == [0, 0, 1]
    assert intervals(np.array([NAN, NAN]), 1).tolist() == [1, 1]
    assert intervals(np.array([1.0, 2.0]), 5).tolist() == [0, 0]
    assert intervals(np.array([1.0, 2.0, 3.0, 4.0]), 1).tolist() == [0, 1, 2, 3]
    # two equal values in the middle share their ranks, 2 and 3 of 4
    assert equal_counts(np.array([1.0, 5.0, 5.0, 9.0]), 2).tolist() == [0, 1, 1, 1]
    assert equal_counts(np.array([3.0, 1.0, 2.0, 4.0]), 4).tolist() == [2, 0, 1, 3]
    assert equal_counts(np.array([3.0, 1.0]), 1).tolist() == [0, 0]
    assert equal_counts(np.array([1.0, 1.0, 1.0, 2.0]), 2).tolist() == [0, 0, 0, 1]
    assert equal_counts(np.array([NAN, NAN]), 3).tolist() == [0, 0]
    assert equal_counts(np.array([NAN, 1.0]), 3).tolist() == [1, 0]


def test_nothing_is_added_where_k_have_the_same_value():
    frame = pd.DataFrame({"x": [5.5] * 4, "y": [1.0, 2.0, 4.0, 8.0]})
    assert shown(rwn.KNoise(k=4), frame)["x"].tolist() == [5.5] * 4
    data = rwn.Microdata.from_frame(frame)
    law = rwn.KNoise(k=2).prepare(data).law
    assert law._part("x").keeps_value_counts
    assert law._part("y").noise.sd == pytest.approx(2 / np.sqrt(3))
    assert not law._part("y").discrete


def test_spreads_have_the_divisor_n_less_one():
    frame = pd.DataFrame({"x": [1.0, 3.0, NAN], "y": [2.0, NAN, NAN], "z": [1.0, 2.0, 6.0]})
    data = rwn.Microdata.from_frame(frame)
    spreads = [known_spread(data, name) for name in "xyz"]
    assert spreads == pytest.approx([np.sqrt(2.0), 0.0, np.sqrt(7.0)])


def test_means_of_known_numbers_and_covariances_of_complete_records():
    values = np.array([[1.0, 2.0], [3.0, 8.0], [8.0, NAN]])
    mean, covariance = moments(values)
    assert mean.tolist() == [4.0, 5.0]
    assert covariance.tolist() == [[2.0, 6.0], [6.0, 18.0]]
    # one complete record: each variance by itself, around the mean of the known numbers
    mean, covariance = moments(np.array([[1.0, 2.0], [3.0, NAN], [5.0, NAN]]))
    assert mean.tolist() == [3.0, 2.0]
    assert covariance.tolist() == [[4.0, 0.0], [0.0, 0.0]]
    mean, covariance = moments(np.array([[NAN], [NAN]]))
    assert (mean.tolist(), covariance.tolist()) == ([0.0], [[0.0]])
    assert moments(np.array([[1.0], [3.0]]))[1].tolist() == [[2.0]]


def test_without_correlated_noise_every_variable_is_as_it_is():
    data = rwn.Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.5], "y": [3.0, 1.0, 2.5]}))
    none, some = (rwn.CorrelatedNoise(size=size).prepare(data).law for size in (0, 0.5))
    assert (none.units(), some.units()) == ([("x",), ("y",)], [("x", "y")])
    assert none.rows_unchanged().tolist() == [1.0, 1.0, 1.0]
    assert some.rows_unchanged().tolist() == [0.0, 0.0, 0.0]


def test_the_largest_and_the_smallest_become_their_mean():
    frame = pd.DataFrame({"x": [9.0, 1.0, 2.5, NAN, 8.0, 3.0], "g": list("aabbcc")})
    tails = shown(rwn.Recoding(k=1, top=0.4, bottom=0.2), frame)
    assert tails["x"].fillna(0).tolist() == [8.5, 1.0, 2.5, 0.0, 8.5, 3.0]
    both = shown(rwn.Recoding(k=1, bottom=0.4), frame)["x"]
    assert both.fillna(0).tolist() == [9.0, 1.75, 1.75, 0.0, 8.0, 3.0]
    assert tails["g"].tolist() == list("aabbcc")
    # two intervals, each shown as its mean, after the tops are 8.5
    classes = shown(rwn.Recoding(k=2, top=0.4), frame)["x"]
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
    frame["y"] = [0.5, NAN, 3.0, 4.0, 10.0, 20.0]
    law = rwn.Microaggregation(k=6).prepare(rwn.Microdata.from_frame(frame.assign(g="a"))).law
    assert (law.units(), law.rows_unchanged().tolist()) == ([("x", "y"), ("g",)], [0.0] * 6)
    masked = shown(rwn.Microaggregation(k=2), frame)
    assert masked["x"].tolist() == [1.75, 2.5, 1.75, 2.5, 15.0, 15.0]
    assert masked["y"].fillna(0).tolist() == [1.75, 0.0, 1.75, 4.0, 15.0, 15.0]


def test_distances_count_standard_deviations_and_a_missing_number_its_mean():
    values = np.array([[1.0, 5.0, 3.0, NAN], [3.0, NAN, 3.0, NAN], [5.0, 7.0, 3.0, NAN]])
    half = np.sqrt(0.5)
    expected = [[-1.0, -half, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, half, 0.0, 0.0]]
    np.testing.assert_allclose(_scaled(values), expected)
    means = group_means(np.append(values[:, 1], 8.0), np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(means, [5.0, NAN, 7.5, 7.5])


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
        {"age": [20.0, 30.0, 41.5, 60.0, NAN, 70.0], "sex": list("mmffmf"), "pay": [1.5] * 6}
    )
    roles = {"age": rwn.Role.KEY, "sex": rwn.Role.KEY, "pay": rwn.Role.CONFIDENTIAL}
    masked = shown(rwn.LocalSuppression(k=1, classes=2), frame, **roles)
    assert masked.equals(frame)
    masked = shown(rwn.LocalSuppression(k=2, classes=2), frame, **roles)
    # 25 for 20 and 30, and the mean of the other three; the one without an age has the sex of
    # the first two, loses it, and is alone without keys until they join
    assert masked["age"].fillna(0).tolist() == [0.0, 0.0, 171.5 / 3, 171.5 / 3, 0.0, 171.5 / 3]
    assert masked["sex"].fillna("-").tolist() == list("--ff-f")
    assert masked["pay"].equals(frame["pay"])
    # a key that nobody has a value of stays so
    some = rwn.Microdata.from_frame(pd.DataFrame({"x": [NAN, NAN, 1.0], "y": [1.0, 1.0, 5.0]}))
    none = rwn.LocalSuppression(k=2).prepare(some.take(np.array([0, 1]))).release(KEY).masked.frame
    assert none["x"].isna().all()
    assert none["y"].tolist() == [1.0, 1.0]


def test_a_sample_loses_whole_records_and_says_how_likely():
    frame = pd.DataFrame({"x": np.arange(10) + 0.5, "g": list("ababababab")})
    data = rwn.Microdata.from_frame(frame)
    made = rwn.RandomSample(left_out=0.35).prepare(data)
    lost = made.release(KEY).masked.frame.isna()
    assert lost.sum().tolist() == [3, 3]
    assert (lost["x"] == lost["g"]).all()
    np.testing.assert_allclose(made.law.rows_unchanged(), 0.7)
    lost = [rwn.RandomSample(left_out=share).count(10) for share in (0.0, 0.05, 0.1, 0.99)]
    assert lost == [0, 0, 1, 9]
    assert rwn.RandomSample(left_out=1 - 1e-12).count(5) == 4  # one record at least is released
    assert rwn.RandomSample(left_out=0.3).count(10) == 3  # 10 times 0.3 is a little less than 3


def numbers(names: str = "abc", n: int = 40) -> rwn.Microdata:
    draw = np.random.default_rng(3)
    return rwn.Microdata.from_frame(pd.DataFrame({name: draw.normal(size=n) for name in names}))


def test_ties_need_two_slices_and_no_more() -> None:
    two = numbers().with_slices([["a", "b"]])
    assert len(rwn.mask(two, rwn.SoftRWN(tie=True), seed=1).law.units()) == 2
    with pytest.raises(rwn.ParameterError, match="Ties need from 2 to"):
        rwn.mask(numbers().with_slices([["a", "b", "c"]]), rwn.SoftRWN(tie=True), seed=1)


def test_a_prediction_is_warned_of_few_people_and_of_mixed_slices_only_where_it_has_them() -> None:
    usual = rwn.SoftRWN(by_prediction=True, own=True, later=20).cautions()
    few = rwn.SoftRWN(by_prediction=True, own=True, later=19).cautions()
    mixed = rwn.SoftRWN(by_prediction=True, own=True, later=20, mixed=True).cautions()
    assert {*PREDICTED} <= {*usual}
    assert len(few) == len(mixed) == len(usual) + 1
    apart = rwn.SoftRWN(later=19, mixed=True).cautions()
    assert apart == rwn.SoftRWN().cautions()


def test_what_would_change_nothing_or_has_no_size_is_refused() -> None:
    levels = pd.DataFrame({"g": list("abab") * 10, "h": list("aabb") * 10})
    everything = rwn.RecordSwapping(variables=("g", "h"))
    with pytest.raises(rwn.ParameterError, match="All variables would move together"):
        rwn.mask(rwn.Microdata.from_frame(levels), everything, seed=1)
    with pytest.raises(rwn.ParameterError, match="neither is given"):
        rwn.RWN()
    with pytest.raises(rwn.ParameterError, match="matrices must be rows"):
        rwn.PRAM(matrices={"g": [[0.9, 0.1], [1.0]]})
    parts = rwn.RWN(k=5, neighbors="partition", u=9)
    with pytest.raises(rwn.ParameterError, match="u must be"):
        rwn.mask(numbers(), parts, seed=1)


def test_levels_are_ordered_by_the_mean_of_what_they_predict_not_by_its_sum() -> None:
    # c has the highest mean and few records; by sums b would lie farther out
    values = np.repeat([0.0, 1.0, 1.5], [60, 60, 4])
    data = rwn.Microdata.from_frame(pd.DataFrame({"g": list("a" * 60 + "b" * 60 + "c" * 4)}))
    a, b, c = cart_synthesis._predictor(data, "g", values[:, np.newaxis])[[0, 60, 120]]
    assert b == sorted((a, b, c))[1]


KEY_11 = rwn.SecretKey.from_seed(11)
TWELVE = 12


@pytest.fixture(scope="module")
def twelve() -> rwn.Microdata:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "g": list("aabbbcacbbcb"),
            "x": rng.normal(3.0, 1.0, TWELVE).round(4),
            "n": rng.integers(0, 40, TWELVE),
            "h": list("uuvvuvuvvuuv"),
        }
    )
    frame.loc[[2, 7], "x"] = np.nan
    frame.loc[5, "h"] = None
    return rwn.Microdata.from_frame(frame)


def drawn(method: Any, twelve: rwn.Microdata) -> pd.DataFrame:
    return method.prepare(twelve).release(KEY_11).masked.frame


def uniform_numbers(stream: int, records: Any = None) -> np.ndarray:
    return uniforms(KEY_11, np.arange(TWELVE) if records is None else np.asarray(records), stream)


def noise(stream: int) -> np.ndarray:
    return stats.norm.ppf(uniform_numbers(stream)[0])


def test_noise_of_a_variable_is_its_own_uniform_number_turned_normal(twelve):
    found = drawn(rwn.AdditiveNoise(size=2.0), twelve)
    x = twelve.frame["x"]
    np.testing.assert_allclose(found["x"], x + 2 * x.std() * noise(1))
    n = twelve.frame["n"]
    assert found["n"].tolist() == np.rint(n + 2 * n.std() * noise(2)).astype(int).tolist()
    folded = drawn(rwn.AdditiveNoise(size=2.0, reflected=True), twelve)
    np.testing.assert_allclose(folded["x"], np.abs(found["x"]))
    assert folded["n"].tolist() == found["n"].abs().tolist()
    assert (found["x"] < 0).any()
    below = rwn.Microdata.from_frame(twelve.frame.assign(x=twelve.frame["x"] - 3))
    signed = drawn(rwn.AdditiveNoise(size=2.0, reflected=True), below)["x"]
    assert (signed < 0).any()  # it had negative uniform_numbers before
    assert found["g"].equals(twelve.frame["g"])


def test_k_noise_is_uniform_within_its_delta(twelve):
    own = np.sort(twelve.frame["n"].to_numpy(float))
    half = max(np.sort(np.abs(own - each))[2] for each in own) / 2
    expected = np.rint(twelve.frame["n"] + half * (2 * uniform_numbers(2)[0] - 1))
    assert drawn(rwn.KNoise(k=3), twelve)["n"].tolist() == expected.tolist()


@pytest.mark.parametrize(("form", "factor"), [("population", 1 / 1.5), ("plain", 1.0)])
def test_correlated_noise_has_the_root_of_the_covariance(twelve, form, factor):
    found = drawn(rwn.CorrelatedNoise(size=0.5, form=form), only(twelve, "x"))
    x = twelve.frame["x"]
    expected = x.mean() + np.sqrt(factor) * (x + np.sqrt(0.5) * x.std() * noise(0) - x.mean())
    # a root has either sign
    other = x.mean() + np.sqrt(factor) * (x - np.sqrt(0.5) * x.std() * noise(0) - x.mean())
    assert np.allclose(found["x"], expected, equal_nan=True) or np.allclose(
        found["x"], other, equal_nan=True
    )


def only(twelve: rwn.Microdata, *names: str) -> rwn.Microdata:
    return rwn.Microdata.from_frame(twelve.frame[list(names)])


def test_disjoint_pairs_are_the_first_of_a_random_order(twelve):
    """Records without a value of h are not swapped."""
    found = drawn(rwn.RandomSwapping(share=0.75), twelve)
    for stream, name in ((0, "g"), (3, "h")):
        some = np.flatnonzero(twelve.frame[name].notna())
        order = some[np.argsort(uniform_numbers(stream, some)[0])]
        expected = twelve.frame[name].to_numpy(object).copy()
        for pair in range(math.floor(0.75 * len(some) / 2)):
            one, other = order[2 * pair], order[2 * pair + 1]
            expected[one], expected[other] = expected[other], expected[one]
        same = pd.Series(expected).fillna("-").tolist()
        assert found[name].fillna("-").tolist() == same
    assert found["x"].equals(twelve.frame["x"])


def test_successive_swaps_go_one_by_one(twelve):
    found = drawn(rwn.RandomSwapping(share=3.0, pairs="successive", variables="n"), twelve)["n"]
    expected = twelve.frame["n"].tolist()
    uniform = uniform_numbers(2, range(18))
    for first, second in uniform[:2].T:
        one = int(first * TWELVE)
        other = [i for i in range(TWELVE) if i != one][int(second * (TWELVE - 1))]
        expected[one], expected[other] = expected[other], expected[one]
    assert found.tolist() == expected


def test_ranks_are_exchanged_from_the_largest_down_and_the_ends_become_means(twelve):
    n = twelve.frame["n"].to_numpy(float)
    for form, partners in (("moore", moore_partners), ("mu_argus", mu_argus_partners)):
        method = rwn.RankSwapping(p=0.5, top=0.2, bottom=0.1, form=form)
        uniform = uniform_numbers(2)
        order = np.lexsort((uniform[1], -n))
        middle = order[2:11]  # two of twelve at the top, one at the bottom
        if form == "moore":
            places = partners(4, uniform[0][middle])
        else:
            places = len(middle) - 1 - partners(4, uniform[0][middle][::-1])[::-1]
        expected = n.copy()
        expected[middle] = n[middle[places]]
        for tail in (order[:2], order[11:]):
            expected[tail] = n[tail].mean()
        assert drawn(method, twelve)["n"].tolist() == np.rint(expected).tolist()


def test_records_of_a_block_are_permuted_in_a_random_order(twelve):
    found = drawn(rwn.RecordSwapping(share=0.5, within="g", variables="x,n"), twelve)
    uniform = uniform_numbers(1)
    expected = twelve.frame[["x", "n"]].copy()
    for level in "abc":
        here = np.flatnonzero((twelve.frame["g"] == level) & twelve.frame["x"].notna())
        chosen = here[np.lexsort((uniform[1][here], uniform[0][here]))][: math.ceil(len(here) / 2)]
        givers = chosen[np.argsort(uniform[2][chosen])]
        expected.iloc[chosen] = twelve.frame[["x", "n"]].iloc[givers].to_numpy()
    pd.testing.assert_frame_equal(found[["x", "n"]], expected, check_dtype=False)
    assert found["h"].equals(twelve.frame["h"])


def test_a_category_is_drawn_anew_where_its_number_exceeds_what_is_kept(twelve):
    """By shares: a is 3, b is 6 and c is 3 of 12."""
    found = drawn(rwn.PRAM(change=0.6, spread="margins", variables="g"), twelve)["g"]
    first, second = uniform_numbers(0)[:2]
    ends = np.cumsum([0.25, 0.5, 0.25])
    anew = ["abc"[int(np.searchsorted(ends, each))] for each in second]
    expected = [new if u >= 0.4 else own for own, new, u in zip(twelve.frame["g"], anew, first,
                                                               strict=True)]  # fmt: skip
    assert found.tolist() == expected
    assert found.tolist() != twelve.frame["g"].tolist()


GROUP = np.array([1, 0, 0, 1, 0])
CODES = np.array([2, 0, 0, 3, 1])
HALF = np.array([[0.0, 0.4, 0.99, 0.5, 0.7], [0.0, 0.0, 0.0, 0.0, 0.0]])


def test_whose_value_is_shown_within_an_interval():
    # records 1, 2 and 4 are one interval, 0 and 3 the other
    assert _donors(GROUP, CODES, HALF, "resample").tolist() == [0, 2, 4, 3, 4]
    # by 0.4, 0.99 and 0.7 the first three are in the order 1, 4, 2
    assert _donors(GROUP, CODES, HALF, "permute").tolist() == [0, 1, 4, 3, 2]
    # two different values, 0 and 1, each as likely
    assert CODES[_donors(GROUP, CODES, HALF, "uniform")].tolist() == [2, 0, 1, 3, 1]
    whole = np.array([[1.0] * 5, [0.0] * 5])
    assert _donors(GROUP, CODES, whole, "resample").tolist() == [3, 4, 4, 3, 4]


@pytest.mark.parametrize("draw_from", ["resample", "permute", "uniform"])
def test_an_interval_has_the_law_of_what_is_drawn(draw_from):
    twelve = rwn.Microdata.from_frame(
        pd.DataFrame({"x": [1.0, 1.0, 1.5, 9.0, 9.5, np.nan], "g": "a"})
    )
    law = rwn.KPRAM(k=2, draw_from=draw_from).prepare(twelve).law
    one = 0.5 if draw_from == "uniform" else 2 / 3
    first, last = [one, 1 - one, 0, 0, 0], [0, 0, 0.5, 0.5, 0]
    expected = [first, first, first, last, last, [0, 0, 0, 0, 1.0]]
    np.testing.assert_allclose(law.table("x")[0].toarray(), expected)
    assert law.keeps_value_counts("x") == (draw_from == "permute")
    assert rwn.KPRAM(k=1).prepare(twelve).law.rows_unchanged().tolist() == [1.0] * 6
    assert drawn(rwn.KPRAM(k=1), twelve).equals(twelve.frame)


def test_so_many_are_left_out_from_a_random_order(twelve):
    lost = drawn(rwn.RandomSample(left_out=0.3), twelve)["g"].isna()
    assert np.flatnonzero(lost).tolist() == sorted(
        random_order(KEY_11, TWELVE, SELECTION_STREAM)[:3]
    )


def test_so_many_records_are_selected_or_each_by_its_own_number():
    uniform = uniform_numbers(SELECTION_STREAM)
    counted = rwn.NBRS2015(epsilon=1.0, q=0.3)
    assert np.flatnonzero(counted.selected(KEY_11, TWELVE)).tolist() == sorted(
        np.argsort(uniform[0])[:3]
    )
    single = rwn.NBRS2015(epsilon=1.0, q=0.3, record_selection="bernoulli")
    assert single.selected(KEY_11, TWELVE).tolist() == (uniform[0] < 0.3).tolist()
    assert (counted.row_share(TWELVE), single.row_share(TWELVE)) == (0.25, 0.3)
    some = np.array([1, 5, 6])
    assert (
        single.retained_records(KEY_11, TWELVE, some).tolist() == (uniform[0] >= 0.3)[some].tolist()
    )
