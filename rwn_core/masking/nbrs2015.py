"""The 2015 method: whole records, each cell from a random member of a strict neighborhood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import is_number
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns
from rwn_core.laws.law import Law
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking.lever import Lever
from rwn_core.masking.neighborhood_method import (
    EVERY_COLUMN,
    NeighborhoodMethod,
    kept_values,
    probability_lever,
    radius_lever,
    radius_range,
)
from rwn_core.neighbors import Neighborhoods
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.record_draws import order_by, two_uniforms
from rwn_core.randomness import SELECTION_STREAM, SecretKey

Selection = Literal["count", "bernoulli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NBRS2015(NeighborhoodMethod):
    """The parameters of the 2015 method.

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

    When to use
    -----------
    To repeat published results, or to compare with them. For a new release RWN does the same and
    leaves no record without a neighborhood.

    What it destroys
    ----------------
    Outliers as a whole: a selected record without a neighbor loses all masked values, and an empty
    row tells that its person was one. At a small epsilon most records are lost, which looks like
    protection. What it costs besides is what RWN costs: relations finer than a neighborhood, rare
    categories, and standard errors that are too small.

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
    title: ClassVar[str] = "The 2015 method"
    levers: ClassVar[tuple[Lever, ...]] = (
        radius_lever(
            help="Every record nearer than ε gives values; a record without such a neighbor loses "
            "its own. Not the epsilon of differential privacy.",
            optional=False,
            largest=np.inf,
            neutral=1.0,
            range=lambda _, ends: radius_range(ends.step, ends),
            presets={"Light": 1.2, "Standard": 2.4, "Strong": 4.0},
        ),
        probability_lever(
            title="Modified records q",
            help="The share of records whose values are all replaced by those of random neighbors.",
        ),
    )

    def check_setting(self) -> None:
        """Refuse a radius that is none."""
        if not is_number(self.epsilon) or not self.epsilon > 0:
            raise ParameterError(
                "epsilon must be a number above 0 (a radius in standard deviations)."
            )

    @property
    def ball(self) -> RadiusAndK:
        """All others at a distance below epsilon; some records may have none."""
        return RadiusAndK(k=None, epsilon=self.epsilon, strict=True)

    def draw_probability(self, microdata: Microdata) -> Floats:
        """P(a cell of each released variable changes in a selected record), shape (p,)."""
        return masked_columns(microdata).astype(np.float64)

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method may change; see `Method.masked_names`."""
        return super(NBRS2015, self).masked_names(microdata) if self.q > 0 else ()

    def retained_records(self, key: SecretKey, n: int, records: Integers) -> Booleans:
        """Which of some records are not selected and keep their values, shape (m,)."""
        return ~self.selected(key, n)[records]

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return a remark on records without neighbors, which lose their values if selected."""
        if law is None or law.neighborhoods is None:
            return []
        empty = int((law.neighborhoods.sizes == 0).sum())
        if not empty:
            return []
        have = "1 record has" if empty == 1 else f"{empty:,} records have"
        cells = "a selected one loses all its masked values, and the empty row says that it is rare"
        return [f"{have} no neighbor within epsilon: {cells}; take a larger epsilon, or method rwn"]

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        return [
            kept_values(self.q, "record is released whole"),
            EVERY_COLUMN,
            "A record without a neighbor within ε loses all its masked values when it is selected: "
            "the missing values say that it is an outlier.",
        ]

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> RowMixtureLaw:
        """The exact law of each row; with a fixed count, rows together depend on each other."""
        masked = masked_columns(microdata)
        share = self.row_share(microdata.n)
        return RowMixtureLaw(microdata, neighborhoods, masked, share, self.rule(microdata))

    def row_share(self, n: int) -> float:
        """P(a record is selected): q as described, floor(n * q) / n as coded."""
        return self.q if self.record_selection == "bernoulli" else math.floor(n * self.q) / n

    def selected(self, key: SecretKey, n: int) -> Booleans:
        """Which of n records are masked, shape (n,)."""
        draws = two_uniforms(key, np.arange(n, dtype=np.int64), SELECTION_STREAM)
        selected: Booleans = draws[0] < self.q
        if self.record_selection == "count":
            selected[:] = False
            selected[order_by(*draws)[: math.floor(n * self.q)]] = True
        return selected
