"""The ranges of a slice search, and its answer next to that of RWN as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices, slices_words
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import ParameterError
from rwn_core.measures import UTILITY
from rwn_core.tuning.goal import number_words, spread_words
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.short_words import short_setting
from rwn_core.tuning.verdict import Verdict, not_judged


def random_records(microdata: Microdata, records: int) -> Microdata:
    """Return the same random records at each call; the table itself if it has no more."""
    if microdata.n <= records:
        return microdata
    chosen = np.random.default_rng(0).permutation(microdata.n)[:records]
    return microdata.take(np.sort(chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRanges:
    """Say where a slice search looks.

    Attributes
    ----------
    starts : sequence of Slices, optional
        Slices to begin with; those of `PRESETS` by default.
    only_starts : bool
        Whether no other slices are tried.
    weights : bool
        Whether weights are halved and doubled, too, where table and setting give every variable
        the same.
    strengths : sequence of float, optional
        Values of the method's strength, weakest first; forty between the ends of its slider by
        default.
    records : int
        Of a table with more than so many, random ones are searched.
    tries : int
        Slices, weights and strengths that are tried at most.
    seed : int
        Of the first trial release, a teaching seed.
    kernels : bool
        Whether soft and balanced neighborhoods are tried as well as even ones; of the method rwn.
    """

    starts: Sequence[Slices] | None = None
    only_starts: bool = False
    weights: bool = True
    strengths: Sequence[float] | None = None
    records: int = QUICK_RECORDS
    tries: int = 240
    seed: int = 1
    kernels: bool = False

    def __post_init__(self) -> None:
        """Check each number."""
        if self.records < 2 or self.tries < 1:
            raise ParameterError("A slice search needs at least two records and one try.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAnswer:
    """Hold the answer of a slice search.

    Attributes
    ----------
    policy : Policy
    point : Point
        Read on fresh releases: the limits' measures and the loss of relations. If no slices meet
        all limits, those that come nearest.
    reached : bool
        Whether all limits are met: 19 of 20 further releases should meet each. Never where a limit
        could not be judged.
    tried : int
        Slices, weights and strengths that were tried on releases.
    records : int
        How many records it was searched and read on.
    of : int
        How many the table has.
    unread : mapping of str to str
        Limits of the policy that cannot be judged on this table, and why; the search goes by the
        others.
    published : Point or None
        RWN as published under the same policy, each variable alone, read on as many fresh
        releases; the nearest where no radius meets all limits. Where kernels were searched.
    """

    policy: Policy
    point: Point
    reached: bool
    tried: int
    records: int
    of: int  # words: public name
    unread: Mapping[str, str] = field(default_factory=dict)
    published: Point | None = None

    @property
    def verdict(self) -> Verdict:
        """Verdict of the whole policy on the setting."""
        return self.policy.judge(self.point, self.unread)

    @property
    def slices(self) -> Slices:
        """The variables that share a donor; every other one has its own."""
        return self.point.setting.slices or ()

    @property
    def sentence(self) -> str:
        """The answer in words, with its uncertainty and the number of records."""
        stated = "; ".join(spread_words(spread) for spread in self.point.spreads.values())
        words = f"{short_setting(self.point.setting)}: {stated}."
        if self.slices:
            words += f" {slices_words(self.slices)}."
        if self.records < self.of:
            words += (
                f" Searched and read on {self.records:,} random records of {self.of:,}; read it on "
                "all of them before it is used."
            )
        words += not_judged(self.unread)
        if not self.reached:
            known = "is known to keep" if self.unread else "keeps"
            words = f"None of {self.tried:,} {known} all limits; nearest is {words}"
        return words + self._published_words

    @property
    def _published_words(self) -> str:
        point = self.published
        if point is None or point.setting.key == self.point.setting.key:
            return ""
        lost = point.median(UTILITY)
        loses = "" if lost is None else f" and loses {number_words(UTILITY, lost)} of the relations"
        words = f"{short_setting(point.setting)}{loses}."
        if self.policy.judge(point).kept:
            return f" RWN as published keeps the same limits at {words}"
        return f" RWN as published keeps not all limits; nearest is {words}"
