"""Exact law of methods with donors: the probability of every released value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, codes_together, joint_codes, value_codes
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable
from rwn_core.laws.donor_lists import Column, DonorTables
from rwn_core.laws.moments import Moments
from rwn_core.laws.unit_law import FROM_DONORS, UNMASKED, Privacy, Unit
from rwn_core.neighbors import Neighborhoods
from rwn_core.neighbors.rule import EnlargedNeighborhoods, NeighborhoodRule

CellsT = TypeVar("CellsT", covariant=True)


class MixtureComponent(NamedTuple, Generic[CellsT]):
    """One way in which a row may come about, in which its cells are independent."""

    weight: float  # the probability that a row comes about in this way
    # The law of such a row's cells. A record without neighbors loses those that it modifies.
    cells: CellsT


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A later slice drawn by prediction: from what, and what of slopes is kept."""

    names: tuple[str, ...]  # its variables
    regressors: tuple[str, ...]  # the variables that predict it
    terms: tuple[str, ...]  # products and squares of them
    later: int
    records: int
    columns: int  # coordinates of regressors and terms
    # about the share of their size that slopes keep, along the first axis; NaN: nothing predicts
    kept: float


class LawOfRows:
    """The answers common to all laws: what a law lacks is None, empty or refused."""

    original: Microdata
    neighborhoods: Neighborhoods | None = None
    donors: DonorTables | None = None
    # by variable: donors that depend on what the rows show before; see `ChainLaw`
    later: Mapping[str, DonorTables] = MappingProxyType({})
    predicted: tuple[
        Predicted, ...
    ] = ()  # of later slices that are drawn by prediction: what is said
    tied: Any = None  # a law of tied slices: itself

    def components(self) -> tuple[MixtureComponent[Any], ...]:
        """This law alone: all cells, or units, are independent."""
        return (MixtureComponent(1.0, self),)

    @property
    def empty(self) -> Integers:
        """The records that lose their values: none."""
        return np.empty(0, dtype=np.int64)

    def drawn_by(self, names: Unit) -> Hashable:
        """Return what decides where own values of one unit appear; None where it is not known."""
        return None

    @property
    def independent(self) -> CellLaw:
        """Itself, if it draws each cell from donors and independently of the others."""
        raise NotApplicable("This is for a method that copies values from donors.")

    @property
    def source(self) -> CellLaw:
        """The law of what tells from which record a row comes: all of it."""
        return self.independent

    def telling(self, names: Sequence[str] | None = None) -> list[Unit]:
        """Return the units, or parts known of them, that tell from which record a row comes."""
        units: list[Unit] = self.units()  # type: ignore[attr-defined]  # of each law
        if names is None:
            return units
        chosen = set(names)
        return [each for unit in units if (each := tuple(filter(chosen.__contains__, unit)))]

    def logs(
        self, units: list[Unit], masked: Microdata, rows: Integers, people: Microdata | None = None
    ) -> Floats:
        """Return log P(each record, or person, releases the rows' values of some units), (m, n)."""
        # up to a number a row
        logs = np.zeros((len(rows), (people or self.original).n))
        with np.errstate(divide="ignore"):
            for unit in units:
                logs += np.log(self.unit_chances(unit, masked, rows, people))  # type: ignore[attr-defined]
        return logs

    @property
    def probabilities(self) -> sparse.csr_array:
        """The donor probabilities of each record, shape (n, n)."""
        return self.independent.probabilities

    def outside(self, people: Microdata) -> tuple[sparse.csr_array, EnlargedNeighborhoods]:
        """Return the donor probabilities of people outside, and the neighborhoods they join."""
        return self.independent.outside(people)


