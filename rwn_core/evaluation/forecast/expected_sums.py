"""Expected sums over a release's records, for many settings at once: the algebra of a forecast.

Cells of different records are independent, and so are those of one record unless their
variables share a donor. Every expectation here follows from that and from the sums of each
column over the neighborhoods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS
from rwn_core.neighbors import Neighborhoods
from rwn_core.neighbors.kernel import EVEN
from rwn_core.parallel.threads import current_work

MOST_LEVELS = 200  # of one variable; more would be a name, not a category


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """A table's released variables as columns."""

    released: tuple[str, ...]  # all p variables of a release
    names: tuple[str, ...]  # the m continuous and count variables
    # center, unit: shape (m,): a number is center + unit times its column
    center: Floats
    unit: Floats
    # numbers, known: shape (n, m): from -1 to 1, 0 where missing; 1 where known
    numbers: Floats
    known: Floats
    positions: Integers  # shape (m,): which of the p released variables each is
    levels: dict[str, list[Any]]  # of the categorical and ordered variables with at most 200 levels
    dummies: Floats  # shape (n, L): a column for each level, in the order of `levels`
    dummy_positions: Integers  # shape (L,)
    units: tuple[tuple[int, ...], ...]  # which released variables share a donor; most stand alone

    @classmethod
    def from_table(cls, microdata: Microdata) -> Columns:
        """The columns of a table."""
        released = [variable.name for variable in microdata.schema.released]
        names = microdata.numeric_names
        # numbers: divided before they are summed, as the sum of huge numbers would overflow
        values = microdata.matrix(names)
        missing = np.isnan(values)
        known = (~missing).astype(np.float64)
        filled = np.where(missing, 0.0, values)
        center = (filled / np.maximum(known.sum(axis=0), 1.0)).sum(axis=0)
        numbers = np.where(missing, 0.0, filled - center)
        unit = np.abs(numbers).max(axis=0, initial=0.0)
        unit[unit == 0] = 1.0
        # levels, and the variables that share a donor
        levels: dict[str, list[Any]] = {}
        dummies, positions = [np.empty((microdata.n, 0))], list[int]()
        units: dict[object, list[int]] = {}
        for position, variable in enumerate(microdata.schema.released):
            units.setdefault((variable.group,) if variable.group else position, []).append(position)
            if variable.kind not in LEVELS:
                continue
            codes, found = microdata.codes(variable.name)
            if len(found) <= MOST_LEVELS:
                levels[variable.name] = list(found)
                dummies.append((codes[:, None] == np.arange(len(found))).astype(np.float64))
                positions += [position] * len(found)
        return cls(
            released=tuple(released),
            names=tuple(names),
            center=center,
            unit=unit,
            numbers=numbers / unit,
            known=known,
            positions=np.array([released.index(name) for name in names], dtype=np.int64),
            levels=levels,
            dummies=np.column_stack(dummies),
            dummy_positions=np.array(positions, dtype=np.int64),
            units=tuple(map(tuple, units.values())),
        )

    @property
    def complete(self) -> bool:
        """True if no number is missing."""
        return bool(self.known.all())


NUMBERS_A_BLOCK = 4_000_000  # about 32 MB a working array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedSums:
    """The expectations over the release, for s settings: as in `Columns`, 0 where missing."""

    first: Floats  # shape (s, m): of the sum of each number
    # shape (s, m, m): [j, h]: of the sum of number j over the records with a known number h
    first_seen: Floats
    seen: Floats  # shape (s, m, m): of the number of records that have both
    second: Floats  # shape (s, m, m): of the sum of products
    # shape (s, m, m): sum over records of the covariance of two released cells; its diagonal, of
    # the variances
    noise: Floats
    # shape (s, L, L): of the number of records with two levels, for variables that do not share a
    # donor; its diagonal, of each level's count
    together: Floats


