"""Expected cells of methods without a law of independent rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.value_codes import value_codes
from rwn_core.laws.moments import Moments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expectations:
    """Hold what is expected of a release in which every variable is changed by itself.

    Attributes
    ----------
    original : Microdata
    moments : Moments
        Of all released numbers.
    stays : mapping of str to ndarray of float64, shape (n,)
        P(a changed variable shows the record's own value); the others show it for sure.
    levels : mapping of str to ndarray of float64, shape (V, V)
        P(each level is released for a record of each), of the changed variables with levels, which
        have the numbers of `value_codes`.
    releases : int
        From how many simulated releases the chances are estimated; 0 where they are exact.
    """

    original: Microdata
    moments: Moments
    stays: Mapping[str, NDArray[np.float64]]
    levels: Mapping[str, NDArray[np.float64]]
    releases: int

    def retained(self, *names: str) -> NDArray[np.float64]:
        """P(the released value of a variable equals the original's), shape (n,)."""
        return self.stays.get(names[0], np.ones(self.original.n))

    def rows_unchanged(self) -> NDArray[np.float64]:
        """P(no value of a record changes), shape (n,)."""
        return np.asarray(np.prod([np.ones(self.original.n), *self.stays.values()], axis=0))

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """P(each level of a variable is released), shape (n, V), and the levels."""
        codes, values = value_codes(self.original, name)
        chances = self.levels.get(name, np.eye(len(values)))
        return sparse.csr_array(chances[codes]), values
