"""Methods of swapping, noise, PRAM, shuffling and CART as their papers and packages have them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.arrays import Floats
from rwn_core.laws.donors import random_streams
from rwn_core.laws.noise_law import Noise
from rwn_core.laws.transition_matrix import privacy_epsilon
from rwn_core.laws.unit_law import FROM_FILE
from rwn_core.masking import at_levers
from rwn_core.masking.intervals import equal_length, intervals
from rwn_core.masking.k_noise import delta
from rwn_core.masking.local_suppression import suppressed
from rwn_core.masking.microaggregation import mdav
from rwn_core.masking.recoding import merged
from rwn_core.masking.record_swapping import RISKS
from rwn_core.randomness import SELECTION_STREAM, uniforms
from tests import tables
from tests.attacked_tables import released
from tests.check_values import check_values
from tests.tables import described

ENTRIES = check_values("method")


def expected_near(values: Floats, at: float, delta: float, noise: Noise) -> float:
    """Return the expected number of records released within 2 delta of a value, for any noise."""
    # Biswal, Arbuckle, Kulik, theorem 1, in its exact form. `values` are complete, shape (n,).
    apart = values - at
    return float((noise.below(2 * delta - apart) - noise.below(-2 * delta - apart)).sum())


def test_KIM_1_constants_of_correlated_noise():
    given, expected = ENTRIES["KIM-1"]["input"], ENTRIES["KIM-1"]["expected"]
    table = rwn.Microdata.from_frame(pd.DataFrame(given["X"], columns=["x", "y"]).astype(float))
    params = rwn.CorrelatedNoise(size=0.25, form="sample")
    part = params._noise(params.prepare(table))
    np.testing.assert_allclose(part.covariance, expected["noise_cov"])
    np.testing.assert_allclose(part.covariance / 0.25, expected["S"])
    assert part.shrink == pytest.approx(expected["a"])
    np.testing.assert_allclose((1 - part.shrink) * part.mean, expected["b"])
    assert rwn.CorrelatedNoise(size=0.25).shrink(5) == pytest.approx(expected["a_simple"])
    assert rwn.CorrelatedNoise(size=0.25, form="plain").shrink(5) == 1.0


@pytest.mark.parametrize(("form", "factor"), [("population", 1.0), ("plain", 1.5)])
def test_correlated_noise_restores_means_and_covariances(form, factor):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3))
    data = rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))
    prepared = rwn.CorrelatedNoise(size=0.5, form=form).prepare(data)
    draws = 60
    releases = [prepared.release(rwn.SecretKey.from_seed(s)).masked for s in range(draws)]
    masked = [each.matrix(list("abc")) for each in releases]
    covariances = np.array([np.cov(each, rowvar=False) for each in masked])
    error = covariances.std(axis=0, ddof=1) / np.sqrt(draws)
    apart = covariances.mean(axis=0) - factor * np.cov(values, rowvar=False)
    # the population form misses by the factor (n - 1 - c) / (n - 1), far below an error
    assert (np.abs(apart) < 4 * error).all()


def test_a_singular_covariance_is_no_obstacle():
    x = np.random.default_rng(2).normal(size=60)
    data = rwn.Microdata.from_frame(pd.DataFrame({"x": x, "twice": 2 * x, "c": 1.0}))
    release = rwn.mask(data, rwn.CorrelatedNoise(size=1.0), seed=1)
    np.testing.assert_allclose(release.masked.values("twice"), 2 * release.masked.values("x"))
    linked = rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"]
    assert 0 < linked.value < 1


def test_KN_1_expected_records_near_a_value():
    given, expected = ENTRIES["KN-1"]["input"], ENTRIES["KN-1"]["expected"]
    values = np.array(given["x"], dtype=float)
    half = given["delta"]
    for at, numbers_ in expected.items():
        apart = np.abs(values - float(at))
        assert (apart < 2 * half).sum() == numbers_["count"] or (apart <= 2 * half).sum() == (
            numbers_["count"]
        )
        for shape, key in (("uniform", "unif"), ("gaussian", "gauss"), ("laplace", "lap")):
            noise = Noise(shape=shape, sd=half / np.sqrt(3))
            assert expected_near(values, float(at), half, noise) == pytest.approx(
                numbers_[f"E_{key}"], abs=1e-9
            )


def test_KN_3_mean_squared_error_of_k_noise():
    expected = ENTRIES["KN-3"]["expected"]["knoise"]
    noise = Noise(shape="uniform", sd=2.5 / np.sqrt(3))
    assert noise.sd**2 == pytest.approx(expected)


def test_delta_is_the_smallest_of_its_kind():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = np.sort(rng.integers(0, 20, rng.integers(1, 9)).astype(float))
        k = int(rng.integers(1, len(values) + 1))
        brute = max(np.sort(np.abs(values - each))[k - 1] for each in values) / 2
        assert delta(values, k) == (brute if k > 1 else 0.0)


ENTRIES_PRAM = check_values("risk")
P = ENTRIES_PRAM["PRAM-1"]["input"]["P"]


def levels(counts: tuple[int, ...], **columns: Any) -> rwn.Microdata:
    values = np.repeat([f"l{i}" for i in range(len(counts))], counts)
    return rwn.Microdata.from_frame(pd.DataFrame({"g": values, **columns}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"invariant": False}, "P"),
        ({"invariant": True}, "R"),
        ({"invariant": True, "alpha": 0.5}, "Rstar_half"),
    ],
)
def test_PRAM_1_matrices_of_a_release(options, expected):
    data = levels((50, 30, 20))
    given = ENTRIES_PRAM["PRAM-1"]["expected"]
    method = rwn.PRAM(matrices={"g": P}, **options)
    np.testing.assert_allclose(method.matrix(data, "g"), given[expected], rtol=1e-9)
    table, _ = method.prepare(data).law.table("g")
    np.testing.assert_allclose(table.toarray()[[0, 50, 80]], given[expected], rtol=1e-9)


def test_PRAM_1_epsilon_of_a_release():
    data = levels((50, 30, 20))
    given = ENTRIES_PRAM["PRAM-1"]["expected"]
    made = released(data, rwn.PRAM(matrices={"g": P}, invariant=False))
    reading = rwn.MEASURES["differential_privacy"].compute(made)
    assert reading.detail.total_epsilon == pytest.approx(given["epsilon"], rel=1e-9)
    assert reading.value == 0


def test_MIS_1_the_risk_of_a_row_with_a_persons_own_key():
    """The file is the population here, for which the check value has its limit of small samples."""
    given = ENTRIES_PRAM["MIS-1"]
    data = described(levels(tuple(given["input"]["F"])).frame, g="key")
    method = rwn.PRAM(matrices={"g": given["input"]["T_rows_true_cols_released"]}, invariant=False)
    risk = rwn.MEASURES["misclassification"].compute(released(data, method)).detail.truth
    np.testing.assert_allclose(risk[[0, 1, 4]], given["expected"]["approx_pi0"], rtol=1e-9)


def test_5000_levels_need_no_matrix():
    rng = np.random.default_rng(6)
    data = rwn.Microdata.from_frame(
        pd.DataFrame({"g": [f"l{i}" for i in rng.integers(0, 5000, 20000)]})
    )
    method = rwn.PRAM(change=0.3)
    law = method.prepare(data).law
    assert 0.3 < law.modification("g") < 2 * 0.3  # in two stages
    changed = (rwn.mask(data, method, seed=7).masked.frame["g"] != data.frame["g"]).mean()
    assert changed == pytest.approx(law.modification("g"), abs=0.02)
    assert law.privacy()[("g",)] == FROM_FILE
    small = levels((6, 3, 2))
    stated = replace(method, invariant=False)
    assert stated.prepare(small).law.privacy()[("g",)] == FROM_FILE
    g = small.schema.variables[0]
    known = small.with_schema(rwn.Schema(variables=(replace(g, levels=("l0", "l1", "l2")),)))
    part = stated.prepare(known).law.privacy()[("g",)]
    assert part.epsilon == pytest.approx(privacy_epsilon(stated.matrix(known, "g"))[0])


# north knows no boats; south has both, and one record says nothing
FRAME = pd.DataFrame(
    {
        "region": ["north"] * 6 + ["south"] * 8,
        "way": ["car", "car", "car", "car", "foot", "foot"]
        + ["boat", "boat", "car"] * 2
        + ["foot", None],
    }
)
DATA = rwn.Microdata.from_frame(FRAME)


def listed(params: rwn.PRAM) -> pd.DataFrame:
    """P(each way | record), under the law."""
    table, values = params.prepare(DATA).law.table("way")
    return pd.DataFrame(table.toarray(), columns=values)


def test_the_chances_are_those_of_the_stratum():
    chances = listed(rwn.PRAM(change=0.3, spread="margins", within="region"))
    assert chances.loc[0, ["car", "foot"]].tolist() == pytest.approx([0.7 + 0.3 * 4 / 6, 0.1])
    assert chances.loc[6, ["boat", "car", "foot"]].tolist() == pytest.approx(
        [0.7 + 0.3 * 4 / 7, 0.3 * 2 / 7, 0.3 / 7]
    )
    assert (chances.loc[:5, "boat"] == 0).all()
    assert chances.loc[13].tolist()[-1] == 1.0  # missing stays missing


@pytest.mark.parametrize("spread", ["even", "margins"])
def test_the_invariant_form_keeps_the_shares_of_each_stratum(spread):
    chances = listed(rwn.PRAM(change=0.5, spread=spread, alpha=0.8, within="region"))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    for region in ("north", "south"):
        here = FRAME["region"] == region
        counts = chances[here].sum()
        for way, count in FRAME.loc[here, "way"].value_counts().items():
            assert counts[way] == pytest.approx(count)


def test_who_lacks_the_strata_does_not_know_the_law():
    law = rwn.PRAM(change=0.3, within="region").prepare(DATA).law
    schema = DATA.schema.__class__(variables=(DATA.schema.variable("way"),))
    with pytest.raises(rwn.NotApplicable, match="law is not known"):
        law.restricted_to(rwn.Microdata(DATA.frame[["way"]], schema))
    with pytest.raises(rwn.NotApplicable, match="more than their own values"):
        law.unit_chances(("way",), DATA, np.arange(2), DATA)


N = 1000
WAYS = {"p": 0.1, "r0": 0.9, "k0": 0.2}


@pytest.fixture(scope="module")
def normal() -> rwn.Microdata:
    """A thousand different normal numbers, whose ranks are known."""
    return rwn.Microdata.from_frame(pd.DataFrame({"x": np.random.default_rng(0).normal(size=N)}))


def moves(data: rwn.Microdata, method: rwn.RankSwapping, seed: int = 0) -> np.ndarray:
    """By how many ranks each value moved."""
    masked = rwn.mask(data, method, seed=seed).masked
    own = np.sort(data.values("x"))
    ranks = [np.searchsorted(own, table.values("x")) for table in (data, masked)]
    return ranks[1] - ranks[0]


@pytest.mark.parametrize("form", ["moore", "mu_argus"])
@pytest.mark.parametrize("p", [0.002, 0.1, 1.0])
def test_values_change_places_in_pairs_and_no_farther_than_the_fraction(normal, form, p):
    method = rwn.RankSwapping(p=p, form=form)
    moved = moves(normal, method)
    assert np.count_nonzero(moved) % 2 == 0
    assert np.abs(moved).max() <= p * N
    if form == "moore":
        assert np.abs(moved).max() < p * N
    masked = rwn.mask(normal, method, seed=0).masked
    np.testing.assert_array_equal(np.sort(masked.values("x")), np.sort(normal.values("x")))
    rank = np.argsort(np.argsort(normal.values("x")))
    other = rank + moved  # an exchange: who has my value has given me his
    np.testing.assert_array_equal(other[np.argsort(rank)[other]], rank)


def test_P_1_groups_have_their_exact_size(normal):
    masked = rwn.mask(normal, rwn.RankSwapping(p=0.05, top=0.05, bottom=0.05), seed=1).masked
    own = normal.values("x")
    released = masked.values("x")
    order = np.argsort(own)
    for group in (order[:50], order[-50:]):
        np.testing.assert_allclose(released[group], own[group].mean(), rtol=1e-12)
    middle = order[50:-50]
    np.testing.assert_array_equal(np.sort(released[middle]), np.sort(own[middle]))


def test_the_aimed_correlation_is_reached_and_more(normal):
    """A run of the original at r0 = 0.95 gave 0.982, with top and bottom groups of 5 percent."""
    found = []
    for seed in range(20):
        method = rwn.RankSwapping(r0=0.95, top=0.05, bottom=0.05)
        masked = rwn.mask(normal, method, seed=seed).masked
        found.append(np.corrcoef(normal.values("x"), masked.values("x"))[0, 1])
    assert 0.978 < np.mean(found) < 0.986
    assert min(found) > 0.95


def test_three_ways_to_say_how_far_of_which_the_largest_counts():
    plain, aimed = rwn.RankSwapping(), rwn.RankSwapping(r0=0.9)
    assert (plain.p, plain.r0, plain.k0) == (0.05, 1.0, 0.0)
    assert (aimed.p, aimed.r0, aimed.k0) == (0.0, 0.9, 0.0)
    assert rwn.RankSwapping(p=0.0).p == 0.0
    assert at_levers(aimed, {"r0": 1.0}) == rwn.RankSwapping(
        p=0.0
    )  # every slider at its end: nothing
    ranked = np.array([9.0, 8.0, 5.0, 4.0, 1.0])
    alone = {one: rwn.RankSwapping(**{one: v}).fraction(ranked, 0, 5) for one, v in WAYS.items()}
    assert rwn.RankSwapping(**WAYS).fraction(ranked, 0, 5) == max(alone.values())
    assert len(set(alone.values())) == 3


def table(sizes: tuple[int, ...], seed: int = 0) -> rwn.Microdata:
    """Blocks of these sizes, mixed, with two variables that nobody shares."""
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.repeat([f"b{i}" for i in range(len(sizes))], sizes))
    n = len(block)
    frame = pd.DataFrame({"block": block, "a": np.arange(n) * 1.0, "b": -np.arange(n), "c": 1.5})
    return rwn.Microdata.from_frame(frame.assign(c=rng.normal(size=n)))


SWAP = rwn.RecordSwapping(share=1.0, within="block", variables="a,b")


def test_E_M8a_the_first_record_of_a_block_and_a_last_block_take_part():
    """The code of `dswap` skips the first record of every block after the first."""
    data = table((4, 4, 4)).frame.sort_values("block", kind="stable")
    data = rwn.Microdata.from_frame(data)
    moved = np.zeros(12)
    for seed in range(25):
        moved += rwn.mask(data, SWAP, seed=seed).masked.frame["a"].to_numpy() != data.frame["a"]
    assert moved.min() > 5


def test_E_M8b_one_variable_makes_the_same_blocks_as_several():
    """With one key the code of `dswap` sorts wrongly."""
    data = table((6, 5, 4))
    twice = rwn.Microdata.from_frame(data.frame.assign(again=data.frame["block"]))
    one = rwn.mask(data, SWAP, seed=3).masked.frame
    two = rwn.mask(twice, replace(SWAP, within=("block", "again")), seed=3).masked.frame
    assert one["a"].equals(two["a"])


def test_E_M8c_one_selected_record_keeps_its_values():
    """R's sample(x, 1) of one number draws from 1 to x: values of another block."""
    data = table((3, 3, 3))
    method = replace(SWAP, share=0.1)
    for seed in range(20):
        assert rwn.mask(data, method, seed=seed).masked.frame.equals(data.frame)


