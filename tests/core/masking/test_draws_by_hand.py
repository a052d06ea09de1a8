"""What a key draws, against the same uniform numbers used word by word as the methods say it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.laws.rank_swaps import moore_partners, mu_argus_partners
from rwn_core.masking import KPRAM, NBRS2015, AdditiveNoise, RandomSwapping, RecordSwapping
from rwn_core.masking.k_pram import _donors
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SELECTION_STREAM, SecretKey, uniforms

KEY = SecretKey.from_seed(11)
N = 12


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "g": list("aabbbcacbbcb"),
            "x": rng.normal(3.0, 1.0, N).round(4),
            "n": rng.integers(0, 40, N),
            "h": list("uuvvuvuvvuuv"),
        }
    )
    frame.loc[[2, 7], "x"] = np.nan
    frame.loc[5, "h"] = None
    return Microdata.from_frame(frame)


def drawn(method: Any, data: Microdata) -> pd.DataFrame:
    return method.prepare(data).release(KEY).masked.frame


def numbers(stream: int, records: Any = None) -> np.ndarray:
    return uniforms(KEY, np.arange(N) if records is None else np.asarray(records), stream)


def noise(stream: int) -> np.ndarray:
    return stats.norm.ppf(numbers(stream)[0])


def test_noise_of_a_variable_is_its_own_uniform_number_turned_normal(data):
    found = drawn(AdditiveNoise(size=2.0), data)
    x = data.frame["x"]
    np.testing.assert_allclose(found["x"], x + 2 * x.std() * noise(1))
    n = data.frame["n"]
    assert found["n"].tolist() == np.rint(n + 2 * n.std() * noise(2)).astype(int).tolist()
    folded = drawn(AdditiveNoise(size=2.0, reflected=True), data)
    np.testing.assert_allclose(folded["x"], np.abs(found["x"]))
    assert folded["n"].tolist() == found["n"].abs().tolist()
    assert (found["x"] < 0).any()
    below = Microdata.from_frame(data.frame.assign(x=data.frame["x"] - 3))
    signed = drawn(AdditiveNoise(size=2.0, reflected=True), below)["x"]
    assert (signed < 0).any()  # it had negative numbers before
    assert found["g"].equals(data.frame["g"])


def test_k_noise_is_uniform_within_its_delta(data):
    own = np.sort(data.frame["n"].to_numpy(float))
    half = max(np.sort(np.abs(own - each))[2] for each in own) / 2
    expected = np.rint(data.frame["n"] + half * (2 * numbers(2)[0] - 1))
    assert drawn(rwn.KNoise(k=3), data)["n"].tolist() == expected.tolist()


@pytest.mark.parametrize(("form", "factor"), [("population", 1 / 1.5), ("plain", 1.0)])
def test_correlated_noise_has_the_root_of_the_covariance(data, form, factor):
    found = drawn(rwn.CorrelatedNoise(size=0.5, form=form), only(data, "x"))
    x = data.frame["x"]
    expected = x.mean() + np.sqrt(factor) * (x + np.sqrt(0.5) * x.std() * noise(0) - x.mean())
    # a root has either sign
    other = x.mean() + np.sqrt(factor) * (x - np.sqrt(0.5) * x.std() * noise(0) - x.mean())
    assert np.allclose(found["x"], expected, equal_nan=True) or np.allclose(
        found["x"], other, equal_nan=True
    )


def only(data: Microdata, *names: str) -> Microdata:
    return Microdata.from_frame(data.frame[list(names)])


def test_disjoint_pairs_are_the_first_of_a_random_order(data):
    """Those who have no value of h take no part."""
    found = drawn(RandomSwapping(share=0.75), data)
    for stream, name in ((0, "g"), (3, "h")):
        some = np.flatnonzero(data.frame[name].notna())
        order = some[np.argsort(numbers(stream, some)[0])]
        expected = data.frame[name].to_numpy(object).copy()
        for pair in range(math.floor(0.75 * len(some) / 2)):
            one, other = order[2 * pair], order[2 * pair + 1]
            expected[one], expected[other] = expected[other], expected[one]
        same = pd.Series(expected).fillna("-").tolist()
        assert found[name].fillna("-").tolist() == same
    assert found["x"].equals(data.frame["x"])


def test_successive_swaps_go_one_by_one(data):
    found = drawn(RandomSwapping(share=3.0, pairs="successive", variables="n"), data)["n"]
    expected, uniform = data.frame["n"].tolist(), numbers(2, range(18))
    for first, second in uniform[:2].T:
        one = int(first * N)
        other = [i for i in range(N) if i != one][int(second * (N - 1))]
        expected[one], expected[other] = expected[other], expected[one]
    assert found.tolist() == expected


def test_ranks_are_exchanged_from_the_largest_down_and_the_ends_become_means(data):
    n = data.frame["n"].to_numpy(float)
    for form, partners in (("moore", moore_partners), ("mu_argus", mu_argus_partners)):
        method = rwn.RankSwapping(p=0.5, top=0.2, bottom=0.1, form=form)
        uniform = numbers(2)
        order = np.lexsort((uniform[1], -n))
        middle = order[2:11]  # two of twelve at the top, one at the bottom
        if form == "moore":
            places = partners(4, uniform[0][middle])
        else:
            places = len(middle) - 1 - partners(4, uniform[0][middle][::-1])[::-1]
        expected = n.copy()
        expected[middle] = n[middle[places]]
        expected[order[:2]], expected[order[11:]] = n[order[:2]].mean(), n[order[11:]].mean()
        assert drawn(method, data)["n"].tolist() == np.rint(expected).tolist()


def test_records_of_a_block_are_permuted_in_a_random_order(data):
    found = drawn(RecordSwapping(share=0.5, within="g", variables="x,n"), data)
    uniform, expected = numbers(1), data.frame[["x", "n"]].copy()
    for level in "abc":
        here = np.flatnonzero((data.frame["g"] == level) & data.frame["x"].notna())
        chosen = here[np.lexsort((uniform[1][here], uniform[0][here]))][: math.ceil(len(here) / 2)]
        givers = chosen[np.argsort(uniform[2][chosen])]
        expected.iloc[chosen] = data.frame[["x", "n"]].iloc[givers].to_numpy()
    pd.testing.assert_frame_equal(found[["x", "n"]], expected, check_dtype=False)
    assert found["h"].equals(data.frame["h"])


def test_a_category_is_drawn_anew_where_its_number_exceeds_what_is_kept(data):
    """By shares: a is 3, b is 6 and c is 3 of 12."""
    found = drawn(rwn.PRAM(change=0.6, spread="margins", variables="g"), data)["g"]
    first, second = numbers(0)[:2]
    ends = np.cumsum([0.25, 0.5, 0.25])
    anew = ["abc"[int(np.searchsorted(ends, each))] for each in second]
    expected = [new if u >= 0.4 else own for own, new, u in zip(data.frame["g"], anew, first,
                                                               strict=True)]  # fmt: skip
    assert found.tolist() == expected
    assert found.tolist() != data.frame["g"].tolist()


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
    data = Microdata.from_frame(pd.DataFrame({"x": [1.0, 1.0, 1.5, 9.0, 9.5, np.nan], "g": "a"}))
    law = KPRAM(k=2, draw_from=draw_from).prepare(data).law
    one = 0.5 if draw_from == "uniform" else 2 / 3
    first, last = [one, 1 - one, 0, 0, 0], [0, 0, 0.5, 0.5, 0]
    expected = [first, first, first, last, last, [0, 0, 0, 0, 1.0]]
    np.testing.assert_allclose(law.table("x")[0].toarray(), expected)
    assert law.keeps_value_counts("x") == (draw_from == "permute")
    assert KPRAM(k=1).prepare(data).law.rows_unchanged().tolist() == [1.0] * 6
    assert drawn(KPRAM(k=1), data).equals(data.frame)


def test_so_many_are_left_out_from_a_random_order(data):
    lost = drawn(rwn.RandomSample(left_out=0.3), data)["g"].isna()
    assert np.flatnonzero(lost).tolist() == sorted(random_order(KEY, N, SELECTION_STREAM)[:3])


def test_so_many_records_are_selected_or_each_by_its_own_number():
    uniform = numbers(SELECTION_STREAM)
    counted = NBRS2015(epsilon=1.0, q=0.3)
    assert np.flatnonzero(counted.selected(KEY, N)).tolist() == sorted(np.argsort(uniform[0])[:3])
    single = NBRS2015(epsilon=1.0, q=0.3, record_selection="bernoulli")
    assert single.selected(KEY, N).tolist() == (uniform[0] < 0.3).tolist()
    assert (counted.row_share(N), single.row_share(N)) == (0.25, 0.3)
    some = np.array([1, 5, 6])
    assert single.retained_records(KEY, N, some).tolist() == (uniform[0] >= 0.3)[some].tolist()
