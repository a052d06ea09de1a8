"""Which epsilon a release has, method by method, and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.io.demo import load_demo
from rwn_core.laws.noise_law import Noise
from rwn_core.laws.transition_matrix import mixed_matrix, privacy_epsilon, successive_share
from rwn_core.masking import (
    NBRS2015,
    PRAM,
    RWN,
    AdditiveNoise,
    CorrelatedNoise,
    KNoise,
    RandomSwapping,
    RecordSwapping,
    mask,
)
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading


def read(data: Microdata, method, **options) -> Reading:
    release = mask(data, method, seed=1, **options)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    return MEASURES["differential_privacy"].compute(comparison)


@pytest.fixture
def numbers() -> Microdata:
    rng = np.random.default_rng(0)
    return Microdata.from_frame(pd.DataFrame({"x": rng.normal(size=50), "y": rng.random(50)}))


@pytest.fixture
def categories() -> Microdata:
    rng = np.random.default_rng(1)
    return Microdata.from_frame(
        pd.DataFrame({"g": list("aabbbccccd") * 9, "h": rng.choice(["u", "v"], 90)})
    )


def test_laplace_noise_has_the_range_divided_by_its_scale(numbers):
    reading = read(numbers, AdditiveNoise(size=0.8, shape="laplace"))
    for name, epsilon in zip(("x", "y"), reading.detail["epsilon"], strict=True):
        values = numbers.values(name)
        scale = 0.8 * values.std(ddof=1) / np.sqrt(2)
        assert epsilon == pytest.approx(np.ptp(values) / scale)
        noise = Noise(shape="laplace", sd=0.8 * values.std(ddof=1))
        at = np.linspace(values.min() - 5, values.max() + 5, 999)
        ratio = noise.density(at - values.min()) / noise.density(at - values.max())
        assert np.log(ratio).max() == pytest.approx(epsilon)
    assert reading.detail["total_epsilon"] == pytest.approx(sum(reading.detail["epsilon"]))
    assert reading.value == 0
    assert "with epsilon = " in reading.detail["statement"]
    assert "differentially private with epsilon" in MEASURES["differential_privacy"].sentence(
        reading, 50
    )


def test_rounding_and_reflection_cost_no_epsilon(numbers):
    method = AdditiveNoise(size=0.8, shape="laplace", reflected=True)
    assert read(numbers, method, precision={"x": 0.5}).detail["epsilon"] == pytest.approx(
        read(numbers, method).detail["epsilon"]
    )


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (AdditiveNoise(size=0.5), "normal noise"),
        (CorrelatedNoise(), "normal noise"),
        (KNoise(k=5), "within reach of its noise"),
        (RWN(k=5), "those of its donors"),
        (NBRS2015(epsilon=1.0), "those of its donors"),
        (RandomSwapping(share=0.5), "keeps the count of every value"),
    ],
    ids=lambda value: getattr(value, "method", None),
)
def test_other_methods_have_none_and_say_why(numbers, method, words):
    reading = read(numbers, method)
    assert reading.detail["total_epsilon"] is None
    assert words in reading.detail["statement"]
    said = MEASURES["differential_privacy"].sentence(reading, 50)
    assert said.startswith("No epsilon covers it")
    assert ("normal noise" in words or "reach" in words) == (reading.value == 0)


def test_variables_that_are_released_as_they_are_spoil_every_epsilon():
    data = load_demo("pima")
    reading = read(data, PRAM())
    assert reading.detail["total_epsilon"] is None
    assert "is released as it is" in reading.detail["statement"]
    finite = [x for x in reading.detail["epsilon"] if x is not None]
    assert len(finite) == 1
    assert reading.value == 1  # a unique number stands in the release for certain
    named = read(data, RecordSwapping(share=1.0))
    assert "donors" in named.detail["statement"]
    assert named.value == 1


def test_epsilons_of_matrices_add_up(categories):
    method = PRAM(change=0.5)
    reading = read(categories, method)
    each = [privacy_epsilon(method.matrix(categories, name))[0] for name in ("g", "h")]
    assert reading.detail["epsilon"] == pytest.approx(each)
    assert reading.detail["total_epsilon"] == pytest.approx(sum(each))


def test_missing_values_and_empty_entries_leave_no_epsilon(categories):
    frame = categories.frame
    frame.loc[3, "h"] = None
    reading = read(Microdata.from_frame(frame), PRAM(change=0.5))
    assert reading.detail["epsilon"][1] is None
    assert "keeps its missing values" in reading.detail["statement"]
    matrix = {"h": [[1.0, 0.0], [0.3, 0.7]]}
    reading = read(categories, PRAM(matrices=matrix, invariant=False))
    assert reading.detail["epsilon"][1] is None
    assert "some records cannot release" in reading.detail["statement"]


def test_a_row_of_swapped_categories_has_the_epsilon_of_its_matrix(categories):
    method = RandomSwapping(share=0.8, pairs="successive", variables="g")
    share = successive_share(36, 90)
    v = categories.frame["g"].value_counts(normalize=True).sort_index().to_numpy()
    epsilon = privacy_epsilon(mixed_matrix(share, v))[0]
    assert f"epsilon = {epsilon:.3g}" in read(categories, method).detail["statement"]
