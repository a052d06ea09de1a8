"""Randomization within neighborhoods, 2022: each cell from a random member of its neighborhood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donors import check_probability
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever
from rwn_core.masking.neighborhood_method import EVERY_COLUMN, kept_values
from rwn_core.masking.radius_and_nearest import (
    RadiusAndNearest,
    nearest_lever,
    probability_lever,
    radius_lever,
)
from rwn_core.neighbors import Neighborhoods, Radii, Radius, check_radius_and_k
from rwn_core.neighbors.candidates import Candidates, Scheme, restriction_cost
from rwn_core.neighbors.excluded import number_households
from rwn_core.neighbors.metric import Metric, Weights, shared_metric
from rwn_core.neighbors.metric_axes import Encoding, Scale
from rwn_core.neighbors.rule import NeighborhoodRule
from rwn_core.neighbors.source import Ball
from rwn_core.parallel.threads import thread_count


@dataclass(frozen=True, slots=True, kw_only=True)
class RWN(RadiusAndNearest):
    """Hold the parameters of randomization within neighborhoods.

    A record's neighborhood is all others within epsilon, or its k nearest, whichever set is
    larger. Each masked value is replaced, with probability q, by the same variable's value of a
    random record of the neighborhood, drawn anew for every value. Types survive, and every
    released value is a true value of somebody nearby.

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
        What numbers are divided by in the distance: their standard deviation or their range.
    encoding : {"dummies", "matching"}
        How categories count in it: each level as a scaled number of its own, or as equal or not.
    neighbors : {"exact", "sample", "pairs", "partition"}
        Who may be a neighbor: everybody; a random sample of m records; about m random partners
        of each record; the record's own part of u random ones.
    m : int, optional
        Size of the sample, or mean number of random partners.
    u : int, optional
        Number of random parts.
    fresh : bool
        With neighbors="sample": another sample for each record, instead of one for all.
    weights : {"schema", "discrete"}
        Those of the schema, or with smaller ones for categorical variables the larger the table
        is (`rwn_core.neighbors.metric.discretely_weighted`).
    outside_household : bool
        Whether neighbors lie outside the record's own household, which the schema has a variable
        for; members of one household then give each other no values.

    Raises
    ------
    ParameterError

    When to use
    -----------
    Where relations between variables are what the release is for, in tables of numbers, categories
    or both. Epsilon gives records in dense regions many donors, k gives some to an outlier; for a
    low worst case neighborhoods of tens of records are needed, and all limits of a policy have to
    be looked at, not one number.

    What it destroys
    ----------------
    Relations finer than a neighborhood: each value of a record comes from a donor of its own, so
    that sums and ratios such as BMI break unless their variables travel together. Rare categories
    shrink, because most donors have frequent ones, and means drift toward dense regions. Standard
    errors from the release are too small: by a quarter at q = 1 and k = 5 in a test with 300
    records. Values that nobody nearby has cannot arise, so that there is no differential privacy.

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
    outside_household: bool = False

    method: ClassVar[str] = "rwn"
    title: ClassVar[str] = "RWN, the 2022 method"
    levers: ClassVar[tuple[Lever, ...]] = (
        radius_lever(
            help="Every record within ε gives values; not the epsilon of differential privacy."
        ),
        nearest_lever(help="At least the k nearest records give values, also to an outlier."),
        probability_lever(
            title="Modification probability q",
            help="The chance that a cell takes the value of a random neighbor.",
        ),
    )
    strength: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        check_radius_and_k(self.k, self.epsilon)
        check_probability(self.q)
        for name in ("fresh", "outside_household"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be true or false.")
        if self.outside_household and self.neighbors != "exact":
            raise ParameterError("outside_household needs neighbors to be exact.")
        _ = self.scheme
        if self.weights not in get_args(Weights):
            raise ParameterError(f"weights must be one of: {', '.join(get_args(Weights))}.")
        if isinstance(self.epsilon, np.ndarray):  # comparable, and safe from later changes
            object.__setattr__(self, "epsilon", Radii(self.epsilon))

    @property
    def scheme(self) -> Scheme:
        """The candidates for neighbors."""
        return Scheme(neighbors=self.neighbors, m=self.m, u=self.u, fresh=self.fresh)

    @property
    def ball(self) -> Ball:
        """Which others belong to a neighborhood."""
        return Ball(k=self.k, epsilon=self.epsilon)

    @property
    def has_forecast(self) -> bool:
        """True if expectations have closed forms: neighbors do not depend on the key."""
        return self.scheme.exact

    def metric(self, microdata: Microdata) -> Metric:
        """This setting's distance, fitted on a table."""
        return shared_metric(microdata, self.scale, self.encoding, self.weights)

    def households(self, microdata: Microdata) -> NDArray[np.int64] | None:
        """The household of each record, outside which its neighbors lie; None where anywhere."""
        if not self.outside_household:
            return None
        name = microdata.schema.name_with_role(Role.HOUSEHOLD)
        if name is None:
            raise ParameterError(
                "outside_household needs to know the households; give the variable that numbers "
                "them the role household."
            )
        return microdata.cached(
            ("households", name), lambda: number_households(microdata.codes(name)[0])
        )

    def distance_shares(self, microdata: Microdata) -> dict[str, float]:
        """Return each variable's mean share of the squared distance between records."""
        return self.metric(microdata).shares(microdata)

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> CellLaw:
        """The exact law of this setting on this table."""
        empty = int((neighborhoods.sizes == 0).sum())
        if empty:
            records = "One record has" if empty == 1 else f"{empty:,} records have"
            raise ParameterError(
                f"{records} no other record within epsilon; give k (at least 1) as "
                "well, or a larger epsilon."
            )
        rule = NeighborhoodRule(
            metric=self.metric(microdata),
            k=self.k,
            epsilon=self.epsilon,
            scheme=self.scheme,
            households=self.households(microdata),
        )
        return CellLaw(microdata, neighborhoods, self.draw_probability(microdata), rule=rule)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks on random candidates and on weights by the table's size."""
        remarks = []
        if not self.scheme.exact and law is not None and law.neighborhoods is not None:
            cost = restriction_cost(
                self.points(microdata), law.neighborhoods, threads=thread_count(None)
            )
            remarks.append(f"neighbors {self.neighbors}: {cost}")
        if self.weights == "discrete":
            shares = self.distance_shares(microdata)
            words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
            remarks.append(f"shares of the squared distance: {words}")
        return remarks

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        texts = [kept_values(self.q, "cell keeps its own value"), EVERY_COLUMN]
        if self.neighbors == "sample" and not self.fresh:
            texts.append(
                "Only the sampled records give values; each of theirs is copied more often, and "
                "the values that only others have vanish where q = 1."
            )
        if self.neighbors == "partition":
            texts.append(
                "Values never leave their part: an intruder who knows the parts has only a part to "
                "search, so keep them secret."
            )
        return texts
