"""The densities of the lessons: their known moments, and tables that grow at their end."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of

MANY = 20_000
CORRELATION = {
    "normal": 0.8,
    "ring": 0.0,
    "two clusters": 1.5**2 / (1.5**2 + 0.5**2),
    "banana": 0.0,
    "uniform disc": 0.0,
    "discrete": None,
}


def columns(density: str, n: int, seed: int = 1) -> np.ndarray:
    return points_of(density, n, seed).matrix(["x", "y"])


def test_correlations_are_those_of_the_formulas() -> None:
    assert list(CORRELATION) == list(DENSITIES)
    for density, expected in CORRELATION.items():
        if expected is not None:
            found = np.corrcoef(columns(density, MANY), rowvar=False)[0, 1]
            assert found == pytest.approx(expected, abs=4 / np.sqrt(MANY)), density


def test_a_larger_table_begins_with_the_smaller_one() -> None:
    for density in DENSITIES:
        np.testing.assert_array_equal(columns(density, 300)[:50], columns(density, 50))
    assert (columns("normal", 50, seed=2) != columns("normal", 50)).all()


def test_points_of_the_ring_lie_on_it() -> None:
    radius = np.hypot(*columns("ring", 2000).T)
    assert radius.mean() == pytest.approx(1.0, abs=0.01)
    assert radius.std() == pytest.approx(0.1, abs=0.01)


def test_discrete_points_are_whole_and_an_unknown_density_is_refused() -> None:
    values = columns("discrete", 500)
    np.testing.assert_array_equal(values, np.round(values))
    assert len(np.unique(values[:, 0])) < 12
    with pytest.raises(ParameterError, match="must be one of: normal"):
        points_of("square", 10)
