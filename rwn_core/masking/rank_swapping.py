"""Rank swapping: every number is exchanged with one of a rank nearby."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NUMBERS, Kind
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.invariants import LEVELS_AND_DATES, Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.rank_swaps import descending, moore_partners, mu_argus_partners, whole_part
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.masking.method import Method, Prepared
from rwn_core.masking.option import Others, kept_as_they_are
from rwn_core.randomness import SecretKey

Form = Literal["moore", "mu_argus"]

STANDARD = 0.05
_FRACTION = LeverRange(low=0.0, high=1.0, step=0.01)
_NAMES = ("Light", "Standard", "Strong")
_SDCMICRO = "As sdcMicro"  # its defaults: R0 = .95, 5 percent of each end become their mean


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSwapping(Method):
    """The parameters of rank swapping.

    Each variable by itself is ordered from its largest value to its smallest. Going through the
    ranks, a value that has not been exchanged yet changes places with a random one of those, not
    exchanged yet, that follow within the next P N ranks (the last of them excluded), N being the
    number of values that take part; where none is left it stays. Ties are ordered at random.
    Numbers, ordered levels and dates are exchanged; missing values stay missing. Every variable
    keeps exactly the values that it has, and what binds it to the others is lost beyond P.

    Parameters
    ----------
    p : float, optional
        P, a fraction of the records and no percentage, from 0 (nothing is masked) to 1. By default
        0 where r0 or k0 is given, else 0.05.
    r0 : float, optional
        The correlation of each number with its masked one that is aimed at, from 0 to 1, the
        default; it asks for P = sqrt(2 Var (1 - r0)) / range. What is reached is higher.
    k0 : float, optional
        How far the mean of a part may move, as a share of the mean, from 0, the default; it asks
        for P = sqrt(8/3) k0 abs(mean) / range. Of each variable the largest of the three P counts.
    top : float
        The share of the largest numbers that become their mean and are not exchanged. Here none
        by default; sdcMicro takes 5 percent by default (TopPercent = 5), which is 0.05. Its own
        defaults are r0 = 0.95, top = bottom = 0.05, the preset "As sdcMicro" of Tune.
    bottom : float
        The same of the smallest numbers (BottomPercent = 5 in sdcMicro).
    form : {"moore", "mu_argus"}
        As above; or from the smallest value up to a random distance of at most P N, then the
        nearest free value before it, or else after it. The latter is deprecated by its program.
    others : {"keep", "refuse"}
        What happens to variables without an order: they are released unmasked, or the table is
        refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For numbers and ordered levels of which every single distribution must stay exactly as it is,
    such as published totals and quantiles, while relations may weaken.

    What it destroys
    ----------------
    Relations between variables, the more the larger P is, since every variable is exchanged by
    itself. Extremes stay in the file, near their ranks, unless the ends are coded. There is no law,
    so that it is unknown how well the best intruder does: a policy with a limit on the worst case
    is not kept. Categories without an order are not masked at all.

    References
    ----------
    Moore 1996; sdcMicro's documentation of rankSwap, with P as a fraction although it says
    percentage.

    Examples
    --------
    >>> RankSwapping().p
    0.05
    """

    p: float | None = None
    r0: float | None = None
    k0: float | None = None
    top: float = 0.0
    bottom: float = 0.0
    form: Form = "moore"
    others: Others = "keep"

    method: ClassVar[str] = "rank_swapping"
    title: ClassVar[str] = "Rank swapping"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="p",
            title="Range of ranks P (share of the records)",
            short="P",
            help="How many ranks away a value may come from; at 0, R0 and K0 decide alone.",
            range=LeverRange(low=0.0, high=0.5, step=0.01),
            presets={"Light": 0.02, "Standard": STANDARD, "Strong": 0.2, _SDCMICRO: 0.0},
        ),
        Lever(
            name="r0",
            title="Correlation with the original R0",
            short="R0",
            help="Each number's range of ranks is at least what this correlation allows; 1: none.",
            off=1.0,
            range=_FRACTION,
            presets={**dict.fromkeys(_NAMES, 1.0), _SDCMICRO: 0.95},
        ),
        Lever(
            name="k0",
            title="Change of means K0 (share of the mean)",
            short="K0",
            help="Each number's range of ranks is at least what this change allows; 0: none.",
            off=0.0,
            largest=np.inf,
            range=_FRACTION,
            presets=dict.fromkeys((*_NAMES, _SDCMICRO), 0.0),
        ),
        *(
            Lever(
                name=name,
                title=f"{name.capitalize()} coding (share of the {which} numbers)",
                help=f"So many of the {which} numbers become their mean; sdcMicro's default is "
                "0.05.",
                off=0.0,
                neutral=0.0,
                range=LeverRange(low=0.0, high=0.25, step=0.01),
                presets={"Light": 0.0, "Standard": 0.0, "Strong": 0.0, "As sdcMicro": 0.05},
            )
            for name, which in (("top", "largest"), ("bottom", "smallest"))
        ),
    )
    kinds: ClassVar[tuple[Kind, ...]] = tuple(kind for kind in Kind if kind is not Kind.CATEGORICAL)
    kinds_in_words: ClassVar[str] = "numbers, ordered levels and dates"
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"p": 0, "r0": 1, "k0": 0, "top": 0, "bottom": 0}),
        Keeps(what="values", when={"top": 0, "bottom": 0}),
        Keeps(what="values", kinds=LEVELS_AND_DATES),
        Keeps(what="totals", measured=True),
        Keeps(what="order", when={"p": 0, "r0": 1, "k0": 0}),
        Keeps(what="records", when={"p": 0, "r0": 1, "k0": 0}, kinds=LEVELS_AND_DATES),
    )

    def check_setting(self) -> None:
        """Fill in what is left out."""
        neutral = {"r0": 1.0, "k0": 0.0}
        given = [name for name in neutral if getattr(self, name) is not None]
        for name, value in {"p": 0.0 if given else STANDARD, **neutral}.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for lever in self.levers:
            lever.check(getattr(self, lever.name))
        if self.top + self.bottom >= 1:
            raise ParameterError("top and bottom together must be below 1, so that values remain.")

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with exchanged values."""
        microdata = table.microdata
        coded = {}
        donors = {}
        for name in self.masked_names(microdata):
            values = microdata.values(name)
            uniform = table.uniforms(key, name)
            order = descending(values, uniform[1])
            # from which rank to which values of a variable are exchanged
            first = 0
            last = len(order)
            if microdata.schema.by_name[name].kind in NUMBERS:  # others have no mean of a group
                first = whole_part(self.top * last)
                last = last - whole_part(self.bottom * last)
            ranked = values[order]
            chance = uniform[0][order][first:last]
            reach = whole_part(min(self.fraction(ranked, first, last), 1.0) * len(chance))
            # with which of the exchanged ranks each changes places
            if self.form == "moore":
                partner = moore_partners(reach, chance)
            else:
                partner = len(chance) - 1 - mu_argus_partners(reach, chance[::-1])[::-1]
            donors[name] = given = table.records.copy()
            given[order[first:last]] = order[first + partner]
            # the mean of its end for each of the largest and the smallest numbers
            if last - first < len(order):
                coded[name] = ends = np.full(len(values), np.nan)
                for end in (order[:first], order[last:]):
                    if end.size:
                        ends[end] = values[end].mean()
        swapped = copy_columns(microdata, donors)
        means = {
            name: np.where(np.isnan(own), swapped.values(name), own) for name, own in coded.items()
        }
        return with_numbers(swapped, means) if coded else swapped

    def fraction(self, ranked: Floats, first: int, last: int) -> float:
        """Give the range of ranks of a variable, a share: the largest that P, R0 and K0 ask for."""
        # Shapes: ranked (N,), the known values, the largest first.
        p, r0, k0 = self.p or 0.0, self.r0 or 0.0, self.k0 or 0.0  # none is None, once it is made
        exchanged = ranked[first:last]
        if not exchanged.size:
            return p
        width = ranked[max(first - 1, 0)] - ranked[min(last, len(ranked) - 1)]
        if width <= 0:
            return p
        of_r0 = np.sqrt(2 * exchanged.var() * (1 - r0)) / width
        return float(max(p, of_r0, np.sqrt(8 / 3) * k0 * abs(exchanged.mean()) / width))

    def law(self, table: Prepared) -> None:
        """Free partners depend on all earlier exchanges, so that no law can be listed."""

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks: variables released unchanged, and a P too small to exchange any."""
        remarks = kept_as_they_are(microdata, self.masked_names(microdata))
        alone = self.r0 == 1 and self.k0 == 0
        if self.p and alone and whole_part(self.p * microdata.n) < 2:
            remarks.append(
                f"P = {self.p:g} of {microdata.n:,} records is less than 2 ranks, so nothing is "
                "exchanged; take a larger one"
            )
        return remarks

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        but = " but those at the ends, which are means," if self.top or self.bottom else ""
        return Method.cautions(self) or [
            f"Every released number{but} is somebody's true value of that variable"
            f"{'' if but else ', extremes included'}.",
            "Each variable is exchanged by itself: relations between variables are lost the more, "
            "the larger P is, and impossible combinations may arise.",
            "An intruder who knows P knows between which values a person's own lies.",
        ]
