"""The number that a limit is held against, where a measure may be known between bounds only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rwn_core.errors import NotApplicable
from rwn_core.measures.measure import Reading
from rwn_core.tuning.point import Spread

MISSING = "It was not read."
_BETWEEN = "Only two bounds are known on a table of this size, and the limit lies between them."
_NO_UPPER = "Only a lower bound is known on a table of this size, and it is below the limit."


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Hold what is known of one measure, to be held against a limit.

    Attributes
    ----------
    value : float or None
        None where there is none.
    standing : str
        What it is where it is no worst case: "at least", "an estimate" or "at most".
    estimate, upper : float or None
        Beside a value that is at least so much: an estimate, and the upper bound.
    reason : str
        Why there is no value.
    by : str
        The simple attack that achieved the value, where the measure stated less.
    """

    value: float | None
    standing: str = ""
    estimate: float | None = None
    upper: float | None = None
    reason: str = MISSING
    by: str = ""

    def against(self, share: Callable[[float], float]) -> Judged:
        """The number that decides whether a limit is kept, or why none does.

        Parameters
        ----------
        share : callable
            How much of the limit a value uses.
        """
        if self.value is None or math.isnan(self.value):
            return replace(self, value=None)
        if not self.standing or share(self.value) > 1:
            return self
        if self.estimate is not None and share(self.estimate) > 1:
            return replace(self, value=self.estimate, standing="an estimate")
        if self.upper is None or share(self.upper) > 1:
            return replace(self, value=None, reason=_NO_UPPER if self.upper is None else _BETWEEN)
        return replace(self, value=self.upper, standing="at most")


def of_reading(reading: Reading | NotApplicable) -> Judged:
    """What one release tells."""
    if isinstance(reading, NotApplicable):
        return Judged(value=None, reason=reading.reason)
    by = str(reading.detail.get("attacked_by", ""))
    if reading.detail.get("standing") != "at least":
        return Judged(value=reading.value, by=by)
    estimate, upper = (reading.detail.get(name) for name in ("estimate", "at_most"))
    return Judged(value=reading.value, standing="at least", estimate=estimate, upper=upper, by=by)


def of_point(spread: Spread) -> Judged:
    """What the releases of a setting tell: the upper ends of where one more release falls."""
    if spread.median is None:
        return Judged(value=None, reason=spread.reason or MISSING)
    end = spread.median if spread.interval is None else spread.interval[1]
    standing = "at least" if spread.is_bound else ""
    return Judged(value=end, standing=standing, upper=spread.at_most, by=spread.by)


def of_stated(stated: Mapping[str, float]) -> Judged:
    """What a scenario states; beside "at_most", which may be 1, it is a lower bound."""
    end, upper = stated.get("high", stated["median"]), stated.get("at_most")
    return Judged(value=end, standing="" if upper is None else "at least", upper=upper)


def stated(reading: Reading) -> dict[str, float]:
    """What is put down of one release, for `of_stated`."""
    known = of_reading(reading)
    low = max(reading.value, known.estimate or 0.0)
    if not known.standing:
        return {"median": low}
    return {"median": low, "at_most": 1.0 if known.upper is None else known.upper}
