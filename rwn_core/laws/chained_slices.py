"""Later slices of a chain: their donors are near to where what a row shows places it.

Its law: only the first slice says from which record a row comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.cell_law import CellLaw, Predicted
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors.all_donors import balanced_both_ways
from rwn_core.neighbors.compressed_rows import Entries, KernelRows, Listed
from rwn_core.neighbors.distance import TIE, Points, squared_distances
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.soft_lists import grouped, joined, list_both_ways
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import in_parts
from rwn_core.randomness import SecretKey, uniforms

LISTED = 10  # times `later`: nearest records of a row, and rows of a record, in a larger table
LEAST_SCALE = 0.05  # of the median of the positive distances
REMAINDER = 1e-5  # times `later`, over n: added to each kernel, so that balance is reached
AT_ONCE = 50_000  # distances, which fit the cache of a processor
WEIGHTS, FEWER = "A balanced later slice", "mask fewer records together"
STEP = 3 * 2**30  # the block of random numbers that a later slice is drawn from


class Shown(NamedTuple):
    """A slice that the rows of a release show."""

    names: Unit
    contents: Integers  # shape (m,): the number of each record's values
    donors: Integers  # shape (n,): of each row


@dataclass(slots=True, kw_only=True, eq=False)
class Chain:
    """The contents of n rows, slice by slice, and the m records that later slices may come from."""

    later: int  # nearest records that a later slice is drawn from; none has a larger weight
    balanced: bool  # whether every record gives each slice equally often
    # shape (m,): records of one number are left out together, such as those of a household
    groups: Integers | None = None
    shown: list[Shown] = field(default_factory=list)  # the slices drawn so far
    placed: Floats | None = None  # shape (m + n, a): where records, then rows, lie

    def show(self, names: Unit, contents: Integers, donors: Integers) -> None:
        """Let the rows show another slice, as `shown` holds it."""
        # Shapes: contents (m,), donors (n,).
        self.shown.append(Shown(names, contents, donors))

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.shown[0].contents)

    @property
    def rows(self) -> int:
        """How many rows the release has."""
        return len(self.shown[0].donors)

    def donors_nearby(self) -> Neighborhoods:
        """Return the possible donors of the next slice, from where records and rows lie.

        Row r of its table has the records that may give row r the slice, given what it shows.
        """
        from rwn_core.neighbors.rank_kernel import rank_ties

        dense = self.records <= LARGEST_DENSE
        if not self.balanced:
            listed, _ = self._nearest_of_all() if dense else self._searched(self.later)
            in_parts(partial(rank_ties, listed), self.rows, len(listed.records))
            sizes = np.diff(listed.starts)
            return _neighborhoods(listed, np.repeat(1.0 / sizes, sizes))
        listed, of_row, of_record = self._both_ways() if dense else self._searched_both_ways()
        in_parts(partial(rank_ties, listed), self.rows, len(listed.records))
        return self._balanced(listed, of_row, of_record)

    def _both_ways(self) -> tuple[Listed, Floats, Floats]:
        """Return all records of each row, and the distance scales of rows and of records."""
        squared = self._all_pairs()
        at_rank = self.later - 1
        of_record = np.partition(squared.T, at_rank, axis=1)[:, at_rank]
        listed, of_row = _sorted_pairs(squared, self.later, self.records)
        return listed, of_row, of_record

    def _searched_both_ways(self) -> tuple[Listed, Floats, Floats]:
        """Return each row's nearest records with those that it is near to, and both scales."""
        most = min(LISTED * self.later, self.records)
        listed, of_row = self._searched(most)
        back, of_record = self._searched(most, by_record=True)
        check_fits(pairs_bytes(8.0 * len(back.records)), budget_bytes(), WEIGHTS, FEWER)
        near = NeighborTable(offsets=listed.starts, records=listed.records, squared=listed.squared)
        record = np.repeat(np.arange(self.records, dtype=np.int32), np.diff(back.starts))
        added = Entries(back.records, record, back.squared)
        table = list_both_ways(near, added, of_record, 0).table
        return Listed(table.offsets, table.records, table.squared), of_row, of_record

    def _balanced(self, listed: Listed, of_row: Floats, of_record: Floats) -> Neighborhoods:
        """Return donors by a kernel of distances in units of both scales, in balance."""
        # Shapes: of_row (n,), of_record (m,), squared.
        from rwn_core.neighbors.weight_kernel import Scales, fill_kernel

        distances = np.sqrt(of_row)
        positive = distances[distances > 0]
        floor = LEAST_SCALE * float(np.median(positive)) if len(positive) else 1.0
        scales = Scales(np.maximum(distances, floor), np.maximum(np.sqrt(of_record), floor))
        rows = KernelRows(listed.starts, listed.records, np.empty(len(listed.records)))
        least = REMAINDER * self.later / self.rows
        fill = partial(fill_kernel, rows, listed.squared, scales, least)
        in_parts(fill, self.rows, len(rows.members))
        row = np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(listed.starts))
        turned = grouped(Entries(listed.records, row, rows.logs), self.records)
        found = balanced_both_ways(rows, KernelRows(*turned), 1.0 / self.later)
        return _neighborhoods(listed, found.weights, found.error)

    def refuse_few(self, names: Sequence[str]) -> None:
        """Refuse a next slice with too few donors, for a table or for rows of some values."""
        m = self.records
        later = self.later
        for each in self.shown:
            held = np.bincount(each.contents)
            if 2 * later > m or (held[held <= later] * 3 > m).any():
                raise ParameterError(
                    f"later = {later} leaves too few donors for {', '.join(names)}; choose fewer, "
                    "or mask more records together."
                )

    @property
    def _points(self) -> Points:
        """All records, then the rows, where they lie."""
        assert self.placed is not None  # as a prediction places them
        return np.asfortranarray(self.placed)

    def _nearest_of_all(self) -> tuple[Listed, Floats]:
        """Return the nearest of all records to each row, as `_searched` does."""
        return _sorted_pairs(self._all_pairs(), self.later, self.later)

    def _all_pairs(self) -> Floats:
        """Return squared distances of rows and records, infinite where one is left out."""
        # Shape: (n, m).
        points = self._points
        everyone = np.arange(self.records)
        rows = np.arange(self.rows)
        squared = np.empty((self.rows, self.records))
        for part in np.array_split(rows, -(-self.rows * self.records // AT_ONCE)):
            squared[part] = squared_distances(points, self.records + part[:, None], everyone)
        left_out = self.left_out(rows)
        squared[np.repeat(rows, np.diff(left_out.indptr)), left_out.indices] = np.inf
        return squared

    def _searched(self, most: int, *, by_record: bool = False) -> tuple[Listed, Floats]:
        """Return each row's nearest records, or each record's nearest rows.

        Also return each one's squared distance to its `later`-th nearest.
        """
        from rwn_core.neighbors.index import build_index, shared_frame
        from rwn_core.neighbors.rank_kernel import sort_rows
        from rwn_core.neighbors.search import Search

        both = self._points
        n = self.rows
        m = self.records
        own, others = (range(m), range(m, m + n)) if by_record else (range(m, m + n), range(m))
        frame = shared_frame(both)
        parts = list[Entries]()
        target = build_index(both[slice(others[0], others[-1] + 1)], frame=frame)
        k = most + self.later * len(self.shown)
        count = len(own)
        scale = np.empty(count)
        asked = np.arange(count)
        while len(asked):  # those of which too many are left out are searched again, farther
            k = min(k, len(others))
            query = build_index(both[own[0] + asked], frame=frame)
            ball = RadiusAndK(k=k, epsilon=None)
            nobody = np.full(len(asked), -1, np.int32)
            table = Search(target, query, ball=ball, own=nobody).table()
            one = np.repeat(asked, np.diff(table.offsets))
            other = table.records.astype(np.int64)
            squared = squared_distances(both, own[0] + one, others[0] + other)
            listed = Listed(table.offsets, table.records, squared)
            in_parts(partial(sort_rows, listed), len(asked), len(listed.records))
            pairs = (listed.records, one) if by_record else (one, listed.records)
            listed, scale[asked] = _nearest(listed, self._holds(*pairs), self.later, most)
            sizes = np.diff(listed.starts)
            done = (sizes >= most) | (k == len(others))
            kept = np.repeat(done, sizes)
            short = np.repeat(asked.astype(np.int32), sizes)
            parts.append(Entries(short[kept], listed.records[kept], listed.squared[kept]))
            asked = asked[~done]
            k = 4 * k
        return grouped(joined(parts), count), scale

    def left_out(self, rows: Integers) -> sparse.csr_array:
        """Return marks of the records with a slice that a row shows, if at most `later` have it.

        A row for each of `rows`, with its records ascending.
        """
        # By values, never by the number of a donor, or later slices would depend on the source.
        found = sparse.csr_array((len(rows), self.records), dtype=bool)
        for _, contents, donors in self.shown:
            holding = _members(contents)
            shown = contents[donors[rows]]
            few = np.flatnonzero(np.diff(holding.indptr)[shown] <= self.later)
            marks = np.ones(len(few), dtype=bool)
            of_rows = sparse.csr_array(
                (marks, (few, shown[few])), shape=(len(rows), holding.shape[0])
            )
            found = found + of_rows @ holding
        if self.groups is not None:
            found = found @ _members(self.groups)[self.groups]
        found.sort_indices()
        return found

    def _holds(self, rows: Integers | Integers32, records: Integers | Integers32) -> Booleans:
        """The marks of pairs of a row and a record that is left out of it."""
        # As `left_out`, which marks all of them. Shapes: rows, records and the answer (pairs,).
        left_out = np.zeros(rows.shape, dtype=bool)
        for _, contents, donors in self.shown:
            shown = contents[donors[rows]]
            few = np.bincount(contents)[shown] <= self.later
            if self.groups is None:
                same = shown == contents[records]
            else:
                count = int(self.groups.max()) + 1
                holding = np.unique(contents * count + self.groups)
                same = np.isin(shown * count + self.groups[records], holding)
            left_out |= few & same
        return left_out


def _members(numbers: Integers) -> sparse.csr_array:
    """Return the marks of the records that have each number, a row for each number."""
    order = np.argsort(numbers, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(numbers))))
    marks = np.ones(len(numbers), dtype=bool)
    return sparse.csr_array((marks, order, starts), shape=(len(starts) - 1, len(numbers)))


