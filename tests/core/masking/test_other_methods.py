"""Swapping, PRAM, noise, shuffling and CART, as their papers and packages have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import PRAM, Microdata, RankSwapping, RecordSwapping, Schema, mask
from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.noise_law import Noise
from rwn_core.laws.transition_matrix import privacy_epsilon
from rwn_core.laws.unit_law import FROM_FILE
from rwn_core.masking import at_levers
from rwn_core.masking.intervals import equal_length, intervals
from rwn_core.masking.k_noise import delta
from rwn_core.masking.local_suppression import suppressed
from rwn_core.masking.microaggregation import mdav
from rwn_core.masking.recoding import merged
from rwn_core.measures import MEASURES
from rwn_core.randomness import SecretKey
from tests.attacked_tables import released
from tests.check_values import check_values
from tests.tables import described

ENTRIES = check_values("method")


def expected_near(values: Floats, at: float, delta: float, noise: Noise) -> float:
    """Return the expected number of records released within 2 delta of a value, for any noise."""
    # Biswal, Arbuckle, Kulik, theorem 1, in its exact form. `values` are complete, shape (n,).
    apart = values - at
    return float((noise.below(2 * delta - apart) - noise.below(-2 * delta - apart)).sum())


def numbers(n: int = 400, seed: int = 0, whole: bool = False) -> Microdata:
    values = np.random.default_rng(seed).normal(10, 3, size=(n, 2))
    frame = pd.DataFrame(values, columns=["x", "y"])
    return Microdata.from_frame(frame.round().astype(int) if whole else frame)


def test_KIM_1_constants_of_correlated_noise():
    given, expected = ENTRIES["KIM-1"]["input"], ENTRIES["KIM-1"]["expected"]
    table = Microdata.from_frame(pd.DataFrame(given["X"], columns=["x", "y"]).astype(float))
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
    data = Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))
    prepared, draws = rwn.CorrelatedNoise(size=0.5, form=form).prepare(data), 60
    releases = [prepared.release(SecretKey.from_seed(s)).masked for s in range(draws)]
    masked = [each.matrix(list("abc")) for each in releases]
    covariances = np.array([np.cov(each, rowvar=False) for each in masked])
    error = covariances.std(axis=0, ddof=1) / np.sqrt(draws)
    apart = covariances.mean(axis=0) - factor * np.cov(values, rowvar=False)
    # the population form misses by the factor (n - 1 - c) / (n - 1), far below an error
    assert (np.abs(apart) < 4 * error).all()


def test_a_singular_covariance_is_no_obstacle():
    x = np.random.default_rng(2).normal(size=60)
    data = Microdata.from_frame(pd.DataFrame({"x": x, "twice": 2 * x, "c": 1.0}))
    release = rwn.mask(data, rwn.CorrelatedNoise(size=1.0), seed=1)
    np.testing.assert_allclose(release.masked.values("twice"), 2 * release.masked.values("x"))
    linked = rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"]
    assert 0 < linked.value < 1


def test_KN_1_expected_records_near_a_value():
    given, expected = ENTRIES["KN-1"]["input"], ENTRIES["KN-1"]["expected"]
    values, half = np.array(given["x"], dtype=float), given["delta"]
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


def test_theorem_1_is_never_violated_and_attained_in_the_limit():
    rng = np.random.default_rng(4)
    for _ in range(300):
        values = np.sort(rng.choice([rng.normal(size=30), rng.integers(0, 9, 30) * 1.0]))
        k = int(rng.integers(2, 15))
        half = delta(values, k)
        if half == 0:
            continue
        noise = Noise(shape="uniform", sd=half / np.sqrt(3))
        at = float(rng.choice(values))
        near = (np.abs(values - at) < 2 * half).sum()
        assert expected_near(values, at, half, noise) >= 0.5 * near - 1e-9
    edge = np.array([2 - 1e-9])
    noise = Noise(shape="uniform", sd=1 / np.sqrt(3))
    assert expected_near(edge, 0.0, 1.0, noise) == pytest.approx(0.5, abs=1e-9)
    # with noise eight times as wide the bound would not hold
    wider = Noise(shape="uniform", sd=8 / np.sqrt(3))
    assert expected_near(np.array([1.0]), 0.0, 1.0, wider) == pytest.approx(0.25)


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


def levels(counts: tuple[int, ...], **columns: Any) -> Microdata:
    values = np.repeat([f"l{i}" for i in range(len(counts))], counts)
    return Microdata.from_frame(pd.DataFrame({"g": values, **columns}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"invariant": False}, "P"),
        ({"invariant": True}, "R"),
        ({"invariant": True, "alpha": 0.5}, "Rstar_half"),
    ],
)
def test_PRAM_1_matrices_of_a_release(options, expected):
    data, given = levels((50, 30, 20)), ENTRIES_PRAM["PRAM-1"]["expected"]
    method = PRAM(matrices={"g": P}, **options)
    np.testing.assert_allclose(method.matrix(data, "g"), given[expected], rtol=1e-9)
    table, _ = method.prepare(data).law.table("g")
    np.testing.assert_allclose(table.toarray()[[0, 50, 80]], given[expected], rtol=1e-9)


def test_PRAM_1_epsilon_of_a_release():
    data, given = levels((50, 30, 20)), ENTRIES_PRAM["PRAM-1"]["expected"]
    made = released(data, PRAM(matrices={"g": P}, invariant=False))
    reading = MEASURES["differential_privacy"].compute(made)
    assert reading.detail.total_epsilon == pytest.approx(given["epsilon"], rel=1e-9)
    assert reading.value == 0


def test_MIS_1_the_risk_of_a_row_with_a_persons_own_key():
    """The file is the population here, for which the check value has its limit of small samples."""
    given = ENTRIES_PRAM["MIS-1"]
    data = described(levels(tuple(given["input"]["F"])).frame, g="key")
    method = PRAM(matrices={"g": given["input"]["T_rows_true_cols_released"]}, invariant=False)
    risk = MEASURES["misclassification"].compute(released(data, method)).detail.truth
    np.testing.assert_allclose(risk[[0, 1, 4]], given["expected"]["approx_pi0"], rtol=1e-9)


def test_5000_levels_need_no_matrix():
    rng = np.random.default_rng(6)
    data = Microdata.from_frame(
        pd.DataFrame({"g": [f"l{i}" for i in rng.integers(0, 5000, 20000)]})
    )
    method = PRAM(change=0.3)
    law = method.prepare(data).law
    assert 0.3 < law.modification("g") < 2 * 0.3  # in two stages
    changed = (mask(data, method, seed=7).masked.frame["g"] != data.frame["g"]).mean()
    assert changed == pytest.approx(law.modification("g"), abs=0.02)
    assert law.privacy()[("g",)] == FROM_FILE
    small, stated = levels((6, 3, 2)), replace(method, invariant=False)
    assert stated.prepare(small).law.privacy()[("g",)] == FROM_FILE
    g = small.schema.variables[0]
    known = small.with_schema(Schema(variables=(replace(g, levels=("l0", "l1", "l2")),)))
    part = stated.prepare(known).law.privacy()[("g",)]
    assert part.epsilon == pytest.approx(privacy_epsilon(stated.matrix(known, "g"))[0])


# north knows no boats; south has both, and one record says nothing
FRAME = pd.DataFrame(
    {
        "region": ["north"] * 6 + ["south"] * 8,
        "way": ["car", "car", "car", "car", "foot", "foot"] + ["boat", "boat", "car"] * 2
        + ["foot", None],
    }
)  # fmt: skip
DATA = Microdata.from_frame(FRAME)


def listed(params: PRAM) -> pd.DataFrame:
    """P(each way | record), under the law."""
    table, values = params.prepare(DATA).law.table("way")
    return pd.DataFrame(table.toarray(), columns=values)


def test_the_chances_are_those_of_the_stratum():
    chances = listed(PRAM(change=0.3, spread="margins", within="region"))
    assert chances.loc[0, ["car", "foot"]].tolist() == pytest.approx([0.7 + 0.3 * 4 / 6, 0.1])
    assert chances.loc[6, ["boat", "car", "foot"]].tolist() == pytest.approx(
        [0.7 + 0.3 * 4 / 7, 0.3 * 2 / 7, 0.3 / 7]
    )
    assert (chances.loc[:5, "boat"] == 0).all()
    assert chances.loc[13].tolist()[-1] == 1.0  # missing stays missing


@pytest.mark.parametrize("spread", ["even", "margins"])
def test_the_invariant_form_keeps_the_shares_of_each_stratum(spread):
    chances = listed(PRAM(change=0.5, spread=spread, alpha=0.8, within="region"))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    for region in ("north", "south"):
        here = FRAME["region"] == region
        counts = chances[here].sum()
        for way, count in FRAME.loc[here, "way"].value_counts().items():
            assert counts[way] == pytest.approx(count)


def test_who_lacks_the_strata_does_not_know_the_law():
    law = PRAM(change=0.3, within="region").prepare(DATA).law
    schema = DATA.schema.__class__(variables=(DATA.schema.variable("way"),))
    with pytest.raises(NotApplicable, match="law is not known"):
        law.restricted_to(Microdata(DATA.frame[["way"]], schema))
    with pytest.raises(NotApplicable, match="more than their own values"):
        law.unit_chances(("way",), DATA, np.arange(2), DATA)


N = 1000
WAYS = {"p": 0.1, "r0": 0.9, "k0": 0.2}


@pytest.fixture(scope="module")
def normal() -> Microdata:
    """A thousand different normal numbers, whose ranks are known."""
    return Microdata.from_frame(pd.DataFrame({"x": np.random.default_rng(0).normal(size=N)}))


def moves(data: Microdata, method: RankSwapping, seed: int = 0) -> np.ndarray:
    """By how many ranks each value moved."""
    masked = mask(data, method, seed=seed).masked
    own = np.sort(data.values("x"))
    ranks = [np.searchsorted(own, table.values("x")) for table in (data, masked)]
    return ranks[1] - ranks[0]


@pytest.mark.parametrize("form", ["moore", "mu_argus"])
@pytest.mark.parametrize("p", [0.002, 0.1, 1.0])
def test_values_change_places_in_pairs_and_no_farther_than_the_fraction(normal, form, p):
    method = RankSwapping(p=p, form=form)
    moved = moves(normal, method)
    assert np.count_nonzero(moved) % 2 == 0
    assert np.abs(moved).max() <= p * N
    if form == "moore":
        assert np.abs(moved).max() < p * N
    masked = mask(normal, method, seed=0).masked
    np.testing.assert_array_equal(np.sort(masked.values("x")), np.sort(normal.values("x")))
    rank = np.argsort(np.argsort(normal.values("x")))
    other = rank + moved  # an exchange: who has my value has given me his
    np.testing.assert_array_equal(other[np.argsort(rank)[other]], rank)


def test_P_1_a_fraction_is_a_fraction_and_a_percentage_is_refused(normal):
    for wrong in ({"p": 5}, {"top": 5.0}, {"bottom": 10}, {"r0": 95}):
        with pytest.raises(ParameterError, match=r"fraction.*not a percentage: write 0.05"):
            RankSwapping(**wrong)
    assert np.abs(moves(normal, RankSwapping(p=1.0))).max() > 500  # what P = 5 does elsewhere


def test_P_1_groups_have_their_exact_size(normal):
    masked = mask(normal, RankSwapping(p=0.05, top=0.05, bottom=0.05), seed=1).masked
    own, released = normal.values("x"), masked.values("x")
    order = np.argsort(own)
    for group in (order[:50], order[-50:]):
        np.testing.assert_allclose(released[group], own[group].mean(), rtol=1e-12)
    middle = order[50:-50]
    np.testing.assert_array_equal(np.sort(released[middle]), np.sort(own[middle]))


def test_the_aimed_correlation_is_reached_and_more(normal):
    """A run of the original at r0 = 0.95 gave 0.982, with top and bottom groups of 5 percent."""
    found = []
    for seed in range(20):
        method = RankSwapping(r0=0.95, top=0.05, bottom=0.05)
        masked = mask(normal, method, seed=seed).masked
        found.append(np.corrcoef(normal.values("x"), masked.values("x"))[0, 1])
    assert 0.978 < np.mean(found) < 0.986
    assert min(found) > 0.95


def test_three_ways_to_say_how_far_of_which_the_largest_counts():
    plain, aimed = RankSwapping(), RankSwapping(r0=0.9)
    assert (plain.p, plain.r0, plain.k0) == (0.05, 1.0, 0.0)
    assert (aimed.p, aimed.r0, aimed.k0) == (0.0, 0.9, 0.0)
    assert RankSwapping(p=0.0).p == 0.0
    assert at_levers(aimed, {"r0": 1.0}) == RankSwapping(p=0.0)  # every slider at its end: nothing
    ranked = np.array([9.0, 8.0, 5.0, 4.0, 1.0])
    alone = {one: RankSwapping(**{one: v}).fraction(ranked, 0, 5) for one, v in WAYS.items()}
    assert RankSwapping(**WAYS).fraction(ranked, 0, 5) == max(alone.values())
    assert len(set(alone.values())) == 3


def table(sizes: tuple[int, ...], seed: int = 0) -> Microdata:
    """Blocks of these sizes, mixed, with two variables that nobody shares."""
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.repeat([f"b{i}" for i in range(len(sizes))], sizes))
    n = len(block)
    frame = pd.DataFrame({"block": block, "a": np.arange(n) * 1.0, "b": -np.arange(n), "c": 1.5})
    return Microdata.from_frame(frame.assign(c=rng.normal(size=n)))


SWAP = RecordSwapping(share=1.0, within="block", variables="a,b")


def test_E_M8a_the_first_record_of_a_block_and_a_last_block_take_part():
    """The code of `dswap` skips the first record of every block after the first."""
    data = table((4, 4, 4)).frame.sort_values("block", kind="stable")
    data = Microdata.from_frame(data)
    moved = np.zeros(12)
    for seed in range(25):
        moved += mask(data, SWAP, seed=seed).masked.frame["a"].to_numpy() != data.frame["a"]
    assert moved.min() > 5


def test_E_M8b_one_variable_makes_the_same_blocks_as_several():
    """With one key the code of `dswap` sorts wrongly."""
    data = table((6, 5, 4))
    twice = Microdata.from_frame(data.frame.assign(again=data.frame["block"]))
    one = mask(data, SWAP, seed=3).masked.frame
    two = mask(twice, replace(SWAP, within=("block", "again")), seed=3).masked.frame
    assert one["a"].equals(two["a"])


def test_E_M8c_one_selected_record_keeps_its_values():
    """R's sample(x, 1) of one number draws from 1 to x: values of another block."""
    data = table((3, 3, 3))
    method = replace(SWAP, share=0.1)
    for seed in range(20):
        assert mask(data, method, seed=seed).masked.frame.equals(data.frame)


def test_blocks_that_are_too_large_to_name_donors_are_said(monkeypatch):
    assert "names no donors" not in " ".join(SWAP.remarks(table((8, 2)), None))
    monkeypatch.setattr("rwn_core.masking.record_swapping.ATTACKED_PAIRS", 60)
    assert "names no donors" in SWAP.remarks(table((8, 2)), None)[-1]


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
    for true, given in zip(codes, shown, strict=True):
        matrix[rows[given], true] = 1
    assert matrix.tolist() == ENTRIES["REC-1"]["expected"]


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
