"""Probabilistic linkage (Fellegi and Sunter 1969): weights of agreeing variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 200
_EDGE = 1e-6  # probabilities stay off 0 and 1, where a weight would be infinite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Fellegi-Sunter parameters.

    Attributes
    ----------
    matched, unmatched : ndarray of float64, shape (v,)
        m and u: probability that a variable agrees for a match, and for another pair.
    share : float
        Share of pairs that match.
    """

    matched: NDArray[np.float64]
    unmatched: NDArray[np.float64]
    share: float

    @property
    def agree(self) -> NDArray[np.float64]:
        """log2(m / u) of each variable."""
        return np.log2(self.matched / self.unmatched)

    @property
    def disagree(self) -> NDArray[np.float64]:
        """log2((1 - m) / (1 - u)) of each variable."""
        return np.log2((1 - self.matched) / (1 - self.unmatched))

    def total(self, agreement: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weight of agreement patterns, shape (..., v) to (...)."""
        return np.asarray(np.where(agreement, self.agree, self.disagree).sum(axis=-1))


def fit(patterns: NDArray[np.bool_], counts: NDArray[np.float64], share: float) -> Weights:
    """Estimate the weights by EM (Jaro 1989) from the number of pairs of each agreement pattern."""
    # the share of matches is known: one in each row
    agrees = patterns.astype(np.float64)
    total = counts.sum()
    unmatched = np.clip(counts @ agrees / total, _EDGE, 1 - _EDGE)
    matched = np.clip(np.maximum(0.9, 1 - (1 - unmatched) / 2), _EDGE, 1 - _EDGE)
    for _ in range(STEPS):
        one = share * _likelihood(agrees, matched)
        two = (1 - share) * _likelihood(agrees, unmatched)
        belong = one / (one + two)
        weight = counts * belong
        new = np.clip(weight @ agrees / max(weight.sum(), 1e-300), _EDGE, 1 - _EDGE)
        rest = counts * (1 - belong)
        unmatched = np.clip(rest @ agrees / max(rest.sum(), 1e-300), _EDGE, 1 - _EDGE)
        moved = float(np.abs(new - matched).max())
        matched = new
        if moved < 1e-10:
            break
    return Weights(matched=matched, unmatched=unmatched, share=share)


def _likelihood(agrees: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = agrees @ np.log(chance) + (1 - agrees) @ np.log1p(-chance)
    return np.exp(np.maximum(logs, -600))
