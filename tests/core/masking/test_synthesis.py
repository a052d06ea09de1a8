"""Shuffling, CART and the method of 2015, as their papers and packages have them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core import NBRS2015, RWN, CARTSynthesis, DataShuffling, Microdata, coordinates, mask
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.neighbors import find_neighborhoods
from rwn_core.randomness import SELECTION_STREAM, SecretKey, uniforms
from tests import tables


@pytest.fixture(scope="module")
def data_shuffling() -> Microdata:
    """Two incomes that depend on age and sex, and on each other beyond these."""
    rng = np.random.default_rng(8)
    n = 800
    age, sex, shared = rng.normal(size=n), rng.integers(0, 2, n), rng.normal(size=n)
    one = 0.6 * age + 0.8 * sex + 0.6 * shared + 0.4 * rng.normal(size=n)
    two = -0.5 * age + 0.6 * shared + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame({"age": age, "sex": np.where(sex, "m", "f")})
    frame = frame.assign(wage=np.exp(one), rent=np.exp(two))
    return tables.described(frame, wage="confidential", rent="confidential")


def releases(data: Microdata, drawn: float, many: int = 60) -> list[pd.DataFrame]:
    made = DataShuffling(anew=drawn).prepare(data)
    return [made.release(SecretKey.from_seed(i)).masked.frame for i in range(many)]


def scores(frame: pd.DataFrame) -> np.ndarray:
    """Normal scores of wage, rent and age, with sex as a number."""
    ranks = [stats.rankdata(frame[name]) for name in ("wage", "rent", "age")]
    normal = [stats.norm.ppf((each - 0.5) / len(frame)) for each in ranks]
    return np.column_stack([*normal, frame["sex"] == "m"])


def test_values_by_hand():
    """Without other variables the values stand in the order of the random numbers."""
    data = Microdata.from_frame(pd.DataFrame({"x": [5.0, 1.0, 3.0, 2.0, 4.0]}))
    key = SecretKey.from_seed(4)
    shown = DataShuffling().prepare(data).release(key).masked.frame["x"]
    order = np.argsort(uniforms(key, np.arange(5), 0)[0])
    assert shown.to_numpy()[order].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("drawn", [1.0, 0.5])
def test_relations_of_scores_are_kept(data_shuffling, drawn):
    own = np.corrcoef(scores(data_shuffling.frame).T)
    found = np.array([np.corrcoef(scores(each).T) for each in releases(data_shuffling, drawn)])
    assert np.abs(found.mean(axis=0) - own).max() < 0.02


def partial(data: Microdata, frame: pd.DataFrame) -> float:
    """The correlation of shown and own wage beyond what age and sex say of it."""
    own, shown = scores(data.frame), scores(frame)
    design = np.column_stack([np.ones(len(own)), own[:, 2:]])
    rest = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0]
            for each in (own[:, 0], shown[:, 0])]  # fmt: skip
    return float(np.corrcoef(rest)[0, 1])


def test_the_shown_value_says_of_the_own_one_what_the_others_say(data_shuffling):
    """At anew = 1 nothing is left beyond them; a half that is kept is found."""
    beyond = [partial(data_shuffling, each) for each in releases(data_shuffling, 1.0)]
    assert abs(np.mean(beyond)) < 4 / np.sqrt(60 * data_shuffling.n)
    planted = [partial(data_shuffling, each) for each in releases(data_shuffling, 0.95, 20)]
    assert np.mean(planted) > 4 / np.sqrt(20 * data_shuffling.n)
    half = [partial(data_shuffling, each) for each in releases(data_shuffling, 0.5, 20)]
    assert np.mean(half) == pytest.approx(np.sqrt(0.5), abs=0.03)


def key(number: int) -> SecretKey:
    return SecretKey.from_seed(number)


@pytest.fixture(scope="module")
def grouped() -> Microdata:
    """In 120 records g decides the range of y, and x decides nothing."""
    rng = np.random.default_rng(2)
    g = np.repeat(["a", "b", "c"], 40)
    y = np.repeat([0.0, 100.0, 50.0], 40) + rng.choice([1.0, 2.0, 3.0], 120, p=[0.5, 0.3, 0.2])
    return Microdata.from_frame(pd.DataFrame({"g": g, "x": rng.normal(size=120), "y": y}))


def test_a_leaf_of_all_records_gives_values_by_hand(grouped):
    masked = CARTSynthesis(leaf=120).prepare(grouped).release(key(3)).masked
    for place, name in enumerate(grouped.names):
        donors = (uniforms(key(3), np.arange(120), place)[0] * 120).astype(int)
        assert masked.frame[name].tolist() == grouped.frame[name].iloc[donors].tolist()


def within_groups(releases: list[Microdata], original: Microdata) -> float:
    """The p-value of each group's shares of y against the original's, pooled."""
    frame = pd.concat([each.frame for each in releases])
    seen = pd.crosstab(frame["g"], frame["y"])
    shares = pd.crosstab(original.frame["g"], original.frame["y"], normalize="index")
    expected = shares.mul(seen.sum(axis=1), axis=0).to_numpy()
    counts = seen.reindex(columns=shares.columns, fill_value=0).to_numpy()
    if counts[expected == 0].any():
        return 0.0
    held = expected > 0
    statistic = ((counts - expected)[held] ** 2 / expected[held]).sum()
    return float(stats.chi2.sf(statistic, held.sum() - len(shares)))


def test_a_value_is_drawn_from_its_leaf_with_equal_chances(grouped):
    """The groups are the leaves of y; a tree that sees no group is rejected."""
    made = CARTSynthesis(leaf=40).prepare(grouped)
    assert within_groups([made.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    blind = CARTSynthesis(leaf=40, visit="y").prepare(grouped)  # g is then drawn from y's leaf
    assert within_groups([blind.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    planted = made.with_levers(leaf=120)
    assert within_groups([planted.release(key(i)).masked for i in range(60)], grouped) < 1e-12


def test_smoothing_keeps_mean_and_variance_of_a_leaf(grouped):
    made = CARTSynthesis(leaf=120, smoothing=1.0).prepare(grouped)
    own = grouped.values("x")
    drawn = np.concatenate([made.release(key(i)).masked.values("x") for i in range(100)])
    assert not np.isin(drawn, own).any()
    error = own.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - own.mean()) < 4 * error
    assert drawn.var() == pytest.approx(own.var(), rel=0.06)  # unshrunk, it would be twice as much


def nearest_is_own(original: Microdata, masked: Microdata) -> np.ndarray:
    """Whether the nearest original of each row is the one of the same number."""
    own, shown = (table.matrix(original.numeric_names) for table in (original, masked))
    spread = own.std(axis=0)
    squared = (((shown / spread)[:, np.newaxis] - (own / spread)[np.newaxis]) ** 2).sum(axis=2)
    return squared.argmin(axis=1) == np.arange(original.n)


def test_no_row_can_be_linked_but_those_that_are_kept():
    data = rwn.load_demo("bodyfat")
    made = CARTSynthesis().prepare(data)
    linked = [nearest_is_own(data, made.release(key(i)).masked).mean() for i in range(10)]
    assert abs(np.mean(linked) - 1 / data.n) < 4 * np.sqrt(1 / data.n / (10 * data.n))
    half = made.with_levers(q=0.5).release(key(1)).masked
    kept = uniforms(key(1), np.arange(data.n), SELECTION_STREAM)[0] >= 0.5
    assert nearest_is_own(data, half)[kept].all()


@pytest.mark.parametrize(
    ("demo", "leaf", "least", "most"),
    [("pima", 5, 0.0, 0.01), ("pima", 1, 0.9, 1.0), ("cps1988", 5, 0.03, 0.2)],
)
def test_a_row_may_equal_that_of_a_real_person(demo, leaf, least, most):
    """The caution's claim: few values or a leaf of one give rows of one person back."""
    data = rwn.load_demo(demo)
    data = data.take(np.arange(min(data.n, 1_000)))
    frame = data.frame.astype(str)
    unique = set(map(tuple, frame[~frame.duplicated(keep=False)].to_numpy()))
    made = rwn.mask(data, CARTSynthesis(leaf=leaf), seed=1).masked.frame.astype(str)
    equal = np.mean([row in unique for row in map(tuple, made.to_numpy())])
    assert least <= equal <= most
    assert "may equal a real person's" in " ".join(CARTSynthesis(leaf=leaf).cautions())