def _sorted_pairs(squared: Floats, later: int, most: int) -> tuple[Listed, Floats]:
    """Return the records of each row by distance, to a rank and its ties, and distance scales.

    `squared`, of all rows and records, is overwritten; where it is infinite, none is listed.
    """
    # Shapes: squared (n, m); the scales (n,).
    from rwn_core.neighbors.rank_kernel import sort_rows

    n, m = squared.shape
    records = np.empty((n, m), np.int32)
    records[:] = np.arange(m)
    listed = Listed(np.arange(n + 1) * m, records.ravel(), squared.ravel())
    in_parts(partial(sort_rows, listed), n, n * m)
    farthest = squared[:, most - 1] * (1 + TIE)
    kept = (squared <= farthest[:, np.newaxis]) & (squared < np.inf)
    starts = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    scales = squared[:, later - 1].copy()
    return Listed(starts, records[kept], squared[kept]), scales


def _nearest(listed: Listed, left_out: Booleans, later: int, most: int) -> tuple[Listed, Floats]:
    """Return lists without what is left out, to a rank and its ties, and their distance scale."""
    # Shapes: left_out (entries,); the scale (rows,).
    row = np.repeat(np.arange(len(listed.starts) - 1), np.diff(listed.starts))[~left_out]
    records = listed.records[~left_out]
    squared = listed.squared[~left_out]
    sizes = np.bincount(row, minlength=len(listed.starts) - 1)

    def at_rank(rank: int) -> Floats:
        """The squared distance of each row's entry of a rank; infinite where there is none."""
        # Shape: (rows,).
        found = np.full(len(sizes), np.inf)
        found[sizes >= rank] = squared[(np.cumsum(sizes) - sizes + rank - 1)[sizes >= rank]]
        return found

    kept = squared <= (at_rank(most) * (1 + TIE))[row]
    starts = np.concatenate(([0], np.cumsum(np.bincount(row[kept], minlength=len(sizes)))))
    return Listed(starts, records[kept], squared[kept]), at_rank(later)


