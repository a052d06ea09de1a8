"""Associations, their loss, correlations, components, loadings: by hand and by slow references."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import chi2_contingency

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Kind, Microdata, NotApplicable, Reading, Schema, Variable
from rwn_core.measures import UTILITY
from rwn_core.measures.statistics import association
from rwn_core.measures.statistics.nearest_points import original_points
from rwn_core.measures.utility import relations
from rwn_core.neighbors import metric
from rwn_core.neighbors.distance import CodedPoints


def corrected_ratio(values: pd.Series, levels: pd.Series) -> float:
    """The root of the adjusted share of the variation that the levels explain."""
    known = pd.DataFrame({"v": values - values.mean(), "g": levels}).dropna()
    return math.sqrt(max(0.0, smf.ols("v ~ C(g)", known).fit().rsquared_adj))


def corrected_v(one: pd.Series, other: pd.Series) -> float:
    """Cramer's V with Bergsma's correction as he prints it."""
    counts = pd.crosstab(one, other).to_numpy()
    n, (r, c) = counts.sum(), counts.shape
    chi = chi2_contingency(counts, correction=False).statistic
    phi = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    return math.sqrt(phi / (min(size - (size - 1) ** 2 / (n - 1) for size in (r, c)) - 1))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Numbers and categories that depend on each other, with values missing in each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    size = np.where(x > 0.3, "large", np.where(x < -0.5, "small", "middle"))
    made = pd.DataFrame({"x": x + 1e6, "size": size, "y": x + rng.normal(size=60)})
    made["place"] = rng.choice(list("abcd"), size=60)
    made.loc[3, "y"] = np.nan
    made.loc[[5, 9], "place"] = None
    return made


def test_a_small_table_by_hand(compare) -> None:
    """Eta squared is 4/5, and 0.7 after the correction; one category is the other's name."""
    original = pd.DataFrame({"x": [1.0, 2, 3, 4], "g": list("aabb"), "h": list("uuvv")})
    masked = original.assign(g=list("abab"))
    reading = MEASURES["association"].compute(compare(original, masked))
    before, after = reading.detail.original, reading.detail.released
    assert before[0, 1] == pytest.approx(math.sqrt(0.7))
    assert before[1, 2] == pytest.approx(1.0)
    assert (after[0, 1], after[1, 2]) == (0.0, 0.0)
    assert after[0, 2] == before[0, 2] == pytest.approx(math.sqrt(0.7))
    assert reading.value == pytest.approx((math.sqrt(0.7) + 1) / 3)
    assert reading.detail.coefficient.tolist() == [[0, 1, 1], [1, 2, 2], [1, 2, 2]]


def test_agrees_with_other_libraries(compare, frame) -> None:
    found = MEASURES["association"].compute(compare(frame, frame)).detail.original
    at = {name: place for place, name in enumerate(frame)}
    for name, other in itertools.product(("x", "y"), ("size", "place")):
        expected = corrected_ratio(frame[name], frame[other])
        assert found[at[name], at[other]] == pytest.approx(expected, abs=1e-9)
    expected = corrected_v(frame["size"], frame["place"])
    assert found[at["size"], at["place"]] == pytest.approx(expected, abs=1e-12)
    assert found[at["x"], at["y"]] == pytest.approx(frame["x"].corr(frame["y"]), abs=1e-9)
    assert found[at["x"], at["size"]] > 0.8


def test_a_long_table_of_counts_is_counted_without_its_empty_cells(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 40, 500), rng.integers(0, 30, 500)
    other[:250] = one[:250] % 30
    dense = association.cramers_v(one, other)
    monkeypatch.setattr(association, "DENSE", 0)
    assert association.cramers_v(one, other) == pytest.approx(dense, abs=1e-12)
    assert dense > 0.3


