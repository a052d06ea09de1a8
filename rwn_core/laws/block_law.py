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
    number of each record's block, from 0, or -1 for a record that is not swapped; `selected`,
    shape (blocks,), has their s. See the function `dswap` as Matloff and Tendick 2015 document it.

    With `risks`, shape (n,), the s records of a block with the largest are selected, at random
    among those that are equally at risk. An intruder with the law has all risks, too.
    """

    def __init__(
        self,
        original: Microdata,
        swapped: Unit,
        makers: Unit,
        blocks: Integers,
        selected: Integers,
        risks: Floats | None = None,
    ) -> None:
        moved = np.array([v.name in swapped for v in original.schema.released])
        sizes, donors, member = _chances(blocks, selected, risks)
        # P(each record is the donor of each), shape (n, n): others of its block, or itself
        others = member @ donors @ member.T
        taken = member @ (donors @ sizes)
        shares = sparse.csr_array(others + sparse.diags_array(1.0 - taken))
        # the possible donors as a table of members, in no distance
        starts = shares.indptr.astype(np.int64)
        members = shares.indices.astype(np.int32)
        table = NeighborTable(offsets=starts, records=members, squared=np.zeros(shares.nnz))
        counts = np.diff(starts)
        nowhere = np.zeros(len(blocks))
        found = Neighborhoods(table=table, sizes=counts, within=counts, radius=nowhere)
        super().__init__(original, found, moved.astype(np.float64), shares)
        # the blocks stand for no distance that a measure could ask for
        self.neighborhoods = None  # type: ignore[assignment]
        self._swapped, self._known_by = swapped, makers
        self._selection = (blocks, selected, risks)

    def keeps_value_counts(self, name: str) -> bool:
        """True if a variable keeps its counts: all do, as the swapped ones are permuted."""
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
        other.original = original
        other._tables = {}
        other.q = np.array([self.modification(v.name) for v in original.schema.released])
        return other


def law_within_blocks(
    original: Microdata,
    swapped: Unit,
    makers: Unit,
    blocks: Integers,
    selected: Integers,
    risks: Floats | None = None,
) -> BlockLaw | SeparateLaw | None:
    """The law of donors; of values where there are too many; see `BlockLaw`."""
    if block_pairs(blocks) <= ATTACKED_PAIRS:
        return BlockLaw(original, swapped, makers, blocks, selected, risks)
    if len(selected) * (int(value_numbers(original, swapped).max()) + 1) > LISTED_PAIRS:
        return None
    moved = block_transition(original, swapped, blocks, selected, risks)
    return SeparateLaw.of_changes(original, [moved], makers)


def block_transition(
    original: Microdata,
    swapped: Unit,
    blocks: Integers,
    selected: Integers,
    risks: Floats | None = None,
) -> Transition:
    """The same law by values: a record keeps its own, or takes one of those of its block."""
    own = value_numbers(original, swapped)
    sizes, donors, member = _chances(blocks, selected, risks)
    values = sparse.csr_array((np.ones(len(own)), own, np.arange(len(own) + 1)))
    pools = (member.T @ values).toarray() / np.maximum(sizes, 1)[:, np.newaxis]
    weights = sparse.csr_array(member @ (donors @ sparse.diags_array(sizes.astype(np.float64))))
    choice = Redraw(keep=1.0 - member @ (donors @ sizes), weights=weights, pools=pools)
    return Transition(
        original=original, unit=swapped, choice=choice, by_value=False, keeps_value_counts=True
    )


def _chances(
    blocks: Integers, selected: Integers, risks: Floats | None
) -> tuple[Integers, sparse.csr_array, sparse.csr_array]:
    """Return groups' sizes, P(a donor is a certain other), and the records of each group."""
    # Shapes: (groups,), (groups, groups) and (n, groups). Without risks a block is a group; with
    # them a block has two, see `groups_at_risk`.
    if risks is None:
        sizes, member = _members(blocks, len(selected))
        other = np.maximum(selected - 1, 0) / np.maximum(sizes * (sizes - 1), 1)
        return sizes, sparse.csr_array(sparse.diags_array(other)), member
    sizes, member = _members(groups_at_risk(blocks, selected, risks), 2 * len(selected))
    tied, certain = np.split(sizes, 2)
    # of the equally risky some are drawn without replacement; a selected record's donor is each of
    # the selected with the same probability
    drawn = selected - certain
    each = 1.0 / np.maximum(selected, 1)
    pairs = drawn * np.maximum(drawn - 1, 0) / np.maximum(tied * (tied - 1), 1)
    always = np.where(certain > 0, each, 0.0)
    across = sparse.diags_array(always * drawn / np.maximum(tied, 1))
    rows = [[sparse.diags_array(each * pairs), across], [across, sparse.diags_array(always)]]
    return sizes, sparse.csr_array(sparse.block_array(rows)), member


def _members(groups: Integers, number: int) -> tuple[Integers, sparse.csr_array]:
    """Return the sizes of groups, shape (groups,), and the records of each, shape (n, groups)."""
    inside = groups >= 0
    sizes = np.bincount(groups[inside], minlength=number)
    places = (np.ones(inside.sum()), groups[inside], np.concatenate(([0], np.cumsum(inside))))
    return sizes, sparse.csr_array(places, shape=(len(groups), number))


def groups_at_risk(blocks: Integers, selected: Integers, risks: Floats) -> Integers:
    """Return each record's group: may be selected, is selected, or stays; shape (n,).

    It is the block b where the record is as much at risk as the last that is selected, b + blocks
    where it is more, and -1 where it is less or in no block.

    >>> groups_at_risk(np.zeros(4, np.int64), np.array([2]), np.array([0.1, 0.9, 0.5, 0.5]))
    array([-1,  1,  0,  0])
    """
    sizes = np.bincount(blocks[blocks >= 0], minlength=len(selected))
    order = np.lexsort((-risks, blocks))[np.count_nonzero(blocks < 0) :]
    last = np.cumsum(sizes) - sizes + np.maximum(selected, 1) - 1
    limits = np.append(risks[order[last]], np.nan)[blocks]  # of no block: nothing is as large
    groups = np.where(risks > limits, blocks + len(selected), -1)
    return np.where(risks == limits, blocks, groups)


def block_pairs(blocks: Integers) -> int:
    """Count the pairs of records of one block, each record with itself included."""
    return int((np.bincount(blocks[blocks >= 0]).astype(np.int64) ** 2).sum())
