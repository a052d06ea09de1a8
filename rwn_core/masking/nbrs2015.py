"""The 2015 method: whole records, each cell from a random member of a strict neighborhood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking.release import Masked
from rwn_core.mechanism.donors import (
    check_probability,
    column_streams,
    copy_from_donors,
    draw_all,
    masked_columns,
)
from rwn_core.mechanism.row_mixture import RowMixtureLaw
from rwn_core.neighbors import Neighborhoods, find_strictly
from rwn_core.neighbors.metric import coordinates, metric_of
from rwn_core.neighbors.rule import NeighborhoodRule
from rwn_core.randomness import SELECTION_STREAM, SecretKey, uniforms

Selection = Literal["count", "bernoulli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NBRS2015:
    """Hold the parameters of the 2015 method.

    A selected record takes every masked value from an independent, uniformly random record at
    a distance below epsilon; where there is none, its masked values become missing.

    Parameters
    ----------
    epsilon : float
        Radius, in standard deviations of the scaled and weighted variables, above 0; not the
        epsilon of differential privacy. A record at exactly this distance is no neighbor.
    q : float
        Modification probability of each record, from 0 to 1.
    record_selection : {"count", "bernoulli"}
        As coded, floor(n * q) records without replacement; or as described, each record by
        itself with probability q.

    Raises
    ------
    ParameterError

    References
    ----------
    Matloff and Tendick 2015, section "Proposed method" and the function `nbrs`.

    Examples
    --------
    >>> NBRS2015(epsilon=0.5, q=0.8).record_selection
    'count'
    """

    epsilon: float
    q: float = 1.0
    record_selection: Selection = "count"

    method: ClassVar[str] = "nbrs2015"

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        _check_radius(self.epsilon)
        check_probability(self.q)
        if self.record_selection not in get_args(Selection):
            raise ParameterError(
                f"record_selection must be one of: {', '.join(get_args(Selection))}."
            )

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Find the neighborhoods, select the records, draw their donors, copy the values."""
        masked_columns(microdata)  # refuse before the search, not after it
        neighborhoods = self.neighborhoods(microdata, threads=threads, progress=progress)
        donors = self.draw(microdata, neighborhoods, key, threads=threads)
        law = self.law(microdata, neighborhoods)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law)

    def neighborhoods(
        self,
        microdata: Microdata,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Neighborhoods:
        """Every record's others at a distance below epsilon; some may have none."""
        points = coordinates(microdata)
        return find_strictly(points, self.epsilon, threads=threads, progress=progress)

    def draw(
        self,
        microdata: Microdata,
        neighborhoods: Neighborhoods,
        key: SecretKey,
        *,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Draw the donors of every cell, -1 where it becomes missing, shape (n, p)."""
        always = masked_columns(microdata).astype(np.float64)
        donors = draw_all(neighborhoods, key, column_streams(microdata), always, threads=threads)
        records = np.arange(microdata.n)
        selected = self.selected(key, microdata.n)
        return np.where(selected[:, None], donors, records[:, None])

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> RowMixtureLaw:
        """The exact law of each row; with a fixed count, rows together depend on each other."""
        share = self.row_share(microdata.n)
        rule = NeighborhoodRule(
            metric=metric_of(microdata), k=None, epsilon=self.epsilon, strict=True
        )
        return RowMixtureLaw(microdata, neighborhoods, masked_columns(microdata), share, rule)

    def row_share(self, n: int) -> float:
        """P(a record is selected): q as described, floor(n * q) / n as coded."""
        return self.q if self.record_selection == "bernoulli" else math.floor(n * self.q) / n

    def selected(self, key: SecretKey, n: int) -> NDArray[np.bool_]:
        """Which of n records are masked, shape (n,)."""
        draws = uniforms(key, np.arange(n, dtype=np.int64), SELECTION_STREAM)
        if self.record_selection == "bernoulli":
            below: NDArray[np.bool_] = draws[0] < self.q
            return below
        selected = np.zeros(n, dtype=bool)
        first = np.lexsort((draws[1], draws[0]))[: math.floor(n * self.q)]
        selected[first] = True
        return selected


def _check_radius(epsilon: object) -> None:
    number = isinstance(epsilon, int | float | np.integer | np.floating)
    if not number or isinstance(epsilon, bool) or not float(epsilon) > 0:  # type: ignore[arg-type]
        raise ParameterError("epsilon must be a number above 0 (a radius in standard deviations).")