class CellLaw(LawOfRows):
    """The law of randomization within neighborhoods, given the original table.

    P(released value of cell (i, j) is v) = (1 - q_j) [v = w_ij] + q_j c_ij(v) / |S_i|, where
    c_ij(v) counts the members of S_i with value v of variable j. Cells are independent, and no
    neighborhood is empty. Where donors are not equally likely (a fresh sample of records for each
    record, say), row i of `shares`, shape (n, n), holds the probability that each other record is
    the donor of a modified cell of record i, in place of 1/|S_i|. Without `rule`, which says how
    the neighborhoods were found, none can be found for other people.
    See Perry, Matloff, Tendick 2022, section 5.
    """

    neighborhoods: Neighborhoods
    donors: DonorTables

    def __init__(
        self,
        original: Microdata,
        neighborhoods: Neighborhoods,
        q: Floats,
        shares: sparse.csr_array | None = None,
        rule: NeighborhoodRule | None = None,
    ) -> None:
        self.original = original
        self.neighborhoods = neighborhoods
        self.q = q
        self.precision: Mapping[str, float] = {}  # steps that released values are rounded to
        self._tables: dict[str, tuple[sparse.csr_array, list[Any]]] = {}
        self.donors = DonorTables(neighborhoods, shares)
        self._rule, self._unrounded = rule, original

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release after its values are rounded."""
        if not precision:
            return self
        other = copy(self)
        other.original = rounded(self.original, precision)
        other.precision = {**self.precision, **precision}
        other._tables = {}  # the donors do not depend on how values are written
        return other

    @property
    def rule(self) -> NeighborhoodRule:
        """The rule that found the neighborhoods of the release."""
        if self._rule is None:
            raise NotApplicable("This needs the rule by which the neighborhoods were found.")
        return self._rule

    def outside(self, people: Microdata) -> tuple[sparse.csr_array, EnlargedNeighborhoods]:
        """Return donor probabilities of people outside, shape (people.n, n), and their joins."""
        shares = self.rule.shares(people, self._unrounded)
        return shares, self.rule.joins(people, self._unrounded, self.neighborhoods)

    def with_people(self, people: Microdata) -> CellLaw:
        """Return the law of the file with people added; distances keep the scale without them."""
        self.rule.refuse_outsiders()
        frames = (self._unrounded.frame, people.frame[list(self._unrounded.names)])
        both = Microdata(pd.concat(frames, ignore_index=True), self._unrounded.schema)
        return CellLaw(both, self.rule.find(both), self.q, rule=self.rule).rounded(self.precision)

    def restricted_to(self, original: Microdata) -> Self:
        """Return the law for an intruder who knows only these variables."""
        other = copy(self)
        other.original = original
        other.q = np.array([self.modification(v.name) for v in original.schema.released])
        other._rule = self.rule.restricted_to(original.names)
        other._tables = {}
        knows_the_distance = len(other.rule.metric.axes) == len(self.rule.metric.axes)
        every_record = self.neighborhoods.table.numbers is None
        if not (knows_the_distance and every_record and self.rule.scheme.exact):
            other.neighborhoods = other.rule.find(self._unrounded)
            other.donors = DonorTables(other.neighborhoods, None)
        return other

    @property
    def empty(self) -> Integers:
        """The records without neighbors; their modified cells become missing."""
        return np.flatnonzero(self.donors.neighborhoods.sizes == 0)

    @property
    def independent(self) -> CellLaw:
        """Itself, unless a row comes about in one of several ways."""
        if len(self.components()) > 1:
            raise NotApplicable("This is for a method that draws each cell independently.")
        return self

    @property
    def probabilities(self) -> sparse.csr_array:
        """Row i holds each member's probability to be the donor, shape (n, n), sparse."""
        return self.donors.matrix.copy()  # scipy sorts some in place, and ranks would be lost

    def privacy(self) -> dict[Unit, Privacy]:
        """None at all: donors limit what a record may release."""
        moved = [(unit, self.modification(unit[0]) > 0) for unit in self.units()]
        return {unit: FROM_DONORS if moves else UNMASKED for unit, moves in moved}

    def keeps_value_counts(self, name: str) -> bool:
        """True if no record modifies it; donors may give a value to many."""
        return self.modification(name) == 0

    def modification(self, name: str) -> float:
        """The modification probability q of one variable."""
        for variable, q in zip(self.original.schema.released, self.q, strict=True):
            if variable.name == name:
                return float(q)
        raise ValueError(f"{name} is not in a release.")

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """The law of one variable, shape (n, V)."""
        if name not in self._tables:
            codes, values = value_codes(self.original, name)
            table = self.unit_donors(name).table(codes, self.modification(name))
            self._tables[name] = (table, values)
        return self._tables[name]

    def unit_donors(self, name: str) -> DonorTables:
        """The donors of one variable; in a later slice of a chain given what the rows show."""
        return self.later.get(name, self.donors)

    def supports(self, names: Sequence[str], enough: float = np.inf) -> list[Column]:
        """Return the support size and mean probability of each value of some variables."""
        codes = [value_codes(self.original, name)[0] for name in names]
        return self.donors.columns(codes, [self.modification(name) for name in names], enough)

    def moments(self) -> Moments | None:
        """None: neighborhoods decide; see `Law.moments`."""
        return None

    def retained(self, *names: str) -> Floats:
        """P(the released values of these variables equal the original's), shape (n,)."""
        return np.asarray(self.retained_each([names])[0])

    def retained_each(self, units: Sequence[Unit]) -> Floats:
        """`retained` of several units at once, shape (units, n)."""
        q = np.array([[self.modification(names[0])] for names in units])
        same = self.donors.own_value_chance([joint_codes(self.original, names) for names in units])
        return np.asarray((1 - q) + q * same)

    def units(self) -> list[Unit]:
        """The released variables that share a donor, as tuples of names; most stand alone."""
        units: dict[object, list[str]] = {}
        for variable in self.original.schema.released:
            unit = variable.name if variable.group is None else ("group", variable.group)
            units.setdefault(unit, []).append(variable.name)
        return list(map(tuple, units.values()))

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""
        return np.asarray(np.prod(self.retained_each(self.units()), axis=0))

    def likelihood_columns(
        self, names: Unit, masked: Microdata, rows: Integers
    ) -> tuple[sparse.csc_array, Integers]:
        """The law of one unit, and which of its columns holds each released record's values."""
        codes, columns = codes_together(self.original, masked, names, rows)
        table = self.unit_donors(names[0]).table(codes, self.modification(names[0]))
        return sparse.csc_array(table), columns

    def drawn_by(self, names: Unit) -> Hashable:
        """Return what decides where the own values of one unit appear, if nobody shares them."""
        if int(joint_codes(self.original, names).max()) + 1 < self.original.n:
            return None
        return self.unit_donors(names[0]), self.modification(names[0])

    def unit_chances(
        self, names: Unit, masked: Microdata, rows: Integers, people: Microdata | None = None
    ) -> Floats:
        """Return the likelihood of the rows' values for each record, up to a factor a row."""
        if people is not None:
            raise NotApplicable("Whose values people outside release depends on their neighbors.")
        table, columns = self.likelihood_columns(names, masked, rows)
        chances = table[:, np.maximum(columns, 0)].toarray().T
        return np.where(columns[:, np.newaxis] >= 0, chances, 0.0)
