"""Association that unrelated variables reach by chance, for numbers and categories.

Permuting one variable gives the explained share of variation a known mean and variance, whatever
the distributions. A beta distribution with both moments gives the level that few permutations
exceed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats

Codes = NDArray[np.integer]

CHANCE = 0.05  # of tables of unrelated variables with a strongest pair above its level
LEAST_RECORDS = 4  # below, the variance over permutations is not defined


def chance_levels(numbers: Floats, categories: Sequence[Codes]) -> Floats:
    """Return the association that each pair of unrelated variables rarely exceeds."""
    # On the scale of `association_matrix`. If no variables are related, some pair exceeds its level
    # in at most `CHANCE` of the tables. Moments: Kazi-Aoual, Hitier, Sabatier, Lebreton 1995.
    from scipy.special import betaincinv

    rank, leverage, known = _margins(numbers, categories)
    is_category = np.arange(len(rank)) >= numbers.shape[1]
    mean, variance, ceiling = permutation_moments(rank, leverage, known)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, spread = mean / ceiling, variance / ceiling**2
        size = share * (1 - share) / spread - 1
        pairs = len(mean) * (len(mean) - 1) / 2
        tail = CHANCE / max(pairs, 1.0)
        reached = ceiling * betaincinv(share * size, (1 - share) * size, 1 - tail)
    usable = np.isfinite(reached) & (size > 0)
    levels = _as_association(np.where(usable, reached, np.nan), rank, known, is_category)
    m = numbers.shape[1]
    levels[:m, :m] = np.maximum(levels[:m, :m], one_record(numbers))
    return levels


def one_record(numbers: Floats) -> Floats:
    """Return the largest part of each correlation that one record contributes, shape (m, m)."""
    n, m = numbers.shape
    parts = np.zeros((n, m), order="F")
    for column, values in enumerate(numbers.T):
        known = ~np.isnan(values)
        away = values[known] - values[known].mean() if known.any() else values[known]
        size = float(np.abs(away).max(initial=0.0))
        if size > 0:
            parts[known, column] = np.abs(away / size) / np.linalg.norm(away / size)

    found = [(parts * parts[:, one][:, None]).max(axis=0, initial=0.0) for one in range(m)]
    return np.array(found, dtype=np.float64).reshape(m, m)


def permutation_moments(
    rank: Floats, leverage: Floats, known: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and maximum of the shared variation over all permutations."""
    # Shapes: rank (p,), 1 of a number and levels less 1 of a category; leverage (p,), the sum of
    # squared leverages, near 1 where one record has nearly all the variation; known (p, p), records
    # with a value of both; each answer (p, p).
    # Squared correlation, eta squared, or chi squared over n: the trace of a product of
    # projections.
    n, rank = known, rank[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = rank * (n - 1 - rank)
        peaked = n * (n + 1) * leverage[:, None] - (n - 1) * (rank**2 + 2 * rank)
        variance = 2 * plain * plain.T / ((n - 1) ** 2 * (n + 1) * (n - 2))
        variance += peaked * peaked.T / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        mean = rank * rank.T / (n - 1)
    defined = (n >= LEAST_RECORDS) & (mean > 0) & (variance > 0)
    blank = np.where(defined, 1.0, np.nan)
    return mean * blank, variance * blank, np.minimum(rank, rank.T) * blank


def _margins(numbers: Floats, categories: Sequence[Codes]) -> tuple[Floats, Floats, Floats]:
    # Shapes: numbers (n, m); each of categories (n,); the answers, see `permutation_moments`, are
    # of their p variables.
    known = [~np.isnan(column) for column in numbers.T] + [codes >= 0 for codes in categories]
    both = np.array(known, dtype=np.float64).reshape(len(known), len(numbers))
    parts = [_of_number(column) for column in numbers.T] + [_of_category(c) for c in categories]
    rank, leverage = np.array(parts, dtype=np.float64).reshape(-1, 2).T
    return rank, leverage, both @ both.T


def _of_number(values: Floats) -> tuple[float, float]:
    # Shapes: values (n,), NaN where missing.
    present = values[~np.isnan(values)]
    if not len(present):
        return 0.0, 0.0
    away = present - present.mean()
    largest = float(np.abs(away).max())
    if largest == 0.0:
        return 0.0, 0.0
    squares = (away / largest) ** 2
    return 1.0, float((squares**2).sum() / squares.sum() ** 2)


def _of_category(codes: Codes) -> tuple[float, float]:
    sizes = np.bincount(codes[codes >= 0]).astype(np.float64)
    sizes = sizes[sizes > 0]
    n = sizes.sum()
    return max(len(sizes) - 1.0, 0.0), float((sizes * (1 / sizes - 1 / n) ** 2).sum())


def _as_association(reached: Floats, rank: Floats, n: Floats, is_category: Booleans) -> Floats:
    """Apply the corrections of the association itself to the levels."""
    # Shapes: reached, n, the answer (p, p); rank, is_category (p,).
    levels = rank + 1
    one, other = is_category[:, None], is_category[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(one, levels[:, None], levels[None, :])
        ratio = 1 - (1 - reached) * (n - 1) / (n - k)
        corrected = levels[:, None] - (levels[:, None] - 1) ** 2 / (n - 1)
        least = np.minimum(corrected, corrected.T) - 1
        v = (reached - rank[:, None] * rank[None, :] / (n - 1)) / least
        squared = np.where(one & other, v, np.where(one | other, ratio, reached))
        return np.asarray(np.sqrt(np.clip(squared, 0.0, 1.0)), dtype=np.float64)
