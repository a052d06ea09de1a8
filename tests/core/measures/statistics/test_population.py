"""Uniques of a population, by laws, and where the truth is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brute

from rwn_core import MEASURES, Comparison, Microdata, NotApplicable, Sampling
from rwn_core.measures import read
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.population_risk import check_deviation, fit_margins, forward_search
from rwn_core.measures.statistics.population import (
    PitmanLaw,
    _pitman_misfit,
    expected_inverse,
    file_risk,
    fitted_risk,
    individual_risk,
    pitman,
    probability_unique,
)
from tests.check_values import check_values
from tests.tables import described

ENTRIES = check_values("risk")


def expected(check: str) -> Any:
    return ENTRIES[check]["expected"]


def test_LL_1_record_level_risks():
    rate = np.array([0.5])
    assert probability_unique(rate, 0.02)[0] == pytest.approx(expected("LL-1")["p1"], abs=1e-12)
    assert expected_inverse(rate, 0.02)[0] == pytest.approx(expected("LL-1")["e"], abs=1e-12)
    assert expected_inverse(rate, 1.0)[0] == 1.0  # all are sampled


def test_LL_2_six_cells():
    given = expected("LL-2")
    counts, means = np.array(given["f"], float), np.array(given["mu"])
    tau2, check = file_risk(counts, means, given["pi"])
    tau1 = probability_unique(means[counts == 1] / given["pi"], given["pi"]).sum()
    assert tau1 == pytest.approx(given["tau1"], rel=1e-10)
    assert tau2 == pytest.approx(given["tau2"], rel=1e-10)
    assert check == pytest.approx(given["B2_generic"], rel=1e-9)


def population(related: bool, seed: int = 5) -> tuple[np.ndarray, np.ndarray, float]:
    """Population and sample counts of four keys, one a function of another where related."""
    rng = np.random.default_rng(seed)
    sizes = (6, 5, 6, 4)
    shares = [rng.dirichlet(np.full(size, 2.0)) for size in sizes]
    keys = [rng.choice(size, 40_000, p=share) for size, share in zip(sizes, shares, strict=True)]
    if related:
        keys[2] = np.where(rng.random(40_000) < 0.93, keys[0], keys[2])
    cells = np.ravel_multi_index(keys, sizes)
    sampled = rng.choice(40_000, 800, replace=False)
    whole = np.bincount(cells, minlength=np.prod(sizes))
    sample = np.bincount(cells[sampled], minlength=np.prod(sizes))
    return whole, sample.reshape(sizes).astype(float), 800 / 40_000


def true_tau2(whole: np.ndarray, sample: np.ndarray) -> float:
    alone = sample.ravel() == 1
    return float((1 / whole[alone]).sum())


def test_LL_3_independent_keys_need_main_effects_only():
    whole, sample, fraction = population(related=False)
    path = forward_search(sample, fraction)
    assert len(path) == 1
    assert path[0].tau2 == pytest.approx(true_tau2(whole, sample), rel=0.25, abs=2)
    assert abs(path[0].z) < 1.96


def test_LL_4_related_keys_are_noticed_and_modeled():
    whole, sample, fraction = population(related=True)
    path = forward_search(sample, fraction)
    assert path[0].z > 5
    assert path[0].check > 0
    assert (0, 2) in path[-1].terms
    truth = true_tau2(whole, sample)
    assert abs(path[-1].tau2 - truth) < abs(path[0].tau2 - truth)
    assert abs(path[-1].z) < 3


def test_LL_5_the_sample_mean_in_place_of_the_population_mean_overestimates():
    """What a well-known package does: the risk is far too large."""
    _, sample, fraction = population(related=False)
    means = fit_margins(sample, tuple((axis,) for axis in range(4))).ravel()[sample.ravel() == 1]
    right, wrong = (probability_unique(each, fraction).sum() for each in (means / fraction, means))
    assert wrong > 10 * max(right, 0.1)


def test_fitted_margins_are_those_of_a_poisson_regression():
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    rng = np.random.default_rng(2)
    counts = rng.poisson(2.0, (3, 4, 2)).astype(float)
    found = fit_margins(counts, ((0, 1), (2,)))
    a, b, c = (axis.ravel() for axis in np.indices(counts.shape))
    columns = [np.ones(24)]
    columns += [(a == i) * 1.0 for i in (1, 2)] + [(b == j) * 1.0 for j in (1, 2, 3)]
    columns += [(a == i) * (b == j) * 1.0 for i in (1, 2) for j in (1, 2, 3)] + [(c == 1) * 1.0]
    fit = GLM(counts.ravel(), np.column_stack(columns), family=Poisson()).fit(tol=1e-12)
    np.testing.assert_allclose(found.ravel(), fit.fittedvalues, rtol=1e-5, atol=1e-9)


def test_the_check_has_the_stated_deviation():
    rng = np.random.default_rng(9)
    means = rng.gamma(0.6, 1.5, 200)
    checks = [file_risk(rng.poisson(means) * 1.0, means, 0.1)[1] for _ in range(4000)]
    assert np.std(checks) == pytest.approx(check_deviation(means, 0.1), rel=0.06)
    assert abs(np.mean(checks)) < 4 * np.std(checks) / np.sqrt(4000)


@pytest.mark.parametrize(("f", "weights"), [(1, 50.0), (2, 90.0), (5, 200.0), (30, 3000.0)])
def test_individual_risk_against_its_integral(f, weights):
    p = f / weights
    t = (np.arange(200_000) + 0.5) / 200_000
    # E(1/F) = integral of (t^f / t) G with G the generating function of the failures
    integral = np.mean(t ** (f - 1) * (p / (1 - (1 - p) * t)) ** f)
    found = individual_risk(np.array([f]), np.array([weights]))[0]
    assert found == pytest.approx(integral, rel=1e-4)


SIZES = np.array([1] * 9 + [2] * 4 + [3, 3, 17])


def seated(n: int, theta: float, alpha: float, rng: np.random.Generator) -> np.ndarray:
    """A partition by Pitman's formula: the restaurant whose guests sit down one by one."""
    table = np.empty(n, dtype=int)
    guests = np.zeros(n)
    tables = 0
    for guest in range(n):
        if rng.random() < (theta + alpha * tables) / (theta + guest):
            table[guest], tables = tables, tables + 1
        else:
            while True:  # next to somebody, less alpha for each table
                seat = table[rng.integers(guest)]
                if rng.random() < (guests[seat] - alpha) / guests[seat]:
                    table[guest] = seat
                    break
        guests[table[guest]] += 1
    return table


