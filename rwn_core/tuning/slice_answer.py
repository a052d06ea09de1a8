"""What a slice search answers, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rwn_core.data.slices import Slices
from rwn_core.measures import MEASURES
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import not_judged

LOSS = "correlation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAnswer:
    """Hold the answer of a slice search.

    Attributes
    ----------
    policy : Policy
    point : Point
        Read on fresh releases: the limits' measures and the correlations. If no slices keep all
        limits, those that come nearest.
    reached : bool
        Whether it keeps them all: 19 of 20 further releases should keep each. Never where a limit
        could not be judged.
    tried : int
        Slices and strengths that were tried on releases.
    records : int
        How many records it was searched and read on.
    of : int
        How many the table has.
    unread : mapping of str to str
        Limits of the policy that cannot be judged on this table, and why; the search goes by the
        others.
    """

    policy: Policy
    point: Point
    reached: bool
    tried: int
    records: int
    of: int
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def slices(self) -> Slices:
        """Which variables travel together; every other one stands alone."""
        return self.point.setting.slices or ()

    @property
    def sentence(self) -> str:
        """The answer in words, with its uncertainty and the records that it is of."""
        stated = "; ".join(_in_words(self.point, key) for key in self.point.spreads)
        words = f"{self.point.setting.words}: {stated}."
        if self.records < self.of:
            words += (
                f" Searched and read on {self.records:,} random records of {self.of:,}; read it on "
                "all of them before it is used."
            )
        words += not_judged(self.unread)
        if self.reached:
            return words
        known = "is known to keep" if self.unread else "keeps"
        return f"None of {self.tried:,} {known} all limits; nearest is {words}"


def _in_words(point: Point, measure: str) -> str:
    spread, title = point.spreads[measure], point.spreads[measure].title
    if spread.median is None:
        return f"{title} without an answer"
    share = measure != LOSS and max(map(abs, MEASURES[measure].bounds)) == 1.0
    low, high = spread.interval or (spread.median, spread.median)
    stated, low_words, high_words = (
        f"{100 * value:.3g} %" if share else f"{value:.3g}" for value in (spread.median, low, high)
    )
    return f"{title} {stated} (one more release: {low_words} to {high_words})"
