"""Recoding: numbers become means of intervals, rare levels are merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.arrays import Integers, Integers32
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS, NUMBERS, Kind
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.invariants import ORDERED, Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.intervals import group_means, intervals
from rwn_core.masking.lever import Lever, LeverRange, count_lever
from rwn_core.masking.method import FixedMethod, Prepared
from rwn_core.masking.option import Others, kept_as_they_are

LARGEST_TAIL = 0.4
_TAIL = LeverRange(low=0.0, high=LARGEST_TAIL, step=0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding(FixedMethod):
    """The parameters of global recoding with top and bottom coding.

    Every numeric variable is cut into as many intervals of equal length as leave at least k
    records in each, and a value becomes its interval's mean; before, the largest and the smallest
    values may be replaced by their means. Levels of a category with fewer than k records are
    merged with each other, neighboring ones of an ordered variable, and carry the name of the most
    frequent of them. Nothing is random.

    Parameters
    ----------
    k : int
        Records in every class, at least 1; 1 merges nothing.
    top, bottom : float
        Shares of the largest and of the smallest values that become their mean, from 0 to 0.4.
    others : {"keep", "refuse"}
        What happens to variables of other kinds, such as dates: they are released unmasked, or
        the table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    Where coarse values are enough and nothing may be random: tables by classes, age groups, a
    largest income.

    What it destroys
    ----------------
    Detail: numbers are left with few different values, variances shrink, and a skewed variable may
    end as a single class, a constant that no regression can use. Rare levels vanish into others.
    There is no doubt but among equals: a record unique in all classes is certainly found,
    and confidential values of a class of equals are given away.

    References
    ----------
    Hundepool et al. 2012, section 3.2.

    Examples
    --------
    >>> Recoding(k=20, top=0.05).bottom
    0.0
    """

    k: int = 20
    top: float = 0.0
    bottom: float = 0.0
    others: Others = "keep"

    method: ClassVar[str] = "recoding"
    title: ClassVar[str] = "Recoding"
    levers: ClassVar[tuple[Lever, ...]] = (
        count_lever(
            "Records in every class k",
            help="Values are merged into classes of at least k records; 1: none.",
            # two classes or more
            range=lambda _, table: LeverRange(low=1, high=max(2, table.n // 2), step=1),
            presets={"Light": 5, "Standard": 10, "Strong": 25},
        ),
        *(
            Lever(
                name=name,
                title=f"{name.capitalize()}-coded share",
                help=f"The {which} values become their mean.",
                off=0.0,
                largest=LARGEST_TAIL,
                range=_TAIL,
                presets=dict.fromkeys(("Light", "Standard", "Strong"), 0.0),
            )
            for name, which in (("top", "largest"), ("bottom", "smallest"))
        ),
    )
    kinds: ClassVar[tuple[Kind, ...]] = NUMBERS + LEVELS
    kinds_in_words: ClassVar[str] = "numbers and categories"
    spares_variables: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"k": 1, "top": 0, "bottom": 0}),
        Keeps(what="records", when={"k": 1}, kinds=LEVELS),
        Keeps(what="totals", measured=True),
        Keeps(what="order", kinds=ORDERED),
        Keeps(what="support", kinds=LEVELS),
        Keeps(what="fixed"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "Classes are made variable by variable: several together may still single a person "
        "out, and nothing is random, so that who holds the original knows every row's class.",
    )

    def result(self, table: Prepared) -> Microdata:
        """The recoded table."""
        microdata = table.microdata
        donors, numbers = {}, {}
        for name in self.masked_names(microdata):
            kind = microdata.schema.variable(name).kind
            if kind in NUMBERS:
                # top and bottom coding first, then the means of intervals
                values = microdata.values(name)
                numbers[name] = values.copy()
                known = ~np.isnan(values)
                order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
                for some in (
                    order[len(order) - int(len(order) * self.top) :],
                    order[: int(len(order) * self.bottom)],
                ):
                    if some.size:
                        numbers[name][some] = values[some].mean()
                if self.k > 1 and len(order):
                    group = intervals(numbers[name], min(self.k, len(order)))
                    numbers[name] = group_means(numbers[name], group)
            elif self.k > 1:
                donors[name] = merged(microdata.codes(name)[0], self.k, kind is Kind.ORDERED)
        return with_numbers(copy_columns(microdata, donors), numbers)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks: variables released unchanged, and names of merged levels."""
        names = self.masked_names(microdata)
        remarks = kept_as_they_are(microdata, names)
        if self.k > 1 and any(microdata.schema.variable(n).kind in LEVELS for n in names):
            remarks.append("merged levels carry the name of the most frequent of them")
        return remarks


def merged(codes: Integers32, k: int, ordered: bool) -> Integers:
    """A record with the level that each record's level is merged into, shape (n,)."""
    own = np.arange(len(codes))
    known = codes >= 0
    if not known.any():
        return own
    counts = np.bincount(codes[known])
    levels = np.flatnonzero(counts)
    order = levels if ordered else levels[np.argsort(counts[levels], kind="stable")]
    group = np.zeros(len(counts), dtype=np.int64)
    number, size = 0, 0
    for level in order:
        if size >= k:
            number = number + 1
            size = 0
        group[level] = number
        size += counts[level]
    if size < k and number:  # the last class is too small by itself
        group[group == number] = number - 1
    named, first = np.zeros((2, len(counts)), dtype=np.int64)
    for some in (levels[group[levels] == g] for g in range(int(group[levels].max()) + 1)):
        named[some] = some[counts[some].argmax()]
    first[codes[known][::-1]] = own[known][::-1]
    shown = named[codes[known]]
    own[known] = np.where(shown == codes[known], own[known], first[shown])
    return own
