"""The law of swapping within blocks: some records of a block exchange their values at random."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import ATTACKED_PAIRS, LISTED_PAIRS
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.group_law import unchanged
from rwn_core.laws.moments import Moments, joined
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import Redraw, Transition, value_numbers
from rwn_core.neighbors.table import Neighborhoods, NeighborTable


class BlockLaw(CellLaw):
    """The law of swapping within blocks.

    In a block of B records s are selected at random, and their values of the swapped variables
    are permuted at random: a record's donor is each other record of its block with probability
    (s - 1) / (B (B - 1)), and else itself. Rows together depend on each other; that is no part of
    this law. `known_by` are the variables that make the blocks; `blocks`, shape (n,), has the
    number of each record's block, from 0, or -1 for a record that stays as it is; `selected`,
    shape (blocks,), has their s. See the function `dswap` as Matloff and Tendick 2015 document it.
    """

    def __init__(
        self,
        original: Microdata,
        swapped: tuple[str, ...],
        known_by: tuple[str, ...],
        blocks: Integers,
        selected: Integers,
    ) -> None:
        moved = np.array([v.name in swapped for v in original.schema.released])
        # P(each record is the donor of each), shape (n, n)
        n, moving = len(blocks), blocks >= 0
        order = np.argsort(blocks, kind="stable")
        of_block = np.bincount(blocks[moving], minlength=len(selected))
        first = np.count_nonzero(~moving) + np.cumsum(of_block) - of_block
        count = np.where(moving, of_block[blocks], 1)
        starts = np.concatenate(([0], np.cumsum(count)))
        record = np.repeat(np.arange(n), count)
        within = np.arange(starts[-1]) - starts[record]
        donor = np.where(moving[record], order[(first[blocks][record] + within) % n], record)
        other = np.maximum(selected - 1, 0) / np.maximum(of_block * (of_block - 1), 1)
        chance = np.where(moving[record], other[blocks][record], 0.0)
        chance[donor == record] = 1.0 - ((count - 1) * np.where(moving, other[blocks], 0.0))
        shares = sparse.csr_array((chance, donor, starts), shape=(n, n))
        # the possible donors as a table of members, in no distance
        sizes, nowhere = np.diff(shares.indptr).astype(np.int64), np.zeros(len(blocks))
        table = NeighborTable(
            offsets=shares.indptr.astype(np.int64),
            records=shares.indices.astype(np.int32),
            squared=np.zeros(shares.nnz),
        )
        found = Neighborhoods(table=table, sizes=sizes, within=sizes, radius=nowhere)
        super().__init__(original, found, moved.astype(np.float64), shares)
        # the blocks stand for no distance that a measure could ask for
        self.neighborhoods = None  # type: ignore[assignment]
        self._swapped, self._known_by = swapped, known_by
        self._selection = (blocks, selected)

    def keeps_value_counts(self, name: str) -> bool:
        """True for every variable: the swapped ones are permuted."""
        return True

    def units(self) -> list[tuple[str, ...]]:
        """The swapped variables together, and each of the others by itself."""
        names = self.original.names
        alone: list[tuple[str, ...]] = [
            (variable.name,)
            for variable in self.original.schema.released
            if variable.name not in self._swapped
        ]
        together = tuple(name for name in self._swapped if name in names)
        return [together, *alone] if together else alone

    def moments(self) -> Moments:
        """Means over blocks, as `SeparateLaw.moments`."""
        names = [v.name for v in self.original.schema.released if v.name not in self._swapped]
        moved = block_transition(self.original, self._swapped, *self._selection)
        parts = [unchanged(self.original, name) for name in names]
        return joined([moved.moments(), *(part.moments() for part in parts)])

    def restricted_to(self, original: Microdata) -> Self:
        """Return the law for an intruder who knows only these variables."""
        if not set(self._known_by) <= set(original.names):
            raise NotApplicable("Without the variables that make the blocks the law is not known.")
        other = copy(self)
        other.original, other._tables = original, {}
        other.q = np.array([self.modification(v.name) for v in original.schema.released])
        return other


def law_within_blocks(
    original: Microdata,
    swapped: tuple[str, ...],
    known_by: tuple[str, ...],
    blocks: Integers,
    selected: Integers,
) -> BlockLaw | SeparateLaw | None:
    """The law of donors; of values where there are too many; see `BlockLaw`."""
    if block_pairs(blocks) <= ATTACKED_PAIRS:
        return BlockLaw(original, swapped, known_by, blocks, selected)
    if len(selected) * (int(value_numbers(original, swapped).max()) + 1) > LISTED_PAIRS:
        return None
    moved = block_transition(original, swapped, blocks, selected)
    return SeparateLaw.of_changes(original, [moved], known_by)


def block_transition(
    original: Microdata, swapped: tuple[str, ...], blocks: Integers, selected: Integers
) -> Transition:
    """The same law by values: a record keeps its own, or takes one of those of its block."""
    own = value_numbers(original, swapped)
    moving, sizes = blocks >= 0, np.bincount(blocks[blocks >= 0], minlength=len(selected))
    other = np.maximum(selected - 1, 0) / np.maximum(sizes * (sizes - 1), 1)
    pools = np.zeros((len(sizes), int(own.max()) + 1))
    np.add.at(pools, (blocks[moving], own[moving]), 1.0)
    pools /= np.maximum(sizes, 1)[:, np.newaxis]
    taken = np.where(moving, (other * sizes)[blocks], 0.0)
    starts = np.concatenate(([0], np.cumsum(moving)))
    weights = sparse.csr_array(
        (taken[moving], blocks[moving], starts), shape=(len(own), len(sizes))
    )
    choice = Redraw(keep=1.0 - taken, weights=weights, pools=pools)
    return Transition(
        original=original, unit=swapped, choice=choice, by_value=False, keeps_value_counts=True
    )


def block_pairs(blocks: Integers) -> int:
    """Count the pairs of records of one block, each record with itself included."""
    sizes = np.bincount(blocks[blocks >= 0])
    return int((sizes.astype(np.int64) ** 2).sum())
