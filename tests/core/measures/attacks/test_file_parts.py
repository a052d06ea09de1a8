"""Cuts of a file where rows seldom cross."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rwn_core.measures.attacks.worst_case import LEAST, cut_into_parts

CODES = tuple[np.ndarray, np.ndarray]


def table(n: int = 400, seed: int = 0) -> CODES:
    """Three variables: one that rows cross, one seldom, one of three levels never."""
    rng = np.random.default_rng(seed)
    before = np.column_stack(
        [rng.integers(0, 50, n), rng.integers(0, 50, n), rng.integers(0, 3, n)]
    )
    after = before.copy()
    after[:, 0] = rng.permutation(before[:, 0])
    after[:, 1] += rng.integers(-2, 3, n)
    return before, after


def crossing(side: np.ndarray, other: np.ndarray) -> float:
    """Crossed rows over the smaller side; nothing for a lopsided cut."""
    share = side.mean()
    if not LEAST <= share <= 1 - LEAST:
        return np.inf
    return float(np.mean(side != other) / min(share, 1 - share))


def best_cut(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Of all cuts at all values, the sides of the best."""
    cuts = []
    for own, released in zip(before.T, after.T, strict=True):
        for value in np.unique(own):
            cuts.append((crossing(own < value, released < value), own < value))
            cuts.append((crossing(own == value, released == value), own == value))
    return min(cuts, key=lambda cut: cut[0])[1]


def test_the_first_cut_is_the_best_of_all() -> None:
    before, after = table()
    parts = cut_into_parts(before, after, np.arange(400), (399,))[0]
    side = best_cut(before, after)
    assert len(np.unique(parts)) == 2
    assert len(np.unique(parts[side])) == len(np.unique(parts[~side])) == 1
    assert np.all(before[side, 2] == before[side, 2][0]) or np.all(
        before[~side, 2] == before[~side, 2][0]
    )


def test_parts_have_the_sizes_asked_for_and_lie_within_each_other() -> None:
    before, after = table(1000)
    sizes = (400, 150, 60)
    levels = cut_into_parts(before, after, np.arange(1000), sizes)
    for size, of in zip(sizes, levels, strict=True):
        counts = np.bincount(of)
        assert counts.min() > 0
        assert counts.max() <= size
    for larger, smaller in pairwise(levels):
        for part in np.unique(smaller):
            assert len(np.unique(larger[smaller == part])) == 1


def test_what_cannot_be_cut_stays_together() -> None:
    same = np.zeros((50, 2), dtype=np.int64)
    assert not cut_into_parts(same, same, np.arange(50), (20, 10)).any()
    before, after = table(100)
    assert not cut_into_parts(before, after, np.zeros(0, dtype=np.int64), (20,)).any()
