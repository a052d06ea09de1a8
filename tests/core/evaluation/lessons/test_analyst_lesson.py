"""Claims of the lesson on standard errors hold over fresh releases; a second x1 is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rwn_core as rwn
from rwn_core.data.schema import Question
from rwn_core.evaluation.lessons.standard_errors import REACH, TRUTH, N, claims, sample
from rwn_core.evaluation.validity import Regression

SAMPLES = 150  # of the population
FRESH = 100  # releases that did not judge the claims
SETTING = rwn.RWN(epsilon=0.0, k=5)


def fresh(data: rwn.Microdata) -> np.ndarray:
    """Slopes and standard errors of fresh releases, shape (m, 2, t)."""
    model = Regression(data, data.schema.question)
    seeds = range(1_000, 1_000 + FRESH)
    fits = [model.fit(rwn.mask(data, SETTING, seed=seed).masked) for seed in seeds]
    return np.array(fits)[:, :, 1:]


def test_intervals_with_the_factor_hold_the_population_s_slope_and_printed_ones_do_not() -> None:
    factors = np.array([claim.factor for claim in claims(SETTING).claims], dtype=float)
    fits = []
    for number in range(1, SAMPLES + 1):
        data = sample(number)
        model = Regression(data, data.schema.question)
        fits.append(model.fit(rwn.mask(data, SETTING, seed=number).masked))
    slopes, errors = np.array(fits)[:, :, 1:].transpose(1, 0, 2)
    printed, corrected = (
        (np.abs(slopes - TRUTH) <= REACH * factor * errors).mean() for factor in (1.0, factors)
    )
    assert corrected > 0.93
    assert printed < 0.9  # so that the factor has something to do


def test_x1_measured_twice_is_refused_though_the_masked_file_prints_short_intervals() -> None:
    assert "collinear" in claims(SETTING, twice=True).refusal
    one = sample(0)
    again = one.values("x1") + 0.02 * np.random.default_rng(1).standard_normal(N)
    twice = rwn.Microdata.from_frame(one.frame.assign(x1_again=again))
    asked = Question(response="y", predictors=("x1", "x2", "x3", "x1_again"))
    twice = twice.with_schema(replace(twice.schema, question=asked))
    own, error = np.array(Regression(twice, asked).own)[:, 1:]
    slopes, errors = fresh(twice).transpose(1, 0, 2)
    assert errors.max() < error[0] / 10  # "short" against an original without an answer
    # three times the printed interval would not hold the original's slope
    held = np.abs(slopes[:, 0] - own[0]) <= 3 * REACH * errors[:, 0]
    assert held.mean() < 0.5


def test_the_change_of_a_slope_stays_within_its_bound_in_fresh_releases() -> None:
    data = sample(0)
    own, error = np.array(Regression(data, data.schema.question).own)[:, 1:]
    change = np.abs(fresh(data)[:, 0] - own) / error
    within = np.array([claim.within_standard_errors for claim in claims(SETTING).claims])
    assert (change <= within).mean(axis=0).min() >= 0.9