class Adder:
    """The sums of one table's columns over the neighborhoods of many settings."""

    def __init__(self, columns: Columns, q: Floats, found: Sequence[Neighborhoods]) -> None:
        # Shapes: q (s, p): modification probability of each variable in each setting. found: the
        # neighborhoods of each. shares (P,): P(each of the listed records is the donor), of one
        # setting; None: all are equally likely.
        self.columns = columns
        self.q = q
        self._shares = found[0].shares
        # the different neighborhoods, and which of them each setting has; settings that differ in q
        # alone share theirs. Shapes: which (s,); sizes (d, n): how many neighbors are taken; 0 for
        # a record that loses what it modifies.
        each_sizes = [one.sizes.tobytes() for one in found]
        different = list(dict.fromkeys(each_sizes))
        self._which = np.array([different.index(one) for one in each_sizes])
        self._sizes = np.array([found[each_sizes.index(one)].sizes for one in different])
        # ranked neighbors, shapes starts (n + 1,) and records (P,): of each record at least one,
        # itself where it has no neighbor
        starts, records = replace(found[0], sizes=self._sizes.max(axis=0)).pairs()
        alone = np.flatnonzero(np.diff(starts) == 0)
        self._starts = starts + np.searchsorted(alone, np.arange(len(starts)), side="left")
        self._records = np.insert(records, starts[alone], alone)
        # which pairs of numbers share a donor
        unit_of = {at: number for number, unit in enumerate(columns.units) for at in unit}
        own = [unit_of[int(position)] for position in columns.positions]
        pairs = combinations(range(len(own)), 2)
        self.pairs = [(one, two) for one, two in pairs if own[one] == own[two]]
        one, two = np.array(self.pairs, dtype=np.intp).reshape(-1, 2).T
        self._one, self._two = one, two
        numbers = columns.numbers
        each = [numbers, numbers**2, columns.dummies, numbers[:, one] * numbers[:, two]]
        if not columns.complete:
            each.append(columns.known)
        self._ends = np.cumsum([part.shape[1] for part in each])
        self._every = np.column_stack(each)

    def total(self) -> ExpectedSums:
        """Add up all records, block by block."""
        # runs of records with neighbor pairs that fit into memory
        starts, columns = self._starts, max(self._every.shape[1], 1)
        pairs = max(NUMBERS_A_BLOCK // columns, 1)
        records = max(NUMBERS_A_BLOCK // max(columns * len(self.q), 1), 1)
        total, first, n = list[Floats](), 0, len(starts) - 1
        while first < n:
            end = int(np.searchsorted(starts, starts[first] + pairs, side="right")) - 1
            end = min(max(end, first + 1), first + records, n)
            block = slice(first, end)
            near = self._near(block)[self._which]  # shape (s, b, c)
            # mean and variance of every released number, shape (s, b, m) each
            m, one, two = self._ends[0], self._one, self._two
            own, q = self.columns.numbers[block], self.q[:, None, self.columns.positions]
            mean = (1 - q) * own + q * near[..., :m]
            spread = np.maximum(near[..., m : 2 * m] - near[..., :m] ** 2, 0.0)
            variance = q * (1 - q) * (own - near[..., :m]) ** 2 + q * spread
            noise = variance.sum(axis=1)[:, None, :] * np.eye(m)
            # the covariance of the cells that one donor gives together
            if self.pairs:
                apart = (own[:, one] - near[..., one]) * (own[:, two] - near[..., two])
                jointly = near[..., self._ends[2] : self._ends[3]] - near[..., one] * near[..., two]
                both = q[..., one]
                shared = (both * (1 - both) * apart + both * jointly).sum(axis=1)
                noise[:, one, two] += shared
                noise[:, two, one] += shared
            turned = mean.transpose(0, 2, 1)
            # which numbers are known, shape (s, b, m)
            if self.columns.complete:
                known = np.broadcast_to(self.columns.known[block], mean.shape)
            else:
                known = (1 - q) * self.columns.known[block]
                known = known + q * near[..., self._ends[3] : self._ends[4]]
            # expected counts of two levels together; of one level on the diagonal
            own, q = self.columns.dummies[block], self.q[:, None, self.columns.dummy_positions]
            levels = (1 - q) * own + q * near[..., self._ends[1] : self._ends[2]]
            together, places = levels.transpose(0, 2, 1) @ levels, np.arange(levels.shape[-1])
            together[:, places, places] = levels.sum(axis=1)
            first_seen, seen = turned @ known, known.transpose(0, 2, 1) @ known
            if not self.columns.complete:  # a number is known where it is known, and not by chance
                each = np.arange(mean.shape[2])
                first_seen[:, each, each] = mean.sum(axis=1)
                seen[:, each, each] = known.sum(axis=1)
            part = [mean.sum(axis=1), first_seen, seen, turned @ mean + noise, noise, together]
            total = part if not total else [a + b for a, b in zip(total, part, strict=True)]
            current_work().report(end / n)
            first = end
        return ExpectedSums(**dict(zip(ExpectedSums.__dataclass_fields__, total, strict=True)))

    def _near(self, block: slice) -> Floats:
        """Means of the columns over the different neighborhoods of a block, shape (d, b, c)."""
        starts = self._starts[block.start : block.stop + 1]
        local, pairs = starts - starts[0], slice(starts[0], starts[-1])
        members = self._records[pairs]
        taken = self._sizes[:, block]
        every = len(taken) == 1 and np.array_equal(taken[0], np.diff(local))
        if self._shares is None and not every:
            # sums of each record's first neighbors, for several neighborhood sizes, (s, b, c)
            values = self._every[members]
            running = np.empty((len(values) + 1, values.shape[1]))
            running[0] = 0.0
            np.cumsum(values, axis=0, out=running[1:])
            sums = running[local[:-1] + taken] - running[local[:-1]]
            return EVEN.mean(sums, taken[..., None])
        # all pairs of a block: a sparse product, without a number for each pair
        weights = np.ones(len(members)) if self._shares is None else self._shares[pairs]
        matrix = csr_array((weights, members, local), shape=(len(local) - 1, len(self._every)))
        near = np.asarray(matrix @ self._every)[None]
        return near if self._shares is not None else EVEN.mean(near, taken[..., None])
