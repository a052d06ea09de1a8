"""The upper end for a mean of numbers from 0 to 1 holds for skewed numbers, too."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from rwn_core.measures.statistics import intervals
from rwn_core.measures.statistics.intervals import (
    ERROR,
    mean_at_most,
    mean_interval,
)

ALL, SAMPLE, TRIALS = 4000, 250, 400


def population(kind: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "few alone":  # most rows tell little, one in seventy all
        return np.where(rng.random(ALL) < 1 / 70, 1.0, rng.beta(1, 60, ALL))
    if kind == "shares":
        return rng.beta(2, 5, ALL)
    return (rng.random(ALL) < 0.04).astype(float)


def missed(kind: str, end) -> float:
    """How often the end lies below the mean."""
    numbers, rng = population(kind), np.random.default_rng(1)
    ends = [end(rng.choice(numbers, SAMPLE, replace=False)) for _ in range(TRIALS)]
    return float(np.mean(np.array(ends) < numbers.mean()))


MOST = ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / TRIALS)
KINDS = ("few alone", "shares", "yes or no")


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_lies_above_the_end_in_1_of_40_samples_at_most(kind):
    assert missed(kind, lambda sample: mean_at_most(sample, ALL)) <= MOST


@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_has_its_lower_end_from_what_is_left_to_one(kind):
    numbers, rng = population(kind), np.random.default_rng(3)
    samples = [rng.choice(numbers, SAMPLE, replace=False) for _ in range(TRIALS)]
    ends = np.array([mean_interval(sample, ALL) for sample in samples])
    assert np.mean(ends[:, 0] > numbers.mean()) <= MOST
    assert np.all(ends[:, 0] >= 0)
    assert [end for _, end in ends] == [mean_at_most(sample, ALL) for sample in samples]


def test_an_end_from_the_normal_distribution_would_be_missed_more_often():
    """Planted: the same with the standard error of the sample."""
    assert missed("few alone", lambda x: x.mean() + 1.96 * x.std() / np.sqrt(len(x))) > MOST


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
    end = mean_at_most(np.array(numbers), of)
    assert by_one_bet_after_the_other(numbers, of, end) == pytest.approx(40, rel=1e-6)
    assert by_one_bet_after_the_other(numbers, of, end + 1e-3) > 40


class AsGiven:
    """Numbers in the order that they have."""

    def permutation(self, numbers: np.ndarray) -> np.ndarray:
        return numbers


def test_too_few_numbers_exclude_nothing():
    """One number multiplies the capital by 1.75 at most, six by 28.7."""
    assert mean_at_most(np.zeros(1), 1000) == mean_at_most(np.zeros(6), 1000) == 1.0
    assert mean_at_most(np.ones(500), 1000) == 1.0


def test_the_end_is_at_least_the_mean_of_the_sample(monkeypatch):
    """Also where the order is such that the capital is large enough at that mean already."""
    monkeypatch.setattr(np.random, "default_rng", lambda _: AsGiven())
    monkeypatch.setattr(intervals, "ERROR", 0.5)
    sample = np.concatenate([np.zeros(3000), np.full(30, 0.9)])
    assert mean_at_most(sample, 1_000_000) == sample.mean()
