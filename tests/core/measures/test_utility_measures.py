"""Utility: check values, associations, components, and their edges."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import rwn_core as rwn
from rwn_core import (
    MEASURES,
    Comparison,
    Kind,
    Microdata,
    NotApplicable,
    Question,
    Reading,
    Role,
    Schema,
    SchemaError,
    Variable,
)
from rwn_core.data.open_questions import asks_population
from rwn_core.measures import UTILITY, read
from rwn_core.measures.comparison import Sampling
from rwn_core.measures.statistics import association
from rwn_core.measures.statistics.distributions import (
    distribution_steps,
    hellinger,
    kolmogorov_smirnov,
    total_variation,
)
from rwn_core.measures.statistics.key_variables import key_names
from rwn_core.measures.statistics.nearest_points import original_points
from rwn_core.measures.utility import relations, tables
from rwn_core.measures.utility.regressions import interval_overlap
from rwn_core.neighbors import metric
from rwn_core.neighbors.distance import CodedPoints
from tests.check_values import check_values
from tests.holding import hold
from tests.tables import described

OF_UTILITY = [key for key, measure in MEASURES.items() if measure.side == "utility"]


def pair(before: pd.DataFrame, after: pd.DataFrame, question: Question | None = None) -> Comparison:
    original = Microdata.from_frame(before)
    masked = Microdata(after.reset_index(drop=True), original.schema)
    return Comparison(original=original, masked=masked, question=question)


def correlated(n: int = 300, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    values = shared + 0.7 * rng.normal(size=(n, 4))
    frame = pd.DataFrame(values, columns=["y", "a", "b", "c"])
    return frame.assign(g=np.where(frame["a"] > 0.5, "high", "low"))


def test_the_main_effects_blind_spot_of_pmse_is_caught_by_pairs():
    """A permuted column has the same distribution, and no relation to the others."""
    before = correlated()
    after = before.assign(b=np.roll(before["b"].to_numpy(), 7))
    found = MEASURES["pmse"].compute(pair(before, after))
    assert found.detail.main.pmse < 1e-12  # blind
    assert found.detail.main.ratio < 1e-6
    assert found.value > 4  # twice what a fresh sample would give
    assert found.detail.standardized > 5
    assert found.detail.specks > 0.2


def test_two_independent_samples_are_twice_the_null():
    pairs = ((correlated(seed=s), correlated(seed=s + 100)) for s in range(12))
    assert 1.6 < np.mean([MEASURES["pmse"].compute(pair(*each)).value for each in pairs]) < 2.5


def test_units_do_not_matter():
    data = rwn.load_demo("pima")
    masked = rwn.mask(data, rwn.RWN(epsilon=1.0, k=4), seed=3).masked
    factors = {"bmi": 1000.0, "diabetes": 1e-6}

    def scaled(table: Microdata) -> Microdata:
        changes = {name: 7.0 + table.frame[name] * by for name, by in factors.items()}
        return Microdata(table.frame.assign(**changes), table.schema)

    question = Question(response="test", predictors=("bmi", "diabetes", "age"))
    plain = Comparison(original=data, masked=masked, question=question)
    moved = Comparison(original=scaled(data), masked=scaled(masked), question=question)

    def rule(key: str) -> None:
        one, other = (read(key, each) for each in (plain, moved))
        assert type(one) is type(other)
        if isinstance(one, Reading):
            assert other.value == pytest.approx(one.value, rel=1e-6, abs=1e-9)

    hold(rule, OF_UTILITY)


def poisson_table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    x = rng.normal(size=n)
    g = rng.choice(["p", "q", "r"], n)
    mean = np.exp(0.4 + 0.3 * x + 0.5 * (g == "r"))
    count = rng.poisson(mean)
    yes = rng.random(n) < 1 / (1 + np.exp(-x))
    yes = np.where(yes, "yes", "no")
    return pd.DataFrame({"count": count, "yes": yes, "x": 100 + 5 * x, "g": g})


@pytest.mark.parametrize("family", ["poisson", "logistic"])
def test_generalized_regression_is_that_of_statsmodels(family):
    import statsmodels.formula.api as smf

    frame = poisson_table()
    response = "count" if family == "poisson" else "yes"
    question = Question(response=response, predictors=("x", "g"))
    reading = MEASURES["generalized_regression"].compute(pair(frame, frame, question))
    assert reading.detail.family == family
    given = frame.assign(yes=(frame["yes"] == "yes").astype(float))
    model = smf.poisson if family == "poisson" else smf.logit
    wanted = model(f"{response} ~ x + g", given).fit(disp=False, tol=1e-10)
    order = ["Intercept", "x", "g[T.q]", "g[T.r]"]
    assert reading.detail.terms == ["(intercept)", "x", "g = q", "g = r"]
    found = reading.detail
    assert found.coefficient_original == pytest.approx(wanted.params[order], rel=1e-6)
    assert found.se_original == pytest.approx(wanted.bse[order], rel=1e-5)


def test_generalized_regression_names_what_it_cannot_fit():
    frame = poisson_table().assign(same="one", copy=lambda f: 2 * f["x"])
    frame["tell"] = (frame["yes"] == "yes") * 3.0 + frame["x"] / 1000
    for response, predictors, words in (
        ("same", "x", ("constant", "same")),
        ("yes", "x copy", ("copy",)),
        ("yes", "tell", ("tell",)),
        ("x", "g", ("continuous",)),
        ("g", "x", ("categorical",)),
    ):
        question = Question(response=response, predictors=tuple(predictors.split()))
        reason = read("generalized_regression", pair(frame, frame, question)).reason
        assert all(word in reason for word in words), reason


def test_subgroups_tell_that_the_small_ones_vanished():
    frame = correlated().assign(g=lambda f: np.where(f.index < 20, "rare", "common"))
    found = MEASURES["subgroups"].compute(pair(frame, frame.assign(g="common"))).detail
    place = found.names.index("g rare")
    assert (found.original[place], found.released[place], found.vanished) == (20, 0, 1)
    # eleven levels of 80 records stay, and of eight of 15 seven vanish into the first
    levels = [f"A{j:02d}" for j in range(11)], [f"R{j}" for j in range(8)]
    frame = pd.DataFrame({"g": np.append(np.repeat(levels[0], 80), np.repeat(levels[1], 15))})
    found = MEASURES["subgroups"].compute(pair(frame, frame.where(frame["g"].str[0] == "A", "R0")))
    assert (found.detail.vanished, len(found.detail.names)) == (7, 19)
    assert found.value == pytest.approx((7 + 105 / 15) / 19)


def test_values_that_are_lost_are_lost_from_their_distribution():
    """Every second known value is left out at random: what is left has the same distribution."""
    for values in (np.arange(200.0), np.repeat(list("abcd"), 50)):
        before = pd.DataFrame({"x": values, "y": np.arange(200.0)})
        gone = before["x"].where(before.index % 2 == 0)
        found = MEASURES["marginals"].compute(pair(before, before.assign(x=gone))).detail
        assert found.distance.tolist() == pytest.approx([0.5, 0.0], abs=1e-12)


def test_quantiles_by_hand():
    before = pd.DataFrame({"x": np.arange(101.0)})
    found = MEASURES["quantiles"].compute(pair(before, before + 10))
    assert found.value == pytest.approx(10 / before["x"].std())
    assert found.detail.original[0] == pytest.approx([5, 10, 25, 50, 75, 90, 95])


VALUES = check_values("risk") | check_values("measure") | check_values("utility")
TIGHT = {"rel": 1e-9}


def expected(check: str):
    return VALUES[check]["expected"]


GIVEN = VALUES["UT-corr"]["input"]
TABLES = np.array(GIVEN["X"]), np.array(GIVEN["Y"])


@pytest.fixture
def comparison(ut_frames) -> Comparison:
    """The six records, and the regression of two on one."""
    return pair(*ut_frames, Question(response="two", predictors=("one",)))


PUBLISHED: dict[str, tuple[str, Callable[[Reading], list[Any]]]] = {
    "UT-corr": (
        "correlation",
        lambda r: [r.detail.original[0, 1], r.detail.released[0, 1], r.value],
    ),
    "UT-ols_X": ("regression", lambda r: [r.detail.coefficient_original, r.detail.se_original]),
    "UT-ols_Y": ("regression", lambda r: [r.detail.coefficient_released, r.detail.se_released]),
    "UT-std_diff_slope": ("regression", lambda r: [r.value]),
    "UT-CIO_slope_z": ("ci_overlap", lambda r: [r.detail.overlap[1]]),
    "UT-cook_X": ("cooks_distance", lambda r: [r.detail.original]),
    "UT-cook_Y": ("cooks_distance", lambda r: [r.detail.released]),
    "UT-maha2_X": ("mahalanobis", lambda r: [r.detail.original**2]),
    "UT-maha2_sum": ("mahalanobis", lambda r: [(r.detail.original**2).sum()]),
    "UT-mindist_X": ("nearest_distance", lambda r: [r.detail.original]),
    "UT-DBRL": ("distance_linkage", lambda r: [r.value]),
    "UT-IL1s_mean": ("il1s", lambda r: [r.value]),
    "UT-IL1s_sum": ("il1s", lambda r: [r.detail.il1s_sum]),
    "UT-IL1_pct_sum": ("il1s", lambda r: [r.detail.il1_percent_sum]),
    "UT-eig": ("eigenvalues", lambda r: [r.detail.original, r.detail.released, r.value]),
}


@pytest.mark.parametrize("check", PUBLISHED)
def test_published_values_of_six_records(comparison, check):
    key, numbers = PUBLISHED[check]
    wanted = VALUES[check]["expected"]
    wanted = np.hstack(wanted if isinstance(wanted, list) else [wanted])
    found = np.hstack(numbers(MEASURES[key].compute(comparison)))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_UT_corr_of_ranks_is_by_hand():
    # ranks 1, 2, 3, 4 against 2, 1, 4, 3: 1 - 6 * 4 / (4 * 15) = 0.6
    before = pd.DataFrame({"a": [1.0, 2, 3, 40], "b": [1.0, 2, 3, 4]})
    after = pd.DataFrame({"a": [1.0, 2, 3, 40], "b": [20.0, 1, 400, 30]})
    reading = MEASURES["rank_correlation"].compute(pair(before, after))
    assert reading.value == pytest.approx(0.4, **TIGHT)


def test_UT_CIO_std_diff_and_ols(comparison):
    pairs = {"a": ((0, 10), (5, 15)), "b": ((0, 10), (2, 6)), "c": ((0, 1), (2, 3))}
    pairs["d"] = ((1, 3), (1, 3))
    for name, ends in pairs.items():
        one, other = (tuple(np.array([float(end)]) for end in each) for each in ends)
        overlap = interval_overlap(one, other)[0]
        assert overlap == pytest.approx(expected("UT-CIO")[name], **TIGHT)
    detail = MEASURES["ci_overlap"].compute(comparison).detail
    assert detail.standardized_difference[1] == pytest.approx(
        expected("UT-std_diff_slope"), **TIGHT
    )
    slope = expected("UT-ols_Y")[1][1] / expected("UT-ols_X")[1][1]
    assert MEASURES["standard_errors"].compute(comparison).value == pytest.approx(slope - 1)


def test_UT_HEL_and_the_largest_distance_of_col2():
    one, other = np.array([5, 3, 2]), np.array([4, 4, 2])
    assert hellinger(one, other) == pytest.approx(expected("UT-HEL")["hellinger"], **TIGHT)
    assert total_variation(one, other) == pytest.approx(expected("UT-HEL")["tvd"], **TIGHT)
    before = TABLES[0][:, 1]
    _, other, ks = expected("UT-wass_col2_vs_Y2")
    found = kolmogorov_smirnov(distribution_steps(np.sort(before)), np.sort(other))
    assert found == pytest.approx(ks, **TIGHT)


def test_UT_PMSE():
    before = pd.DataFrame({"x": [1.0] * 6 + [0.0] * 4})
    after = pd.DataFrame({"x": [1.0] * 8 + [0.0] * 2})
    found = MEASURES["pmse"].compute(pair(before, after)).detail
    wanted = expected("UT-PMSE")
    for each in (found, found.main):
        assert each.pmse == pytest.approx(wanted["pMSE"], rel=1e-7)
        assert each.null_mean == pytest.approx(wanted["E0"], **TIGHT)
        assert each.null_sd == pytest.approx(wanted["SD0"], **TIGHT)
        assert each.ratio == pytest.approx(wanted["ratio"], rel=1e-7)
        assert each.standardized == pytest.approx(wanted["std"], rel=1e-6)
        assert each.parameters == 2
        # the scores are 6/14 and 4/6: the two files' shares differ by 8/10 - 6/10
        assert each.specks == pytest.approx(0.2, **TIGHT)


ROLES = {"w": Role.SAMPLING_WEIGHT, "home": Role.HOUSEHOLD, "h": Role.STRATUM, "year": Role.TIME}
WORDS = {"home": list("aabbcd"), "h": list("sssstt"), "year": ["20", "20", "21", "21", "21", "20"]}
FRAME = pd.DataFrame({"w": [1.0, 2, 1, 4, 2, 2], **WORDS, "y": [1.0, 2, 4, 3, 5, 1]})


def table(frame=FRAME, roles=ROLES):
    return described(frame, **roles)


def test_a_weighted_mean_and_its_error_by_hand():
    """Mean 32/12; clusters a, b in stratum s, c and d in t; z = w (y - mean) / 12 by cluster."""
    before = table()
    schema = rwn.Schema(variables=table().schema.released)
    changed = FRAME.assign(y=[1.0, 2.0, 4.0, 3.0, 5.0, 4.0]).drop(columns="home")
    released = Comparison(original=before, masked=Microdata(changed, schema))
    found = MEASURES["survey_estimates"].compute(released).detail
    place = found.names.index("mean of y")
    mean = 33 / 12
    assert found.original[place] == pytest.approx(mean)
    assert found.released[place] == pytest.approx(39 / 12)
    a = (1 * (1 - mean) + 2 * (2 - mean)) / 12
    b = (1 * (4 - mean) + 4 * (3 - mean)) / 12
    c, d = 2 * (5 - mean) / 12, 2 * (1 - mean) / 12
    error = sqrt((a - b) ** 2 + (c - d) ** 2)  # two in a stratum: 2 / 1 times half of the square
    assert found.errors[place] == pytest.approx(error)
    assert found.change[place] == pytest.approx(0.5 / error)
    assert found.people.original == 12
    when = found.names.index("mean of y, year 20")
    assert found.original[when] == pytest.approx((1 + 4 + 2) / 5)
    assert found.released[when] == pytest.approx((1 + 4 + 8) / 5)


def one_stratum(weights: np.ndarray, clusters: np.ndarray) -> tables.SamplingDesign:
    return tables.SamplingDesign(
        weights=weights, strata=np.zeros(len(weights), int), clusters=clusters
    )


def test_slopes_are_those_of_records_repeated_by_their_weights():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 40))
    weights = rng.integers(1, 5, 40)
    many = np.repeat(np.arange(40), weights)
    ones = np.ones(len(many))
    found = tables.weighted_slopes(x[:, None], y, weights.astype(float))
    assert found == pytest.approx(tables.weighted_slopes(x[many, None], y[many], ones))
    # repeated records are one cluster: the same error as weights give
    design = one_stratum(weights.astype(float), np.arange(40))
    same = one_stratum(ones, many)
    repeated = tables.slope_errors(x[many, None], y[many], same)
    assert tables.slope_errors(x[:, None], y, design) == pytest.approx(repeated)
    assert tables.mean_error(y, design) == pytest.approx(tables.mean_error(y[many], same))


def test_errors_cover_the_truth_of_a_clustered_survey_and_naive_ones_do_not():
    rng = np.random.default_rng(3)
    covered, naive = 0, 0
    for _ in range(300):
        values = np.repeat(rng.normal(size=40), 5) + rng.normal(size=200) / 2
        clusters = (np.repeat(np.arange(40), 5), np.arange(200))
        error, alone = (
            tables.mean_error(values, one_stratum(np.ones(200), each)) for each in clusters
        )
        covered += abs(values.mean()) < 1.96 * error
        naive += abs(values.mean()) < 1.96 * alone
    assert covered > 270 > 240 > naive


def test_the_role_gives_risk_its_weights_and_is_no_key():
    data = table()
    said = Comparison(original=data, masked=data)
    assert said.sampling == Sampling(weights="w")
    assert "w" not in key_names(said)
    data = table(FRAME.assign(w=[0.5, 2, 1, 4, 2, 2]))  # weights that count no people
    assert any("w is a sampling weight, but not" in notice for notice in data.notices)
    assert Comparison(original=data, masked=data).sampling == Sampling()
    with pytest.raises(SchemaError, match="Variables w and y both have the role sampling weight"):
        data.schema.replace_variable("y", role=Role.SAMPLING_WEIGHT)
    named = table(roles={**ROLES, "w": Role.OTHER})
    stated = Comparison(original=named, masked=named, sampling=Sampling(weights="w"))
    values = []
    for each in (said, stated):
        schema = each.original.schema.replace_variable("h", role=Role.KEY)
        one = each.original.with_schema(schema)
        again = Comparison(original=one, masked=one, sampling=each.sampling)
        values.append(MEASURES["individual_risk"].compute(again).value)
    assert values[0] == values[1]


def test_normalised_weights_leave_the_population_open_until_it_is_stated() -> None:
    """Two records with weights around 1: 40 people, so each record stands for 20."""
    frame = pd.DataFrame({"x": [1.0, 2.0], "w": [0.5, 1.5]})
    data = described(frame, w="sampling weight")
    assert "How many people are in it?" in str(asks_population(data.frame, data.schema))
    assert Sampling.of_schema(data) == Sampling()
    stated = data.with_schema(replace(data.schema, population=40))
    assert asks_population(stated.frame, stated.schema) is None
    assert Sampling.of_schema(stated) == Sampling(population=40.0)
    assert Sampling.of_schema(stated).record_weights(stated, stated).tolist() == [20.0, 20.0]
    assert not any("the whole population" in notice for notice in stated.notices)
    assert Schema.from_toml(stated.schema.to_toml()) == stated.schema
    for wrong in (0, 2.5, True, "many"):
        with pytest.raises(SchemaError, match="whole number of people"):
            replace(data.schema, population=wrong)


def corrected_ratio(values: pd.Series, levels: pd.Series) -> float:
    """The root of the adjusted share of the variation that the levels explain."""
    import statsmodels.formula.api as smf

    known = pd.DataFrame({"v": values - values.mean(), "g": levels}).dropna()
    return math.sqrt(max(0.0, smf.ols("v ~ C(g)", known).fit().rsquared_adj))


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
    # Cramer's V with Bergsma's correction as he prints it
    counts = pd.crosstab(frame["size"], frame["place"]).to_numpy()
    n = counts.sum()
    r, c = counts.shape
    chi = chi2_contingency(counts, correction=False).statistic
    phi = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    expected = math.sqrt(phi / (min(size - (size - 1) ** 2 / (n - 1) for size in (r, c)) - 1))
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


def reading_of(key: str, original: pd.DataFrame, masked: pd.DataFrame) -> Reading | NotApplicable:
    both = {"original": Microdata.from_frame(original), "masked": Microdata.from_frame(masked)}
    return MEASURES[key].read(Comparison(**both))


def lost(original: pd.DataFrame, masked: pd.DataFrame) -> Reading:
    return reading_of(UTILITY, original, masked)


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
        assert reading_of("correlation", frame, permuted(frame, 0)).value < 0.05


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
    levels = association.chance_levels(numbers, categories)
    category = np.array([0, 0, 1, 1, 1])
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


KEYS = ("distance_linkage", "nearest_distance")
KINDS = {"x": Kind.CONTINUOUS, "y": Kind.CONTINUOUS, "c": Kind.CATEGORICAL}
SCHEMA = Schema(variables=tuple(Variable(name=name, kind=kind) for name, kind in KINDS.items()))


def coarse_table(n: int, levels: int, seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, n).astype(str)
    codes = np.where(rng.random(n) < 0.03, None, codes)
    frame = {"x": rng.normal(size=n), "y": np.round(rng.normal(size=n)), "c": codes}
    return Microdata.from_frame(pd.DataFrame(frame), SCHEMA)


def readings(original: Microdata, masked: Microdata, holdout: Microdata):
    comparison = Comparison(original=original, masked=masked, holdout=holdout)
    return {key: rwn.MEASURES[key].read(comparison) for key in KEYS}


def test_readings_do_not_depend_on_how_levels_are_held(monkeypatch):
    original, holdout = coarse_table(240, 30, 0), coarse_table(60, 34, 9)  # and levels nobody has
    masked = rwn.mask(original, rwn.RWN(epsilon=1.0, k=4, q=0.7), seed=0).masked
    dummies = readings(original, masked, holdout)
    monkeypatch.setattr(metric, "CODED_LEVELS", 5)
    again = coarse_table(240, 30, 0)  # a table keeps its points as they were held
    assert isinstance(original_points(Comparison(original=again, masked=masked)), CodedPoints)
    coded = readings(again, masked, holdout)
    for key in KEYS:
        assert coded[key].value == pytest.approx(dummies[key].value, rel=1e-9), key
        assert coded[key].baseline == pytest.approx(dummies[key].baseline, rel=1e-9), key


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
    detail = COMPONENTS.compute(constant).detail
    np.testing.assert_allclose(detail.share_released, [1 / 3] * 3)
    assert COMPONENTS.compute(constant).value == pytest.approx(
        np.abs(np.cumsum(before) / 3 - [1 / 3, 2 / 3, 1]).max()
    )
