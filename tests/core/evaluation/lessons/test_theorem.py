"""The theorem's lesson, held against enumeration, simulation and known moments."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import theorem as lesson
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.masking import RowCopy
from tests.check_values import check_values

ENTRIES = check_values("utility")


def balls(values: np.ndarray, epsilon: float) -> list[np.ndarray]:
    """Everybody's donors by plain loops: within epsilon, or the nearest one where nobody is."""
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    found = []
    for i, point in enumerate(scaled):
        apart = np.sqrt(((scaled - point) ** 2).sum(axis=1))
        apart[i] = np.inf
        found.append(np.flatnonzero(apart <= max(epsilon, apart.min()) * (1 + 1e-9)))
    return found


@pytest.mark.parametrize("kind", [rwn.RWN, RowCopy])
def test_closed_forms_are_the_averages_of_simulated_releases(kind) -> None:
    data, epsilon, draws = points_of("normal", 40), 0.8, 2000
    values = data.matrix(["x", "y"])
    found = lesson.theorem(kind(epsilon=epsilon, k=1).prepare(data))
    steps = lesson.cut_points(values)
    rng = np.random.default_rng(5)
    means, joint = np.zeros(draws), np.zeros((lesson.GRID, lesson.GRID))
    donors = balls(values, epsilon)
    sizes = np.array([len(near) for near in donors])
    padded = np.array([np.resize(near, sizes.max()) for near in donors])
    for draw in range(draws):
        first, second = padded[np.arange(40), (rng.random((2, 40)) * sizes).astype(int)]
        second = first if kind is RowCopy else second
        released = np.column_stack([values[first, 0], values[second, 1]])
        means[draw] = released.sum(axis=1).mean()
        below = released[:, None, :] <= steps
        joint += (below[:, :, None, 0] & below[:, None, :, 1]).mean(axis=0)
    below = values[:, None, :] <= steps
    truth = (below[:, :, None, 0] & below[:, None, :, 1]).mean(axis=0)
    assert found.added_error == pytest.approx(means.std(ddof=1), rel=4 / np.sqrt(2 * draws))
    largest = np.abs(joint / draws - truth).max()
    assert found.expected_distance == pytest.approx(largest, abs=4 * 0.5 / np.sqrt(draws * 40))
    np.testing.assert_array_equal(np.sort(found.members), donors[0])


def test_the_distance_falls_to_nothing_with_epsilon_also_for_discrete_values() -> None:
    for density in ("normal", "ring", "banana", "discrete"):
        table = rwn.RWN(epsilon=2.0, k=1).prepare(points_of(density, 800))
        far = [
            lesson.theorem(table.with_levers(epsilon=e)).expected_distance
            for e in (2.0, 1.0, 0.3, 0.1)
        ]
        assert far == sorted(far, reverse=True), density
        assert far[-1] < 0.01 < 0.05 < far[0], density


def test_TH_2_coordinates_in_a_disc_are_dependent() -> None:
    expected = ENTRIES["TH-2"]["expected"]
    # E[X^2], E[X^2 Y^2] and E[X^4] of a uniform point on the unit disc
    square, product, fourth = 1 / 2 * 1 / 2, 1 / 3 * 1 / 8, 1 / 3 * 3 / 8
    correlation = (product - square**2) / (fourth - square**2)
    assert square == pytest.approx(expected["Ex2"])
    assert product == pytest.approx(expected["Ex2y2"])
    assert square**2 == pytest.approx(expected["prod"])
    assert correlation == pytest.approx(expected["corr_x2y2"])
    x, y = points_of("uniform disc", 40_000).matrix(["x", "y"]).T
    assert (x * x * y * y).mean() == pytest.approx(product, abs=0.001)
