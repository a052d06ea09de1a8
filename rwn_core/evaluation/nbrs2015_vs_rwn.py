"""Exact comparison of the laws of 2015 and 2022 for a record and for a table.

Sources: Matloff and Tendick 2015, section "Proposed method" and `nbrs`; Perry, Matloff,
Tendick 2022, section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.errors import ParameterError
from rwn_core.laws.law import Law
from rwn_core.masking import NBRS2015, RWN

CELL = "per cell (2022)"
RECORD = "per record (2015)"
COUNT = "fixed count of records (2015)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCount:
    """Hold the mean and variance of a count over releases."""

    mean: float
    variance: float

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(self.variance))


@dataclass(frozen=True, slots=True, kw_only=True)
class LawSummary:
    """One law, for one record and for the whole table."""

    name: str
    neighbors: int  # records that may give this record their values
    stays: dict[str, float]  # P(the record's value of a variable stays the same), by variable
    lost: float  # P(the record's masked values become missing because it has no neighbor)
    # shape (p + 1,): P(exactly c of the record's cells change), for c from 0 on; the first is that
    # of an intact row
    changed: NDArray[np.float64]
    # records, cells, missing: of the whole table: records and cells that change, and cells that
    # become missing
    records: ExpectedCount
    cells: ExpectedCount
    missing: ExpectedCount


def nbrs2015_vs_rwn(
    microdata: Microdata, record: int, *, epsilon: float, q: float, k: int
) -> list[LawSummary]:
    """Compare the law of cells with the two of records, at the same radius and probability."""
    if isinstance(record, bool) or not 0 <= record < microdata.n:
        raise ParameterError(f"The record must be a whole number from 0 to {microdata.n - 1}.")
    methods = (
        (CELL, RWN(epsilon=epsilon, k=k, q=q)),
        (RECORD, NBRS2015(epsilon=epsilon, q=q, record_selection="bernoulli")),
        (COUNT, NBRS2015(epsilon=epsilon, q=q, record_selection="count")),
    )
    found = []
    for name, params in methods:
        law = params.prepare(microdata).law
        assert law is not None  # both have one before a key is drawn
        found.append(_summary(name, law, record, fixed=name == COUNT))
    return found


def _summary(name: str, law: Law, record: int, *, fixed: bool) -> LawSummary:
    parts = [(part.weight, _Cells(part.cells)) for part in law.components() if part.weight > 0]
    assert law.neighborhoods is not None  # both laws copy from donors
    donors = law.neighborhoods.members(record).astype(np.int64)
    stays = np.sum([share * cells.stays[record] for share, cells in parts], axis=0)
    lost = np.sum([share * cells.lost[record] for share, cells in parts], axis=0)
    changed = [share * cells.number_changed(record, donors) for share, cells in parts]
    names = [variable.name for variable in law.original.schema.released]
    return LawSummary(
        name=name,
        neighbors=len(donors),
        stays=dict(zip(names, stays.tolist(), strict=True)),
        lost=float(lost.max()),
        changed=np.sum(changed, axis=0),
        records=_total([(share, *cells.any_changed) for share, cells in parts], fixed=fixed),
        cells=_total([(share, *cells.changed) for share, cells in parts], fixed=fixed),
        missing=_total([(share, *cells.missing) for share, cells in parts], fixed=fixed),
    )


class _Cells:
    """Laws of cells that are independent but for those of one unit, record by record."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self._names = [variable.name for variable in law.original.schema.released]
        missing = np.column_stack([_missing(law.original, name) for name in self._names])
        modified = np.array([law.modification(name) for name in self._names])
        self._alone = np.zeros(law.original.n, dtype=bool)
        self._alone[law.empty] = True
        # a missing value that is lost is what it was
        self._losable = ~missing & (modified > 0)
        self.lost = np.where(self._alone[:, np.newaxis] & ~missing, modified, 0.0)
        retained = np.column_stack([law.retained(name) for name in self._names])
        self.stays = np.where(self._alone[:, np.newaxis], 1 - self.lost, retained)

    def _together(self, names: Sequence[str]) -> NDArray[np.float64]:
        """P(no value of some variables of one unit changes), shape (n,)."""
        places = [self._names.index(name) for name in names]
        return np.where(self._alone, self.stays[:, places].min(axis=1), self._law.retained(*names))

    @property
    def any_changed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of "the record changes", each of shape (n,)."""
        intact = np.prod([self._together(unit) for unit in self._law.units()], axis=0)
        return 1 - intact, intact * (1 - intact)

    @property
    def changed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the number of changed cells, each of shape (n,)."""
        mean, variance = _sums(1 - self.stays)
        for one, other in self._pairs():
            both = self._together((one, other))
            variance = variance + 2 * (both - self._stay_chance(one) * self._stay_chance(other))
        return mean, variance

    @property
    def missing(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the number of cells lost without a neighbor."""
        mean, variance = _sums(self.lost)
        for one, other in self._pairs():  # they are lost together
            p, r = (self.lost[:, self._names.index(name)] for name in (one, other))
            variance = variance + 2 * (np.minimum(p, r) - p * r)
        return mean, variance

    def _stay_chance(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self.stays[:, self._names.index(name)])

    def _pairs(self) -> list[tuple[str, str]]:
        """The variables that share a donor, two by two."""
        return [pair for unit in self._law.units() for pair in combinations(unit, 2)]

    def number_changed(self, record: int, donors: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(exactly c of a record's cells change), shape (p + 1,)."""
        counts = np.ones(1)
        for unit in self._law.units():
            places = [self._names.index(name) for name in unit]
            if len(donors):
                codes = [value_codes(self._law.original, name)[0] for name in unit]
                unlike = np.sum([code[donors] != code[record] for code in codes], axis=0)
            else:
                unlike = np.array([self._losable[record, places].sum()])
            q = self._law.modification(unit[0])
            chances = q * np.bincount(unlike, minlength=len(unit) + 1) / len(unlike)
            chances[0] += 1 - q
            counts = np.convolve(counts, chances)
        return counts


def _missing(microdata: Microdata, name: str) -> NDArray[np.bool_]:
    codes, values = value_codes(microdata, name)
    last = len(values) - 1
    return np.asarray(codes == last) if values[-1] is None else np.zeros(microdata.n, dtype=bool)


def _sums(p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return p.sum(axis=1), (p * (1 - p)).sum(axis=1)


def _total(
    parts: Sequence[tuple[float, NDArray[np.float64], NDArray[np.float64]]], *, fixed: bool
) -> ExpectedCount:
    """Add up what is to expect of all records."""
    mean = np.sum([share * each for share, each, _ in parts], axis=0)
    within = np.sum([share * variance for share, _, variance in parts], axis=0)
    spread = np.sum([share * (each - mean) ** 2 for share, each, _ in parts], axis=0)
    variance = float((within + spread).sum())
    if fixed:
        variance += _covariance(parts)
    return ExpectedCount(mean=float(mean.sum()), variance=max(variance, 0.0))


def _covariance(
    parts: Sequence[tuple[float, NDArray[np.float64], NDArray[np.float64]]],
) -> float:
    """Return the part of the variance from drawing without replacement, at most 0."""
    if len(parts) < 2:
        return 0.0
    (share, drawn, _), (_, retained, _) = parts
    gain = drawn - retained
    n = len(gain)
    pairs = float(gain.sum() ** 2 - (gain**2).sum())
    return -share * (1 - share) / (n - 1) * pairs