def test_blocks_that_are_too_large_to_name_donors_are_said(monkeypatch):
    assert "names no donors" not in " ".join(SWAP.remarks(table((8, 2)), None))
    monkeypatch.setattr("rwn_core.masking.record_swapping.ATTACKED_PAIRS", 60)
    assert "names no donors" in SWAP.remarks(table((8, 2)), None)[-1]


def at_risk_table() -> rwn.Microdata:
    """Eight records of one region: the fourth is alone with its age and job, two share theirs."""
    frame = pd.DataFrame(
        {
            "region": ["r"] * 8,
            "age": [30.0, 30.0, 30.0, 70.0, 40.0, 40.0, 30.0, 30.0],
            "job": list("aaabccaa"),
            "pay": np.arange(8) * 1.0,
            "stated": [5.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        }
    )
    return described(frame, age="key", job="key", pay="confidential", stated="identifier")


def moved_records(method: rwn.RecordSwapping, draws: int = 60) -> set[int]:
    """The records whose pay changed in some of many releases."""
    prepared = method.prepare(at_risk_table())
    own = at_risk_table().values("pay")
    found = set[int]()
    for seed in range(draws):
        masked = prepared.release(rwn.SecretKey.from_seed(seed)).masked
        found |= set(np.flatnonzero(masked.values("pay") != own).tolist())
    return found


TARGETED = rwn.RecordSwapping(share=3 / 8, within="region", at_risk="rare")


@pytest.mark.parametrize(
    ("method", "risky"),
    [
        (TARGETED, {3, 4, 5}),
        (replace(TARGETED, share=0.25), {3, 4, 5}),  # 4 or 5 with 3, at random
        (replace(TARGETED, at_risk="none", risk_variable="stated", share=0.25), {0, 2}),
    ],
)
def test_the_records_most_at_risk_are_swapped_and_no_others(method, risky):
    assert moved_records(method) == risky
    # planted: at random, others are
    assert moved_records(replace(method, at_risk="none", risk_variable=None)) > risky
    kept = 1 - method.prepare(at_risk_table()).law.retained("pay")
    assert set(np.flatnonzero(kept > 1e-12).tolist()) == risky


def test_the_law_of_swapping_by_risk_is_how_often_records_move():
    draws = 400
    method = replace(TARGETED, share=0.25)
    prepared = method.prepare(at_risk_table())
    own = at_risk_table().values("pay")
    counts = np.zeros(8)
    for seed in range(draws):
        masked = prepared.release(rwn.SecretKey.from_seed(seed)).masked
        counts += masked.values("pay") != own
    # 3 is selected, and moves in half of the draws; 4 and 5 in a quarter each
    np.testing.assert_allclose(1 - prepared.law.retained("pay")[3:6], [0.5, 0.25, 0.25])
    assert (np.abs(counts[3:6] / draws - [0.5, 0.25, 0.25]) < 4 * 0.5 / np.sqrt(draws)).all()


def test_the_isolated_are_those_far_from_their_nearest_other_by_the_keys():
    frame = pd.DataFrame({"x": [0.0, 0.1, 9.0, 5.0, 5.5], "pay": [1.0, 2.0, 3.0, 4.0, 5.0]})
    risks = RISKS["isolated"](described(frame, x="key", pay="confidential"), ("x",))
    np.testing.assert_allclose(risks / risks[0], [1, 1, 35, 5, 5])
    assert RISKS["rare"](at_risk_table(), ("age", "job")).tolist() == [
        0.2,
        0.2,
        0.2,
        1.0,
        0.5,
        0.5,
        0.2,
        0.2,
    ]


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
    ages = rwn.Microdata.from_frame(pd.DataFrame({"age": np.repeat(np.arange(20.0, 25.0), 40)}))
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
    for true, given in zip(codes, shown, strict=True):
        matrix[rows[given], true] = 1
    assert matrix.tolist() == ENTRIES["REC-1"]["expected"]


def slow_mdav(points: np.ndarray, k: int) -> list[set[int]]:
    """The published algorithm, word by word."""
    left = list(range(len(points)))
    groups = []

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


@pytest.fixture(scope="module")
def data_shuffling() -> rwn.Microdata:
    """Two incomes that depend on age and sex, and on each other beyond these."""
    rng = np.random.default_rng(8)
    n = 800
    age = rng.normal(size=n)
    sex = rng.integers(0, 2, n)
    shared = rng.normal(size=n)
    one = 0.6 * age + 0.8 * sex + 0.6 * shared + 0.4 * rng.normal(size=n)
    two = -0.5 * age + 0.6 * shared + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame({"age": age, "sex": np.where(sex, "m", "f")})
    frame = frame.assign(wage=np.exp(one), rent=np.exp(two))
    return tables.described(frame, wage="confidential", rent="confidential")


def releases(data: rwn.Microdata, drawn: float, many: int = 60) -> list[pd.DataFrame]:
    made = rwn.DataShuffling(anew=drawn).prepare(data)
    return [made.release(rwn.SecretKey.from_seed(i)).masked.frame for i in range(many)]


def scores(frame: pd.DataFrame) -> np.ndarray:
    """Normal scores of wage, rent and age, with sex as a number."""
    ranks = [stats.rankdata(frame[name]) for name in ("wage", "rent", "age")]
    normal = [stats.norm.ppf((each - 0.5) / len(frame)) for each in ranks]
    return np.column_stack([*normal, frame["sex"] == "m"])


def test_values_by_hand():
    """Without other variables the values stand in the order of the random numbers."""
    data = rwn.Microdata.from_frame(pd.DataFrame({"x": [5.0, 1.0, 3.0, 2.0, 4.0]}))
    key = rwn.SecretKey.from_seed(4)
    shown = rwn.DataShuffling().prepare(data).release(key).masked.frame["x"]
    order = np.argsort(uniforms(key, np.arange(5), 0)[0])
    assert shown.to_numpy()[order].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("drawn", [1.0, 0.5])
def test_relations_of_scores_are_kept(data_shuffling, drawn):
    own = np.corrcoef(scores(data_shuffling.frame).T)
    found = np.array([np.corrcoef(scores(each).T) for each in releases(data_shuffling, drawn)])
    assert np.abs(found.mean(axis=0) - own).max() < 0.02


def partial(data: rwn.Microdata, frame: pd.DataFrame) -> float:
    """The correlation of shown and own wage beyond what age and sex say of it."""
    own, shown = scores(data.frame), scores(frame)
    design = np.column_stack([np.ones(len(own)), own[:, 2:]])
    rest = [
        each - design @ np.linalg.lstsq(design, each, rcond=None)[0]
        for each in (own[:, 0], shown[:, 0])
    ]
    return float(np.corrcoef(rest)[0, 1])


def test_the_rounding_of_a_processor_moves_no_shuffled_number(monkeypatch):
    """Of a number that the others explain wholly, rounding alone is left."""
    kept = np.arange(60) % 3
    frame = pd.DataFrame({"kept": kept, "own": kept**2 + 0.0, "other": np.arange(60.0) ** 2 % 7})
    data = described(frame, own="confidential", other="confidential")
    solve = np.linalg.lstsq
    releases = []
    for size in (0.0, 1e-14, -1e-14):

        def solved(*given, size=size, **options):
            found = solve(*given, **options)
            return found[0] + size * np.cos(np.arange(len(found[0]))), *found[1:]

        monkeypatch.setattr(np.linalg, "lstsq", solved)
        releases.append(rwn.mask(data, rwn.DataShuffling(anew=0.8), seed=1).masked.frame)
    pd.testing.assert_frame_equal(releases[0], releases[1])
    pd.testing.assert_frame_equal(releases[0], releases[2])


def test_the_shown_value_says_of_the_own_one_what_the_others_say(data_shuffling):
    """At anew = 1 nothing is left beyond them; a half that is kept is found."""
    beyond = [partial(data_shuffling, each) for each in releases(data_shuffling, 1.0)]
    assert abs(np.mean(beyond)) < 4 / np.sqrt(60 * data_shuffling.n)
    planted = [partial(data_shuffling, each) for each in releases(data_shuffling, 0.95, 20)]
    assert np.mean(planted) > 4 / np.sqrt(20 * data_shuffling.n)
    half = [partial(data_shuffling, each) for each in releases(data_shuffling, 0.5, 20)]
    assert np.mean(half) == pytest.approx(np.sqrt(0.5), abs=0.03)


def key(number: int) -> rwn.SecretKey:
    return rwn.SecretKey.from_seed(number)


@pytest.fixture(scope="module")
def grouped() -> rwn.Microdata:
    """In 120 records g decides the range of y, and x decides nothing."""
    rng = np.random.default_rng(2)
    g = np.repeat(["a", "b", "c"], 40)
    y = np.repeat([0.0, 100.0, 50.0], 40) + rng.choice([1.0, 2.0, 3.0], 120, p=[0.5, 0.3, 0.2])
    return rwn.Microdata.from_frame(pd.DataFrame({"g": g, "x": rng.normal(size=120), "y": y}))


def test_a_leaf_of_all_records_gives_values_by_hand(grouped):
    masked = rwn.CARTSynthesis(leaf=120).prepare(grouped).release(key(3)).masked
    for place, name in enumerate(grouped.names):
        donors = (uniforms(key(3), np.arange(120), place)[0] * 120).astype(int)
        assert masked.frame[name].tolist() == grouped.frame[name].iloc[donors].tolist()


def within_groups(releases: list[rwn.Microdata], original: rwn.Microdata) -> float:
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
    made = rwn.CARTSynthesis(leaf=40).prepare(grouped)
    assert within_groups([made.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    blind = rwn.CARTSynthesis(leaf=40, visit="y").prepare(grouped)  # g is then drawn from y's leaf
    assert within_groups([blind.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    planted = made.with_levers(leaf=120)
    assert within_groups([planted.release(key(i)).masked for i in range(60)], grouped) < 1e-12


def test_smoothing_keeps_mean_and_variance_of_a_leaf(grouped):
    made = rwn.CARTSynthesis(leaf=120, smoothing=1.0).prepare(grouped)
    own = grouped.values("x")
    drawn = np.concatenate([made.release(key(i)).masked.values("x") for i in range(100)])
    assert not np.isin(drawn, own).any()
    error = own.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - own.mean()) < 4 * error
    assert drawn.var() == pytest.approx(own.var(), rel=0.06)  # unshrunk, it would be twice as much


def nearest_is_own(original: rwn.Microdata, masked: rwn.Microdata) -> np.ndarray:
    """Whether the nearest original of each row is the one of the same number."""
    own, shown = (table.matrix(original.numeric_names) for table in (original, masked))
    spread = own.std(axis=0)
    squared = (((shown / spread)[:, np.newaxis] - (own / spread)[np.newaxis]) ** 2).sum(axis=2)
    return squared.argmin(axis=1) == np.arange(original.n)


def test_no_row_can_be_linked_but_those_that_are_kept():
    data = rwn.load_demo("bodyfat")
    made = rwn.CARTSynthesis().prepare(data)
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
    made = rwn.mask(data, rwn.CARTSynthesis(leaf=leaf), seed=1).masked.frame.astype(str)
    equal = np.mean([row in unique for row in map(tuple, made.to_numpy())])
    assert least <= equal <= most
    assert "may equal a real person's" in " ".join(rwn.CARTSynthesis(leaf=leaf).cautions())


def test_with_every_record_selected_it_is_the_2022_method_of_that_radius():
    cloud = tables.table("cloud")
    neighborhoods = rwn.find_neighborhoods(rwn.coordinates(cloud), epsilon=5.0)
    draws = rwn.Draws(rwn.SecretKey.from_seed(7), np.arange(cloud.n), random_streams(cloud))
    donors = rwn.draw_donors(neighborhoods, draws, np.ones(4))
    release = rwn.mask(cloud, rwn.NBRS2015(epsilon=5.0), seed=7)
    np.testing.assert_array_equal(release.donors, donors)
    np.testing.assert_array_equal(
        release.donors, rwn.mask(cloud, rwn.RWN(epsilon=5.0), seed=7).donors
    )
