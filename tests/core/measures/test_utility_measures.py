"""Check values of the utility measures, and their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import rwn_core as rwn
from rwn_core import Microdata, Question, Role, Schema, SchemaError
from rwn_core.data.open_questions import asks_population
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.distributions import hellinger, total_variation, wasserstein
from rwn_core.measures.statistics.key_variables import key_names
from rwn_core.measures.utility import distributions, tables
from rwn_core.measures.utility.regressions import interval_overlap
from tests.check_values import check_values
from tests.holding import hold
from tests.tables import described

UTILITY = [key for key, measure in MEASURES.items() if measure.side == "utility"]


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

    hold(rule, UTILITY)


def poisson_table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    x = rng.normal(size=n)
    g = rng.choice(["p", "q", "r"], n)
    mean = np.exp(0.4 + 0.3 * x + 0.5 * (g == "r"))
    count, yes = rng.poisson(mean), rng.random(n) < 1 / (1 + np.exp(-x))
    yes = np.where(yes, "yes", "no")
    return pd.DataFrame({"count": count, "yes": yes, "x": 100 + 5 * x, "g": g})


@pytest.mark.parametrize("family", ["poisson", "logistic"])
def test_generalized_regression_is_that_of_statsmodels(family):
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
    "UT-DCR": ("closest_record", lambda r: [r.detail.distance]),
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


def test_UT_HEL_and_wass_col2():
    one, other = np.array([5, 3, 2]), np.array([4, 4, 2])
    assert hellinger(one, other) == pytest.approx(expected("UT-HEL")["hellinger"], **TIGHT)
    assert total_variation(one, other) == pytest.approx(expected("UT-HEL")["tvd"], **TIGHT)
    before, after = TABLES[0][:, 1], TABLES[1][:, 1]
    assert wasserstein(before, after) == expected("UT-wass_col2")
    distance, other, ks = expected("UT-wass_col2_vs_Y2")
    assert wasserstein(before, np.array(other)) == pytest.approx(distance, **TIGHT)
    found = distributions.kolmogorov_smirnov(
        distributions.distribution_steps(np.sort(before)), np.sort(other)
    )
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
    before, schema = table(), rwn.Schema(variables=table().schema.released)
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
