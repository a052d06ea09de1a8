"""Expected sums of a release in which a row is masked as a whole, left as it is, or lost.

A record is selected with probability s. If it is, its cells are drawn independently, and those that
it modifies are lost if it has no donor; if not, it stays. All sums over
records are mixtures of the two; the covariance of two sums is that of the drawn cells and that of
the selection, which a fixed count of selected records makes smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import Adder, ExpectedSums, Neighbors
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.parallel.threads import current_work


class RowAdder(Adder):
    """The sums over records of which each is selected; see `Adder`."""

    def __init__(
        self,
        columns: Columns,
        masked: Booleans,  # shape (p,): which variables a selected record modifies
        neighbors: Neighbors,
        missing: Booleans,  # shape (n, p): cells without a value, which cannot lose it
    ) -> None:
        settings = len(neighbors.sizes)
        super().__init__(columns, np.tile(masked.astype(np.float64), (settings, 1)))
        self._lost = neighbors.sizes == 0
        joint = [missing[:, list(unit)].all(axis=1) for unit in columns.units if len(unit) > 1]
        self._still = np.column_stack([missing, *joint]).astype(np.float64)
        both = 2 * len(columns.names)
        self.change = np.zeros((settings, both))
        self.products = np.zeros((settings, both, both))

    def near(self, found: Neighbors, block: slice) -> tuple[Floats, Floats]:
        """Means over the neighborhoods, 0 for a record without; see `Adder.near`."""
        near, same = super().near(found, block)
        lost = self._lost[:, block, np.newaxis]
        return np.where(lost, 0.0, near), np.where(lost, self._still[block], same)

    def _known(self, near: Floats, block: slice) -> Floats:
        modified = self.q[:, None, self.columns.positions] > 0
        lost = self._lost[:, block, np.newaxis] & modified
        return np.where(lost, 0.0, super()._known(near, block))

    def _add(self, near: Floats, same: Floats, block: slice) -> list[Floats]:
        mean, known = self.cells(near, block)[0], self._known(near, block)
        own = np.hstack([self.columns.numbers[block], self.columns.known[block]])
        change = np.concatenate([mean, known], axis=2) - own
        self.change += change.sum(axis=1)
        self.products += change.transpose(0, 2, 1) @ change
        return super()._add(near, same, block)


def mixed_sums(columns: Columns, laws: Sequence[RowMixtureLaw]) -> ExpectedSums:
    """Return the sums for settings that select records; their neighbors lie in one table."""
    # the sums as if every record were selected
    neighbors, which = Neighbors.from_each([law.given(selected=True).neighborhoods for law in laws])
    missing = laws[0].given(selected=True).original.frame[list(columns.released)].isna().to_numpy()
    modified = np.any([law.given(selected=True).q > 0 for law in laws], axis=0)
    adder = RowAdder(columns, modified, neighbors, missing)
    sizes, count = np.maximum(neighbors.sizes, 1), neighbors.sizes.shape[1]
    drawn = adder.total(replace(neighbors, sizes=sizes))
    # the sums as if none were: each record is its own only neighbor
    as_they_are = Adder(columns, np.zeros((1, len(columns.released))))
    itself = Neighbors(
        starts=np.arange(count + 1),
        records=np.arange(count, dtype=np.int32),
        sizes=np.ones((1, count), dtype=np.int64),
    )
    with current_work().quiet():
        own = as_they_are.total(itself)
    # expected sums mix the two by the share of selected records
    share = np.array([law.row_share for law in laws])

    def mixed(name: str) -> Floats:
        one, other = getattr(drawn, name)[which], getattr(own, name)
        weight = share.reshape(-1, *(1,) * (one.ndim - 1))
        return np.asarray(weight * one + (1 - weight) * other)

    first, seen = mixed("first"), mixed("seen")
    # noise within the selected records, and that of the selection itself
    known = np.diagonal(seen, axis1=1, axis2=2)
    mean = np.divide(first, known, out=np.zeros_like(first), where=known > 0)
    noise = share[:, None, None] * drawn.noise[which]
    for number, law in enumerate(laws):
        noise[number] += _selection_covariance(adder, int(which[number]), law, mean[number], count)
    return ExpectedSums(
        first=first,
        first_seen=mixed("first_seen"),
        seen=seen,
        second=mixed("second"),
        noise=noise,
        together=mixed("together"),
        retained=mixed("retained"),
        rows=mixed("rows"),
    )


def _selection_covariance(
    adder: RowAdder, number: int, law: RowMixtureLaw, mean: Floats, count: int
) -> Floats:
    """Covariance of the sums of what is known, less the mean, that the selection makes."""
    less_mean = np.hstack([np.eye(len(mean)), -np.diag(mean)])
    change, products = less_mean @ adder.change[number], adder.products[number]
    spread = less_mean @ products @ less_mean.T
    if law.fixed_count and count > 1:
        spread = (spread - np.outer(change, change) / count) * count / (count - 1)
    return np.asarray(law.row_share * (1 - law.row_share) * spread)
