"""How likely each member of a neighborhood is to be the donor: its weight over their total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["even"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """Weigh the members of a neighborhood; the neighborhood itself decides who is a member.

    A weight depends on a member's rank and squared distance only. Everything that draws donors or
    computes with their probabilities reads them here.

    Attributes
    ----------
    shape : {"even"}
        Each member weighs 1.
    """

    shape: Shape = "even"

    def weights(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of members at these squared distances, nearest first, same shape."""
        return np.ones(squared.shape)

    def totals(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the total weight of the first `sizes` members, same shape; 1 where none is."""
        return np.maximum(sizes, 1.0)

    def mean(self, sums: Any, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Divide weighted sums over the first `sizes` members by their total weight."""
        return np.asarray(sums / self.totals(sizes))

    def rows(self, inside: NDArray[np.bool_], squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the donor probabilities of rows of candidates, those inside as members.

        Parameters
        ----------
        inside : ndarray of bool, shape (m, n)
        squared : ndarray of float64, shape (m, n)

        Returns
        -------
        ndarray of float64, shape (m, n)
            Rows sum to 1; rows without members hold zeros.
        """
        weights = np.where(inside, self.weights(squared), 0.0)
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(weights / np.where(total > 0, total, 1.0))


EVEN = Kernel()
