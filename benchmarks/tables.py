"""A table like a census, and the radius of a mean neighborhood size."""

from __future__ import annotations

import numpy as np

PAIRS = 4e8  # distances that the radius is found from
BLOCK = 1000


def mixed(n: int, p: int) -> np.ndarray:
    """Three latent factors; 2/5 numbers, 2/5 rounded (half of them skewed), 1/5 0/1 columns."""
    rng = np.random.default_rng(p)
    factors = rng.standard_normal((n, 3))
    table = np.empty((n, p), order="F")
    for column in range(p):
        value = 0.6 * (factors @ rng.standard_normal(3)) + 0.6 * rng.standard_normal(n)
        kind, weight = column % 5, 1.0
        if kind == 2:
            value = np.round(20 * np.exp(value / 2))
        elif kind == 3:
            value = np.round(2 * value)
        elif kind == 4:
            value, weight = (value > 0.8).astype(float), 0.6
        table[:, column] = (value - value.mean()) / value.std(ddof=1) * weight
    return table


def radius_of(points: np.ndarray, size: float) -> float:
    """The radius within which a record has this many others on average."""
    n = len(points)
    sampled = min(n, int(np.clip(PAIRS / n, 400, 4000)))
    some = np.random.default_rng(5).choice(n, sampled, replace=False)
    kept, most = np.empty(0), np.inf
    rank = int((size + 1) * len(some))
    for start in range(0, n, BLOCK):
        block = points[start : start + BLOCK]
        squared = np.zeros((len(some), len(block)))
        for column in range(points.shape[1]):
            squared += (points[some, column, None] - block[None, :, column]) ** 2
        kept = np.concatenate((kept, squared[squared <= most]))
        if len(kept) > rank + 1:
            kept = np.partition(kept, rank)[: rank + 1]
            most = kept.max()
    return float(np.sqrt(kept.max()))
