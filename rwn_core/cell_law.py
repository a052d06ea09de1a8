"""What a method may do to each cell: the exact probability of every released value."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import Neighborhoods
from rwn_core.rounding import rounded
from rwn_core.schema import Kind


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
        self._members = shares

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
        other._tables = {}
        other._members = self._members  # donors do not depend on how values are written
        return other

    @property
    def members(self) -> sparse.csr_array:
        """Row i holds each member's probability to be the donor, shape (n, n), sparse."""
        if self.neighborhoods.table.numbers is not None:
            raise NotApplicable("This needs the law of every record, not of some of the file.")
        if self._members is None:
            sizes = self.neighborhoods.sizes
            starts, records = self.neighborhoods.pairs()
            share = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
            n = self.neighborhoods.n
            self._members = sparse.csr_array((share, records, starts), shape=(n, n))
        return self._members

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
            codes, values = _value_codes(self.original, name)
            self._tables[name] = (self._law(codes, self.modification(name)), values)
        return self._tables[name]

    def _law(self, codes: NDArray[np.int64], q: float) -> sparse.csr_array:
        n = len(codes)
        own = sparse.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, codes.max() + 1))
        return sparse.csr_array((1 - q) * own + q * (self.members @ own))

    def probability(self, record: int, name: str, value: Any) -> float:
        """P(released value of this record's variable is `value`); missing is None."""
        table, values = self.table(name)
        for place, known in enumerate(values):
            if known == value:
                return float(table[record, place])
        return 0.0

    def exact_probability(self, record: int, name: str, value: Any) -> Fraction:
        """`probability` as an exact fraction, for a q that is a short decimal."""
        codes, values = _value_codes(self.original, name)
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
        codes = _joint_codes(self.original, names)
        table = self._law(codes, self.modification(names[0]))
        return np.asarray(table[np.arange(len(codes)), codes]).ravel()

    def units(self) -> list[tuple[str, ...]]:
        """The released variables that share a donor, as tuples of names; most stand alone."""
        units: dict[object, list[str]] = {}
        for variable in self.original.schema.released:
            unit = variable.name if variable.group is None else ("group", variable.group)
            units.setdefault(unit, []).append(variable.name)
        return [tuple(names) for names in units.values()]

    def rows_intact(self) -> NDArray[np.float64]:
        """P(no value of a record changes), shape (n,)."""
        kept = [self.kept(*names) for names in self.units()]
        return np.asarray(np.prod(kept, axis=0))

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
        return sparse.csc_array(self._law(codes, self.modification(names[0]))), columns

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
            codes, _ = _value_codes(self.original, names[0])
            columns = _codes_like(self.original, masked, names[0])[rows]
            return codes, np.where(columns <= codes.max(), columns, -1)
        own = np.column_stack([_value_codes(self.original, name)[0] for name in names])
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
        received = np.asarray(self.members.sum(axis=0)).ravel()
        return (1 - q) + q * received


class RowMixtureLaw(CellLaw):
    """The law of the 2015 method: a record is masked as a whole, or left as it is.

    With probability s all masked values of record i come from independent members of S_i, and
    become missing where S_i is empty; with probability 1 - s the record is kept. A whole record
    follows this mixture, not a product over its cells; `table` has the law of single cells.

    Parameters
    ----------
    original : Microdata
        n records.
    neighborhoods : Neighborhoods
        Some of them may be empty.
    masked : ndarray of bool, shape (p,)
        Which released variables are masked.
    row_share : float
        s, the probability that a record is selected; with a fixed count of selected records,
        that count divided by n (the dependence between records is no part of this law).

    References
    ----------
    Matloff and Tendick 2015, section "Proposed method".
    """

    def __init__(
        self,
        original: Microdata,
        neighborhoods: Neighborhoods,
        masked: NDArray[np.bool_],
        row_share: float,
    ) -> None:
        super().__init__(original, neighborhoods, np.where(masked, float(row_share), 0.0))
        self.row_share = float(row_share)

    @property
    def empty(self) -> NDArray[np.int64]:
        """The records without neighbors, whose masked values become missing."""
        return np.flatnonzero(self.neighborhoods.sizes == 0)

    def given(self, *, selected: bool) -> CellLaw:
        """The law of independent cells of a record that is selected, or of one that is not.

        A selected record without neighbors has probability 0 everywhere: it is `empty`.
        """
        q = np.where(self.q > 0, 1.0, 0.0) if selected else np.zeros(len(self.q))
        return CellLaw(self.original, self.neighborhoods, q, self.members)

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """The law of one variable, a lost value as None; see `CellLaw.table`."""
        if name not in self._tables:
            table, values = super().table(name)
            lost = self.empty if self.modification(name) else self.empty[:0]
            if lost.size:
                values = values if values[-1] is None else [*values, None]
                shape = (table.shape[0], len(values))
                places = (lost, np.full(len(lost), len(values) - 1))
                cells = (np.full(len(lost), self.modification(name)), places)
                table.resize(shape)
                self._tables[name] = (
                    sparse.csr_array(table + sparse.csr_array(cells, shape=shape)),
                    values,
                )
        return self._tables[name]

    def exact_probability(self, record: int, name: str, value: Any) -> Fraction:
        """`probability` as an exact fraction; the share is a count divided by n."""
        codes, values = _value_codes(self.original, name)
        share = Fraction(self.modification(name)).limit_denominator(10**6)
        code = values.index(value) if value in values else -1
        kept = (1 - share) * int(codes[record] == code)
        members = self.neighborhoods.members(record)
        if not len(members):
            return kept + share * int(value is None)
        return kept + share * Fraction(int((codes[members] == code).sum()), len(members))

    def rows_intact(self) -> NDArray[np.float64]:
        """P(no value of a record changes), shape (n,)."""
        selected = self.given(selected=True).rows_intact()
        return np.asarray((1 - self.row_share) + self.row_share * selected)


def _value_codes(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
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
    _, values = _value_codes(original, name)
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
    together = np.column_stack([_value_codes(microdata, name)[0] for name in names])
    _, codes = np.unique(together, axis=0, return_inverse=True)
    return codes.ravel().astype(np.int64)
