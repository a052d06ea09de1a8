"""People who are not in the file: how the worst-case intruder would fare against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.donor_belief import Beliefs
from rwn_core.measures.attacks.file_with_added_person import FileWithAddedPerson, UnitValues
from rwn_core.measures.attacks.likelihood import attacked_units, ways
from rwn_core.measures.attacks.scaled_columns import leveled
from rwn_core.measures.comparison import Comparison

AT_ONCE = 1_000_000  # rows times records that one of some people has joined


class NonMembers:
    """Somebody who is not in the file, in the eyes of an intruder who does not know that.

    He adds the person to the file, one at a time, and applies Bayes' rule to all who are then in
    it. The person's neighborhood is found among the originals by the method's own rule, and he
    joins the neighborhoods within whose radius he lies, where he may take the place of the last
    of the k nearest. One thing is simpler than it is: distances keep the scale of the file without
    him.

    Parameters
    ----------
    comparison : Comparison
    law : Law
        Of the release, at one radius for all records.
    non_members : Microdata
        Records of the same variables, not rounded: a release would round them.
    names : sequence of str
        What the intruder knows of everybody.

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
        self.near = law.shares_outside(non_members)
        self.joins = law.joins_outside(non_members)

    @property
    def joined(self) -> int:
        """How many neighborhoods the people join, all together."""
        return int(self.joins.shares.nnz)

    def beliefs(self, rows: NDArray[np.int64], secrets: Sequence[str]) -> Beliefs:
        """What he believes of some released rows and of each person.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
        secrets : sequence of str
            Confidential variables, none of them among the names.

        Returns
        -------
        Beliefs
            Of all people outside.
        """
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
        """The people, so few at a time that all fits."""
        ends = np.cumsum(np.diff(self.joins.shares.indptr) + 1) * rows
        start = 0
        while start < len(ends):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
            yield slice(start, stop)
            start = stop

    def _unit(self, unit: tuple[str, ...], rows: NDArray[np.int64]) -> UnitValues:
        cells, people = self.law.components()[0].cells, np.arange(self.non_members.n)
        file, released = cells.unit_codes(unit, self.masked, rows)
        records = np.arange(len(file) + 1)
        one_hot = sparse.csr_array((np.ones(len(file)), file, records))
        assert cells.donors is not None  # or somebody else is asked
        return UnitValues(
            names=unit,
            own=cells.unit_codes(unit, self.non_members, people)[1],
            file=file,
            released=released,
            one_hot=one_hot,
            given=cells.donors.table(file, 1.0),
            leaving=sparse.csr_array(self.joins.leaving @ one_hot),
            lost=self.masked.frame[list(unit)].isna().all(axis=1).to_numpy()[rows],
        )


def _stacked(parts: Sequence[NDArray[np.float64]]) -> sparse.csc_array:
    return sparse.csc_array(np.vstack(parts))
