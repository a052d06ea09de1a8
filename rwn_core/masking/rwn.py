"""Randomization within neighborhoods, 2022: each cell from a random member of its neighborhood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NUMBERS
from rwn_core.errors import ParameterError
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever, check_share
from rwn_core.masking.method import Method
from rwn_core.masking.neighborhood_method import (
    EVERY_COLUMN,
    OF_BALANCE,
    kept_values,
    nearest_lever,
    probability_lever,
    radius_lever,
)
from rwn_core.masking.sliced_method import SlicedMethod, own_parameters_first
from rwn_core.neighbors import Radii, Radius, check_radius_and_k
from rwn_core.neighbors.candidates import TITLES, Candidates, Scheme, restriction_cost
from rwn_core.neighbors.kernel import EVEN, Kernel, RadiusAndK, one_radius
from rwn_core.neighbors.metric import Encoding, Scale, Weights


@own_parameters_first
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RWN(SlicedMethod):
    """The parameters of randomization within neighborhoods.

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
        Who may be a neighbor: all records; or, for large tables, a random sample of m records
        (Method 1 of the paper), about m random partners of each record (Method 2), the record's
        own part of u random ones (Method 3).
    m : int, optional
        Size of the sample, or mean number of random partners.
    u : int, optional
        Number of random parts.
    fresh : bool
        With neighbors="sample": another sample for each record, instead of one for all.
    weights : {"schema", "discrete"}
        Those of the schema, or with smaller ones for categorical variables the larger the table
        is (`rwn_core.neighbors.metric.discretely_weighted`).
    balance : float
        0: all members are equally likely to give. 1: all records are equally likely to give, so
        that expected means, and everything within a slice, are those of the original. Between, in
        proportion. Above 0 a record is also a member of the neighborhoods of its members, and one
        of its own donors; no donor has a probability above .1, or 2 over the smallest neighborhood
        where that is larger.
    radius_variable : str, optional
        A variable of numbers that multiplies epsilon, so that each record has a radius of its own,
        such as 1 for most records and 3 for outliers. It needs no place in the release.
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

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7).masked
    Microdata(241 records x 15 variables)
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
    balance: float = 0.0
    radius_variable: str | None = None
    outside_household: bool = False

    method: ClassVar[str] = "rwn"
    title: ClassVar[str] = "RWN, the 2022 method"
    elsewhere: ClassVar[Mapping[str, str]] = {**Method.elsewhere} | dict.fromkeys(
        ("kernel", "width", "bandwidth", "bandwidth_k", "cap", "own"),
        "rwn.SoftRWN (--kernel gaussian)",
    )
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
    choice_titles: ClassVar[Mapping[str, Mapping[str, str]]] = {"neighbors": TITLES}

    def check_setting(self) -> None:
        """Check radius and k, and what goes with them."""
        check_radius_and_k(self.k, self.epsilon)
        _ = self.scheme
        number = self.epsilon is not None and one_radius(self.epsilon)
        if self.radius_variable is not None and not number:
            raise ParameterError("radius_variable needs epsilon to be a number, to multiply it.")
        if self.outside_household and self.neighbors != "exact":
            raise ParameterError("outside_household needs neighbors to be exact.")
        self.check_slices()
        if (self.by_prediction or self.tie) and not self.scheme.exact:
            raise ParameterError("Slices by prediction and tied ones need neighbors to be exact.")
        check_share("balance", self.balance)
        if self.balance and not self.scheme.exact:
            raise ParameterError("balance needs neighbors to be exact.")
        if isinstance(self.epsilon, np.ndarray):  # comparable, and safe from later changes
            object.__setattr__(self, "epsilon", Radii(self.epsilon))

    @property
    def scheme(self) -> Scheme:
        """The candidates for neighbors."""
        return Scheme(neighbors=self.neighbors, m=self.m, u=self.u, fresh=self.fresh)

    @property
    def ball(self) -> RadiusAndK:
        """The radius and k, and whether records balance."""
        kernel = Kernel(balance=float(self.balance), own=True) if self.balance else EVEN
        return RadiusAndK(k=self.k, epsilon=self.epsilon, kernel=kernel)

    def table_ball(self, microdata: Microdata) -> RadiusAndK:
        """The ball with the radius of each record, where a variable says it."""
        name = self.radius_variable
        if name is None or self.epsilon is None:
            return self.ball
        known = {each.name: each.kind for each in microdata.schema.variables}
        if known.get(name) not in NUMBERS:
            raise ParameterError(f"radius_variable must name a variable of numbers, not {name}.")
        column = microdata.frame[name]  # it may be of a role that is not analyzed
        factors = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if not (np.isfinite(factors) & (factors >= 0)).all():
            raise ParameterError(
                f"{name} must be a number of at least 0 in every record, since it multiplies the "
                "radius."
            )
        return replace(self.ball, epsilon=Radii(float(self.epsilon) * factors))  # type: ignore[arg-type]

    @property
    def fixed_neighborhoods(self) -> bool:
        """True if neighborhoods do not depend on the key."""
        return self.scheme.exact and not self.by_prediction

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks on random candidates and on weights by the table's size."""
        remarks = []
        if not self.scheme.exact and law is not None and law.neighborhoods is not None:
            cost = restriction_cost(self.points(microdata), law.neighborhoods)
            remarks.append(
                f"neighbors {self.neighbors}: median radius {cost['radius']:.3g} "
                f"(exact {cost['exact radius']:.3g}), {cost['by k']:.1%} of records fall back to k "
                f"(exact {cost['exact by k']:.1%}), {cost['recall']:.1%} of the exact members kept"
            )
        return [*remarks, *SlicedMethod.remarks(self, microdata, law)]

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
        if self.balance:
            texts.append(OF_BALANCE)
        return [*texts, *self.slice_cautions()]
