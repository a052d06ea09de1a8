"""The lesson on standard errors: its fits by matrix algebra, its coverage on both sides."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import standard_errors as lesson

SAMPLES = 200


def slopes_of(samples, **levers) -> lesson.Slopes:
    moved = (one.with_levers(**levers) for one in samples)
    return lesson.slopes([lesson.release(one, i) for i, one in enumerate(moved)])


@pytest.fixture(scope="module")
def ready():
    return [rwn.RWN(epsilon=0.0, k=5).preview(lesson.sample(i)) for i in range(SAMPLES)]


@pytest.fixture(scope="module")
def released(ready):
    """The slopes of all samples masked at some levers, worked out once."""

    @cache
    def of(*, k: int = 5, q: float = 1.0) -> lesson.Slopes:
        return slopes_of(ready, k=k, q=q)

    return of


def test_the_slope_and_its_error_are_those_of_least_squares() -> None:
    fits = lesson.slopes([lesson.sample(i) for i in range(4)])
    data = lesson.sample(3)
    values = data.matrix(["x1", "x2", "x3", "y"])
    design, y = np.column_stack([np.ones(lesson.N), values[:, :3]]), values[:, 3]
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    error = np.sqrt(residual @ residual / (lesson.N - 4) * inverse[1, 1])
    assert (fits.slope[3], fits.error[3]) == pytest.approx((coefficients[1], error))


def test_original_intervals_hold_the_truth_and_those_of_a_release_do_too_rarely(ready, released):
    error = 4 * np.sqrt(0.95 * 0.05 / SAMPLES)
    before = lesson.slopes([one.microdata for one in ready])
    assert before.coverage == pytest.approx(0.95, abs=error)
    assert before.ratio == pytest.approx(1.0, abs=4 / np.sqrt(2 * SAMPLES))
    after = released(q=1.0)
    assert after.coverage < 0.95 - error
    assert after.ratio < 0.85
    little = released(q=0.05)
    assert little.coverage > after.coverage


def test_copying_alone_makes_errors_too_small_not_independent_donors(released) -> None:
    # if independent donors of the cells of a row were the cause, whole rows would repair it
    rows = [rwn.RowCopy(epsilon=0.0, k=5).preview(lesson.sample(i)) for i in range(SAMPLES)]
    error = 4 / np.sqrt(2 * SAMPLES)
    whole = slopes_of(rows, k=5, q=1.0)
    assert whole.ratio == pytest.approx(0.7, abs=error * 0.7)
    assert whole.ratio < 1 - error
    nearest = released(k=1)  # one donor for all cells of a row
    assert nearest.ratio == pytest.approx(0.75, abs=error * 0.75)
    np.testing.assert_array_equal(nearest.slope[:20], slopes_of(rows[:20], k=1, q=1.0).slope)
