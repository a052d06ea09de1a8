"""Checks of stated facts about statistics, lessons and methods other than RWN."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

import rwn_core as rwn
from benchmarks.papers import k_methods
from rwn_core.evaluation.lessons import neighborhood, sampling
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.measures.statistics.intervals import prediction_interval
from tests.contracts.release_checks import Params, bodyfat, people, readings, releases


def relations_lost(tables: str, stated: float) -> bool:
    """The loss of relations of the original, or of columns permuted one by one."""
    data, rng = bodyfat(), np.random.default_rng(5)
    frame = data.frame.copy()
    for name in frame if tables == "permuted" else []:
        frame[name] = rng.permutation(frame[name].to_numpy())
    other = rwn.Microdata.from_frame(frame, data.schema)
    return (
        abs(
            rwn.audit(data, other, measures=["association_loss"])["association_loss"].value - stated
        )
        < 0.02
    )


def range_of_one_more(releases: int) -> bool:
    """Ranges from so many skewed draws, by their order, hold one more draw 9 times in 10."""
    draws = np.random.default_rng(2).lognormal(0, 2, (releases + 1, 40_000))
    ordered = np.sort(draws[:-1], axis=0)
    rank = max(1, int((releases + 1) * 0.05))
    held = np.mean((ordered[rank - 1] <= draws[-1]) & (draws[-1] <= ordered[-rank]))
    if releases >= 19:  # and this is the interval that the program states
        assert np.array_equal(prediction_interval(draws[:-1])[0], ordered[rank - 1])
    return bool(held > 0.89)


def confirmed_by(releases: int) -> bool:
    """So many releases within a limit show, at 95 %, that at most 1 in 20 lies beyond it."""
    return 0.95**releases <= 0.05 < 0.95 ** (releases - 1)


def match_steps(at: tuple[float, float]) -> bool:
    """The loss of correlations of microaggregation at k 2 and k 3."""
    found = [readings(rwn.Microaggregation(k=k), ("correlation",), n=1).item() for k in (2, 3)]
    return bool(np.allclose(np.round(found, 3), at))


def correlation_of_theorem(epsilon: float, low: float, high: float, n: int = 300) -> bool:
    """Expected corr(U, V) over corr(X, Y) of the normal points of lesson 1."""
    data = points_of("normal", n)
    (a, b), (_, c) = rwn.forecast(data, rwn.RWN(epsilon=epsilon, k=1)).covariances.to_numpy()
    before = np.corrcoef(data.values("x"), data.values("y"))[0, 1]
    return low <= b / (a * c) ** 0.5 / before <= high


def disc_moment(stated: float) -> bool:
    """E[X²Y²] in a disc of radius 1, by simulation."""
    x, y = np.random.default_rng(4).uniform(-1, 1, (2, 400_000))
    inside = x**2 + y**2 <= 1
    return bool(abs(np.mean((x * y)[inside] ** 2) - stated) < 0.001)


def groups_mix_at(k: int) -> bool:
    """Groups of lesson 3 begin to mix at this k, at weight 1."""
    ready = rwn.RWN(epsilon=0.6, k=5).preview(neighborhood.table(1.0))
    return [
        neighborhood.neighborhood(ready.with_levers(k=each), record=0).mixed > 0
        for each in (k - 1, k)
    ] == [False, True]


def unique_in_population(formula: Callable[[float, float], float]) -> bool:
    """P(unique in the population | unique in the sample), for λ people per key."""
    rng, fraction, mean = np.random.default_rng(6), 0.2, 2.0
    size = rng.poisson(mean, 400_000)
    sampled = rng.binomial(size, fraction)
    return abs(np.mean(size[sampled == 1] == 1) - formula(mean, fraction)) < 0.01


def leakage(stated: float) -> bool:
    """The leakage of the design on the slides, by simulated populations."""
    rng, found = np.random.default_rng(7), []
    shares = np.array([sampling.SHARE ** sum(c) * (1 - sampling.SHARE) ** (11 - sum(c))
                       for c in product((0, 1), repeat=11)])  # fmt: skip
    for _ in range(400):
        everyone = rng.multinomial(100_000, shares)
        in_sample = rng.multivariate_hypergeometric(everyone, 2_000)
        alone = in_sample == 1
        found.append((everyone[alone] == 1).sum() / alone.sum())
    return abs(np.mean(found) - stated) < 4 * np.std(found) / 20


def missed_outlier(most: float) -> bool:
    """A record that gives once on average is missed with at most this chance, over many laws."""
    shares = np.random.default_rng(8).dirichlet(np.full(40, 0.5), 500)
    missed = np.prod(1 - np.minimum(shares, 1), axis=1)
    worst = (1 - 1 / 10_000) ** 10_000
    return bool(missed.max() <= most and worst <= most and worst > most - 0.01)


def keeps_distributions(params: Params) -> bool:
    """Every single distribution of numbers stays exactly as it is."""
    (masked,) = releases(people(), params, 1)
    return all(
        sorted(masked.frame[name]) == sorted(people().frame[name]) for name in ("age", "income")
    )


def keeps_counts(params: Params) -> bool:
    """The counts of every category stay exactly as they are."""
    (masked,) = releases(people(), params, 1)
    before, after = (
        t.frame["region"].astype(str).value_counts().to_dict() for t in (people(), masked)
    )
    return before == after


def keeps_covariances(params: Params) -> bool:
    """Means and covariances are kept in expectation: two slopes, mean of 60 releases."""
    data = bodyfat()
    names = ["abdomen", "weight", "siri"]
    tables = releases(data, params, 60)
    covariances = np.array([np.cov(t.matrix(names).T) for t in tables])
    error = covariances.std(axis=0) / math.sqrt(len(tables))
    return bool(
        (np.abs(covariances.mean(axis=0) - np.cov(data.matrix(names).T)) < 4.5 * error).all()
    )


def stands_for(params: Params, k: int) -> bool:
    """Each released row of numbers stands for at least k people."""
    (masked,) = releases(bodyfat(), params, 1)
    return int(masked.frame.round(9).value_counts().min()) >= k


def shares_every_key(params: Params, k: int) -> bool:
    """K people share every complete combination of keys of the release."""
    (masked,) = releases(people(), params, 1)
    return int(masked.frame[["age", "region"]].dropna().value_counts().min()) >= k


def within_reach(least: float) -> bool:
    """Of the people within reach, at least this share is expected within reach after noise."""
    tables = [k_methods.table(name) for name in k_methods.TABLES]
    smallest = min(k_methods.k_methods(t, k=k).smallest for t in tables for k in (2, 10, 30))
    return smallest >= least


def matrix_epsilon(formula: Callable[[NDArray[np.float64]], float]) -> bool:
    """Epsilon of a matrix: the largest log ratio of the chances of one released level."""
    matrix = np.random.default_rng(9).dirichlet(np.ones(4), 4)
    ratios = [math.log(matrix[a, b] / matrix[c, b]) for a, c, b in product(range(4), repeat=3)]
    return math.isclose(formula(matrix), max(ratios))
