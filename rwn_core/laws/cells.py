"""The law of cells that are independent of each other, with donors or without."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donor_probabilities import DonorChances


class Cells(Protocol):
    """The law of cells that are independent of each other, but for those of one unit."""

    @property
    def original(self) -> Microdata:
        """The n original records, in the values that a release writes."""

    @property
    def donors(self) -> DonorChances | None:
        """The donor probabilities; None if values have no donors."""

    @property
    def empty(self) -> NDArray[np.int64]:
        """The records that lose the values that they should modify."""

    @property
    def probabilities(self) -> sparse.csr_array:
        """Row i holds each record's probability to be the donor of record i, shape (n, n)."""

    def units(self) -> list[tuple[str, ...]]:
        """Return the units: variables drawn together."""

    def keeps_value_counts(self, name: str) -> bool:
        """True if every release has as many of each value of a variable as the original."""

    def modification(self, name: str) -> float:
        """The modification probability of one variable."""

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value is released for each record), shape (n, V), and the values."""

    def unit_codes(
        self, names: tuple[str, ...], masked: Microdata, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The values of one unit as numbers: the originals', and some rows' (-1 if unknown)."""

    def unit_chances(
        self,
        names: tuple[str, ...],
        masked: Microdata,
        rows: NDArray[np.int64],
        people: Microdata | None = None,
    ) -> NDArray[np.float64]:
        """Return the likelihood of some rows' values for each person, shape (m, people.n)."""

    def likelihood_columns(
        self, names: tuple[str, ...], masked: Microdata, rows: NDArray[np.int64]
    ) -> tuple[sparse.csc_array, NDArray[np.int64]]:
        """The law of one unit, shape (n, V), and which column has each row's values."""

    def kept(self, *names: str) -> NDArray[np.float64]:
        """P(the released values of one unit's variables equal the original's), shape (n,)."""


class MixtureComponent(NamedTuple):
    """One way in which a row may come about, in which its cells are independent.

    Attributes
    ----------
    weight : float
        The probability that a row comes about in this way.
    cells : Cells
        The law of such a row's cells. A record without neighbors loses those that it modifies.
    """

    weight: float
    cells: Cells