@pytest.fixture(scope="module")
def cloud() -> Microdata:
    return tables.table("cloud")


@pytest.mark.parametrize("way", ["count", "bernoulli"])
def test_raising_q_only_adds_records(cloud, way):
    before = np.zeros(90, dtype=bool)
    for q in (0.0, 0.2, 0.5, 0.9, 1.0):
        params = NBRS2015(epsilon=1.0, q=q, record_selection=way)
        now = params.selected(SecretKey.from_seed(7), 90)
        assert (now >= before).all()
        before = now
    assert before.all()


def test_with_every_record_selected_it_is_the_2022_method_of_that_radius(cloud):
    neighborhoods = find_neighborhoods(coordinates(cloud), epsilon=5.0)
    draws = Draws(SecretKey.from_seed(7), np.arange(cloud.n), random_streams(cloud))
    donors = draw_donors(neighborhoods, draws, np.ones(4))
    release = mask(cloud, NBRS2015(epsilon=5.0), seed=7)
    np.testing.assert_array_equal(release.donors, donors)
    np.testing.assert_array_equal(release.donors, mask(cloud, RWN(epsilon=5.0), seed=7).donors)


def test_selection_and_donors_come_from_different_numbers(cloud):
    """A record's selection says nothing about which of its members it takes."""
    params = NBRS2015(epsilon=50.0, q=0.5)
    prepared = params.prepare(cloud)
    neighborhoods = prepared.law.neighborhoods
    low = []
    for seed in range(200):
        donors = prepared.release(SecretKey.from_seed(seed)).donors[:, 0]
        for record in np.flatnonzero(donors != np.arange(90))[:20]:
            members = neighborhoods.members(record)
            low.append(np.flatnonzero(members == donors[record])[0] / len(members) < 0.5)
    error = 0.5 / math.sqrt(len(low))
    assert abs(np.mean(low) - 45 / 89) < 5 * error
