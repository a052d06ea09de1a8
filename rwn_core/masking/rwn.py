"""Randomization within neighborhoods, 2022: each cell from a random member of its neighborhood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rwn_core.cell_law import CellLaw
from rwn_core.coordinates import Encoding, Scale, coordinates
from rwn_core.donors import (
    Draws,
    check_probability,
    column_streams,
    copy_from_donors,
    draw_all,
    draw_donors,
    masked_columns,
)
from rwn_core.errors import ParameterError
from rwn_core.masking.release import Masked
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import Neighborhoods, check_reach, find_neighborhoods
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RWN:
    """Parameters of randomization within neighborhoods.

    Parameters
    ----------
    epsilon : float, optional
        Radius, in standard deviations of the scaled and weighted variables, at least 0; not
        the epsilon of differential privacy.
    k : int, optional
        Every neighborhood has at least its k nearest records. At least one of epsilon and k is
        needed.
    q : float
        Modification probability of each cell, from 0 to 1.
    scale : {"sd", "range"}
    encoding : {"dummies", "matching"}

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5.
    """

    epsilon: float | None = None
    k: int | None = None
    q: float = 1.0
    scale: Scale = "sd"
    encoding: Encoding = "dummies"

    method: ClassVar[str] = "rwn"

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        check_reach(self.k, self.epsilon)
        check_probability(self.q)

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Find the neighborhoods, draw the donors, copy their values."""
        check_reach(self.k, self.epsilon, microdata.n)
        masked_columns(microdata)  # refuse before the search, not after it
        neighborhoods = find_neighborhoods(
            coordinates(microdata, self.scale, self.encoding),
            k=self.k,
            epsilon=self.epsilon,
            threads=threads,
            progress=progress,
        )
        law = self.law(microdata, neighborhoods)
        donors = draw_all(neighborhoods, key, column_streams(microdata), law.q, threads=threads)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law)

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> CellLaw:
        """The exact law of this setting on this table."""
        empty = int((neighborhoods.sizes == 0).sum())
        if empty:
            records = "One record has" if empty == 1 else f"{empty:,} records have"
            raise ParameterError(
                f"{records} no other record within epsilon; give k (at least 1) as "
                "well, or a larger epsilon."
            )
        return CellLaw(microdata, neighborhoods, modification(microdata, self.q))

    def redraw(self, microdata: Microdata, neighborhoods: Neighborhoods, draws: Draws) -> Masked:
        """The same release from neighborhoods and random numbers that are already at hand."""
        law = self.law(microdata, neighborhoods)
        donors = draw_donors(neighborhoods, draws, law.q)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law)


def modification(microdata: Microdata, q: float) -> NDArray[np.float64]:
    """The modification probability of each released variable: q, or 0 where it is not masked.

    Raises
    ------
    ParameterError
        No variable is to be masked.
    """
    return np.where(masked_columns(microdata), float(q), 0.0)