def errors(
    estimate: Callable[[np.ndarray, float], float], populations: list[np.ndarray], fraction: float
) -> np.ndarray:
    """Estimate less truth of a sample of each population."""
    rng = np.random.default_rng(4)
    found = []
    for people in populations:
        everybody = np.bincount(people)
        sample = np.bincount(people[rng.random(len(people)) < fraction], minlength=len(everybody))
        truth = float((everybody[sample == 1] == 1).mean())
        found.append(estimate(sample[sample > 0], float(len(people))) - truth)
    return np.array(found)


def test_pitman_on_populations_of_its_kind():
    rng = np.random.default_rng(8)
    seats = [seated(6000, 60.0, 0.5, rng) for _ in range(12)]
    for fraction in (0.05, 0.2):
        wrong, planted = (
            errors(lambda sizes, n, by=by: pitman(sizes, by * n), seats, fraction) for by in (1, 4)
        )
        assert abs(wrong.mean()) < 3 * wrong.std(ddof=1) / np.sqrt(12) + 0.02
        assert abs(planted.mean()) > 3 * planted.std(ddof=1) / np.sqrt(12) + 0.02


def test_pitmans_likelihood_is_that_of_the_formula_term_by_term():
    theta = 3.0
    alpha = 0.4
    n = int(SIZES.sum())
    by_hand = sum(log(theta + i * alpha) for i in range(1, len(SIZES)))
    by_hand -= sum(log(theta + i) for i in range(1, n))
    by_hand += sum(log(j - alpha) for size in SIZES for j in range(1, size))
    at = np.array([alpha, np.log(theta + alpha)])
    assert -_pitman_misfit(at, SIZES) == pytest.approx(by_hand)
    best = brute(_pitman_misfit, ((0.01, 0.99), (-3, 8)), (SIZES,), Ns=200, finish=None)
    spread, shift = best
    theta = np.exp(shift) - spread
    alone = 1.0  # none of the further people has the values of one who is alone
    for i in range(n, 2000):
        alone *= 1 - (1 - spread) / (theta + i)
    assert pitman(SIZES, 2000.0) == pytest.approx(alone, abs=0.005)
    assert pitman(np.array([2, 3]), 100.0) == 0.0
    assert pitman(np.ones(5, dtype=int), 100.0) == pytest.approx(1.0)


def test_the_measure_reads_weights_and_says_why_not():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"g": rng.integers(0, 40, 90).astype(str), "w": np.full(90, 20.0)})
    table = Microdata.from_frame(frame)
    itself = Comparison(original=table, masked=table)
    assert isinstance(read("population_uniqueness", itself), NotApplicable)
    known = [Sampling(population=1800.0), Sampling(weights="w")]
    one, two = (read("population_uniqueness", replace(itself, sampling=each)) for each in known)
    assert one.value == two.value == one.baseline


N = 9000


def shares(levels: int, power: float) -> np.ndarray:
    weights = 1 / np.arange(1, levels + 1) ** power
    return weights / weights.sum()


