"""The lesson on sampling: leakage by another formula and by simulation, risks by check values."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.evaluation.lessons import sampling as lesson
from rwn_core.laws.transition_matrix import mixed_matrix, privacy_epsilon
from tests.check_values import check_values

ENTRIES = check_values("risk")


def test_LEAK_1_leakage_of_the_literal_design() -> None:
    expected = ENTRIES["LEAK-1"]["expected"]
    found = lesson.leakage(11, 100_000, 2_000)
    assert found == pytest.approx(expected["ratio_of_expectations"], rel=1e-9)
    simulated = expected["simulation"]
    assert found == pytest.approx(simulated["mean_ratio"], abs=4 * simulated["mcse"])
    assert round(found, 3) != expected["published_on_slide"]


def test_a_sample_beyond_the_population_is_refused() -> None:
    with pytest.raises(ParameterError, match="whole population"):
        lesson.leakage(3, 10, 11)


def test_LL_1_risk_of_a_cell() -> None:
    given, expected = ENTRIES["LL-1"]["input"], ENTRIES["LL-1"]["expected"]
    found = lesson.sampling(fraction=given["pi"], keys=1, change=0.25)
    place = int(np.argmin(np.abs(found.rate - given["lam"])))
    assert found.rate[place] == pytest.approx(given["lam"])
    assert found.unique[place] == pytest.approx(expected["p1"])
    assert found.match[place] == pytest.approx(expected["e"])
    assert found.misclassified[place] == pytest.approx((0.75 + 0.25 / 3) * expected["e"])


def test_the_epsilon_of_the_matrix_and_none_without_a_change() -> None:
    found = lesson.sampling(fraction=0.1, keys=3, change=0.3)
    same, other = 0.7 + 0.1, 0.1
    np.testing.assert_allclose(found.matrix, other + (same - other) * np.eye(3))
    assert found.epsilon == pytest.approx(np.log(same / other))
    assert lesson.sampling(fraction=0.1, keys=3, change=0.0).epsilon == np.inf
    assert lesson.sampling(fraction=0.1, keys=3, change=1.0).epsilon == pytest.approx(0)


def test_PRAM_1_and_SWAP_1_epsilon_by_the_same_function() -> None:
    pram, swap = ENTRIES["PRAM-1"]["expected"], ENTRIES["SWAP-1"]["expected"]
    assert privacy_epsilon(np.array(pram["P"]))[0] == pytest.approx(pram["epsilon"])
    found = privacy_epsilon(np.array(swap["composed_Q2"]))[0]
    assert found == pytest.approx(swap["eps_composed_Q2"])
    shares = np.array([3, 2, 1]) / 6
    again = mixed_matrix(1 - 0.6**2, shares)
    np.testing.assert_allclose(again, swap["composed_Q2"])
