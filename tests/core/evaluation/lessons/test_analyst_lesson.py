"""Claims of the lesson on standard errors hold over fresh releases; a second x1 is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rwn_core as rwn
from rwn_core.data.schema import Question
from rwn_core.evaluation.lessons.standard_errors import REACH, TRUTH, N, claims, sample
from rwn_core.evaluation.validity import Regression

SAMPLES = 150  # of the population
SETTING = rwn.RWN(epsilon=0.0, k=5)


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
    model, seeds = Regression(twice, asked), range(1_000, 1_100)  # releases that judged no claim
    fits = [model.fit(rwn.mask(twice, SETTING, seed=seed).masked) for seed in seeds]
    own, error = np.array(model.own)[:, 1:]
    slopes, errors = np.array(fits)[:, :, 1:].transpose(1, 0, 2)
    assert errors.max() < error[0] / 10  # "short" against an original without an answer
    # three times the printed interval would not hold the original's slope
    held = np.abs(slopes[:, 0] - own[0]) <= 3 * REACH * errors[:, 0]
    assert held.mean() < 0.5
