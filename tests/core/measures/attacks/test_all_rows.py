"""All rows weighed together: who names each row's likeliest source is beaten by nobody."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.masking import RWN, mask
from rwn_core.measures.attacks.assignment import all_rows, blocks, scaled
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison
from tests.oracles.exact_assignments import sinkhorn


def share(likelihood: NDArray[np.float64]) -> float | None:
    belief = sparse.csc_array(likelihood.T)
    found = all_rows(belief, blocks(belief))
    return None if found is None else found[0]


def by_all_matchings(likelihood: NDArray[np.float64], named: NDArray[np.int64]) -> float:
    """How many names agree with the matchings of a tiny file, by going through all of them."""
    n, total, right = len(likelihood), 0.0, 0.0
    for order in permutations(range(n)):
        chance = float(np.prod(likelihood[np.arange(n), list(order)]))
        total, right = total + chance, right + chance * float(np.mean(named == np.array(order)))
    return right / total


def tiny(rng: np.random.Generator) -> NDArray[np.float64]:
    """Likelihoods of rows (first) and originals, all possible."""
    n = int(rng.integers(2, 7))
    return np.asarray(rng.random((n, n)) ** 2 + 0.01)


def test_the_share_is_that_of_all_matchings():
    rng = np.random.default_rng(1)
    for _ in range(60):
        likelihood = tiny(rng)
        belief = sparse.csc_array(likelihood.T)
        named = scaled(belief, blocks(belief)).toarray().T.argmax(axis=1)
        assert share(likelihood) == pytest.approx(by_all_matchings(likelihood, named), abs=0.015)


def test_by_hand():
    assert share(np.eye(3)) == 1.0
    assert share(np.ones((2, 2))) == pytest.approx(0.5, abs=0.005)
    # matchings: 0.9 x 0.6 = .54 and 0.1 x 0.4 = .04, so that both rows are right in 27 of 29
    assert share(np.array([[0.9, 0.1], [0.4, 0.6]])) == pytest.approx(27 / 29, abs=0.005)


def test_where_the_truth_is_no_matching_there_is_no_share():
    assert share(np.array([[0.0, 1.0], [1.0, 1.0]])) is None


def test_too_many_pairs_are_not_weighed(monkeypatch):
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.ATTACKED_PAIRS", 3)
    assert share(np.ones((2, 2))) is None


SEEDS = 12


@pytest.fixture(scope="module")
def releases(bodyfat) -> list[tuple[WorstCase, float]]:
    """Worst cases, and what an intruder links by other code who scales beliefs of the file."""
    found = []
    for seed in range(SEEDS):
        release = mask(bodyfat, RWN(epsilon=4.0, k=5), seed=seed)
        comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
        likelihood = posteriors(release.law, release.masked, np.arange(bodyfat.n)).toarray().T
        named = sinkhorn(likelihood, steps=200).argmax(axis=1)
        found.append((worst_case(comparison), float(np.mean(named == np.arange(bodyfat.n)))))
    return found


def beaten(known: list[float], truly: list[float], n: int) -> bool:
    """Whether an attack links more than is known, by three standard errors of its mean."""
    p = np.mean(truly)
    return bool(p - np.mean(known) > 3 * np.sqrt(p * (1 - p) / (n * len(truly))))


def test_who_scales_the_beliefs_of_the_whole_file_does_not_beat_the_worst_case(releases, bodyfat):
    truly = [share for _, share in releases]
    assert not beaten([each.success for each, _ in releases], truly, bodyfat.n)
    two = [max(each.links.success, each.matched) for each, _ in releases]
    assert beaten(two, truly, bodyfat.n)  # as it did before the third attack counted


def test_what_is_expected_comes_true(releases, bodyfat):
    expected = np.mean([each.joint_success for each, _ in releases])
    truly = np.mean([share for _, share in releases])
    error = np.sqrt(truly * (1 - truly) / (bodyfat.n * SEEDS))
    assert truly == pytest.approx(expected, abs=3 * error)
