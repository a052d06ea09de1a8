"""What a method may do to each cell: the exact probability of every released value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.variable import Kind
from rwn_core.mechanism.donor_probabilities import Column, DonorChances
from rwn_core.neighbors import Neighborhoods


class CellLaw:
    """The law of randomization within neighborhoods, given the original table.

    P(released value of cell (i, j) is v) = (1 - q_j) [v = w_ij] + q_j c_ij(v) / |S_i|, where
    c_ij(v) counts the members of S_i whose value of variable j is v. Cells are independent.

    Parameters
    ----------
    original : Microdata
        n records.
    neighborhoods : Neighborhoods
        None of them empty.
    q : ndarray of float64, shape (p,)
        Modification probability of each released variable.
    shares : sparse array of float64, shape (n, n), optional
        Row i holds the probability that each other record is the donor of a modified cell of
        record i, for a method whose donors are not equally likely (a fresh sample of records for
        each record, say); 1/|S_i| each when left out. Rows sum to 1.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5.
    """

    def __init__(
        self,
        original: Microdata,
        neighborhoods: Neighborhoods,
        q: NDArray[np.float64],
        shares: sparse.csr_array | None = None,
    ) -> None:
        self.original = original
        self.neighborhoods = neighborhoods
        self.q = q
        self.precision: Mapping[str, float] = {}  # steps that released values are rounded to
        self._tables: dict[str, tuple[sparse.csr_array, list[Any]]] = {}
        self.donors = DonorChances(neighborhoods, shares)

    def rounded(self, precision: Mapping[str, float]) -> CellLaw:
        """The law of the release after its values are rounded.

        Parameters
        ----------
        precision : mapping of str to float
            For each rounded variable the step, in its own unit, that released values are
            multiples of.

        Returns
        -------
        CellLaw
            Exactly that of rounded values: donors and neighborhoods stay as they are, and two
            donors whose values round alike give one value.
        """
        if not precision:
            return self
        other = copy(self)
        other.original = rounded(self.original, precision)
        other.precision = {**self.precision, **precision}
        other._tables = {}  # the donors do not depend on how values are written
        return other

    def independent(self, q: NDArray[np.float64]) -> CellLaw:
        """The law of independent cells with the same donors and another q, shape (p,)."""
        other = CellLaw(self.original, self.neighborhoods, q)
        other.donors = self.donors
        return other

    @property
    def members(self) -> sparse.csr_array:
        """Row i holds each member's probability to be the donor, shape (n, n), sparse."""
        return self.donors.matrix

    def modification(self, name: str) -> float:
        """The modification probability q of one variable."""
        names = [variable.name for variable in self.original.schema.released]
        return float(self.q[names.index(name)])

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """The law of one variable.

        Parameters
        ----------
        name : str

        Returns
        -------
        probabilities : sparse array, shape (n, V)
            Rows sum to 1.
        values : list, length V
            The values of the columns, missing as None in the last place.
        """
        if name not in self._tables:
            codes, values = value_codes(self.original, name)
            self._tables[name] = (self.donors.table(codes, self.modification(name)), values)
        return self._tables[name]

    def columns(self, names: Sequence[str], enough: float = np.inf) -> list[Column]:
        """What each value of some variables is to expect; without the law of a large table.

        Parameters
        ----------
        names : sequence of str
        enough : float
            A large table's variable may be left alone once supports @ chances is this much: from
            there on both may be too small.

        Returns
        -------
        list of (supports, chances)
            Of each variable and value in turn: how many records may release it, and the
            probability that a random record does; both shape (V,).
        """
        if self.donors.few:
            return [_column(self.table(name)[0]) for name in names]
        codes = [value_codes(self.original, name)[0] for name in names]
        return self.donors.columns(codes, [self.modification(name) for name in names], enough)

    def probability(self, record: int, name: str, value: Any) -> float:
        """P(released value of this record's variable is `value`); missing is None."""
        table, values = self.table(name)
        for place, known in enumerate(values):
            if known == value:
                return float(table[record, place])
        return 0.0

    def exact_probability(self, record: int, name: str, value: Any) -> Fraction:
        """`probability` as an exact fraction, for a q that is a short decimal."""
        codes, values = value_codes(self.original, name)
        if value not in values:
            return Fraction(0)
        code = values.index(value)
        q = Fraction(str(self.modification(name)))
        members = self.neighborhoods.members(record)
        matches = int((codes[members] == code).sum())
        return (1 - q) * int(codes[record] == code) + q * Fraction(matches, max(len(members), 1))

    def kept(self, *names: str) -> NDArray[np.float64]:
        """P(the released values of these variables equal the original's), shape (n,).

        Several variables must be those of one group, which share a donor.
        """
        return np.asarray(self._kept([names])[0])

    def _kept(self, units: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        """`kept` of several units at once, shape (units, n)."""
        q = np.array([[self.modification(names[0])] for names in units])
        alike = self.donors.alike([_joint_codes(self.original, names) for names in units])
        return np.asarray((1 - q) + q * alike)

    def units(self) -> list[tuple[str, ...]]:
        """The released variables that share a donor, as tuples of names; most stand alone."""
        units: dict[object, list[str]] = {}
        for variable in self.original.schema.released:
            unit = variable.name if variable.group is None else ("group", variable.group)
            units.setdefault(unit, []).append(variable.name)
        return [tuple(names) for names in units.values()]

    def rows_intact(self) -> NDArray[np.float64]:
        """P(no value of a record changes), shape (n,)."""
        return np.asarray(np.prod(self._kept(self.units()), axis=0))

    def likelihood_columns(
        self, names: tuple[str, ...], masked: Microdata, rows: NDArray[np.int64]
    ) -> tuple[sparse.csc_array, NDArray[np.int64]]:
        """The law of one unit, and which of its columns holds each released record's values.

        Parameters
        ----------
        names : tuple of str
            One of `units`.
        masked : Microdata
        rows : ndarray of int64, shape (m,)

        Returns
        -------
        probabilities : sparse array, shape (n, V)
        columns : ndarray of int64, shape (m,)
            -1 where the original has no such values.
        """
        codes, columns = self.unit_codes(names, masked, rows)
        return sparse.csc_array(self.donors.table(codes, self.modification(names[0]))), columns

    def unit_codes(
        self, names: tuple[str, ...], masked: Microdata, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The values of one unit as numbers from 0 to V - 1.

        Parameters
        ----------
        names : tuple of str
            One of `units`.
        masked : Microdata
        rows : ndarray of int64, shape (m,)

        Returns
        -------
        own : ndarray of int64, shape (n,)
            Of the original records.
        released : ndarray of int64, shape (m,)
            Of these rows of the masked table; -1 where the original has no such values.
        """
        if len(names) == 1:
            codes, _ = value_codes(self.original, names[0])
            columns = _codes_like(self.original, masked, names[0])[rows]
            return codes, np.where(columns <= codes.max(), columns, -1)
        own = np.column_stack([value_codes(self.original, name)[0] for name in names])
        released = np.column_stack([_codes_like(self.original, masked, name) for name in names])
        _, codes = np.unique(np.concatenate((own, released[rows])), axis=0, return_inverse=True)
        codes = codes.ravel()
        present = np.full(codes.max() + 1, -1, dtype=np.int64)
        found, inverse = np.unique(codes[: len(own)], return_inverse=True)
        present[found] = np.arange(len(found))
        return inverse.astype(np.int64), present[codes[len(own) :]]

    def donor_load(self, name: str) -> NDArray[np.float64]:
        """Expected number of records that release each record's value of a variable, shape (n,).

        Its sum is n; a release's expected mean weighs the original's values with load / n.
        """
        q = self.modification(name)
        return (1 - q) + q * self.donors.received


def _column(table: sparse.csr_array) -> Column:
    supports = np.asarray((table > 0).sum(axis=0), dtype=np.int64).ravel()
    return supports, np.asarray(table.sum(axis=0)).ravel() / table.shape[0]


def value_codes(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Level numbers of any kind of variable; missing, where it occurs, is the last level."""
    return microdata.once(("value codes", name), lambda: _number_values(microdata, name))


def _number_values(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    if microdata.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        level_codes, levels = microdata.codes(name)
        values: list[Any] = list(levels)
        codes = level_codes.astype(np.int64)
    else:
        numbers = microdata.values(name)
        found, inverse = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
        codes = np.full(len(numbers), -1, dtype=np.int64)
        codes[~np.isnan(numbers)] = inverse
        values = found.tolist()
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        values.append(None)
    return codes, values


def _codes_like(original: Microdata, masked: Microdata, name: str) -> NDArray[np.int64]:
    """The masked values as level numbers of the original's; -1 for a value it does not have."""
    _, values = value_codes(original, name)
    missing = len(values) - 1 if values[-1] is None else -1
    known = values[:-1] if values[-1] is None else values
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        codes, _ = masked.codes(name, known)
        lost = masked.frame[name].isna().to_numpy()
        return np.where(lost, missing, codes).astype(np.int64)
    numbers = masked.values(name)
    places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    same = np.asarray(known)[places] == numbers
    return np.where(np.isnan(numbers), missing, np.where(same, places, -1)).astype(np.int64)


def _joint_codes(microdata: Microdata, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Level numbers of the values that several variables take together."""
    together = np.column_stack([value_codes(microdata, name)[0] for name in names])
    _, codes = np.unique(together, axis=0, return_inverse=True)
    return codes.ravel().astype(np.int64)
