"""Randomization within neighborhoods, 2022: each cell from a random member of its neighborhood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, get_args

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.units import number_units
from rwn_core.data.variable import NUMBERS, Role
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donors import check_probability
from rwn_core.laws.law import Law
from rwn_core.masking.lever import SHARE, Lever, LeverRange
from rwn_core.masking.neighborhood_method import (
    EVERY_COLUMN,
    RadiusAndNearest,
    kept_values,
    nearest_lever,
    probability_lever,
    radius_lever,
)
from rwn_core.neighbors import Neighborhoods, Radii, Radius, check_radius_and_k
from rwn_core.neighbors.candidates import TITLES, Candidates, Scheme, restriction_cost
from rwn_core.neighbors.kernel import EVEN, Bandwidth, Kernel, RadiusAndK, Shape, one_radius
from rwn_core.neighbors.metric import Encoding, Metric, Scale, Weights, shared_metric
from rwn_core.parallel.threads import thread_count

_OF_KERNEL = ("width", "bandwidth", "bandwidth_k", "cap", "own", "balance")
BALANCED = 1e-6  # of the sums of columns: rounding of a balance that is reached
_Q = probability_lever(
    title="Modification probability q",
    help="The chance that a cell takes the value of a random neighbor.",
)
_EVEN_LEVERS: tuple[Lever, ...] = (
    radius_lever(
        help="Every record within ε gives values; not the epsilon of differential privacy."
    ),
    nearest_lever(help="At least the k nearest records give values, also to an outlier."),
    _Q,
)
_SOFT_LEVERS: tuple[Lever, ...] = (
    Lever(
        name="width",
        title="Width of the kernel",
        short="h",
        help="How far records give values, in units of the bandwidth.",
        neutral=1.0,
        range=LeverRange(low=0.05, high=4.0, step=0.05),
        presets={"Light": 0.5, "Standard": 1.0, "Strong": 2.0},
    ),
    Lever(
        name="balance",
        title="Balance",
        help="1: every record gives equally often. 0: no balance.",
        off=0.0,
        neutral=0.0,
        range=SHARE,
        presets={},
    ),
    _Q,
)

_SOFT_CAUTIONS = (
    "The width depends on the distances of this file: one more column or one outlier changes the "
    "weights, so state the scaling with the release.",
    "An intruder is taken to know kernel, width, bandwidth, cap and balance; the weights of the "
    "donors come from the original, so never publish them.",
    "No kernel both hides a rare category and keeps its count for certain: make it a separate "
    "slice, or coarsen it. Variables of few categories change more often than with the k nearest.",
    "In a slice that holds an identifying and a confidential variable, the attribute attack gains "
    "more than with the k nearest: on bodyfat .62 instead of .57.",
)
_OF_BALANCE = (
    "Balance keeps means, spreads and shares right on average, and extremes survive more often: "
    "top-code or round first. On bodyfat 66 % of the extremes appear, instead of 15 to 39 % under "
    "the even kernel."
)


def imbalance_words(error: float) -> list[str]:
    """Return the remark on a balance that misses its sums of columns by so much, if it does."""
    if not error > BALANCED:
        return []
    return [
        f"balance is not reached: some records give {error:.2g} more or less often than they should"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByKernel:
    """Answer with one thing for the even kernel, and for the class, and another for soft ones."""

    even: Any
    soft: Any

    def __get__(self, setting: RWN | None, owner: type) -> Any:
        """Return what holds for a setting."""
        return self.even if setting is None or setting.kernel == "even" else self.soft


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
    radius_variable : str, optional
        A variable of numbers that multiplies epsilon, so that each record has a radius of its own,
        such as 1 for most records and 3 for outliers. It needs no place in the release.
    outside_household : bool
        Whether neighbors lie outside the record's own household, which the schema has a variable
        for; members of one household then give each other no values.
    kernel : {"even", "gaussian", "exponential"}
        How likely each neighbor is to give: all alike; or the less the farther it is, all records
        in a table of at most 2,000 and about the 200 nearest in a larger one. With exponential,
        bandwidth="absolute", own=True and no balance all records give in a table of any size, as
        certified linkage needs it. Epsilon and k have no part in the latter two.
    width : float, optional
        Of a gaussian or exponential kernel, in units of the bandwidth; 1 if left out.
    bandwidth : {"adaptive", "fixed", "absolute"}
        The unit of the width: the distance to a record's bandwidth_k-th nearest, averaged over
        both records; its median over all records; or a standard deviation.
    bandwidth_k : int, optional
        10 if left out.
    cap : float, optional
        The largest probability of a single donor, after balancing as before; 0.1 if left out.
    own : bool
        Whether a record is one of its own donors.
    balance : float
        0: no balance. 1: all records are equally likely to give, so that expected means, and
        everything within a slice, are those of the original. Between, in proportion.

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
    """  # words: help on the screen

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
    radius_variable: str | None = None
    outside_household: bool = False
    kernel: Shape = "even"
    width: float | None = None
    bandwidth: Bandwidth = "adaptive"
    bandwidth_k: int | None = None
    cap: float | None = None
    own: bool = False
    balance: float = 0.0

    method: ClassVar[str] = "rwn"
    title: ClassVar[str] = "RWN, the 2022 method"
    levers: ClassVar[Any] = ByKernel(even=_EVEN_LEVERS, soft=_SOFT_LEVERS)
    choice_titles: ClassVar[Mapping[str, Mapping[str, str]]] = {"neighbors": TITLES}

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        _ = self.weights_of_donors
        if self.kernel == "even":
            check_radius_and_k(self.k, self.epsilon)
            number = self.epsilon is not None and one_radius(self.epsilon)
            if self.radius_variable is not None and not number:
                raise ParameterError(
                    "radius_variable needs epsilon to be a number, to multiply it."
                )
        elif self.width is None:
            object.__setattr__(self, "width", 1.0)
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

    @staticmethod
    def levers_under(options: Mapping[str, Any]) -> tuple[Lever, ...]:
        """Return the levers of the kernel that some options choose."""
        return _EVEN_LEVERS if options.get("kernel", "even") == "even" else _SOFT_LEVERS

    @property
    def scheme(self) -> Scheme:
        """The candidates for neighbors."""
        return Scheme(neighbors=self.neighbors, m=self.m, u=self.u, fresh=self.fresh)

    @property
    def ball(self) -> RadiusAndK:
        """Which others belong to a neighborhood, and how likely each is to give."""
        return RadiusAndK(k=self.k, epsilon=self.epsilon, kernel=self.weights_of_donors)

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
    def weights_of_donors(self) -> Kernel:
        """The kernel, with what is left out at its default."""
        given: dict[str, Any] = {
            each.name: value
            for each in fields(self)
            if each.name in _OF_KERNEL and (value := getattr(self, each.name)) != each.default
        }
        if self.kernel == "even" and given:
            name = next(iter(given))
            raise ParameterError(f"{name} needs kernel to be gaussian or exponential.")
        if self.kernel == "even":
            return EVEN
        kernel = Kernel(shape=self.kernel, **given)
        if self.radius_variable is not None:
            raise ParameterError("radius_variable needs kernel to be even; leave it out.")
        if self.epsilon is not None or self.k is not None:
            raise ParameterError(
                f"kernel={self.kernel} has a width in place of epsilon and k; leave both out."
            )
        if self.neighbors != "exact":
            raise ParameterError(f"kernel={self.kernel} needs neighbors to be exact.")
        return kernel

    def with_each_kernel(self) -> tuple[RWN, RWN, RWN]:
        """The same with the even kernel, a soft one, and a soft one with balance."""
        if not self.scheme.exact:
            raise ParameterError("Soft kernels need neighbors to be exact; search without kernels.")
        names = ("q", "scale", "encoding", "weights", "outside_household")
        shared: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.kernel == "even":
            soft = RWN(kernel="gaussian", **shared)
            return self, soft, replace(soft, balance=1.0)
        even = RWN(epsilon=1.0, k=5, **shared)
        return even, replace(self, balance=0.0), replace(self, balance=1.0)

    @property
    def has_forecast(self) -> bool:
        """True if expectations have closed forms: donors independent of the key."""
        return self.scheme.exact

    def metric(self, microdata: Microdata) -> Metric:
        """This setting's distance, fitted on a table."""
        return shared_metric(microdata, self.scale, self.encoding, self.weights)

    def households(self, microdata: Microdata) -> Integers | None:
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
            ("households", name), lambda: number_units(microdata.codes(name)[0])
        )

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> CellLaw:
        """The exact law of this setting on this table."""
        refuse_empty(int((neighborhoods.sizes == 0).sum()))
        q, rule = self.draw_probability(microdata), self.rule(microdata)
        return CellLaw(microdata, neighborhoods, q, rule=rule)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks on random candidates and on weights by the table's size."""
        remarks = []
        if not self.scheme.exact and law is not None and law.neighborhoods is not None:
            cost = restriction_cost(
                self.points(microdata), law.neighborhoods, threads=thread_count(None)
            )
            remarks.append(f"neighbors {self.neighbors}: {cost}")
        found = None if law is None else law.neighborhoods
        if found is not None:
            remarks += imbalance_words(found.imbalance)
        if self.weights == "discrete":
            shares = self.metric(microdata).shares(microdata)
            words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
            remarks.append(f"shares of the squared distance: {words}")
        return remarks

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        kernel = self.weights_of_donors
        if not kernel.is_even:
            texts = [
                "Records may keep their own values also at q = 1, as their own donors; over "
                "several releases the most frequent value is the own one, unless another donor "
                "weighs more."
                if kernel.own
                else kept_values(self.q, "cell keeps its own value"),
                *_SOFT_CAUTIONS,
            ]
            if kernel.balance > 0:
                texts.append(_OF_BALANCE)
            if kernel.cap == 1:
                texts.append(
                    "Without a cap two outliers that lie together exchange nearly all values."
                )
            return texts
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


def refuse_empty(records: int) -> None:
    """Refuse a setting under which some records have no donor."""
    if records:
        number = "One record has" if records == 1 else f"{records:,} records have"
        raise ParameterError(
            f"{number} no other record within epsilon; give k (at least 1) as well, or a larger "
            "epsilon."
        )
