"""Later slices of a chain: their donors are near to what a row shows already.

Its law: only the first slice says from which record a row comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.cell_law import CellLaw, Predicted
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors.all_donors import KernelRows, balanced_both_ways
from rwn_core.neighbors.distance import (
    TIE,
    CodedPoints,
    Points,
    level_squares,
    point_values,
    squared_distances,
)
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.soft_lists import Entries, Listed, grouped, joined, list_both_ways
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable, ranges
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import in_parts
from rwn_core.randomness import SecretKey, uniforms

LISTED = 10  # times `later`: nearest records of a row, and rows of a record, in a larger table
LEAST_SCALE = 0.05  # of the median of the positive distances
REMAINDER = 1e-5  # times `later`, over n: added to each kernel, so that balance is reached
AT_ONCE = 50_000  # distances, which fit the cache of a processor
WEIGHTS, FEWER = "A balanced later slice", "mask fewer records together"
STEP = 3 * 2**30  # the block of random numbers that a later slice is drawn from


@dataclass(slots=True, kw_only=True, eq=False)
class Chain:
    """The contents of n rows, slice by slice, and the records that later slices may come from."""

    # shape (n, d): the records with their values as they will be released
    points: Points
    later: int  # nearest records that a later slice is drawn from; none has a larger weight
    balanced: bool  # whether every record gives each slice equally often
    # shape (n,): records of one number are left out together, such as those of a household
    groups: Integers | None = None
    # returns what is known of columns of the records' points, or finds it; None finds it anew
    cached: Callable[[tuple[int, ...], Callable[[], Any]], Any] | None = None
    # by earlier slice: its columns of the points, the number of each record's values, and the
    # donor of each row, shapes (n,)
    shown: list[tuple[list[int], Integers, Integers]] = field(default_factory=list)

    def show(
        self, names: tuple[str, ...], columns: list[int], contents: Integers, donors: Integers
    ) -> None:
        """Let the rows show another slice, as `shown` holds it."""
        # Shapes: contents (m,), donors (n,).
        self.shown.append((columns, contents, donors))

    def next_slice(self, names: Sequence[str]) -> Neighborhoods:
        """Return the possible donors of the next slice; `names` are its variables.

        Row r of its table has the records that may give row r the slice, given what it shows.
        """
        from rwn_core.neighbors.rank_kernel import rank_ties
        from rwn_core.neighbors.weight_kernel import fill_kernel

        (_, _, first), m, later = self.shown[0], len(self.points), self.later
        n = len(first)
        self.refuse_few(names)
        # each row's nearest records, and each record's nearest rows where records balance
        dense = m <= LARGEST_DENSE
        most = later if not self.balanced else m if dense else min(LISTED * later, m)
        # rows with the same donor have the same distances while they show one slice
        once, like = np.arange(n), np.arange(n)
        if dense and self.at_donors:
            once, like = np.unique(first, return_index=True, return_inverse=True)[1:]
        listed, of_row = self._all_pairs(once, most) if dense else self._searched(most)
        if self.balanced and dense:
            distance = np.full((len(once), m), np.inf)
            lister = np.repeat(np.arange(len(once)), np.diff(listed.starts))
            distance[lister, listed.records] = listed.squared
            of_record = np.partition(distance[like].T, later - 1, axis=1)[:, later - 1]
        elif self.balanced:
            back, of_record = self._searched(most, by_record=True)
            check_fits(pairs_bytes(8.0 * len(back.records)), budget_bytes(), WEIGHTS, FEWER)
            near = NeighborTable(offsets=listed.starts, records=listed.records, squared=listed[2])
            record = np.repeat(np.arange(m, dtype=np.int32), np.diff(back.starts))
            added = Entries(back.records, record, back.squared)
            table = list_both_ways(near, added, of_record, 0).table
            listed = Listed(table.offsets, table.records, table.squared)
        in_parts(partial(rank_ties, listed), len(once), len(listed.records))
        sizes = np.diff(listed.starts)
        entries = ranges(listed.starts[:-1][like], sizes[like])
        starts = np.concatenate(([0], np.cumsum(sizes[like])))
        every = Listed(starts, listed.records[entries], listed.squared[entries])
        if not self.balanced:
            return _neighborhoods(every, np.repeat(1.0 / sizes[like], sizes[like]))
        # the kernel of distances in units of both scales
        distances = np.sqrt(of_row)
        positive = distances[like][distances[like] > 0]
        floor = LEAST_SCALE * float(np.median(positive)) if len(positive) else 1.0
        scales = np.maximum(distances, floor), np.maximum(np.sqrt(of_record), floor)
        rows = KernelRows(listed.starts, listed.records, np.empty(len(listed.records)))
        fill = partial(fill_kernel, rows, listed.squared, scales, REMAINDER * later / n)
        in_parts(fill, len(once), len(rows.members))
        row = np.repeat(np.arange(n, dtype=np.int32), sizes[like])
        turned = grouped(Entries(every.records, row, rows.logs[entries]), m)
        found = balanced_both_ways(rows, KernelRows(*turned), 1.0 / later, like)
        return _neighborhoods(every, found.weights[entries], found.error)

    @property
    def at_donors(self) -> bool:
        """True if a row lies where the record of its slice lies: it shows one slice only."""
        return len(self.shown) == 1

    def refuse_few(self, names: Sequence[str]) -> None:
        """Refuse a next slice with too few donors, for a table or for rows of some values."""
        m = len(self.points)
        later = self.later
        for _, contents, _ in self.shown:
            held = np.bincount(contents)
            if 2 * later > m or (held[held <= later] * 3 > m).any():
                raise ParameterError(
                    f"later = {later} leaves too few donors for {', '.join(names)}; choose fewer, "
                    "or mask more records together."
                )

    def _both(self) -> Points:
        """Return all records, then the rows, in the coordinates of the slices drawn so far."""
        values = point_values(self.points)
        columns = [at for own, *_ in self.shown for at in own]
        shown = np.empty((len(self.shown[0][2]), values.shape[1]))
        for own, _, donors in self.shown:
            shown[:, own] = values[donors][:, own]
        both: Points = np.asfortranarray(np.concatenate((values, shown))[:, columns])
        squares = level_squares(self.points)
        if squares:
            coded = {at: squares[old] for at, old in enumerate(columns) if old in squares}
            both = CodedPoints(values=point_values(both), squares=coded)
        return both

    def _all_pairs(self, rows: Integers, most: int) -> tuple[Listed, Floats]:
        """Return the nearest of all records to some rows, as `_searched` does."""
        from rwn_core.neighbors.rank_kernel import sort_rows

        m = len(self.points)
        everyone = np.arange(len(self.points))
        alone = self.at_donors
        # a row of one slice is as far from all as the record that gave it
        asked = everyone if alone else m + rows

        def ranked() -> Listed:
            """List all records by their distance to the points that are asked for."""
            both = self._both()
            listed = Listed.empty(np.arange(len(asked) + 1) * m)
            records, squared = (each.reshape(-1, m) for each in listed[1:])
            records[:] = everyone
            for part in np.array_split(np.arange(len(asked)), -(-len(asked) * m // AT_ONCE)):
                squared[part] = squared_distances(both, asked[part, None], everyone)
            in_parts(partial(sort_rows, listed), len(asked), len(listed.records))
            return listed

        known = self.cached if alone else None
        listed = ranked() if known is None else known((*self.shown[0][0],), ranked)
        if alone:
            taken = ranges(m * self.shown[0][2][rows], np.full(len(rows), m))
            records = listed.records[taken]
            squared = listed.squared[taken]
            listed = Listed(np.arange(len(rows) + 1) * m, records, squared)
        left_out = self._holds(rows[:, None], listed.records.reshape(-1, m)).ravel()
        return _nearest(listed, left_out, self.later, most)

    def _searched(self, most: int, *, by_record: bool = False) -> tuple[Listed, Floats]:
        """Return each row's nearest records, or each record's nearest rows.

        Also return each one's squared distance to its `later`-th nearest.
        """
        from rwn_core.neighbors.index import build_index, shared_frame
        from rwn_core.neighbors.rank_kernel import sort_rows
        from rwn_core.neighbors.search import Search

        both = self._both()
        n = len(self.shown[0][2])
        m = len(self.points)
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

    def _holds(self, rows: Integers | Integers32, records: Integers | Integers32) -> Booleans:
        """The marks of records with a slice that a row shows, if at most `later` have it."""
        # By values, never by the number of a donor, or later slices would depend on the source.
        # Shapes: rows, records, and the answer as both broadcast.
        left_out = np.zeros(np.broadcast_shapes(rows.shape, records.shape), dtype=bool)
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

    assert found.shares is not None  # as `Chain.next_slice` makes them
    donors = np.empty(found.n, np.int64)
    drawn = uniforms(key, np.arange(found.n), stream, STEP)[0]
    draw_weighted(found.table.offsets, found.table.records, found.shares, drawn, donors)
    return donors


class ChainLaw(CellLaw):
    """The law of a release with chained slices, given what its rows show.

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
        self.donors, self.later, self._steps = first.donors, later, dict(steps)
        self._again, self.predicted = again, tuple(predicted)

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release in the precision that it was drawn with; others are refused."""
        if dict(precision) not in ({}, self._steps):
            raise NotApplicable(
                "Later slices of a chain are drawn near to rounded values, so that a chain cannot "
                "be rounded afterwards; draw it with this precision."
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
        raise NotApplicable("Chained slices of a row depend on each other; this is for others.")

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