@lru_cache
def simulated_population(kind: str) -> pd.DataFrame:
    """Six keys as texts: of one sort few are alike, of the other some levels are rare."""
    draw = np.random.default_rng(0)
    age = draw.integers(18, 63, N) if kind == "even" else 15 + draw.gamma(3, 12, N).astype(int)
    family = np.minimum(1 + draw.poisson(2, N) + (age > 30) * draw.integers(0, 2, N), 14)
    places = 4 if kind == "even" else 12
    edu, eth = draw.choice(7, N, p=shares(7, 1)), draw.choice(3, N, p=shares(3, 2))
    region = draw.choice(places, N, p=shares(places, 0 if kind == "even" else 1))
    columns = {"age": age, "sex": draw.integers(0, 2, N), "region": region}
    return pd.DataFrame({**columns, "edu": edu, "eth": eth, "family": family}).astype(str)


def sampled(kind: str, fraction: float, seed: int = 1) -> tuple[Comparison, np.ndarray]:
    """A random sample as it is, and how many people share each record's keys."""
    people = simulated_population(kind)
    rows = np.random.default_rng(seed).choice(N, round(fraction * N), replace=False)
    code = people.groupby(list(people.columns)).ngroup().to_numpy()
    sharing = np.bincount(code)[code][rows]
    frame = people.iloc[rows].reset_index(drop=True)
    data = described(frame, **dict.fromkeys(frame, "key"))
    return Comparison(original=data, masked=data, sampling=Sampling(population=N)), sharing


def read_sample(key: str, comparison: Comparison) -> Reading:
    return MEASURES[key].read(comparison)


SAMPLES = pytest.mark.parametrize(("kind", "fraction"), [("even", 0.3), ("uneven", 0.02)])


@SAMPLES
def test_individual_risk_is_what_its_sentence_says_of_the_truth(kind: str, fraction: float) -> None:
    comparison, sharing = sampled(kind, fraction)
    found = read_sample("individual_risk", comparison)
    truth = float((1 / sharing).sum())
    assert 0.7 < truth / (found.value * len(sharing)) < 1.2
    # the older model alone is outside, as its sentence warns
    assert truth / found.detail.older.released > 1.5
    said = MEASURES["individual_risk"].sentence(found, len(sharing))
    assert "expects to identify" not in said
    assert "Benedetti and Franconi" in said
    assert found.detail.caveat in said
    # where the file is the population it is one over the class
    data = comparison.original
    found = read_sample("individual_risk", Comparison(original=data, masked=data))
    assert found.value == pytest.approx(data.frame.drop_duplicates().shape[0] / data.n)


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 50.0), (0.7, 200.0)])
def test_the_posterior_mean_is_that_of_seated_people(alpha: float, theta: float) -> None:
    """People sit down one after another, each by Pitman's rule: no formula but the rule."""
    n, further, runs = 120, 480, 1500
    draw = np.random.default_rng(7)
    for f in (1, 2, 5):
        size = np.full(runs, f)
        for person in range(further):
            size += draw.random(runs) < (size - alpha) / (theta + n + person)
        inverse = 1 / size
        frequencies = np.array([f] * f + [1] * (n - f))
        risk = fitted_risk(frequencies, frequencies * 5.0, PitmanLaw(alpha, theta))[0]
        assert risk == pytest.approx(inverse.mean(), abs=4 * inverse.std() / np.sqrt(runs) + 0.006)
    # the older one is the law without unseen values
    older = individual_risk(np.array([1]), np.array([5.0]))[0]
    many = fitted_risk(np.ones(10**6), np.full(10**6, 5.0), PitmanLaw(0.0, 0.0))
    assert many[0] == pytest.approx(older, rel=1e-4)


@SAMPLES
def test_log_linear_risk_is_of_all_keys_and_uniqueness_holds_the_truth(
    kind: str, fraction: float
) -> None:
    comparison, sharing = sampled(kind, fraction)
    found = read_sample("loglinear_risk", comparison)
    frame = comparison.original.frame
    alone = ~frame.duplicated(keep=False).to_numpy()
    truth = float((1 / sharing[alone]).sum())
    apart = found.detail.independent
    assert apart[-1] == "family"
    assert found.detail.left_out == []
    assert found.detail.uniques.released == alone.sum()
    assert 0.8 < truth / found.detail.expected.released < 1.25
    said = MEASURES["loglinear_risk"].sentence(found, len(frame))
    enter = "enter" if len(apart) > 1 else "enters"
    assert f"{', '.join(apart)} {enter} as independent of the other keys" in said
    # the model of the table's own keys alone, which had been the answer, is too small
    assert truth / found.detail.of_names > 1.25
    found = read_sample("population_uniqueness", comparison)
    low, high = found.interval
    assert low - 0.05 <= (sharing[alone] == 1).mean() <= high + 0.05
    assert low <= found.value <= high
    said = MEASURES["population_uniqueness"].sentence(found, len(sharing))
    assert "would fit the release" in said
