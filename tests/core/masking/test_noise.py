"""Additive, correlated and k-noise: moments, published values, laws against simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.noise_law import SHAPES, Noise, NoiseOn
from rwn_core.masking.k_noise import delta, expected_near
from rwn_core.randomness import SecretKey

PATH = Path(__file__).parents[2] / "golden" / "method_check_values.json"
ENTRIES = {e["id"]: e for e in json.loads(PATH.read_text(encoding="utf-8"))["values"]}


def numbers(n: int = 400, seed: int = 0, whole: bool = False) -> Microdata:
    values = np.random.default_rng(seed).normal(10, 3, size=(n, 2))
    frame = pd.DataFrame(values, columns=["x", "y"])
    return Microdata.from_frame(frame.round().astype(int) if whole else frame)


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_mean_zero_and_its_standard_deviation(shape):
    noise, n = Noise(shape=shape, sd=2.0), 200_000
    drawn = noise.draw((np.arange(n) + 0.5) / n)
    assert drawn.mean() == pytest.approx(0.0, abs=1e-9)
    assert drawn.std() == pytest.approx(2.0, rel=2e-3)
    grid = np.linspace(-40, 40, 800_001)
    assert noise.density(grid).sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-4)
    for at in (-3.0, -0.5, 0.0, 2.2):
        assert float(noise.below(np.array(at))) == pytest.approx((drawn <= at).mean(), abs=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_of_the_release_are_those_of_theory(shape):
    data = numbers()
    spread, size = data.values("x").std(ddof=1), 0.5
    prepared = rwn.AdditiveNoise(size=size, shape=shape).prepare(data)
    releases = [prepared.release(SecretKey.from_seed(s)).masked for s in range(30)]
    noise = np.concatenate([each.values("x") - data.values("x") for each in releases])
    error = size * spread / np.sqrt(len(noise))
    assert abs(noise.mean()) < 4 * error
    fourth = {"gaussian": 3.0, "laplace": 6.0, "uniform": 1.8}[shape]
    share = noise.var() / (size * spread) ** 2
    assert share == pytest.approx(1.0, abs=4 * np.sqrt((fourth - 1) / len(noise)))


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_of_k_noise_are_those_of_theory(shape):
    """Variance delta^2 / 3 of every shape, delta found by looking at all pairs."""
    data, k = numbers(), 25
    values = data.values("x")
    half = max(np.sort(np.abs(values - each))[k - 1] for each in values) / 2
    prepared = rwn.KNoise(k=k, shape=shape).prepare(data)
    releases = [prepared.release(SecretKey.from_seed(s)).masked for s in range(30)]
    noise = np.concatenate([each.values("x") - values for each in releases])
    variance = half**2 / 3
    assert abs(noise.mean()) < 4 * np.sqrt(variance / len(noise))
    fourth = {"gaussian": 3.0, "laplace": 6.0, "uniform": 1.8}[shape]
    allowed = 4 * np.sqrt((fourth - 1) / len(noise))
    assert noise.var() / variance == pytest.approx(1.0, abs=allowed)
    assert abs(noise.var() / (half**2 / 2) - 1) > allowed  # noise of another width is noticed


def law_of(part: NoiseOn, released: np.ndarray) -> np.ndarray:
    frame = pd.DataFrame({part.name: released})
    table = Microdata(frame, part.original.schema)
    return part.chances(table, np.arange(len(released)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("step", [0.0, 5.0])
def test_probabilities_of_whole_numbers_sum_to_one_and_are_met(shape, reflected, step):
    data = Microdata.from_frame(pd.DataFrame({"x": [1, 6, 10]}))
    noise = Noise(shape=shape, sd=3.0)
    part = NoiseOn(original=data, name="x", noise=noise, discrete=True, reflected=reflected)
    part = part.rounded({"y": 9.0, **({"x": step} if step else {})})
    grid = np.arange(-80.0, 90.0) * (step or 1.0)
    chances = law_of(part, grid)
    np.testing.assert_allclose(chances.sum(axis=0), 1.0, atol=1e-6)
    drawn = part.noise.draw((np.arange(200_000) + 0.5) / 200_000) + data.values("x")[:, None]
    drawn = part._written(np.abs(drawn) if reflected else drawn)
    for person in range(3):
        share = (drawn[person][:, None] == grid[70:90]).mean(axis=0)
        np.testing.assert_allclose(chances[70:90, person], share, atol=1e-3)


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
    prepared, draws = rwn.CorrelatedNoise(size=0.5, form=form).prepare(data), 200
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
    for _ in range(1000):
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


@pytest.mark.parametrize("params", [rwn.AdditiveNoise(size=1.0), rwn.KNoise(k=20)])
def test_counts_stay_whole_missing_stays_missing_and_signs_are_told(params):
    data = rwn.load_demo("pima")
    before = data.frame.copy(deep=True)
    release = rwn.mask(data, params, seed=1)
    pd.testing.assert_frame_equal(data.frame, before)
    for name in data.numeric_names:
        own, shown = data.frame[name], release.masked.frame[name]
        assert own.dtype == shown.dtype
        assert (own.isna() == shown.isna()).all()
        if own.dtype.kind == "i":
            assert (shown != own).any()
    if params.method == "additive_noise":
        assert any("negative" in remark for remark in params.remarks(data, release.law))
        reflected = rwn.mask(data, rwn.AdditiveNoise(size=1.0, reflected=True), seed=1)
        assert min(np.nanmin(reflected.masked.values(n)) for n in data.numeric_names) >= 0


def test_what_has_no_numbers_is_left_or_refused():
    data = rwn.load_demo("cps1988").take(np.arange(300))
    release = rwn.mask(data, rwn.AdditiveNoise(), seed=1)
    assert release.masked.frame["region"].equals(data.frame["region"])
    assert "released as they are: ethnicity" in rwn.AdditiveNoise().remarks(data, None)[0]
    with pytest.raises(ParameterError, match="not ethnicity, smsa, region, parttime; choose"):
        rwn.mask(data, rwn.AdditiveNoise(others="refuse"), seed=1)
    words = Microdata.from_frame(pd.DataFrame({"g": list("abab")}))
    with pytest.raises(ParameterError, match="masks numbers only, and no variable"):
        rwn.mask(words, rwn.KNoise(k=2), seed=1)
