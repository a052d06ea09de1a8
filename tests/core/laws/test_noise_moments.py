"""Moments of noisy numbers that are released whole or without their sign, by plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rwn_core.laws.noise_law import FAR, SUMMED_INTEGERS, discrete_variance, shortfall

SHAPES = {
    "gaussian": lambda sd: stats.norm(scale=sd),
    "laplace": lambda sd: stats.laplace(scale=sd / np.sqrt(2)),
    "uniform": lambda sd: stats.uniform(-sd * np.sqrt(3), 2 * sd * np.sqrt(3)),
}
shapes = pytest.mark.parametrize("shape", SHAPES)
WHOLE = np.arange(-400, 401)


@shapes
@pytest.mark.parametrize("sd", [0.3, 1.7, 6.0])
def test_noise_that_is_rounded_has_the_variance_of_its_whole_numbers(shape, sd) -> None:
    noise = SHAPES[shape](sd)
    chances = noise.cdf(WHOLE + 0.5) - noise.cdf(WHOLE - 0.5)
    assert discrete_variance(noise.cdf, sd) == pytest.approx(chances @ WHOLE**2, rel=1e-9)


@pytest.mark.parametrize("shape", ["gaussian", "laplace"])  # an even one ends anywhere in a unit
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_rounding_adds_a_twelfth_to_wide_noise(shape, share) -> None:
    """Added up as long as that is affordable, and taken for granted beyond."""
    sd = share * SUMMED_INTEGERS / FAR
    assert discrete_variance(SHAPES[shape](sd).cdf, sd) == pytest.approx(sd**2 + 1 / 12, abs=0.01)


@shapes
@pytest.mark.parametrize("sd", [0.3, 1.7])
def test_how_much_below_zero_a_whole_number_is_expected(shape, sd) -> None:
    noise, own = SHAPES[shape](sd), np.array([0.0, 1.0, 2.0, 5.0, 1e6])
    chances = noise.cdf(WHOLE + 0.5) - noise.cdf(WHOLE - 0.5)
    expected = [np.maximum(-at - WHOLE, 0.0) @ chances for at in own]
    found = shortfall(shape, sd, noise.cdf, own, discrete=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@shapes
def test_wide_noise_below_zero_is_as_if_it_were_not_rounded(shape) -> None:
    sd, own = SUMMED_INTEGERS / FAR * 1.1, np.array([0.0, 1000.0, 3000.0])
    noise = SHAPES[shape](sd)
    whole, plain = (shortfall(shape, sd, noise.cdf, own, discrete=each) for each in (True, False))
    np.testing.assert_array_equal(whole, plain)
