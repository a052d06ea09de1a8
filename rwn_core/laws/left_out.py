"""Rows as they would be if one person were not in the file, under the law of the release.

The person's own rows are gone, and each row that shows values of the person shows another donor of
its neighborhood instead: by the same weights, given the same class of a tie, near to the same
earlier slices of a chain. All other rows stay the same. So people outside a file are attacked in
the very release, and what they and people inside differ by is what the person's values did.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from rwn_core.data.arrays import Booleans, Integers
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.errors import NotApplicable
from rwn_core.laws.donor_lists import lists_of
from rwn_core.laws.law import Law
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors.table import ranges
from rwn_core.parallel.threads import current_work

if TYPE_CHECKING:
    from rwn_core.laws.tied_law import TiedLaw
    from rwn_core.laws.value_counts_kernel import WeightedRows

NO_DONOR = -1  # in place of a donor: a value that was kept, or no other donor to take
_SEED = 77


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsWithout:
    """The rows that differ without one of some people.

    Attributes
    ----------
    person, row : ndarray of int64, shape (c,)
        The place of the person among those asked for, and the released row that shows values of
        this person, or is the person's own.
    again : ndarray of int64, shape (c,)
        Which record of `table` stands for the row; -1 if none does.
    table : Microdata
        All released rows, and after them those that are drawn again, m of them.
    owner, like : ndarray of int64, shape (m,)
        The place of the person that each one is for, and the released row with the donors of
        its later slices.
    """

    person: Integers
    row: Integers
    again: Integers
    table: Microdata
    owner: Integers
    like: Integers


def rows_without(
    law: Law, masked: Microdata, people: Integers, units: Integers | None = None, seed: int = _SEED
) -> RowsWithout:
    """Return the released rows that would differ without each of some people.

    Parameters
    ----------
    law : Law
        Of the release, which is row-aligned with the original.
    masked : Microdata
    people : ndarray of int64, shape (m,)
        Records of the original.
    units : ndarray of int64, shape (n,), optional
        The number of each record's person: all rows of one leave together.
    seed : int
        Of the rows that are drawn again.

    Returns
    -------
    RowsWithout

    Raises
    ------
    NotApplicable
        Rows are not aligned, or the law does not tell the donors of every record.
    """
    n = law.original.n
    if masked.n != n:
        raise NotApplicable("Some rows were dropped, so that no row stands for a person.")
    own = np.arange(n) if units is None else units
    draw = np.random.default_rng(seed)
    drawn = _Drawn.of(law, masked, own, draw)
    # of each unit the places of its people among those asked
    order = np.argsort(own[people], kind="stable")
    starts = np.searchsorted(own[people[order]], np.arange(int(own.max()) + 2))
    sizes = np.diff(starts)
    # the unit and the row: each row's own, and those whose values it shows
    slices, rows = np.nonzero(drawn.donors >= 0)
    unit = np.concatenate((own, own[drawn.donors[slices, rows]]))
    person = order[ranges(starts[unit], sizes[unit])]
    row_of = np.repeat(np.concatenate((np.arange(n), rows)), sizes[unit])
    person, row = np.divmod(np.unique(person * n + row_of), n)
    again = np.flatnonzero(own[people[person]] != own[row])
    places, like = drawn.again(own[people[person[again]]], row[again], draw)
    stands = np.flatnonzero((places >= -n).all(axis=1))
    number = np.full(len(person), NO_DONOR)
    number[again[stands]] = n + np.arange(len(stands))
    return RowsWithout(
        person=person,
        row=row,
        again=number,
        table=drawn.written(places[stands], row[again[stands]]),
        owner=person[again[stands]],
        like=like[stands],
    )


def for_rows(law: Law, like: Integers) -> Law:
    """Return a law for rows of which each has the later donors of a released row."""
    # Shapes: like (m,).
    if not law.later:
        return law
    other = copy(law)
    later: Any = {name: DonorsOfRows(donors.matrix, like) for name, donors in law.later.items()}
    other.later = later
    return other


class DonorsOfRows(NamedTuple):
    """The donors of a later slice for other rows: each has those of a released row."""

    matrix: sparse.csr_array  # shape (released rows, n)
    rows: Integers  # shape (m,): the released row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawn:
    """The donors of a release by units, and others in their place."""

    law: Law
    masked: Microdata
    own: Integers  # shape (n,): the number of each record's person
    units: list[Unit]
    # shape (units, n) each: donor of each row, and the donor in place of this
    # person; NO_DONOR where a value was not drawn, or there is no other donor
    donors: Integers
    others: Integers

    @classmethod
    def of(cls, law: Law, masked: Microdata, own: Integers, draw: np.random.Generator) -> _Drawn:
        """Return the donors of a release, at random where several have the released values."""
        cells = next((part.cells for part in law.components() if part.cells.donors), None)
        kept = 1.0 - sum(part.weight for part in law.components() if part.cells is cells)
        units = [] if cells is None else [u for u in law.units() if cells.modification(u[0]) > 0]
        donors = np.full((len(units), law.original.n), NO_DONOR)
        others = donors.copy()
        if cells is None or not units:
            pass
        elif cells.tied is not None:
            donors, others = _tied(cells.tied, masked, units, own, draw)
        else:
            for place, unit in enumerate(units):
                matrix = cells.unit_donors(unit[0]).matrix
                q = cells.modification(unit[0]) * (1.0 - kept)
                codes, released = codes_together(law.original, masked, unit, np.arange(masked.n))
                donors[place], others[place] = _apart(matrix, q, codes, released, own, draw)
        return cls(law=law, masked=masked, own=own, units=units, donors=donors, others=others)

    def again(
        self, without: Integers, rows: Integers, draw: np.random.Generator
    ) -> tuple[Integers, Integers]:
        """Return what rows show without some people, and the rows that their chain is like."""
        # Shapes: without (c,), numbers of people; rows (c,). The answers: (c, units), the record
        # with the values of each unit, -1 - r for those of row r, less than -n for none; (c,).
        n = len(self.own)
        stays = np.repeat(-1 - rows[:, np.newaxis], len(self.units), axis=1)
        donors = self.donors[:, rows].T
        others = self.others[:, rows].T
        shows = (donors >= 0) & (self.own[np.maximum(donors, 0)] == without[:, np.newaxis])
        places = np.where(shows, np.where(others >= 0, others, -n - 1), stays)
        like = rows.copy()
        if not self.law.later:
            return places, like
        # without the first slice the row is another one: that of a row near to the same record
        first = [at for at, unit in enumerate(self.units) if unit[0] not in self.law.later]
        changed = np.flatnonzero(shows[:, first].any(axis=1))
        found = self._like_rows(without[changed], rows[changed], first[0], draw)
        places[changed] = np.where(found >= 0, -1 - found, -n - 1)[:, np.newaxis]
        like[changed] = np.maximum(found, 0)
        return places, like

    def _like_rows(
        self, without: Integers, rows: Integers, first: int, draw: np.random.Generator
    ) -> Integers:
        """Return whole rows in place of some, by the weights of their first slice's donors."""
        # Shapes: without, rows, the answer (c,), -1 for none.
        from rwn_core.laws.value_counts_kernel import Contents, pick_rows

        assert self.law.donors is not None  # a chain has donors
        weights = sparse.csr_array(self.law.donors.matrix)
        every = np.arange(self.masked.n)
        own, shown = codes_together(self.law.original, self.masked, self.units[first], every)
        # a content is shared out to the records that have it, and to the rows that show it
        count = np.bincount(shown[shown >= 0], minlength=int(own.max()) + 1)
        records = np.bincount(own, minlength=len(count))
        givers = np.where(self.donors >= 0, self.own[np.maximum(self.donors, 0)], NO_DONOR)
        contents = Contents(
            own=own.astype(np.int64),
            shown=shown.astype(np.int64),
            persons=self.own.astype(np.int64),
            givers=givers.astype(np.int64),
            chances=1.0 / (np.maximum(records, 1) * np.maximum(count, 1)),
        )
        found = np.full(len(rows), NO_DONOR)
        numbers = draw.random(len(rows))
        pick = partial(pick_rows, weighted_rows(weights), contents, without, rows, numbers, found)
        current_work().quiet().run(pick, len(rows))
        return found

    def written(self, places: Integers, rows: Integers) -> Microdata:
        """Return all released rows, and after them rows with the values of `again`."""
        # Shapes: places (m, units); rows (m,).
        if not len(rows):
            return self.masked
        place_of: dict[str, int] = {}
        for place, unit in enumerate(self.units):
            place_of |= dict.fromkeys(unit, place)
        columns: dict[str, Any] = {}
        for name in self.masked.names:
            at = places[:, place_of[name]] if name in place_of else -1 - rows
            record = np.maximum(at, 0)
            row = np.maximum(-1 - at, 0)
            own = self.law.original.array(name)
            shown = self.masked.array(name)
            if isinstance(shown, np.ndarray) and own.dtype == shown.dtype:
                columns[name] = np.concatenate((shown, np.where(at >= 0, own[record], shown[row])))
            else:
                values = _chosen(pd.Series(own)[record], pd.Series(shown)[row], at < 0)
                both = pd.concat((pd.Series(shown), pd.Series(values)), ignore_index=True)
                columns[name] = both.astype(shown.dtype)
        return Microdata.from_columns(columns, self.masked.schema)