def test_what_does_not_vary_has_no_association(compare) -> None:
    same = pd.DataFrame({"x": [1.0, 2, 3], "g": list("abc")})  # one record a level
    for frame, reason in ((same, "varies"), (same[["x"]], "at least two")):
        with pytest.raises(NotApplicable, match=reason):
            MEASURES["association"].compute(compare(frame, frame))


def permuted(frame: pd.DataFrame, seed: int, names: list[str] | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = frame.copy()
    for name in frame if names is None else names:
        made[name] = frame[name].to_numpy()[rng.permutation(len(frame))]
    return made


def read(key: str, original: pd.DataFrame, masked: pd.DataFrame) -> Reading | NotApplicable:
    both = {"original": Microdata.from_frame(original), "masked": Microdata.from_frame(masked)}
    return MEASURES[key].read(Comparison(**both))


def lost(original: pd.DataFrame, masked: pd.DataFrame) -> Reading:
    return read(UTILITY, original, masked)


def survey(n: int, seed: int = 0, unrelated: int = 10) -> pd.DataFrame:
    """Twelve numbers and some categories, of which only a few pairs are related."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 12))
    numbers[:, 1] = 0.9 * numbers[:, 0] + 0.5 * numbers[:, 1]
    numbers[:, 3] = -0.8 * numbers[:, 2] + 0.6 * numbers[:, 3]
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(12)])
    frame["group"] = np.where(frame["x5"] + rng.normal(size=n) > 0, "high", "low")
    frame["kind"] = np.where(rng.random(n) < 0.8, frame["group"] + "!", "other")
    for i in range(unrelated):
        frame[f"c{i}"] = rng.choice(list("abcd"), n)
    return frame


@pytest.mark.parametrize("n", [80, 8400])
def test_a_survey_of_mostly_unrelated_pairs_reads_0_and_1_at_its_ends(n: int) -> None:
    """Finding N1: a mean over pairs that are mostly 0 called it little when all was gone."""
    frame = survey(n)
    assert lost(frame, frame).value == 0.0
    ends = [lost(frame, permuted(frame, seed)).value for seed in range(2)]
    assert np.mean(ends) > 0.93
    if n == 8400:  # which was said to be little
        assert read("correlation", frame, permuted(frame, 0)).value < 0.05


def test_one_relation_that_is_gone_is_named_among_many_that_stay() -> None:
    """Finding N1: of all relations 4 percent are lost, of this one everything."""
    rng = np.random.default_rng(8)
    common = rng.normal(size=2000)
    frame = pd.DataFrame({f"f{i}": common + 0.3 * rng.normal(size=2000) for i in range(8)})
    frame["p"] = rng.normal(size=2000)
    frame["q"] = frame["p"] + 0.1 * rng.normal(size=2000)
    reading = lost(frame, permuted(frame, 2, ["q"]))
    assert reading.value < 0.1
    assert reading.detail.gone == reading.detail.faded == [["p", "q"]]
    noisy = lost(frame, frame.assign(q=frame["q"] + 0.8 * rng.normal(size=2000)))
    assert (noisy.detail.faded, noisy.detail.gone) == ([["p", "q"]], [])


def test_one_record_that_makes_a_correlation_is_no_relation() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    frame["b"] = 0.7 * frame["a"] + 0.7 * frame["b"]
    plain = lost(frame, permuted(frame, 5, ["b"]))
    rich = frame.copy()
    rich.loc[0, ["c", "d"]] = 1e4
    assert rich["c"].corr(rich["d"]) > 0.99
    reading = lost(rich, permuted(rich, 5, ["b"]))
    assert reading.value == pytest.approx(plain.value, abs=0.02)
    assert reading.detail.faded == plain.detail.faded == [["a", "b"]]


def test_a_relation_turned_round_or_invented_counts() -> None:
    rng = np.random.default_rng(4)
    a = rng.normal(size=1000)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=1000), "c": rng.normal(size=1000)})
    assert lost(frame, frame.assign(b=-frame["b"])).value == 1.0
    assert lost(frame, frame.assign(b=0.5 * frame["b"])).value == 0.0
    assert lost(frame, frame.assign(b=1.0)).value == 1.0
    invented = lost(frame, frame.assign(c=a))
    assert invented.value == 1.0
    assert invented.detail.faded == invented.detail.gone == []
    assert invented.detail.invented > 0.5
    # without any relation there is nothing to lose
    reason = lost(frame[["a", "c"]], frame[["a", "c"]]).reason
    assert reason.startswith("No two variables of the original are related beyond chance")
    assert isinstance(lost(frame[["a"]], frame[["a"]]), NotApplicable)


def projection(values: np.ndarray) -> np.ndarray:
    """The centred projection of a number or of a category, made without any formula of theirs."""
    if values.dtype.kind == "f":
        columns = values[:, None]
    else:
        columns = (values[:, None] == np.unique(values)).astype(float)
    centred = columns - columns.mean(axis=0)
    return centred @ np.linalg.pinv(centred)


def test_moments_over_permutations_are_those_of_all_permutations() -> None:
    """An independent slow reference: every one of the 720 permutations of six records."""
    skewed = np.array([0.0, 1.0, 3.0, 4.0, 7.0, 50.0])
    even, group = np.array([1.0, 2.0, 4.0, 5.0, 8.0, 9.0]), np.array([0, 0, 1, 1, 1, 2])
    pair = np.array([0, 1, 1, 1, 1, 1])
    margins = association._margins(np.column_stack([skewed, even]), [group, pair])
    mean, variance, ceiling = association.permutation_moments(*margins)
    parts = [projection(each) for each in (skewed, even, group, pair)]
    for one, other in itertools.combinations(range(4), 2):
        shared = [
            float((parts[one] * parts[other][np.ix_(order, order)]).sum())
            for order in map(list, itertools.permutations(range(6)))
        ]
        assert mean[one, other] == pytest.approx(np.mean(shared), abs=1e-12)
        assert variance[one, other] == pytest.approx(np.var(shared), abs=1e-12)
        assert ceiling[one, other] >= max(shared) - 1e-12


def test_few_tables_of_unrelated_variables_exceed_their_levels() -> None:
    rng = np.random.default_rng(6)
    n, tries = 120, 200
    numbers = np.column_stack([rng.normal(size=n), np.exp(1.5 * rng.normal(size=n))])
    categories = [rng.integers(0, 3, n), (rng.random(n) < 0.1).astype(int), rng.integers(0, 9, n)]
    levels, category = association.chance_levels(numbers, categories), np.array([0, 0, 1, 1, 1])
    pairs = np.triu_indices(5, 1)
    over, planted = 0, 0
    for _ in range(tries):
        shuffled = np.column_stack([rng.permutation(column) for column in numbers.T])
        codes = [rng.permutation(each) for each in categories]
        found = np.abs(
            association.shown(association.association_matrix(shuffled, codes), category)
        )[pairs]
        over += bool((found > levels[pairs]).any())
        planted += bool((found > 0.6 * levels[pairs]).any())  # a level that is too low
    most = association.CHANCE + 3 * math.sqrt(association.CHANCE / tries) + 0.02
    assert over / tries < most < planted / tries


def test_the_loss_of_relations_by_hand() -> None:
    before = np.array([[1.0, 0.8, 0.05], [0.8, 1.0, -0.5], [0.05, -0.5, 1.0]])
    after = np.array([[1.0, 0.4, 0.3], [0.4, 1.0, -0.5], [0.3, -0.5, 1.0]])
    loss = association.relation_loss(before, after, np.full((3, 3), 0.1))
    # weights .7 and .4; half of the first is lost; .2 beyond chance is invented
    assert loss.value == pytest.approx((0.7 * 0.5 + 0.2) / 1.1)
    assert loss.invented == pytest.approx(0.2 / 1.1)
    assert association.faded(["a", "b", "c"], before, after, loss) == [["a", "b"]]


KEYS = ("distance_linkage", "closest_record", "nearest_distance")
KINDS = {"x": Kind.CONTINUOUS, "y": Kind.CONTINUOUS, "c": Kind.CATEGORICAL}
SCHEMA = Schema(variables=tuple(Variable(name=name, kind=kind) for name, kind in KINDS.items()))


def table(n: int, levels: int, seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, n).astype(str)
    codes = np.where(rng.random(n) < 0.03, None, codes)
    frame = {"x": rng.normal(size=n), "y": np.round(rng.normal(size=n)), "c": codes}
    return Microdata.from_frame(pd.DataFrame(frame), SCHEMA)


def readings(original: Microdata, masked: Microdata, holdout: Microdata):
    comparison = Comparison(original=original, masked=masked, holdout=holdout)
    return {key: rwn.MEASURES[key].read(comparison) for key in KEYS}


def test_readings_do_not_depend_on_how_levels_are_held(monkeypatch):
    original, holdout = table(240, 30, 0), table(60, 34, 9)  # and levels nobody has
    masked = rwn.mask(original, rwn.RWN(epsilon=1.0, k=4, q=0.7), seed=0).masked
    dummies = readings(original, masked, holdout)
    monkeypatch.setattr(metric, "CODED_LEVELS", 5)
    again = table(240, 30, 0)  # a table keeps its points as they were held
    assert isinstance(original_points(Comparison(original=again, masked=masked)), CodedPoints)
    coded = readings(again, masked, holdout)
    for key in KEYS:
        assert coded[key].value == pytest.approx(dummies[key].value, rel=1e-9), key
        assert coded[key].baseline == pytest.approx(dummies[key].baseline, rel=1e-9), key
    distances = [found["closest_record"].detail.distance for found in (coded, dummies)]
    np.testing.assert_allclose(*distances, rtol=1e-9, atol=1e-12)


def test_a_sign_change_is_counted(compare):
    original = pd.DataFrame({"x": [0.0, 1, 2, 3], "y": [0.0, 1, 2, 3], "z": [1.0, 0, 0, 1]})
    masked = original.assign(y=[3.0, 2, 1, 0])
    reading = MEASURES["correlation"].compute(compare(original, masked))
    assert reading.detail.sign_changes == 1
    assert reading.detail.pairs == 3
    assert reading.value == pytest.approx(2 / 3)  # one pair from 1 to -1, two stay at 0


def test_each_pair_uses_the_records_that_have_both(numeric_frames):
    frame = numeric_frames[0].copy()
    frame.loc[:9, "a"] = np.nan
    frame.loc[5:20, "b"] = np.nan
    expected = frame.corr().to_numpy()
    np.testing.assert_allclose(relations.correlation_matrix(frame.to_numpy()), expected, atol=1e-12)


def test_a_constant_variable_is_left_out_of_the_mean(compare, numeric_frames):
    original, masked = numeric_frames
    plain = MEASURES["correlation"].compute(compare(original, masked))
    fixed = (frame.assign(fixed=0.1) for frame in (original, masked))
    more = MEASURES["correlation"].compute(compare(*fixed))
    assert more.value == pytest.approx(plain.value, abs=1e-12)
    assert more.detail.pairs == plain.detail.pairs == 6
    assert np.isnan(more.detail.original[4]).all()
    # and a pair that is constant where both are known
    values = np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, np.nan], [np.nan, 9.0]])
    assert np.isnan(relations.correlation_matrix(values)[0, 1])


@pytest.mark.parametrize(
    ("key", "other", "reason"),
    [
        ("correlation", ["a", "b"], "at least two continuous or count"),
        ("correlation", [3.0, 3.0], "varies in both tables"),
        ("principal_components", [3.0, 3.0], "at least two continuous or count"),
    ],
)
def test_two_numbers_that_vary_are_needed(compare, key, other, reason):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": other})
    with pytest.raises(NotApplicable, match=reason):
        MEASURES[key].compute(compare(frame, frame))


def test_loadings_and_near_components_by_hand():
    one, other = np.array([[0.6, 0.0], [0.8, 1.0]]), np.array([[-0.8, 0.0], [-0.6, 1.0]])
    assert relations.loading_changes(one, other) == pytest.approx(
        [0.2, 0.0]
    )  # the sign is turned back
    assert (
        relations.near_neighbors(np.array([2.0, 1.9, 0.1]), 200, 2) == 1
    )  # 0.1 < 2 sqrt(2 / 200) = 0.2


COMPONENTS = MEASURES["principal_components"]


def test_two_variables_have_the_components_one_plus_and_minus_r(compare, ut_frames):
    detail = COMPONENTS.compute(compare(*ut_frames)).detail
    for side, frame in zip(("original", "released"), ut_frames, strict=True):
        r = frame["one"].corr(frame["two"])
        halves = [(1 + r) / 2, (1 - r) / 2]
        assert getattr(detail, f"share_{side}") == pytest.approx(halves, abs=1e-12)
        assert getattr(detail, f"sd1_{side}") == pytest.approx((1 + r) ** 0.5, abs=1e-12)
        assert getattr(detail, f"cumulative5_{side}") == pytest.approx(1.0)


def test_components_are_those_of_complete_records_and_of_what_varies(compare, numeric_frames):
    original, masked = numeric_frames
    reading = COMPONENTS.compute(compare(original, masked))
    before, after = (
        np.cumsum(getattr(reading.detail, f"share_{s}")) for s in ("original", "released")
    )
    assert reading.value == np.abs(before - after).max()
    gaps = original.copy()
    gaps.loc[4, "c"] = np.nan
    detail = COMPONENTS.compute(compare(gaps, masked)).detail
    assert (detail.n_original, detail.n_released) == (59, 60)
    expected = np.linalg.eigvalsh(gaps.dropna().corr())[::-1] / 4
    np.testing.assert_allclose(detail.share_original, expected)
    detail = COMPONENTS.compute(compare(original.assign(b=1.0), masked)).detail
    assert detail.names == ["a", "c", "d"]
    expected = np.linalg.eigvalsh(original[["a", "c", "d"]].corr())[::-1] / 3
    np.testing.assert_allclose(detail.share_original, expected)


def test_a_variable_that_no_longer_varies_has_lost_its_relations(compare):
    """One of three comes out constant: its r of .9 and of -.32 are gone."""
    original = pd.DataFrame(
        {"x": [0.0, 1, 2, 3, 4], "y": [0.0, 1, 2, 4, 3], "z": [1.0, -1, 0, -1, 1]}
    )
    r = original.corr().to_numpy()
    constant = compare(original, original.assign(y=2.0))
    lost = (r[0, 1] + abs(r[1, 2])) / 3
    for key in ("correlation", "association"):
        assert MEASURES[key].compute(constant).value == pytest.approx(lost)
    ranks = original.corr(method="spearman").to_numpy()
    found = MEASURES["rank_correlation"].compute(constant)
    assert found.value == pytest.approx((ranks[0, 1] + abs(ranks[1, 2])) / 3)
    # of all three variables, with zero correlations of y: 1, 1 + r(x, z), 1 - r(x, z) = 1 each
    before = np.linalg.eigvalsh(r)[::-1]
    assert MEASURES["eigenvalues"].compute(constant).value == pytest.approx(
        np.abs(1 / before - 1).sum()
    )
    assert MEASURES["loadings"].compute(constant).value > 0.05
    detail = COMPONENTS.compute(constant).detail
    np.testing.assert_allclose(detail.share_released, [1 / 3] * 3)
    assert COMPONENTS.compute(constant).value == pytest.approx(
        np.abs(np.cumsum(before) / 3 - [1 / 3, 2 / 3, 1]).max()
    )
