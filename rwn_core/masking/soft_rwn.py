"""RWN with soft neighborhoods: the nearer a record is, the likelier it gives its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.variable import check_count, is_number
from rwn_core.errors import ParameterError
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.masking.neighborhood_method import (
    OF_BALANCE,
    balance_lever,
    kept_values,
    probability_lever,
)
from rwn_core.masking.sliced_method import SlicedMethod, own_parameters_first
from rwn_core.neighbors.kernel import Bandwidth, Kernel, RadiusAndK, SoftShape
from rwn_core.neighbors.metric import Encoding, Scale, Weights

_OF_KERNEL = ("width", "bandwidth", "bandwidth_k", "cap", "own", "balance")

_CAUTIONS = (
    "The width depends on the distances of this file: one more column or one outlier changes the "
    "weights, so state the scaling with the release.",
    "An intruder is taken to know kernel, width, bandwidth, cap and balance; the weights of the "
    "donors come from the original, so never publish them.",
    "No kernel both hides a rare category and keeps its count for certain: make it a separate "
    "slice, or coarsen it. Variables of few categories change more often than with the k nearest.",
    "In a slice that holds an identifying and a confidential variable, the attribute attack gains "
    "more than with the k nearest: on bodyfat .62 instead of .57.",
)
_OWN = (
    "Records may keep their own values also at q = 1, as their own donors; over several releases "
    "the most frequent value is the own one, unless another donor weighs more."
)
_UNCAPPED = "Without a cap two outliers that lie together exchange nearly all values."


@own_parameters_first
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SoftRWN(SlicedMethod):
    """The parameters of randomization within soft neighborhoods.

    Each masked value is replaced, with probability q, by the same variable's value of another
    record, drawn anew for every value: the likelier the nearer that record is. In a table of at
    most 2,000 records all others may give, in a larger one about the 200 nearest. Types survive,
    and every released value is a true value of somebody.

    Parameters
    ----------
    q : float
        Modification probability of each cell, from 0 to 1.
    scale : {"sd", "range"}
        What numbers are divided by in the distance: their standard deviation or their range.
    encoding : {"dummies", "matching"}
        How categories count in it: each level as a scaled number of its own, or as equal or not.
    weights : {"schema", "discrete"}
        Those of the schema, or with smaller ones for categorical variables the larger the table
        is (`rwn_core.neighbors.metric.discretely_weighted`).
    outside_household : bool
        Whether neighbors lie outside the record's own household, which the schema has a variable
        for; members of one household then give each other no values.
    kernel : {"gaussian", "exponential"}
        How the chance to give falls with the distance. With exponential, bandwidth="absolute",
        own=True and no balance all records give in a table of any size, as certified linkage needs
        it.
    width : float
        Above 0, in units of the bandwidth.
    bandwidth : {"adaptive", "fixed", "absolute"}
        The unit of the width: a record's distance to its k-th nearest (`bandwidth_k`), averaged
        over both records; its median over all records; or a standard deviation.
    bandwidth_k : int
        Which nearest record sets the bandwidth: 10 for the tenth. At least 1.
    cap : float
        The largest probability of a single donor, after balancing as before: above 0, at most 1.
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
    Where totals and spreads must be right on average, which balance does, or where no released
    value may exclude a record. All limits of a policy have to be looked at, not one number: in many
    tables RWN as published loses less under the same limits.

    What it destroys
    ----------------
    Relations between variables that do not travel together, since each has a donor of its own. With
    balance a record far out gives as often as any other, so that extremes survive more often, and
    slopes shrink. A rare category may appear with anybody. Standard errors from the release are too
    small. Values that nobody has cannot arise, so that there is no differential privacy.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5, with weights of its own for the donors.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> rwn.mask(data, rwn.SoftRWN(balance=1.0), seed=7).masked
    Microdata(241 records x 15 variables)
    """

    q: float = 1.0
    scale: Scale = "sd"
    encoding: Encoding = "dummies"
    weights: Weights = "schema"
    outside_household: bool = False
    kernel: SoftShape = "gaussian"
    width: float = 1.0
    bandwidth: Bandwidth = "adaptive"
    bandwidth_k: int = 10
    cap: float = 0.1
    own: bool = False
    balance: float = 0.0

    method: ClassVar[str] = "soft_rwn"
    title: ClassVar[str] = "Soft RWN"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="width",
            title="Bandwidth of the kernel",
            short="bandwidth",
            help="How far records give values (`width`), in units of the distance to near records.",
            largest=np.inf,
            neutral=1.0,
            range=LeverRange(low=0.05, high=4.0, step=0.05),
            presets={"Light": 0.5, "Standard": 1.0, "Strong": 2.0},
        ),
        balance_lever(),
        probability_lever(
            title="Modification probability q",
            help="The chance that a cell takes the value of another record.",
        ),
    )

    def check_setting(self) -> None:
        """Refuse numbers that no kernel has."""
        for name, most in (("width", float(np.finfo(np.float64).max)), ("cap", 1.0)):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= most:
                at_most = ", at most 1" if name == "cap" else ""
                raise ParameterError(f"{name} must be a number above 0{at_most}.")
        check_count("bandwidth_k", self.bandwidth_k, least=1)
        self.check_slices()

    @property
    def ball(self) -> RadiusAndK:
        """All that are listed, and how likely each is to give."""
        kernel = Kernel(shape=self.kernel, **{name: getattr(self, name) for name in _OF_KERNEL})
        return RadiusAndK(k=None, epsilon=None, kernel=kernel)

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        return [
            _OWN if self.own else kept_values(self.q, "cell keeps its own value"),
            *_CAUTIONS,
            *([OF_BALANCE] if self.balance > 0 else []),
            *([_UNCAPPED] if self.cap == 1 else []),
            *self.slice_cautions(),
        ]