def _chosen(own: pd.Series[Any], shown: pd.Series[Any], is_shown: Booleans) -> Any:
    """Return values of one column, or of another, as long, where these are chosen."""
    # Shapes: is_shown (m,), and the answer.
    both = pd.concat((own, shown), ignore_index=True)
    return both.iloc[np.arange(len(own)) + len(own) * is_shown].to_numpy()


def _apart(
    matrix: sparse.csr_array,
    q: float,
    codes: Integers,
    released: Integers,
    own: Integers,
    draw: np.random.Generator,
) -> tuple[Integers, Integers]:
    """Return each row's donor of one unit, and another one that is not of the same person."""
    # Shapes: matrix (n, n); codes, released, own, the answers (n,).
    from rwn_core.laws.value_counts_kernel import Compared, WeightedRows, pick_donors

    n = len(own)
    donors, others = np.empty(n, np.int64), np.empty(n, np.int64)
    lists = WeightedRows(matrix.indptr, matrix.indices, matrix.data)
    pick_donors(lists, Compared(codes, released, own), q, draw.random((3, n)), donors, others)
    return donors, others


def weighted_rows(matrix: sparse.csr_array) -> WeightedRows:
    """Return the rows of a matrix as kernels read them."""
    from rwn_core.laws.value_counts_kernel import WeightedRows

    starts = matrix.indptr.astype(np.int64)
    members = matrix.indices.astype(np.int32, copy=False)
    return WeightedRows(starts, members, matrix.data)


def _tied(
    law: TiedLaw, masked: Microdata, units: list[Unit], own: Integers, draw: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return the donors of tied slices given each row's class, and others given the same class."""
    # Shapes: own (n,); the answers (units, n).
    from rwn_core.laws.tie_kernel import ShownRows, draw_others

    if law.neighborhoods.table.numbers is not None:
        raise NotApplicable("This needs the law of every record, not of some of the file.")
    n = law.original.n
    every = np.arange(masked.n)
    tie = law.tie.of(law.fitted.places([unit[0] for unit in units]))
    coded = [codes_together(law.original, masked, unit, every) for unit in units]
    codes, released = (np.array(each, dtype=np.int64) for each in zip(*coded, strict=True))
    numbers = draw.random((1 + 2 * len(units), n))
    rows = ShownRows(codes, released, own.astype(np.int64))
    donors = np.full((len(units), n), NO_DONOR)
    others = np.full((len(units), n), NO_DONOR)
    for lists in lists_of(law.neighborhoods):
        work = partial(draw_others, lists, tie, rows, numbers, donors, others)
        current_work().quiet().run(work, len(lists.records))
    return donors, others
