"""Intervals against their definitions; worked examples, nearest points, transitions."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.regression import Formula
from rwn_core.evaluation.draws import Ensemble, Gathering, release_interval
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.measures.measure import BothFiles, Detail, Reading
from rwn_core.measures.risk.nearness import changed_cells
from rwn_core.measures.risk.outliers import mahalanobis_distances
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics import association, distributions, intervals, nearest_points
from rwn_core.measures.statistics.distributions import distribution_steps, kolmogorov_smirnov
from rwn_core.measures.utility.prediction import LEARNERS, Sample, learner_error
from rwn_core.measures.utility.regressions import interval_overlap
from rwn_core.measures.utility.relations import component_variances
from rwn_core.tuning import Spread

REPEATS = 40_000
EIGHT = (0.100, 0.112, 0.121, 0.130, 0.138, 0.149, 0.158, 0.180)

Interval = Callable[[Any], tuple[Any, Any]]


def drawn(kind: str, count: int) -> np.ndarray:
    """Many samples of R + 1 draws, shape (R + 1, REPEATS)."""
    return getattr(np.random.default_rng(count), kind)(size=(count + 1, REPEATS))


def held(interval: Interval, values: np.ndarray) -> float:
    """The share of samples whose last draw lies within the interval of the others."""
    low, high = interval(values[:-1])
    return float(((low <= values[-1]) & (values[-1] <= high)).mean())


def promised(count: int) -> float:
    """What the rule holds of continuous values: by order statistics from 19 draws on."""
    place = math.floor((count + 1) * 0.05 + 1e-9)
    return 1 - 2 * place / (count + 1) if place else 0.95  # of normal values, if draws are few


def keeps(interval: Interval, kind: str, count: int) -> bool:
    """Whether the share that is held is the promised one, up to four standard errors."""
    share = promised(count)
    error = 4 * math.sqrt(share * (1 - share) / REPEATS)
    return abs(held(interval, drawn(kind, count)) - share) < error


def test_the_interval_of_a_further_draw_holds_what_is_promised() -> None:
    """Of few normal draws exactly, from nineteen draws on of any distribution."""
    cases = [("normal", count) for count in (2, 8, 19, 39)] + [
        ("exponential", 19),
        ("exponential", 25),
    ]
    assert [case for case in cases if not keeps(intervals.prediction_interval, *case)] == []
    assert min(promised(count) for count in (19, 25, 39)) >= 0.9


@pytest.mark.parametrize("count", [3, 18])
@pytest.mark.parametrize("kind", ["lognormal", "exponential", "student"])
def test_few_skewed_or_heavy_tailed_draws_are_held_nine_times_in_ten(kind: str, count: int) -> None:
    """Finding A16; the interval that is exact for normal values holds too few of them."""
    numbers = np.random.default_rng(count)
    shape = (count + 1, REPEATS)
    student = kind == "student"
    values = numbers.standard_t(1.5, shape) if student else getattr(numbers, kind)(size=shape)
    assert held(intervals.prediction_interval, values) > 0.895
    if count < 6:
        assert held(exact_of_normal, values) < 0.89


def exact_of_normal(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = len(draws)
    half = stats.t.ppf(0.95, count - 1) * draws.std(axis=0, ddof=1) * math.sqrt(1 + 1 / count)
    return draws.mean(axis=0) - half, draws.mean(axis=0) + half


def _ends(draws: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
    ordered = np.sort(draws, axis=0)
    return ordered[place - 1], ordered[-place]


def _normal(draws: np.ndarray, times: float) -> tuple[np.ndarray, np.ndarray]:
    center = draws.mean(axis=0)
    spread = times * draws.std(axis=0, ddof=1)
    return center - spread, center + spread


WRONG: dict[str, tuple[Interval, str, int]] = {
    "the smallest and the largest of few": (lambda d: _ends(d, 1), "normal", 8),
    "of the mean, not of a draw": (
        lambda d: _normal(d, stats.t.ppf(0.95, len(d) - 1) / math.sqrt(len(d))), "normal", 8),
    "as if the spread were known": (
        lambda d: _normal(d, 1.645 * math.sqrt(1 + 1 / len(d))), "normal", 8),
    "between two order statistics": (
        lambda d: np.quantile(d, [0.05, 0.95], axis=0, method="weibull"), "normal", 25),
    "normal where the draws are skewed": (
        lambda d: _normal(d, stats.t.ppf(0.95, len(d) - 1)), "exponential", 59),
}  # fmt: skip


@pytest.mark.parametrize(("interval", "kind", "count"), WRONG.values(), ids=WRONG)
def test_a_wrong_interval_is_seen(interval: Interval, kind: str, count: int) -> None:
    assert not keeps(interval, kind, count)


def test_one_rule_wherever_nine_of_ten_are_told() -> None:
    low, high = intervals.prediction_interval(EIGHT)
    assert (round(float(low), 3), round(float(high), 3)) == (0.071, 0.201)
    ends = (float(low), float(high))
    key = "distance_linkage"
    assert Spread(measure=key, values=EIGHT).interval == ends
    assert release_interval(key, EIGHT) == ends
    values = {key: np.array(EIGHT)}
    made = Ensemble(repeats=8, values=values, baselines={key: None}, bands={}, reasons={})
    assert made.interval(key) == ends
    assert made.reading(key).interval == ends
    band = intervals.Band.from_draws([[value] for value in EIGHT])
    assert (band.low.item(), band.high.item()) == ends


def test_ends_stay_within_what_a_measure_can_be() -> None:
    low, high = intervals.prediction_interval([0.0, 0.3], bounds=(0.0, 1.0))
    assert (low, high) == (0.0, 1.0)
    low, high = release_interval("distance_linkage", [0.0, 0.01])
    assert (low, high) == (0.0, pytest.approx(0.115, abs=0.001))
    assert release_interval("attribute_gain", [-0.9, 0.9]) == (-1.0, 1.0)
    gathering = Gathering("correlation")
    for value in (0.9, 0.99):
        files = BothFiles(original=0.0, released=np.array([[1.0, value]]))
        gathering.add(Reading(value=0.1, detail=files))
    band = gathering.bands()["released"]
    assert band.high.tolist() == [[1.0, 1.0]]
    assert band.low[0, 0] == 1.0
    assert band.low[0, 1] < 0.9


def test_without_two_draws_there_is_no_interval() -> None:
    assert Spread(measure="correlation", values=(0.1,)).interval is None
    assert release_interval("correlation", []) is None
    assert np.isnan(intervals.prediction_interval([[1.0, 2.0]])).all()
    gathering = Gathering("cells_changed")
    gathering.add(Reading(value=0.5, detail=Detail()))
    assert gathering.bands() == {}


@pytest.mark.parametrize("count", [4, 25])
def test_a_missing_or_infinite_number_spoils_its_own_place_only(count: int) -> None:
    draws = np.random.default_rng(1).normal(size=(count, 3))
    expected = intervals.prediction_interval(draws[:, 2])
    draws[1, 0], draws[2, 1] = np.nan, np.inf
    low, high = intervals.prediction_interval(draws)
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert (low[2], high[2]) == pytest.approx(expected)


def test_an_excess_of_known_rates_is_known_and_edges_stay_finite():
    known = intervals.excess_interval((0.5, 0.5, 0.5), (0.3, 0.3, 0.3))
    assert known == pytest.approx((0.2 / 0.7, 0.2 / 0.7))
    low, high = intervals.excess_interval((1.0, 0.9, 1.0), (0.0, 0.0, 0.1))
    assert 0.85 < low < 0.9
    assert high == 1.0
    assert intervals.excess_interval((1.0, 0.2, 1.0), (1.0, 0.2, 1.0)) == (-math.inf, 1.0)
    assert intervals.excess_interval((0.4, 0.4, 0.4), (1.0, 1.0, 1.0)) == (-math.inf, 1.0)
    assert intervals.t95(25) == pytest.approx(stats.t.ppf(0.975, 25))
    assert intervals.t95(math.inf) == pytest.approx(1.959963984540054)


def test_an_interval_of_no_success_begins_at_zero_for_every_number_of_trials():
    trials = np.arange(1, 20_000)
    low, high = intervals.share_interval(np.zeros(len(trials)), trials).T
    assert np.array_equal(low, np.zeros(len(trials)))  # a screen shows "0 %", not "1.7e-16 %"
    assert np.all(np.diff(high) < 0)


@pytest.mark.parametrize(("rate", "other"), [(0.1, 0.1), (0.7, 0.45)])
def test_an_excess_is_held_as_often_as_stated(rate, other):
    """By a small control group, too; who takes its rate for certain holds too little."""
    rng = np.random.default_rng(8)
    repeats = 4000
    truth = (rate - other) / (1 - other)
    held = 0
    certain = 0
    attacks, controls = rng.binomial(120, rate, repeats), rng.binomial(40, other, repeats)
    for attack, control in zip(attacks.tolist(), controls.tolist(), strict=True):
        low, high = intervals.excess_interval(_rate(attack, 120), _rate(control, 40))
        held += low <= truth <= high
        low, high = intervals.excess_interval(_rate(attack, 120), (control / 40,) * 3)
        certain += low <= truth <= high
    assert 0.94 <= held / repeats <= 0.98
    assert certain / repeats < held / repeats - 0.02


def _rate(successes: int, attacks: int) -> tuple[float, float, float]:
    centre, half = intervals.wilson(successes, attacks)
    return successes / attacks, centre - half, centre + half


ALL, SAMPLE, TRIALS = 4000, 250, 400


def population(kind: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "few alone":  # most rows tell little, one in seventy all
        return np.where(rng.random(ALL) < 1 / 70, 1.0, rng.beta(1, 60, ALL))
    if kind == "shares":
        return rng.beta(2, 5, ALL)
    return (rng.random(ALL) < 0.04).astype(float)


MOST = intervals.ERROR + 3 * math.sqrt(intervals.ERROR * (1 - intervals.ERROR) / TRIALS)


@pytest.mark.parametrize("kind", ["few alone", "shares", "yes or no"])
def test_the_mean_lies_above_the_end_in_1_of_40_samples_at_most(kind):
    """The lower end is that of what is left to one."""
    numbers = population(kind)
    rng = np.random.default_rng(1)
    samples = [rng.choice(numbers, SAMPLE, replace=False) for _ in range(TRIALS)]
    low, high = np.array([intervals.mean_interval(sample, ALL) for sample in samples]).T
    assert np.mean(high < numbers.mean()) <= MOST
    assert np.mean(low > numbers.mean()) <= MOST
    assert low.min() >= 0
    assert high.tolist() == [intervals.mean_at_most(sample, ALL) for sample in samples]
    if kind == "few alone":  # planted: an end from the normal distribution would be missed
        normal = [x.mean() + 1.96 * x.std() / np.sqrt(len(x)) for x in samples]
        assert np.mean(normal < numbers.mean()) > MOST


def by_one_bet_after_the_other(numbers: list[float], of: int, mean: float) -> float:
    """What 1 has become."""
    capital, total, squares = 1.0, 0.0, 0.25
    for place, number in enumerate(numbers):
        variance = squares / (place + 1)
        bet = min(math.sqrt(2 * math.log(40) / (len(numbers) * variance)), 0.75)
        capital *= 1 + bet * ((of * mean - total) / (of - place) - number)
        total += number
        squares += (number - (0.5 + total) / (place + 2)) ** 2
    return capital


@pytest.mark.parametrize("of", [60, 75, 100_000])
def test_there_the_capital_is_40_times_what_it_was(monkeypatch, of):
    generator = random.Random(4)
    numbers = [generator.betavariate(1, 9) for _ in range(60)]
    monkeypatch.setattr(np.random, "default_rng", lambda _: AsGiven())
    end = intervals.mean_at_most(np.array(numbers), of)
    assert by_one_bet_after_the_other(numbers, of, end) == pytest.approx(40, rel=1e-6)
    assert by_one_bet_after_the_other(numbers, of, end + 1e-3) > 40


class AsGiven:
    """Numbers in the order that they have."""

    def permutation(self, numbers: np.ndarray) -> np.ndarray:
        return numbers


def test_the_end_is_at_least_the_mean_of_the_sample(monkeypatch):
    """Also where the order is such that the capital is large enough at that mean already."""
    monkeypatch.setattr(np.random, "default_rng", lambda _: AsGiven())
    monkeypatch.setattr(intervals, "ERROR", 0.5)
    sample = np.concatenate([np.zeros(3000), np.full(30, 0.9)])
    assert intervals.mean_at_most(sample, 1_000_000) == sample.mean()
    monkeypatch.undo()
    # too few exclude nothing: one multiplies the capital by 1.75 at most, six by 28.7
    assert (
        intervals.mean_at_most(np.zeros(1), 1000)
        == intervals.mean_at_most(np.zeros(6), 1000)
        == 1.0
    )
    assert intervals.mean_at_most(np.ones(500), 1000) == 1.0


LINE = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
PAIR = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
ENDS = [(np.array([0.0]), np.array([10.0])), (np.array([5.0]), np.array([15.0]))]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            association.association_matrix(np.arange(4.0)[:, None], [np.array([0, 0, 1, 1])])[0, 1],
            0.8367,
        ),
        (association.correlation_matrix(LINE), np.ones((2, 2))),
        (
            association.rank_correlation_matrix(np.array([[1, 2], [2, 4], [3, 90.0]])),
            np.ones((2, 2)),
        ),
        (distributions.grid_step(np.array([-5.0, 10.0, 15.0])), 5.0),
        (distributions.grid_step(np.array([0.0, 1.0, 2.5])), 0.0),
        (distributions.grid_edges(0.0, 10.0, 5.0), [-2.5, 2.5, 7.5, 12.5]),
        (intervals.prediction_interval([1.0, 2.0, 3.0]), [-2.97, 6.97]),
        (intervals.prediction_interval(np.arange(39.0)), [1.0, 37.0]),
        (intervals.newcombe((56, 70), (48, 80)), [0.0524, 0.3339]),
        (intervals.share_interval([5, 0], [10, 0]), [[0.237, 0.763], [0.0, 1.0]]),
        (intervals.exact_interval(0, 400), [0.0, 0.0092]),
        (intervals.excess_interval((0.5, 0.4, 0.6), (0.2, 0.13, 0.29)), [0.22, 0.51]),
        (association.relation_loss(*PAIR, np.full((2, 2), 0.1)).value, 0.75),
        (interval_overlap(*ENDS), [0.5]),
        (kolmogorov_smirnov(distribution_steps(np.array([1.0, 2.0])), np.array([1.0, 3.0])), 0.5),
        (component_variances(LINE), [2.0, 0.0]),
        (changed_cells(np.array([1, np.nan, 3]), np.array([1, np.nan, np.nan])), [0, 0, 1]),
        (mahalanobis_distances(np.array([[0.0], [1.0], [2.0]]))[0], [1.0, 0.0, 1.0]),
    ],
)
def test_a_statistic_gives_the_number_worked_out_by_hand(found, expected):
    digits = max(len(text.partition(".")[2]) for text in map(str, np.ravel(expected)))
    rounded = np.round(np.asarray(found, dtype=float), digits)
    assert rounded.tolist() == np.asarray(expected).tolist()


def test_terms_and_ranges_are_said_in_words():
    terms = Formula.parse("y ~ a * log(b)").terms
    assert [":".join(map(str, term)) for term in terms] == ["a", "log(b)", "a:log(b)"]
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    assert intervals.range_words(2) == few
    assert intervals.range_words(59) == "range of 59 releases: 9 of 10 fall in it"
    assert intervals.range_words(1) == "one release, without a range"
    assert percent(0.999) == "over 99 %"


rng = np.random.default_rng(5)

TABLES = {
    "narrow": rng.normal(size=(300, 2)),
    "spread": rng.normal(size=(300, 14)),
    "tied": rng.integers(0, 2, size=(300, 13)).astype(float),
    "equal": np.zeros((40, 12)),
    # single precision cannot tell these apart, nor say who is nearest
    "far away": 1e6 + 1e-4 * rng.normal(size=(200, 12)),
    "of all sizes": rng.normal(size=(300, 12)) * 10.0 ** rng.integers(-4, 5, size=(300, 1)),
}


@pytest.mark.parametrize("few_first", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_the_nearest_are_those_of_all_pairs(
    table: str, shared: bool, few_first: bool, monkeypatch
) -> None:
    """Whether one thread looks at all of them, several share them, or a few are asked first."""
    monkeypatch.setattr(nearest_points, "PAIRS", 1000 if shared else 10**9)
    monkeypatch.setattr(nearest_points, "FEWEST_THINNED", 1 if few_first else 10**9)
    points = TABLES[table]
    own = np.arange(30)
    others = np.where(rng.random((30, points.shape[1])) < 0.5, points[::-1][:30], points[own])
    # squared distances, pair by pair
    every = np.array([[sum((o - p) ** 2) for p in points] for o in others])
    expected = np.sqrt(np.sort(every, axis=1)[:, :2])
    assert np.allclose(
        nearest_points.nearest_distances(points, others, 2), expected, rtol=1e-9, atol=1e-300
    )
    distinct = nearest_points.distinct_points(points)
    edge = every.min(axis=1) * (1 + 1e-9)
    right = every[own, own] <= edge
    expected = right / (every <= edge[:, None]).sum(axis=1)
    assert np.allclose(nearest_points.linkage_scores(distinct, others, points[own]), expected)


def test_beyond_single_precision_all_pairs_are_computed() -> None:
    points = TABLES["spread"].copy()
    points[0] = 10 * nearest_points.LONGEST
    assert np.allclose(nearest_points.nearest_distances(points, points, 1), 0)
    found = list(
        nearest_points.PointIndex(TABLES["spread"]).candidates(points * nearest_points.LONGEST, 1)
    )
    assert {row for rows, _, _ in found for row in rows} == set(range(300))
    near = nearest_points.distinct_points(TABLES["spread"])
    # from so far away all are as near
    scores = nearest_points.linkage_scores(near, points[:2], TABLES["spread"][:2])
    assert scores.tolist() == [1 / 300, 1.0]


def sample(n: int = 200, *, classify: bool) -> Sample:
    rng = np.random.default_rng(n)
    features = rng.normal(size=(n, 3))
    signal = 2 * features[:, 0] + 0.2 * rng.normal(size=n)
    return Sample(features, (signal > 0).astype(int) if classify else signal)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_finds_what_is_there(learner):
    for classify in (False, True):
        train, test = sample(classify=classify), sample(150, classify=classify)
        assert learner_error(learner, train, test, classify=classify) < 0.25
        # missing, constant and doubled features are no trouble
        features, response = train
        features = np.column_stack([features, features[:, 0], np.ones(len(features))])
        features[::7, 1] = np.nan
        both = Sample(features, response)
        assert 0 <= learner_error(learner, both, both, classify=classify) < 0.3
    # one class is predicted as such
    features, classes = train
    test = Sample(features, np.arange(len(features)) % 2)
    alike = Sample(features, 0 * classes)
    assert learner_error(learner, alike, test, classify=True) == 0.5


def test_a_forest_of_classes_learns_no_single_records():
    """Of features that say nothing it learns the largest class; leaves of 1 are wrong for .44."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(1600, 3))
    classes = rng.choice(4, 1600, p=[0.6, 0.2, 0.1, 0.1])
    train = Sample(features[:800], classes[:800])
    test = Sample(features[800:], classes[800:])
    error = learner_error("random forest", train, test, classify=True)
    assert error < (test.response > 0).mean() + 0.02


def test_all_learners_on_a_holdout():
    data = rwn.load_demo("pima").take(np.arange(250))
    trial = predict_on_holdout(data, rwn.RWN(k=5), seed=1, repeats=2)
    found = trial.differences()
    assert [name for name, *_ in found] == list(LEARNERS)
    original, released = (errors[:, 0] for errors in trial.errors)
    assert found[0][1] == pytest.approx(original.mean())
    change = released - original
    assert found[0][3:] == pytest.approx((change.mean(), change.std(ddof=1) / 2**0.5))
