"""Randomization within neighborhoods, 2022: each cell from a random member of its neighborhood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking.release import Masked
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.donors import (
    Draws,
    check_probability,
    column_streams,
    copy_from_donors,
    draw_all,
    draw_donors,
    masked_columns,
)
from rwn_core.neighbors import (
    Drawing,
    Neighborhoods,
    Radii,
    Radius,
    check_radius_and_k,
    find_and_draw,
    find_neighborhoods,
)
from rwn_core.neighbors.candidates import restricted_table
from rwn_core.neighbors.candidates.cost import RestrictionCost, restriction_cost
from rwn_core.neighbors.candidates.scheme import Candidates, Scheme
from rwn_core.neighbors.metric import (
    Encoding,
    Metric,
    Scale,
    Weights,
    coordinates,
    discretely_weighted,
)
from rwn_core.parallel.threads import Watch, thread_count
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
    neighbors : {"exact", "sample", "pairs", "partition"}
        Who may be a neighbor: everybody; a random sample of m records; about m random partners
        of each record; the record's own part of u random ones.
    m, u : int, optional
        Sample size or mean number of partners; number of parts.
    fresh : bool
        With neighbors="sample": another sample for each record, instead of one for all.
    weights : {"schema", "discrete"}
        Those of the schema, or with smaller ones for categorical variables the larger the table
        is (`rwn_core.neighbors.metric.discretely_weighted`).

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, sections 5 and 11.
    """

    epsilon: Radius | None = None
    k: int | None = None
    q: float = 1.0
    scale: Scale = "sd"
    encoding: Encoding = "dummies"
    neighbors: Candidates = "exact"
    m: int | None = None
    u: int | None = None
    fresh: bool = False
    weights: Weights = "schema"

    method: ClassVar[str] = "rwn"

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        check_radius_and_k(self.k, self.epsilon)
        check_probability(self.q)
        _ = self.scheme
        if self.weights not in get_args(Weights):
            raise ParameterError(f"weights must be one of: {', '.join(get_args(Weights))}.")
        if isinstance(self.epsilon, np.ndarray):  # comparable, and safe from later changes
            object.__setattr__(self, "epsilon", Radii(self.epsilon))

    @property
    def scheme(self) -> Scheme:
        """Who may be a neighbor."""
        return Scheme(neighbors=self.neighbors, m=self.m, u=self.u, fresh=self.fresh)

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Find the neighborhoods, draw the donors, copy their values."""
        check_radius_and_k(self.k, self.epsilon, microdata.n)
        masked_columns(microdata)  # refuse before the search, not after it
        streams, q = column_streams(microdata), modification(microdata, self.q)
        drawing = Drawing(key=key, streams=streams, q=q)
        neighborhoods, donors = self._find(microdata, key, drawing, threads, progress)
        law = self.law(microdata, neighborhoods)
        if donors is None:
            donors = draw_all(neighborhoods, key, streams, q, threads=threads)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law)

    def _find(
        self,
        microdata: Microdata,
        key: SecretKey,
        drawing: Drawing,
        threads: int | None,
        progress: Callable[[float], None] | None,
    ) -> tuple[Neighborhoods, NDArray[np.int64] | None]:
        if not self.scheme.exact:
            return self.neighborhoods(microdata, key, threads=threads, progress=progress), None
        return find_and_draw(
            self.points(microdata),
            drawing,
            k=self.k,
            epsilon=self.epsilon,
            threads=threads,
            progress=progress,
        )

    def points(self, microdata: Microdata) -> NDArray[np.float64]:
        """The records of a table as points of this setting's distance, shape (n, d)."""
        return coordinates(self._weighted(microdata), self.scale, self.encoding)

    def distance_shares(self, microdata: Microdata) -> dict[str, float]:
        """How much of the squared distance between records is due to each variable, on average."""
        weighted = self._weighted(microdata)
        return Metric.fit(weighted, self.scale, self.encoding).shares(weighted)

    def _weighted(self, microdata: Microdata) -> Microdata:
        return discretely_weighted(microdata) if self.weights == "discrete" else microdata

    def neighborhoods(
        self,
        microdata: Microdata,
        key: SecretKey | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Neighborhoods:
        """Every record's neighborhood under this setting.

        Parameters
        ----------
        microdata : Microdata
        key : SecretKey, optional
            That of the release; needed unless everybody may be a neighbor.
        threads : int, optional
        progress : callable, optional

        Returns
        -------
        Neighborhoods

        Raises
        ------
        ParameterError
        """
        points, watch = (
            self.points(microdata),
            Watch(threads=thread_count(threads), progress=progress),
        )
        if self.scheme.exact:
            return find_neighborhoods(
                points, k=self.k, epsilon=self.epsilon, threads=watch.threads, progress=progress
            )
        if key is None:
            raise ParameterError(f"neighbors={self.neighbors} depends on the key; give it.")
        check_radius_and_k(self.k, self.epsilon, microdata.n)
        table = restricted_table(
            points, self.k, self.epsilon, scheme=self.scheme, key=key, watch=watch
        )
        return table.narrow(k=self.k, epsilon=self.epsilon)

    def restriction_cost(
        self, microdata: Microdata, neighborhoods: Neighborhoods, *, threads: int | None = None
    ) -> RestrictionCost:
        """What taking neighbors among random candidates costs, on 1,000 random records."""
        return restriction_cost(
            self.points(microdata), neighborhoods, threads=thread_count(threads)
        )

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

    def redraw(
        self,
        microdata: Microdata,
        neighborhoods: Neighborhoods,
        draws: Draws,
        donors: NDArray[np.int64] | None = None,
    ) -> Masked:
        """The same release from neighborhoods, random numbers or donors that are at hand."""
        law = self.law(microdata, neighborhoods)
        if donors is None:
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