def _neighborhoods(listed: Listed, weights: Floats, error: float = np.nan) -> Neighborhoods:
    """Return the possible donors of all rows, with their weights, shape (entries,)."""
    sizes = np.diff(listed.starts)
    table = NeighborTable(offsets=listed.starts, records=listed.records, squared=listed.squared)
    radius = np.sqrt(listed.squared[listed.starts[1:] - 1])
    return Neighborhoods(
        table=table, sizes=sizes, within=sizes, radius=radius, shares=weights, imbalance=error
    )


def draw_later(found: Neighborhoods, key: SecretKey, stream: int) -> Integers:
    """Draw each row's donor of a later slice, shape (n,), from one keyed number a row."""
    from rwn_core.neighbors.draw_kernel import draw_weighted

    assert found.shares is not None  # as `Chain.donors_nearby` makes them
    donors = np.empty(found.n, np.int64)
    drawn = uniforms(key, np.arange(found.n), stream, STEP)[0]
    draw_weighted(found.table.offsets, found.table.records, found.shares, drawn, donors)
    return donors


class ChainLaw(CellLaw):
    """The law of a release with slices by prediction, given what its rows show.

    P(row r | record i is its source) = P_i(values of the first slice) g(row), and g is the same
    for all i, because donors of later slices depend on released values alone. So a row tells from
    which record it comes by its first slice only, whatever all rows together show. Donors of a
    later slice are those of row r, given its earlier slices in this release: `later` holds their
    probabilities by the name of each variable of these slices. The law holds for values released
    in `steps`, the precision of the draw. `again` finds the later donors of the same rows in a
    table with other records at its end. `predicted` says of each slice drawn by prediction what
    its prediction keeps.
    """

    def __init__(
        self,
        first: CellLaw,
        later: Mapping[str, DonorTables],
        steps: Mapping[str, float],
        again: Callable[[Microdata], Mapping[str, DonorTables]],
        predicted: Sequence[Predicted] = (),
    ) -> None:
        super().__init__(first.original, first.neighborhoods, first.q, rule=first.rule)
        self.donors = first.donors
        self.later = later
        self._steps = dict(steps)
        self._again = again
        self.predicted = tuple(predicted)

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release in the precision that it was drawn with; others are refused."""
        if dict(precision) not in ({}, self._steps):
            raise NotApplicable(
                "Later slices are predicted from rounded values, so that a release with slices by "
                "prediction cannot be rounded afterwards; draw it with this precision."
            )
        return super().rounded(precision)

    def with_people(self, people: Microdata) -> Self:
        """Return the law of the file with people added, for the rows of this release.

        Later slices are balanced between these rows and all records, of which each gives as much.
        """
        plain = super().with_people(people)
        other = copy(self)
        other.__dict__ |= plain.__dict__
        other.later = self._again(plain._unrounded)
        return other

    def telling(self, names: Sequence[str] | None = None) -> list[Unit]:
        """Return the first slice, or the part that is known; all of it where later ones are."""
        known = set(self.original.names) if names is None else set(names)
        released = [each.name for each in self.original.schema.released]
        first = tuple(name for name in released if name not in self.later)
        if names is not None and not known & self.later.keys():
            first = tuple(name for name in first if name in known)
        return [first] if first else []

    @property
    def source(self) -> CellLaw:
        """The law of the first slice alone."""
        (first,) = self.telling()
        chosen = tuple(each for each in self.original.schema.variables if each.name in first)
        original = Microdata(self.original.frame[list(first)], Schema(variables=chosen))
        cells = CellLaw(original, self.neighborhoods, np.ones(len(first)), rule=self._rule)
        cells.donors, cells.precision = self.donors, self.precision
        return cells

    @property
    def independent(self) -> CellLaw:
        """Refused: later slices depend on the earlier ones."""
        raise NotApplicable(
            "Slices by prediction of a row depend on each other; this is for others."
        )

    @property
    def probabilities(self) -> sparse.csr_array:
        """Refused: each slice has its own donors."""
        return self.independent.probabilities

    def retained_each(self, units: Sequence[Unit]) -> Floats:
        """`retained` of several units at once, shape (units, n)."""
        each = [(self.unit_donors(names[0]), joint_codes(self.original, names)) for names in units]
        return np.concatenate([donors.own_value_chance([codes]) for donors, codes in each])

    def rows_unchanged(self) -> Floats:
        """Refused, shape (n,): what a row shows later depends on what it shows first."""
        return self.independent.rows_unchanged()

    def unit_chances(
        self, names: Unit, masked: Microdata, rows: Integers, people: Microdata | None = None
    ) -> Floats:
        """Return likelihoods of the first slice; a later one is equally likely for all records.

        Of shape (rows, n).
        """
        if names[0] in self.later:
            return np.ones((len(rows), self.original.n))
        return super().unit_chances(names, masked, rows, people)
