"""Later slices of a chain: their donors are near to what a row shows already.

Its law: only the first slice says from which record a row comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.schema import Schema
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.neighbors.all_donors import KernelRows, balanced_both_ways
from rwn_core.neighbors.distance import (
    TIE,
    CodedPoints,
    Points,
    level_squares,
    point_values,
    rank,
    squared_distances,
)
from rwn_core.neighbors.table import (
    BLOCK_PAIRS,
    LARGEST_DENSE,
    Neighborhoods,
    NeighborTable,
    ranges,
)
from rwn_core.parallel.threads import steps
from rwn_core.randomness import SecretKey, uniforms

LISTED = 10  # times `later`: nearest records of a row, and rows of a record, in a larger table
LEAST_SCALE = 0.05  # of the median of the positive distances
REMAINDER = 1e-5  # times `later`, over n: added to each kernel, so that balance is reached
STEP = 3 * 2**30  # the block of random numbers that a later slice is drawn from


@dataclass(slots=True, kw_only=True, eq=False)
class Chain:
    """Hold what n rows show, slice by slice, and the records that later slices may come from."""

    # shape (n, d): the records with their values as they will be released
    points: Points
    later: int  # nearest records that a later slice is drawn from; none has a larger weight
    balanced: bool  # whether every record gives each slice equally often
    # shape (n,): records of one number are left out together, such as those of a household
    groups: Integers | None = None
    # by earlier slice: its columns of the points, the number of each record's values, and the
    # donor of each row, shapes (n,)
    columns: list[list[int]] = field(default_factory=list)
    contents: list[Integers] = field(default_factory=list)
    donors: list[Integers] = field(default_factory=list)

    def show(self, columns: list[int], contents: Integers, donors: Integers) -> None:
        """Note a slice that the rows show from now on."""
        # Shapes: contents, donors (n,).
        self.columns.append(columns)
        self.contents.append(contents)
        self.donors.append(donors)

    def next_slice(self, names: Sequence[str]) -> Neighborhoods:
        """Return the possible donors of the next slice; `names` are its variables.

        Row r of its table has the records that may give row r the slice, given what it shows.
        """
        n, later = len(self.points), self.later
        for contents in self.contents:
            held = np.bincount(contents)
            if 2 * later > n or (held[held <= later] * 3 > n).any():
                raise ParameterError(
                    f"later = {later} leaves too few donors for {', '.join(names)}; choose fewer, "
                    "or mask more records together."
                )
        # each row's nearest records, and each record's nearest rows where records balance
        nearest = n if n <= LARGEST_DENSE else min(LISTED * later, n)
        pairs, squared, of_row = self._nearest(nearest if self.balanced else later)
        if not self.balanced:
            starts, records, squared = _ranked(n, pairs, squared)
            sizes = np.diff(starts)
            return _listed(starts, records, squared, np.repeat(1.0 / sizes, sizes))
        back, squared_back, of_record = self._nearest(nearest, by_record=True)
        if nearest < n:
            pairs, places = np.unique(np.concatenate((pairs, back)), return_index=True)
            squared = np.concatenate((squared, squared_back))[places]
        starts, records, squared = _ranked(n, pairs, squared)
        # the kernel of distances in units of both scales
        distances = np.sqrt(of_row)
        positive = distances[distances > 0]
        floor = LEAST_SCALE * float(np.median(positive)) if len(positive) else 1.0
        row, record = (np.maximum(np.sqrt(each), floor) for each in (of_row, of_record))
        both = np.repeat(row, np.diff(starts)) * record[records]
        from rwn_core.neighbors.weight_kernel import fill_log, fill_normal

        logs = np.empty(len(squared))
        fill_normal(squared, both, REMAINDER * later / n, logs)
        fill_log(logs, logs)
        entries = np.arange(len(records)), records, starts
        turned = sparse.csr_array(entries, shape=(n, n)).tocsc()
        found = balanced_both_ways(
            KernelRows(starts, records.astype(np.int32), logs),
            KernelRows(turned.indptr.astype(np.int64), turned.indices, logs[turned.data]),
            1.0 / later,
        )
        return _listed(starts, records, squared, found.weights, found.error)

    def _nearest(self, most: int, *, by_record: bool = False) -> tuple[Integers, Floats, Floats]:
        """Find the nearest records of each row, or the nearest rows of each record.

        Returns
        -------
        tuple
            Pairs as row times n plus record, ascending by what is asked; their squared distances;
            and the squared distance of each row, or record, to its `later`-th nearest.
        """
        n = len(self.points)
        values, columns = point_values(self.points), np.concatenate(self.columns).astype(np.int64)
        shown = values.copy()
        for own, donors in zip(self.columns, self.donors, strict=True):
            shown[:, own] = values[donors][:, own]
        # the records, then the rows, in the coordinates of the slices drawn so far
        both: Points = np.asfortranarray(np.concatenate((values, shown))[:, columns])
        squares = level_squares(self.points)
        if squares:
            coded = {at: squares[old] for at, old in enumerate(columns.tolist()) if old in squares}
            both = CodedPoints(values=point_values(both), squares=coded)
        everyone, scale = np.arange(n), np.empty(n)
        pairs, found = [np.empty(0, np.int64)], [np.empty(0)]
        for part in steps(np.array_split(everyone, -(-n * n // BLOCK_PAIRS))):
            rows, records = (everyone, part) if by_record else (part, everyone)
            squared = squared_distances(both, n + rows[:, None], records)
            squared[self._holds(rows, records)] = np.inf
            if by_record:
                squared = squared.T
            at = [self.later - 1, most - 1]
            ends = np.partition(squared, at, axis=1)[:, at]
            scale[part] = ends[:, 0]
            if by_record and most == n:  # all pairs are those of the rows
                continue
            one, other = np.nonzero((squared <= ends[:, 1:] * (1 + TIE)) & np.isfinite(squared))
            row, record = (other, part[one]) if by_record else (part[one], other)
            pairs.append(row * n + record)
            found.append(squared[one, other])
        return np.concatenate(pairs), np.concatenate(found), scale

    def _holds(self, rows: Integers, records: Integers) -> Booleans:
        """True where a record has what a row shows of some slice, as at most `later` records do."""
        # By values, never by the number of a donor, or later slices would depend on the source.
        left_out = np.zeros((len(rows), len(records)), dtype=bool)
        for contents, donors in zip(self.contents, self.donors, strict=True):
            shown = contents[donors[rows]]
            few = np.bincount(contents)[shown] <= self.later
            if self.groups is None:
                same = shown[:, None] == contents[records]
            else:
                count = int(self.groups.max()) + 1
                holding = np.unique(contents * count + self.groups)
                same = np.isin(shown[:, None] * count + self.groups[records], holding)
            left_out |= few[:, None] & same
        return left_out


def _listed(
    starts: Integers, records: Integers, squared: Floats, weights: Floats, error: float = np.nan
) -> Neighborhoods:
    """Return the possible donors of all rows, with their weights."""
    # starts, shape (n + 1,); records, squared and weights, shape (pairs,), row by row.
    sizes = np.diff(starts)
    table = NeighborTable(offsets=starts, records=records.astype(np.int32), squared=squared)
    radius = np.sqrt(squared[starts[1:] - 1])
    return Neighborhoods(
        table=table, sizes=sizes, within=sizes, radius=radius, shares=weights, imbalance=error
    )


def _ranked(n: int, pairs: Integers, squared: Floats) -> tuple[Integers, Integers, Floats]:
    """Return pairs as rows of records, the nearest first and ties by record number."""
    starts = np.searchsorted(pairs, np.arange(n + 1) * n)
    sizes, records = np.diff(starts), pairs % n
    width = int(sizes.max())
    for part in np.array_split(np.arange(n), -(-n * width // BLOCK_PAIRS)):
        inside = np.arange(width) < sizes[part][:, None]
        entries = ranges(starts[part], sizes[part])
        distance, number = np.full(inside.shape, np.inf), np.zeros(inside.shape, np.int64)
        number[:] = n + np.arange(width)
        distance[inside], number[inside] = squared[entries], records[entries]
        distance, number = rank(distance, number)
        squared[entries], records[entries] = distance[inside], number[inside]
    return starts, records, squared


def draw_later(found: Neighborhoods, key: SecretKey, stream: int) -> Integers:
    """Draw each row's donor of a later slice, shape (n,), from one keyed number a row."""
    from rwn_core.neighbors.draw_kernel import SCALE

    assert found.shares is not None  # as `Chain.next_slice` makes them
    starts, sizes = found.table.offsets, found.sizes
    # whole numbers have exact sums; only differences within a row are read
    weights = (found.shares * SCALE).astype(np.int64)
    before = np.cumsum(weights) - weights
    reached = before + weights - np.repeat(before[starts[:-1]], sizes)
    total = reached[starts[1:] - 1]
    drawn = uniforms(key, np.arange(found.n), stream, STEP)[0]
    place = np.minimum((drawn * total).astype(np.int64), total - 1)
    passed = np.add.reduceat(reached <= np.repeat(place, sizes), starts[:-1], dtype=np.int64)
    return found.table.records[starts[:-1] + passed].astype(np.int64)


