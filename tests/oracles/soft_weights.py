"""Weights of donors the slow way: bisection for a row, projections by turns for balance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def log_kernel(
    distances: NDArray[np.float64],
    shape: str,
    width: float,
    *,
    nearest: int | None = None,
    fixed: bool = False,
    own: bool = False,
) -> list[list[float]]:
    """Return log K of each pair; `nearest` scales by the distance to the m-th nearest other."""
    n = len(distances)
    scales = [1.0] * n
    if nearest is not None:
        others = [sorted(distances[i][k] for k in range(n) if k != i) for i in range(n)]
        raw = [row[min(nearest, n - 1) - 1] for row in others]
        positive = sorted(value for value in raw if value > 0)
        least = 0.05 * _median(positive) if positive else 1.0
        scales = [max(value, least) for value in raw]
        if fixed:
            scales = [_median(sorted(scales))] * n
    result = []
    for i in range(n):
        row = []
        for k in range(n):
            t = distances[i][k] / (width * math.sqrt(scales[i] * scales[k]))
            row.append(-t * t / 2 if shape == "gaussian" else -t)
        row[i] = 0.0 if own else -math.inf
        result.append(row)
    return result


def _median(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def capped_row(logs: Sequence[float], cap: float) -> tuple[list[float], float]:
    """Return min(cap, x K) with sum 1, and log x, by bisection."""

    def row(log_x: float) -> list[float]:
        return [min(cap, math.exp(min(log_x + log, 1.0))) for log in logs]

    finite = [log for log in logs if log > -math.inf]
    low, high = -max(finite) - 50.0, -min(finite) + 50.0
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if math.fsum(row(middle)) < 1 else (low, middle)
    return row(high), high


def balanced_by_projections(
    kernel: NDArray[np.float64], cap: float, rounds: int = 30_000
) -> NDArray[np.float64]:
    """Return the doubly stochastic matrix below a cap that is nearest to a kernel.

    Dykstra's projections in relative entropy: rows, columns and the cap by turns, the cap with
    its correction. It needs no factors and no logarithms, and a kernel without tiny entries.
    """
    weights = kernel.copy()
    correction = np.ones_like(kernel)
    for _ in range(rounds):
        weights /= weights.sum(axis=1, keepdims=True)
        weights /= weights.sum(axis=0, keepdims=True)
        wanted = weights * correction
        weights = np.minimum(wanted, cap)
        correction = np.divide(wanted, weights, out=np.ones_like(wanted), where=weights > 0)
    return weights
