"""Bias and errors of k-PRAM and k-noise: KN-3, within their own Monte Carlo error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.errors_of_numbers import NumberErrors, errors_of_numbers
from rwn_core.evaluation.published_results.replay import Number
from tests.check_values import check_values

KN_3 = check_values("method")["KN-3"]["expected"]
AGES, EACH = 55, 12  # eleven groups of five ages, 660 people


@pytest.fixture(scope="module")
def people() -> rwn.Microdata:
    ages = np.repeat(np.arange(float(AGES)), EACH)
    return rwn.Microdata.from_frame(pd.DataFrame({"age": ages, "name": "a"}))


def of(found: list[NumberErrors], method: str) -> NumberErrors:
    return next(one for one in found if one.method == method)


def is_within(estimate: Number, expected: float) -> bool:
    return abs(estimate.value - expected) <= 4 * estimate.error


@pytest.fixture(scope="module")
def k_pram(people) -> NumberErrors:
    return of(errors_of_numbers(people, "age", k=5 * EACH, seed=11), "k_pram")


@pytest.fixture(scope="module")
def k_noise(people) -> NumberErrors:
    # at the end of the range six ages lie within 5 of the last: delta is 2.5
    return of(errors_of_numbers(people, "age", k=6 * EACH, seed=11), "k_noise")


def test_KN_3_k_pram_within_five_equally_likely_ages(k_pram):
    assert k_pram.words == "11 intervals"
    assert k_pram.expected_mse == pytest.approx(KN_3["kpram_discrete"])
    assert is_within(k_pram.mse, KN_3["kpram_discrete"])
    assert is_within(k_pram.bias, 0.0)
    assert not is_within(k_pram.mse, 1.05 * KN_3["kpram_discrete"])
    # ages are given: only what is drawn has luck in it, of variance 2
    assert k_pram.bias.spread == pytest.approx(np.sqrt(2 / (AGES * EACH)), rel=0.2)


def test_KN_3_k_noise_of_two_and_a_half(k_noise):
    assert k_noise.words == "noise from -2.5 to 2.5"
    assert k_noise.expected_mse == pytest.approx(KN_3["knoise"])
    assert is_within(k_noise.mse, KN_3["knoise"])
    assert is_within(k_noise.bias, 0.0)
    assert is_within(k_noise.rmse, np.sqrt(KN_3["knoise"]))
    assert not is_within(k_noise.mse, 1.05 * KN_3["knoise"])
    errors, of_659 = KN_3["mc_se_n659"], np.sqrt(659 / (AGES * EACH))
    assert k_noise.bias.spread == pytest.approx(errors["knoise_bias"] * of_659, rel=0.2)
    assert k_noise.mse.spread == pytest.approx(errors["knoise_mse"] * of_659, rel=0.2)


def test_KN_3_the_printed_biases_are_luck(k_pram, k_noise):
    printed = KN_3["published"]
    assert abs(printed["kNoise"]["bias"]) < k_noise.bias.spread
    assert abs(printed["kPRAM"]["bias"]) < KN_3["mc_se_n659"]["kpram_bias"]


def test_missing_values_are_left_out_and_k_of_one_interval_is_the_whole_range(people):
    ages = np.append(people.values("age")[::20], [np.nan, np.nan])
    data = rwn.Microdata.from_frame(pd.DataFrame({"age": ages}))
    found = of(errors_of_numbers(data, "age", k=30, releases=20), "k_pram")
    assert found.words == "one interval"
    assert found.expected_mse == pytest.approx(2 * np.nanvar(ages))
    assert is_within(found.mse, found.expected_mse)


def test_what_is_refused(people):
    with pytest.raises(NotApplicable, match="name has no numbers"):
        errors_of_numbers(people, "name", k=5)
    for k in (1, AGES * EACH + 1):
        with pytest.raises(ParameterError, match="k must be a whole number from 2 to 660"):
            errors_of_numbers(people, "age", k=k)
    with pytest.raises(ParameterError, match="releases"):
        errors_of_numbers(people, "age", k=5, releases=1)
