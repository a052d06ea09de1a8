"""The sample behind the sliders' ends: compiled for large tables, the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.neighbors import slider_range
from rwn_core.neighbors.kernels.sampled_distances import STRETCH
from rwn_core.neighbors.slider_range import _sampled

SIZES = [STRETCH - 1, STRETCH, 2 * STRETCH + 1, 3333]


def table(n: int, d: int) -> np.ndarray:
    points = np.random.default_rng(n).normal(size=(n, d)) * np.logspace(-3, 5, d)
    points[1] = points[0]
    return points


@pytest.mark.parametrize("thinned", [100_000, 700, 3])
@pytest.mark.parametrize("n", SIZES)
def test_it_is_that_of_plain_arrays(n: int, thinned: int, monkeypatch) -> None:
    points = table(n, 7)
    monkeypatch.setattr(slider_range, "THINNED", thinned)
    monkeypatch.setattr(slider_range, "LARGEST_DENSE", n)
    plain = _sampled(points)
    monkeypatch.setattr(slider_range, "LARGEST_DENSE", n - 1)
    monkeypatch.setattr(slider_range, "squared_to_all", lambda *_: pytest.fail("not compiled"))
    compiled = _sampled(points)
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(one, other)
    assert compiled[0][0] == 0  # a twin
    assert np.isinf(compiled[1]).any()  # and nobody near himself
