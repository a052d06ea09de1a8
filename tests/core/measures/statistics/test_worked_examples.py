"""Worked examples, nearest points, learners and transitions."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.measures.risk.nearness import changed_cells
from rwn_core.measures.risk.outliers import mahalanobis_distances
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics import association, distributions, intervals, nearest_points
from rwn_core.measures.statistics.formula import Formula
from rwn_core.measures.utility.distributions import distribution_steps, kolmogorov_smirnov
from rwn_core.measures.utility.prediction import LEARNERS, learner_error
from rwn_core.measures.utility.regressions import interval_overlap
from rwn_core.measures.utility.relations import component_variances

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
        (distributions.wasserstein(np.array([1.0, 2.0]), np.array([4.0, 1.0])), 1.0),
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


def pairs(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances, pair by pair."""
    return np.array([[sum((o - p) ** 2) for p in points] for o in others])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_the_nearest_are_those_of_all_pairs(table: str, shared: bool, monkeypatch) -> None:
    """Whether one thread looks at all of them, or several share them."""
    monkeypatch.setattr(nearest_points, "PAIRS", 1000 if shared else 10**9)
    points = TABLES[table]
    own = np.arange(30)
    others = np.where(rng.random((30, points.shape[1])) < 0.5, points[::-1][:30], points[own])
    every = pairs(points, others)
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


def sample(n: int = 200, *, classify: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    features = rng.normal(size=(n, 3))
    signal = 2 * features[:, 0] + 0.2 * rng.normal(size=n)
    return features, (signal > 0).astype(int) if classify else signal


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_finds_what_is_there(learner):
    for classify in (False, True):
        train, test = sample(classify=classify), sample(150, classify=classify)
        assert learner_error(learner, train, test, classify=classify) < 0.25
        # missing, constant and doubled features are no trouble
        features, response = train
        features = np.column_stack([features, features[:, 0], np.ones(len(features))])
        features[::7, 1] = np.nan
        both = features, response
        assert 0 <= learner_error(learner, both, both, classify=classify) < 0.3
    # one class is predicted as such
    features, classes = train
    test = features, np.arange(len(features)) % 2
    assert learner_error(learner, (features, 0 * classes), test, classify=True) == 0.5


def test_a_forest_of_classes_learns_no_single_records():
    """Of features that say nothing it learns the largest class; leaves of 1 are wrong for .44."""
    rng = np.random.default_rng(4)
    features, classes = rng.normal(size=(1600, 3)), rng.choice(4, 1600, p=[0.6, 0.2, 0.1, 0.1])
    train, test = (features[:800], classes[:800]), (features[800:], classes[800:])
    assert learner_error("random forest", train, test, classify=True) < (test[1] > 0).mean() + 0.02


def test_all_learners_on_a_holdout():
    data = rwn.load_demo("pima").take(np.arange(250))
    trial = predict_on_holdout(data, rwn.RWN(k=5), seed=1, repeats=2)
    found = trial.differences()
    assert [name for name, *_ in found] == list(LEARNERS)
    original, released = (errors[:, 0] for errors in trial.errors)
    assert found[0][1] == pytest.approx(original.mean())
    change = released - original
    assert found[0][3:] == pytest.approx((change.mean(), change.std(ddof=1) / 2**0.5))
