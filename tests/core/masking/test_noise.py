"""Additive, correlated and k-noise: moments, published values, laws against simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.laws.noise_law import Noise
from rwn_core.masking.k_noise import delta
from rwn_core.randomness import SecretKey
from tests.check_values import check_values

ENTRIES = check_values("method")


def expected_near(values: Floats, at: float, delta: float, noise: Noise) -> float:
    """Return the expected number of records released within 2 delta of a value, for any noise."""
    # Biswal, Arbuckle, Kulik, theorem 1, in its exact form. `values` are complete, shape (n,).
    apart = values - at
    return float((noise.below(2 * delta - apart) - noise.below(-2 * delta - apart)).sum())


def numbers(n: int = 400, seed: int = 0, whole: bool = False) -> Microdata:
    values = np.random.default_rng(seed).normal(10, 3, size=(n, 2))
    frame = pd.DataFrame(values, columns=["x", "y"])
    return Microdata.from_frame(frame.round().astype(int) if whole else frame)


def test_KIM_1_constants_of_correlated_noise():
    given, expected = ENTRIES["KIM-1"]["input"], ENTRIES["KIM-1"]["expected"]
    table = Microdata.from_frame(pd.DataFrame(given["X"], columns=["x", "y"]).astype(float))
    params = rwn.CorrelatedNoise(size=0.25, form="sample")
    part = params._noise(params.prepare(table))
    np.testing.assert_allclose(part.covariance, expected["noise_cov"])
    np.testing.assert_allclose(part.covariance / 0.25, expected["S"])
    assert part.shrink == pytest.approx(expected["a"])
    np.testing.assert_allclose((1 - part.shrink) * part.mean, expected["b"])
    assert rwn.CorrelatedNoise(size=0.25).shrink(5) == pytest.approx(expected["a_simple"])
    assert rwn.CorrelatedNoise(size=0.25, form="plain").shrink(5) == 1.0


@pytest.mark.parametrize(("form", "factor"), [("population", 1.0), ("plain", 1.5)])
def test_correlated_noise_restores_means_and_covariances(form, factor):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3))
    data = Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))
    prepared, draws = rwn.CorrelatedNoise(size=0.5, form=form).prepare(data), 60
    releases = [prepared.release(SecretKey.from_seed(s)).masked for s in range(draws)]
    masked = [each.matrix(list("abc")) for each in releases]
    covariances = np.array([np.cov(each, rowvar=False) for each in masked])
    error = covariances.std(axis=0, ddof=1) / np.sqrt(draws)
    apart = covariances.mean(axis=0) - factor * np.cov(values, rowvar=False)
    # the population form misses by the factor (n - 1 - c) / (n - 1), far below an error
    assert (np.abs(apart) < 4 * error).all()


def test_a_singular_covariance_is_no_obstacle():
    x = np.random.default_rng(2).normal(size=60)
    data = Microdata.from_frame(pd.DataFrame({"x": x, "twice": 2 * x, "c": 1.0}))
    release = rwn.mask(data, rwn.CorrelatedNoise(size=1.0), seed=1)
    np.testing.assert_allclose(release.masked.values("twice"), 2 * release.masked.values("x"))
    linked = rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"]
    assert 0 < linked.value < 1


def test_KN_1_expected_records_near_a_value():
    given, expected = ENTRIES["KN-1"]["input"], ENTRIES["KN-1"]["expected"]
    values, half = np.array(given["x"], dtype=float), given["delta"]
    for at, numbers_ in expected.items():
        apart = np.abs(values - float(at))
        assert (apart < 2 * half).sum() == numbers_["count"] or (apart <= 2 * half).sum() == (
            numbers_["count"]
        )
        for shape, key in (("uniform", "unif"), ("gaussian", "gauss"), ("laplace", "lap")):
            noise = Noise(shape=shape, sd=half / np.sqrt(3))
            assert expected_near(values, float(at), half, noise) == pytest.approx(
                numbers_[f"E_{key}"], abs=1e-9
            )


def test_theorem_1_is_never_violated_and_attained_in_the_limit():
    rng = np.random.default_rng(4)
    for _ in range(300):
        values = np.sort(rng.choice([rng.normal(size=30), rng.integers(0, 9, 30) * 1.0]))
        k = int(rng.integers(2, 15))
        half = delta(values, k)
        if half == 0:
            continue
        noise = Noise(shape="uniform", sd=half / np.sqrt(3))
        at = float(rng.choice(values))
        near = (np.abs(values - at) < 2 * half).sum()
        assert expected_near(values, at, half, noise) >= 0.5 * near - 1e-9
    edge = np.array([2 - 1e-9])
    noise = Noise(shape="uniform", sd=1 / np.sqrt(3))
    assert expected_near(edge, 0.0, 1.0, noise) == pytest.approx(0.5, abs=1e-9)
    # with noise eight times as wide the bound would not hold
    wider = Noise(shape="uniform", sd=8 / np.sqrt(3))
    assert expected_near(np.array([1.0]), 0.0, 1.0, wider) == pytest.approx(0.25)


def test_KN_3_mean_squared_error_of_k_noise():
    expected = ENTRIES["KN-3"]["expected"]["knoise"]
    noise = Noise(shape="uniform", sd=2.5 / np.sqrt(3))
    assert noise.sd**2 == pytest.approx(expected)


def test_delta_is_the_smallest_of_its_kind():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = np.sort(rng.integers(0, 20, rng.integers(1, 9)).astype(float))
        k = int(rng.integers(1, len(values) + 1))
        brute = max(np.sort(np.abs(values - each))[k - 1] for each in values) / 2
        assert delta(values, k) == (brute if k > 1 else 0.0)
