"""Uniques of a sample and of its population: three estimates on populations that are known."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, log

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brute
from scipy.stats import nbinom

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures import read
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.statistics.population import (
    _expected_classes,
    _pitman_misfit,
    decided,
    pitman,
    slide_negative_binomial,
    zayatz,
)

SIZES = np.array([1] * 9 + [2] * 4 + [3, 3, 17])


def seated(n: int, theta: float, alpha: float, rng: np.random.Generator) -> np.ndarray:
    """A partition by Pitman's formula: the restaurant whose guests sit down one by one."""
    table, guests = np.empty(n, dtype=int), np.zeros(n)
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


def slid(n: int, r: float, p: float, rng: np.random.Generator) -> np.ndarray:
    """Classes of 1 + negative binomial many people."""
    return np.repeat(np.arange(n), 1 + rng.negative_binomial(r, p, n))


Estimate = Callable[[np.ndarray, float], float | None]


def errors(estimate: Estimate, make: Callable[[], np.ndarray], fraction: float) -> np.ndarray:
    """Estimate less truth over 12 samples, each of a population of its own."""
    rng, found = np.random.default_rng(4), []
    for _ in range(12):
        people = make()
        everybody = np.bincount(people)
        sample = np.bincount(people[rng.random(len(people)) < fraction], minlength=len(everybody))
        truth = float((everybody[sample == 1] == 1).mean())
        share = estimate(sample[sample > 0], float(len(people)))
        found.append((np.nan if share is None else share) - truth)
    return np.array(found)


@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_pitman_on_populations_of_its_kind(fraction):
    rng = np.random.default_rng(8)
    wrong = errors(pitman, lambda: seated(6000, 60.0, 0.5, rng), fraction)
    assert abs(wrong.mean()) < 3 * wrong.std(ddof=1) / np.sqrt(12) + 0.02
    planted = errors(
        lambda sizes, n: pitman(sizes, 4 * n), lambda: seated(6000, 60.0, 0.5, rng), fraction
    )
    assert abs(planted.mean()) > 3 * planted.std(ddof=1) / np.sqrt(12) + 0.02


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_the_slide_negative_binomial_on_populations_of_its_kind(fraction):
    rng = np.random.default_rng(9)
    wrong = errors(slide_negative_binomial, lambda: slid(3000, 0.6, 0.25, rng), fraction)
    assert not np.isnan(wrong).any()
    assert abs(wrong.mean()) < 3 * wrong.std(ddof=1) / np.sqrt(12) + 0.01
    other = errors(zayatz, lambda: slid(3000, 0.6, 0.25, rng), fraction)
    assert other.mean() > 3 * other.std(ddof=1) / np.sqrt(12) + 0.01  # it errs upwards


def test_pitmans_likelihood_is_that_of_the_formula_term_by_term():
    theta, alpha, n = 3.0, 0.4, int(SIZES.sum())
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


def test_zayatz_term_by_term():
    n, population = int(SIZES.sum()), 120
    alone = {j: j * comb(population - j, n - 1) / comb(population, n) for j in (1, 2, 3, 17)}
    counts = {1: 9, 2: 4, 3: 2, 17: 1}
    expected = 9 * alone[1] / sum(counts[j] * alone[j] for j in counts)
    assert zayatz(SIZES, 120.0) == pytest.approx(expected)


def test_expected_classes_of_a_slide_negative_binomial_term_by_term():
    r, p, fraction = 0.7, 0.3, 0.2
    sizes = np.arange(1, 400)
    shares = nbinom(r, p).pmf(sizes - 1)
    missed = shares @ (1 - fraction) ** sizes
    alone = shares @ (sizes * fraction * (1 - fraction) ** (sizes - 1))
    found = _expected_classes(50.0, r, p, fraction)
    assert found == pytest.approx((50 * (1 - missed), 50 * alone))


def test_the_ends():
    for estimate in (pitman, zayatz, slide_negative_binomial):
        assert estimate(np.array([2, 3]), 100.0) == 0.0
        assert estimate(np.ones(5, dtype=int), 100.0) == pytest.approx(1.0)
    found = {"pitman": 0.3, "zayatz": 0.5, "snb": 0.4}
    assert decided(found, 0.1) == "pitman"
    assert decided(found, 0.2) == "snb"
    assert decided({**found, "snb": 0.6}, 0.2) == "zayatz"
    assert decided({**found, "snb": None}, 0.2) == "zayatz"


def test_the_measure_reads_weights_and_says_why_not():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"g": rng.integers(0, 40, 90).astype(str), "w": np.full(90, 20.0)})
    table = Microdata.from_frame(frame)
    assert isinstance(
        read("population_uniqueness", Comparison(original=table, masked=table)), NotApplicable
    )
    known = [Sampling(population=1800.0), Sampling(weights="w")]
    one, two = (
        read("population_uniqueness", Comparison(original=table, masked=table, sampling=each))
        for each in known
    )
    assert one.value == two.value == one.baseline
    assert one.detail.by.released == "pitman"
