"""The law of swapping within blocks: some records of a block exchange their values at random."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import ATTACKED_PAIRS, LISTED_PAIRS
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.group_law import unchanged
from rwn_core.laws.moments import Moments, joined
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import Redraw, Transition, value_numbers
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors.table import Neighborhoods, NeighborTable


class BlockLaw(CellLaw):
    """The law of swapping within blocks.

    In a block of B records s are selected at random, and their values of the swapped variables
    are permuted at random: a record's donor is each other record of its block with probability
    (s - 1) / (B (B - 1)), and else itself. Rows together depend on each other; that is no part of
    this law. `makers` are the variables that make the blocks; `blocks`, shape (n,), has the
    number of each record's block, from 0, or -1 for a record that stays as it is; `selected`,
    shape (blocks,), has their s. See the function `dswap` as Matloff and Tendick 2015 document it.
    """

    def __init__(
        self, original: Microdata, swapped: Unit, makers: Unit, blocks: Integers, selected: Integers
    ) -> None:
        moved = np.array([v.name in swapped for v in original.schema.released])
        # P(each record is the donor of each), shape (n, n)
        n, moving, order = len(blocks), blocks >= 0, np.argsort(blocks, kind="stable")
        of_block, other = _chances(blocks, selected)
        first = np.count_nonzero(~moving) + np.cumsum(of_block) - of_block
        count = np.where(moving, of_block[blocks], 1)
        starts = np.concatenate(([0], np.cumsum(count)))
        record = np.repeat(np.arange(n), count)
        within = np.arange(starts[-1]) - starts[record]
        donor = np.where(moving[record], order[(first[blocks][record] + within) % n], record)
        taken = np.where(moving, other[blocks], 0.0)
        chance = taken[record]
        chance[donor == record] = 1.0 - (count - 1) * taken
        shares = sparse.csr_array((chance, donor, starts), shape=(n, n))
        # the possible donors as a table of members, in no distance
        members, nowhere = shares.indices.astype(np.int32), np.zeros(shares.nnz)
        table = NeighborTable(offsets=starts, records=members, squared=nowhere)
        found = Neighborhoods(table=table, sizes=count, within=count, radius=np.zeros(n))
        super().__init__(original, found, moved.astype(np.float64), shares)
        # the blocks stand for no distance that a measure could ask for
        self.neighborhoods = None  # type: ignore[assignment]
        self._swapped, self._known_by = swapped, makers
        self._selection = (blocks, selected)

    def keeps_value_counts(self, name: str) -> bool:
        """True for every variable: the swapped ones are permuted."""
        return True

    def units(self) -> list[Unit]:
        """The swapped variables together, and each of the others by itself."""
        together = tuple(name for name in self._swapped if name in self.original.names)
        alone: list[Unit] = [(name,) for name in self._left]
        return [together, *alone] if together else alone

    @property
    def _left(self) -> list[str]:
        released = self.original.schema.released
        return [each.name for each in released if each.name not in self._swapped]

    def moments(self) -> Moments:
        """Means over blocks, as `SeparateLaw.moments`."""
        moved = block_transition(self.original, self._swapped, *self._selection)
        parts = [moved, *(unchanged(self.original, name) for name in self._left)]
        return joined([part.moments() for part in parts])

    def restricted_to(self, original: Microdata) -> Self:
        """Return the law for an intruder who knows only these variables."""
        if not set(self._known_by) <= set(original.names):
            raise NotApplicable("Without the variables that make the blocks the law is not known.")
        other = copy(self)
        other.original, other._tables = original, {}
        other.q = np.array([self.modification(v.name) for v in original.schema.released])
        return other


def law_within_blocks(
    original: Microdata, swapped: Unit, makers: Unit, blocks: Integers, selected: Integers
) -> BlockLaw | SeparateLaw | None:
    """The law of donors; of values where there are too many; see `BlockLaw`."""
    if block_pairs(blocks) <= ATTACKED_PAIRS:
        return BlockLaw(original, swapped, makers, blocks, selected)
    if len(selected) * (int(value_numbers(original, swapped).max()) + 1) > LISTED_PAIRS:
        return None
    moved = block_transition(original, swapped, blocks, selected)
    return SeparateLaw.of_changes(original, [moved], makers)


def block_transition(
    original: Microdata, swapped: Unit, blocks: Integers, selected: Integers
) -> Transition:
    """The same law by values: a record keeps its own, or takes one of those of its block."""
    own, moving = value_numbers(original, swapped), blocks >= 0
    sizes, other = _chances(blocks, selected)
    pools = np.zeros((len(sizes), int(own.max()) + 1))
    np.add.at(pools, (blocks[moving], own[moving]), 1.0)
    pools /= np.maximum(sizes, 1)[:, np.newaxis]
    taken = np.where(moving, (other * sizes)[blocks], 0.0)
    places = (taken[moving], blocks[moving], np.concatenate(([0], np.cumsum(moving))))
    weights = sparse.csr_array(places, shape=(len(own), len(sizes)))
    choice = Redraw(keep=1.0 - taken, weights=weights, pools=pools)
    return Transition(
        original=original, unit=swapped, choice=choice, by_value=False, keeps_value_counts=True
    )


def _chances(blocks: Integers, selected: Integers) -> tuple[Integers, Floats]:
    """Return each block's size, and P(a record's donor is one certain other of its block)."""
    sizes = np.bincount(blocks[blocks >= 0], minlength=len(selected))
    return sizes, np.maximum(selected - 1, 0) / np.maximum(sizes * (sizes - 1), 1)


def block_pairs(blocks: Integers) -> int:
    """Count the pairs of records of one block, each record with itself included."""
    sizes = np.bincount(blocks[blocks >= 0])
    return int((sizes.astype(np.int64) ** 2).sum())
