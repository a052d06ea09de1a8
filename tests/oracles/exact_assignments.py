"""One row for each original: exact marginals of a tiny file by permanents, and scaled ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable

LARGEST_PERMANENT = 12


def permanent(matrix: NDArray[np.float64]) -> float:
    """The permanent of a small square matrix, by Ryser's formula with Gray codes."""
    n = len(matrix)
    if n > LARGEST_PERMANENT:
        raise NotApplicable(
            f"A permanent is computed for at most {LARGEST_PERMANENT} records, not {n}."
        )
    if n == 0:
        return 1.0
    total = 0.0
    sums = np.zeros(n)
    chosen = 0
    for step in range(1, 2**n):
        place = (step & -step).bit_length() - 1
        chosen ^= 1 << place
        sums = sums + (matrix[:, place] if chosen >> place & 1 else -matrix[:, place])
        sign = -1.0 if (n - chosen.bit_count()) % 2 else 1.0
        total += sign * float(np.prod(sums))
    return total


def exact_marginals(likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(row r comes from original i | all rows) exactly, from P(record i releases row r)."""
    n = len(likelihood)
    whole = permanent(likelihood)
    if whole <= 0:
        raise NotApplicable("No assignment of originals to these rows is possible.")
    rest = np.array(
        [
            [permanent(np.delete(np.delete(likelihood, row, 0), record, 1)) for record in range(n)]
            for row in range(n)
        ]
    )
    return np.asarray(likelihood * rest / whole)


def sinkhorn(
    likelihood: NDArray[np.float64], *, steps: int = 2000, tolerance: float = 1e-10
) -> NDArray[np.float64]:
    """Approximate marginals: rows and columns scaled by turns to sum 1 (Sinkhorn, Knopp 1967)."""
    belief = np.array(likelihood, dtype=np.float64)
    for _ in range(steps):
        belief = belief / _positive(belief.sum(axis=1, keepdims=True))
        belief = belief / _positive(belief.sum(axis=0, keepdims=True))
        if np.abs(belief.sum(axis=1) - 1).max(initial=0.0) < tolerance:
            break
    return np.asarray(belief)


def _positive(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(sums > 0, sums, 1.0)
