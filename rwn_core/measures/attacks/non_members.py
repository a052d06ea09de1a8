"""Attack on people outside the file, as a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.value_codes import codes_together
from rwn_core.laws.cell_law import donors_outside
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.donor_belief import Beliefs
from rwn_core.measures.attacks.file_with_added_person import FileWithAddedPerson, UnitValues
from rwn_core.measures.attacks.likelihood import attacked_units, ways
from rwn_core.measures.attacks.scaled_columns import leveled
from rwn_core.measures.comparison import Comparison

AT_ONCE = 1_000_000  # rows times records that one of some people has joined


class NonMembers:
    """People outside the file, attacked by an intruder who takes them for members.

    The intruder adds one person at a time to the file and applies Bayes' rule. The person's
    neighborhood follows the method's own rule among the originals; the person also joins the
    neighborhoods within whose radius it lies. Distances keep the scale of the file without it.

    Parameters
    ----------
    comparison : Comparison
    law : Law
        At one radius for all records.
    non_members : Microdata
        Records of the same variables, not rounded.
    names : sequence of str
        Variables that the intruder knows.

    Raises
    ------
    NotApplicable
        Each record has a radius of its own, or random candidates.
    """

    def __init__(
        self, comparison: Comparison, law: Law, non_members: Microdata, names: Sequence[str]
    ) -> None:
        self.law, self.masked = law, comparison.masked
        self.non_members = rounded(non_members, law.precision)
        self.names = tuple(names)
        self.near, self.joins = donors_outside(law, non_members)

    @property
    def joined(self) -> int:
        """Number of neighborhoods that the people join, in all."""
        return int(self.joins.shares.nnz)

    def beliefs(self, rows: NDArray[np.int64], secrets: Sequence[str]) -> Beliefs:
        """Return the posteriors of some released rows for all people outside."""
        parts = ways(self.law, self.masked, rows, self.names)
        matrices, top = leveled([way.part for way in parts])
        file = sparse.csr_array(sum(matrices[1:], matrices[0]))
        units = [self._unit(unit, rows) for unit in attacked_units(self.law, self.names)]
        made = []
        for some in self._few(len(rows)):
            values = [unit._replace(own=unit.own[some]) for unit in units]
            few = FileWithAddedPerson(self.law, self.near[some], self.joins.shares[some], values)
            made.append(few.beliefs(parts, file, top, secrets))
        source, donors = zip(*made, strict=True)
        return Beliefs(_stacked(source), [_stacked(each) for each in zip(*donors, strict=True)])

    def _few(self, rows: int) -> Iterator[slice]:
        """Yield the people in parts that fit the limit of pairs."""
        ends = np.cumsum(np.diff(self.joins.shares.indptr) + 1) * rows
        start = 0
        while start < len(ends):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
            yield slice(start, stop)
            start = stop

    def _unit(self, unit: tuple[str, ...], rows: NDArray[np.int64]) -> UnitValues:
        cells, people = self.law.components()[0].cells, np.arange(self.non_members.n)
        file, released = codes_together(cells.original, self.masked, unit, rows)
        records = np.arange(len(file) + 1)
        one_hot = sparse.csr_array((np.ones(len(file)), file, records))
        assert cells.donors is not None  # NonMembersWithoutDonors otherwise
        return UnitValues(
            names=unit,
            own=codes_together(cells.original, self.non_members, unit, people)[1],
            file=file,
            released=released,
            one_hot=one_hot,
            given=cells.donors.table(file, 1.0),
            leaving=sparse.csr_array(self.joins.leaving @ one_hot),
            lost=self.masked.frame[list(unit)].isna().all(axis=1).to_numpy()[rows],
        )


def _stacked(parts: Sequence[NDArray[np.float64]]) -> sparse.csc_array:
    return sparse.csc_array(np.vstack(parts))


class NonMembersWithoutDonors:
    """People outside a file that was masked by a law of one component without donors."""

    joined = 0

    def __init__(
        self, comparison: Comparison, law: Law, non_members: Microdata, names: Sequence[str]
    ) -> None:
        self.law, self.masked, self.names = law, comparison.masked, tuple(names)
        self._n = comparison.original.n
        released = [variable.name for variable in comparison.original.schema.released]
        tables = (comparison.original.frame[released], non_members.frame[released])
        frame = pd.concat(tables, ignore_index=True)
        self._everybody = Microdata(frame, comparison.masked.schema)

    def beliefs(self, rows: NDArray[np.int64], secrets: Sequence[str]) -> Beliefs:
        """Return the posteriors of some rows for all people outside."""
        # a row shows its source's value or no record's
        (only,) = self.law.components()
        logs = np.zeros((len(rows), self._everybody.n))
        with np.errstate(divide="ignore"):
            for unit in attacked_units(self.law, self.names):
                logs += np.log(only.cells.unit_chances(unit, self.masked, rows, self._everybody))
            file = np.logaddexp.reduce(logs[:, : self._n], axis=1, keepdims=True)
            own = logs[:, self._n :]
            total = np.logaddexp(file, own)
        with np.errstate(invalid="ignore"):
            source = np.where(np.isfinite(total), np.exp(own - total), 0.0)
        believed = sparse.csc_array(source.T)
        return Beliefs(believed, [believed for _ in secrets])
