"""People outside a file that was masked without donors: each releases values of his own alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.donor_belief import Beliefs
from rwn_core.measures.attacks.likelihood import attacked_units
from rwn_core.measures.comparison import Comparison


class NonMembersWithoutDonors:
    """Somebody who is not in the file, in the eyes of an intruder who does not know that.

    Parameters
    ----------
    comparison : Comparison
    law : Law
        Of one component, without donors.
    non_members : Microdata
        Records of the same variables, not rounded.
    names : sequence of str
        What the intruder knows of everybody.
    """

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
        """How much some released rows are believed to come from each person, and to show him.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
        secrets : sequence of str
            Confidential variables, none of them among the names.

        Returns
        -------
        Beliefs
            Of all people outside. A row shows its source's value, or nobody's.

        Raises
        ------
        NotApplicable
            What becomes of people outside depends on more than their own values.
        """
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
