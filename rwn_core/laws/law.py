"""The protocol of every method's law, as measures and attacks read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.laws.donor_lists import Column, DonorTables
from rwn_core.laws.moments import Moments
from rwn_core.laws.privacy import Privacy
from rwn_core.neighbors import Neighborhoods


class Law(Protocol):
    """The exact law of a release, given the original; rows are independent of each other.

    A row comes about in one of a few ways, its components. Within each its cells are independent,
    except those of one unit, which share a donor.
    """

    @property
    def original(self) -> Microdata:
        """The n original records, in the values that a release writes."""

    @property
    def precision(self) -> Mapping[str, float]:
        """The step of each rounded variable, in its own unit."""

    @property
    def q(self) -> Floats:
        """The modification probability of each released variable, shape (p,)."""

    @property
    def neighborhoods(self) -> Neighborhoods | None:
        """The possible donors of each record; None for a method that has no neighborhoods."""

    @property
    def probabilities(self) -> sparse.csr_array:
        """Row i holds each record's probability to be the donor of record i, shape (n, n)."""

    def components(self) -> Sequence[MixtureComponent]:
        """The ways in which a row may come about; their weights sum to 1."""

    def rounded(self, precision: Mapping[str, float]) -> Law:
        """The law of the release after its values are rounded, by variable and step."""

    def restricted_to(self, original: Microdata) -> Law:
        """Return the law for an intruder who knows only these variables."""

    def units(self) -> list[tuple[str, ...]]:
        """The released variables that share a donor, as tuples of names; most stand alone."""

    def privacy(self) -> dict[tuple[str, ...], Privacy]:
        """Return each unit's differential-privacy parameters for one record."""

    def moments(self) -> Moments | None:
        """Mean and spread of all released numbers; None where neighborhoods decide."""

    def keeps_value_counts(self, name: str) -> bool:
        """True if every release has as many of each value of a variable as the original."""

    def modification(self, name: str) -> float:
        """The modification probability of one variable."""

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value is released for each record), shape (n, V), and the values."""

    def supports(self, names: Sequence[str], enough: float = np.inf) -> list[Column]:
        """Return the support size and mean probability of each value of some variables."""

    def likelihood_columns(
        self, names: tuple[str, ...], masked: Microdata, rows: Integers
    ) -> tuple[sparse.csc_array, Integers]:
        """The law of one unit, shape (n, V), and which column has each row's values."""

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""

    @property
    def donors(self) -> DonorTables | None:
        """The donor probabilities; None if values have no donors."""

    @property
    def empty(self) -> Integers:
        """The records that lose the values that they should modify."""

    def unit_chances(
        self,
        names: tuple[str, ...],
        masked: Microdata,
        rows: Integers,
        people: Microdata | None = None,
    ) -> Floats:
        """Return the likelihood of some rows' values for each person, shape (m, people.n)."""

    def retained(self, *names: str) -> Floats:
        """P(the released values of one unit's variables equal the original's), shape (n,)."""


class MixtureComponent(NamedTuple):
    """One way in which a row may come about, in which its cells are independent."""

    weight: float  # the probability that a row comes about in this way
    # The law of such a row's cells. A record without neighbors loses those that it modifies.
    cells: Law
