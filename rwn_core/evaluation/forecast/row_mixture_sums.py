"""Expected sums of a release in which a row is masked as a whole, left as it is, or lost.

A record is selected with probability s. If it is, its cells are drawn by themselves, and those that
it modifies are lost where it has nobody to take values from; if not, it stays. All sums over
records are mixtures of the two; the covariance of two sums is that of the drawn cells and that of
the selection, which a fixed count of selected records makes smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import Adder, ExpectedSums, Floats
from rwn_core.laws.row_mixture import SelectedRows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbors:
    """Hold the ranked neighbors of m records, for s settings.

    Attributes
    ----------
    starts : ndarray of int64, shape (m + 1,)
    records : ndarray of int32, shape (P,)
        Of each record at least one: itself where it has nobody.
    sizes : ndarray of int64, shape (s, m)
        How many each setting takes; 0 for a record that loses what it modifies.
    """

    starts: NDArray[np.int64]
    records: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, laws: Sequence[SelectedRows]) -> tuple[Neighbors, list[int]]:
        """The different ones of some settings, and which of them each setting has.

        The widest hold all others, since they lie in one table.
        """
        found = [law.drawn.neighborhoods for law in laws]
        each = [one.sizes.tobytes() for one in found]
        different = list(dict.fromkeys(each))
        sizes = np.array([found[each.index(one)].sizes for one in different])
        widest = found[each.index(different[int(sizes.sum(axis=1).argmax())])]
        starts, records = widest.pairs()
        alone = np.flatnonzero(np.diff(starts) == 0)
        made = cls(
            starts=starts + np.searchsorted(alone, np.arange(len(starts)), side="left"),
            records=np.insert(records, starts[alone], alone),
            sizes=sizes,
        )
        return made, [different.index(one) for one in each]


class RowAdder(Adder):
    """The sums over records of which each is selected; see `Adder`.

    Parameters
    ----------
    columns : Columns
    masked : ndarray of bool, shape (p,)
        Which variables a selected record modifies.
    neighbors : Neighbors
    missing : ndarray of bool, shape (n, p)
        Which cells have no value, so that they cannot lose it.
    chances : sequence of (int, float)
        Of each setting, which of the neighborhoods it has, and how likely a record is selected.

    Attributes
    ----------
    cumulants_of : ndarray of float64, shape (settings, 2, m)
        Sums of the third and fourth cumulants of each number, once all is added up.
    """

    def __init__(
        self,
        columns: Columns,
        masked: NDArray[np.bool_],
        neighbors: Neighbors,
        missing: NDArray[np.bool_],
        chances: Sequence[tuple[int, float]] = (),
    ) -> None:
        settings = len(neighbors.sizes)
        super().__init__(columns, np.tile(masked.astype(np.float64), (settings, 1)))
        self._neighbors, self._lost = neighbors, neighbors.sizes == 0
        joint = [missing[:, list(unit)].all(axis=1) for unit in columns.units if len(unit) > 1]
        self._still = np.column_stack([missing, *joint]).astype(np.float64)
        both = 2 * len(columns.names)
        self._chances = chances
        self.cumulants_of = np.zeros((len(chances), 2, len(columns.names)))
        self.change = np.zeros((settings, both))
        self.products = np.zeros((settings, both, both))

    def selected(self, progress: Callable[[float], None] | None = None) -> ExpectedSums:
        """What `total` adds up, were every record selected.

        Meanwhile `change`, shape (s, 2m), becomes the sum over the records of what selection
        does to each number and to whether it is known; `products` of the products of these.
        """
        near = self._neighbors
        sizes = np.maximum(near.sizes, 1)
        return self.total(near.starts, near.records, sizes, progress=progress)

    def cells_of_selected(self) -> tuple[Floats, Floats]:
        """Mean and variance of every released number of a selected record, of one setting."""
        found, whole = self._neighbors, slice(0, self._neighbors.sizes.shape[1])
        sizes = np.maximum(found.sizes, 1)
        mean, variance = self.cells(self.near(found.starts, found.records, sizes, whole)[0], whole)
        return mean[0], variance[0]

    def near(
        self,
        starts: NDArray[np.int64],
        records: NDArray[np.int32],
        sizes: NDArray[np.int64],
        block: slice,
    ) -> tuple[Floats, Floats]:
        """Means over the neighborhoods, 0 for a record without; see `Adder.near`."""
        near, same = super().near(starts, records, sizes, block)
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
        modified = self.q[:, None, self.columns.positions]
        for number, (which, share) in enumerate(self._chances):
            some = near[which : which + 1]
            found = self.cumulants(some, block, share * modified[which : which + 1])
            self.cumulants_of[number] += np.concatenate(found)
        return super()._add(near, same, block)


def mixed_sums(
    columns: Columns,
    laws: Sequence[SelectedRows],
    progress: Callable[[float], None] | None = None,
) -> tuple[ExpectedSums, RowAdder]:
    """What `Adder.total` gives for independent cells, for settings that select records.

    Parameters
    ----------
    columns : Columns
        Of the original.
    laws : sequence of SelectedRows
        Of the settings, whose neighbors lie in one table.
    progress : callable, optional
        See `Adder.total`.

    Returns
    -------
    ExpectedSums
        Means of numbers that are missing somewhere are left out, and so is who is seen.
    RowAdder
        What added up the selected records, for the different neighborhoods of the settings.
    """
    neighbors, which = Neighbors.of(laws)
    missing = laws[0].drawn.original.frame[list(columns.released)].isna().to_numpy()
    modified = np.any([law.drawn.q > 0 for law in laws], axis=0)
    chances = [(at, law.share) for at, law in zip(which, laws, strict=True)]
    adder = RowAdder(columns, modified, neighbors, missing, chances)
    drawn, count = adder.selected(progress), neighbors.sizes.shape[1]
    as_they_are = Adder(columns, np.zeros((1, len(columns.released))))
    ones = np.ones((1, count), dtype=np.int64)
    own = as_they_are.total(np.arange(count + 1), np.arange(count, dtype=np.int32), ones)
    share = np.array([law.share for law in laws])

    def mixed(name: str) -> Floats:
        one, other = getattr(drawn, name)[which], getattr(own, name)
        weight = share.reshape(-1, *(1,) * (one.ndim - 1))
        return np.asarray(weight * one + (1 - weight) * other)

    first, seen = mixed("first"), mixed("seen")
    known = np.diagonal(seen, axis1=1, axis2=2)
    mean = np.divide(first, known, out=np.zeros_like(first), where=known > 0)
    noise = share[:, None, None] * drawn.noise[which]
    for number, law in enumerate(laws):
        noise[number] += _of_selection(adder, which[number], law, mean[number], count)
    nothing = np.empty((len(laws), 0))
    sums = ExpectedSums(
        first=first,
        first_seen=mixed("first_seen"),
        seen=seen,
        second=mixed("second"),
        noise=noise,
        third=adder.cumulants_of[:, 0],
        fourth=adder.cumulants_of[:, 1],
        together=mixed("together"),
        kept=mixed("kept"),
        rows=mixed("rows"),
        unseen=nothing,
        gap_means=nothing,
    )
    return sums, adder


def _of_selection(
    adder: RowAdder, number: int, law: SelectedRows, mean: Floats, count: int
) -> Floats:
    """Covariance of the sums of what is known, less the mean, that the selection makes."""
    less_mean = np.hstack([np.eye(len(mean)), -np.diag(mean)])
    change, products = less_mean @ adder.change[number], adder.products[number]
    spread = less_mean @ products @ less_mean.T
    if law.fixed_count and count > 1:
        spread = (spread - np.outer(change, change) / count) * count / (count - 1)
    return np.asarray(law.share * (1 - law.share) * spread)


def mixed_cells(columns: Columns, law: SelectedRows, adder: RowAdder) -> tuple[Floats, Floats]:
    """Mean and variance of every released number, a missing one as the variable's mean.

    Returns
    -------
    means, variances : ndarray of float64, shape (n, m)
    """
    mean, variance = adder.cells_of_selected()
    own, share = columns.numbers, law.share
    between = share * (1 - share) * (mean - own) ** 2
    means = columns.center + columns.unit * (share * mean + (1 - share) * own)
    return means, columns.unit**2 * (share * variance + between)