class ChainLaw(CellLaw):
    """The law of a release with chained slices, given what its rows show.

    P(row r | record i is its source) = P_i(values of the first slice) g(row), and g is the same
    for all i, because donors of later slices depend on released values alone. So a row tells from
    which record it comes by its first slice only, whatever all rows together show. Donors of a
    later slice are those of row r, given its earlier slices in this release: `later` holds their
    probabilities by the name of each variable of these slices. The law holds for values released
    in `steps`, the precision of the draw.
    """

    def __init__(
        self, first: CellLaw, later: Mapping[str, DonorTables], steps: Mapping[str, float]
    ) -> None:
        super().__init__(first.original, first.neighborhoods, first.q, rule=first.rule)
        self.donors, self.later, self._steps = first.donors, later, dict(steps)

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the release in the precision that it was drawn with; others are refused."""
        if dict(precision) not in ({}, self._steps):
            raise NotApplicable(
                "Later slices of a chain are drawn near to rounded values, so that a chain cannot "
                "be rounded afterwards; draw it with this precision."
            )
        return super().rounded(precision)

    def telling(self, names: Sequence[str] | None = None) -> list[tuple[str, ...]]:
        """Return the first slice, or the part that is known; all of it where later ones are."""
        known = set(self.original.names) if names is None else set(names)
        first = tuple(
            each.name for each in self.original.schema.released if each.name not in self.later
        )
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
        """Refused: each slice has donors of its own."""
        return self.independent.probabilities

    def retained_each(self, units: Sequence[tuple[str, ...]]) -> Floats:
        """`retained` of several units at once, shape (units, n)."""
        each = [(self.unit_donors(names[0]), joint_codes(self.original, names)) for names in units]
        return np.concatenate([donors.own_value_chance([codes]) for donors, codes in each])

    def rows_unchanged(self) -> Floats:
        """Refused, shape (n,): what a row shows later depends on what it shows first."""
        return self.independent.rows_unchanged()

    def unit_chances(
        self,
        names: tuple[str, ...],
        masked: Microdata,
        rows: Integers,
        people: Microdata | None = None,
    ) -> Floats:
        """Return likelihoods of the first slice; a later one is equally likely for all records.

        Of shape (rows, n).
        """
        if names[0] in self.later:
            return np.ones((len(rows), self.original.n))
        return super().unit_chances(names, masked, rows, people)
