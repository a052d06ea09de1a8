"""Donor probabilities of all records, and the probabilities of values that follow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods

if TYPE_CHECKING:
    from rwn_core.laws.donor_lists import Listed

Column = tuple[NDArray[np.int64], NDArray[np.float64]]


class DonorChances:
    """P(record m is the donor of a modified cell of record i), for all i and m.

    Of a small table they are a matrix. Of a large one members are counted, block of records by
    block, and the matrix is made only for who asks for it.

    Parameters
    ----------
    neighborhoods : Neighborhoods
        Every member is as likely.
    shares : sparse array of float64, shape (n, n), optional
        The chances themselves, where they are not.
    """

    def __init__(
        self, neighborhoods: Neighborhoods, shares: sparse.csr_array | None = None
    ) -> None:
        if neighborhoods.shares is not None:
            shares = neighborhoods.probabilities()
        self._neighborhoods, self._shares = neighborhoods, shares

    def _check(self) -> None:
        if self._neighborhoods.table.numbers is not None:
            raise NotApplicable("This needs the law of every record, not of some of the file.")

    @property
    def few(self) -> bool:
        """True if the table is small: the matrix needs no compiled code."""
        return self._neighborhoods.n <= LARGEST_DENSE

    @property
    def matrix(self) -> sparse.csr_array:
        """The chances, row i those of the donors of record i."""
        self._check()
        return self._probabilities if self._shares is None else self._shares

    @cached_property
    def _probabilities(self) -> sparse.csr_array:
        return self._neighborhoods.probabilities()

    @property
    def lists(self) -> Listed:
        """The possible donors of every record, block by block."""
        self._check()
        return self._listed

    @cached_property
    def _listed(self) -> Listed:
        from rwn_core.laws.donor_lists import Listed

        return Listed(self._neighborhoods, self._shares)

    def table(self, codes: NDArray[np.int64], q: float) -> sparse.csr_array:
        """(1 - q) [v = own] + q P(the donor has v), for values numbered from 0, shape (n, V)."""
        if not self.few:
            from rwn_core.laws.value_probabilities import value_table

            return value_table(self.lists, codes, q)
        own = _one_hot(codes)
        return sparse.csr_array((1 - q) * own + q * (self.matrix @ own))

    def received(self, people: NDArray[np.int64]) -> sparse.csc_array:
        """P(each of some people is the donor of each record), shape (n, people)."""
        if not self.few:
            from rwn_core.laws.value_probabilities import received_from

            return received_from(self.lists, people)
        if len(people) == self._neighborhoods.n and np.array_equal(people, np.arange(len(people))):
            return sparse.csc_array(self.matrix)
        return sparse.csc_array(sparse.csc_array(self.matrix)[:, people])

    def own_value_chance(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """P(the donor has the record's own value), for each of several variables, shape (u, n)."""
        if not self.few:
            from rwn_core.laws.value_probabilities import own_value_chances

            return own_value_chances(self.lists, codes)
        rows = np.arange(self._neighborhoods.n)
        shares = [np.asarray((self.matrix @ _one_hot(own))[rows, own]).ravel() for own in codes]
        return np.array(shares)

    def columns(
        self, codes: Sequence[NDArray[np.int64]], q: Sequence[float], enough: float
    ) -> list[Column]:
        """Return the support size and mean probability of each value, shape (V,)."""
        from rwn_core.laws.value_probabilities import value_columns

        return value_columns(self.lists, codes, q, enough)


def _one_hot(codes: NDArray[np.int64]) -> sparse.csr_array:
    n = len(codes)
    return sparse.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, codes.max() + 1))
