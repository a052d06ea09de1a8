"""What the law of a row's cells offers, whether values come from donors or from chance alone."""

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
        """Who may give a cell its value; None where values have no donors."""

    @property
    def empty(self) -> NDArray[np.int64]:
        """The records that lose the values that they should modify."""

    @property
    def probabilities(self) -> sparse.csr_array:
        """Row i holds each record's probability to be the donor of record i, shape (n, n).

        Raises
        ------
        NotApplicable
            Values have no donors.
        """

    def units(self) -> list[tuple[str, ...]]:
        """The variables whose values are drawn together."""

    def keeps_value_counts(self, name: str) -> bool:
        """Whether a release has as many of each value of a variable as the original, for sure."""

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
        """How likely people are to release the values of some rows, shape (m, people.n).

        Up to a factor of each row: a density where values are continuous. People are the
        original's records, or others with values that were never rounded.

        Raises
        ------
        NotApplicable
            It depends on more than a person's own values.
        """

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
