"""The number that decides a limit: where only bounds are known, or no file could break it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import UNMASKED, UNRELATED, Reading
from rwn_core.tuning.point import Point, Spread, known_ends

MISSING = "It was not read."
_BETWEEN = "Only two bounds are known on a table of this size, and the limit lies between them."
_NO_UPPER = "Only a lower bound is known on a table of this size, and it is below the limit."


def empty_end(
    measure: str, ends: Mapping[str, float | None], share: Callable[[float], float]
) -> str | None:
    """Say why a limit cannot be broken on a table; None where it can be, or nothing is known.

    >>> empty_end("bayes_linkage", {"unmasked": 0.022}, lambda value: value / 0.05)
    'This limit cannot be broken on this table: the unmasked file reads 2.2 %. Lower the limit, \
choose other keys, or remove it.'
    """
    about = MEASURES[measure]
    risk = about.side == "risk"
    value = ends.get(UNMASKED if risk else UNRELATED)
    if value is None or share(value) > 1:
        return None
    words = f"{100 * value:.3g} %" if about.is_share else f"{value:.3g}"
    file = "the unmasked file" if risk else "a file without any relation"
    return (
        f"This limit cannot be broken on this table: {file} reads {words}. "
        f"Lower the limit, choose other {'keys' if risk else 'variables'}, or remove it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitBounds:
    """Hold the known bounds of one measure, to be compared with a limit."""

    value: float | None  # None where there is none
    # what it is where it is no worst case: "at least", "an estimate" or "estimated at most"
    standing: str = ""
    # estimate, upper: beside a value that is at least so much: an estimate, and the upper bound
    estimate: float | None = None
    upper: float | None = None
    reason: str = MISSING  # why there is no value
    by: str = ""  # the simple attack that achieved the value, where the measure stated less
    # what the measure reads on the unmasked file, and where no relation is left, as far as known
    ends: Mapping[str, float] = field(default_factory=dict)

    def against(self, measure: str, share: Callable[[float], float]) -> LimitBounds:
        """Decide one limit of a verdict: by which number it is kept or broken, or why by none."""
        decided = self._between_bounds(share)
        if decided.value is None or share(decided.value) > 1:
            return decided
        end = empty_end(measure, self.ends, share)
        return decided if end is None else replace(decided, value=None, reason=end)

    def unreachable(self, share: Callable[[float], float]) -> bool:
        """True if a limit is broken here, and by a file without any relation, too."""
        end = self.ends.get(UNRELATED)
        here = self.value is not None and share(self.value) > 1
        return here and end is not None and share(end) > 1

    def _between_bounds(self, share: Callable[[float], float]) -> LimitBounds:
        if self.value is None or math.isnan(self.value):
            return replace(self, value=None)
        if not self.standing or share(self.value) > 1:
            return self
        if self.estimate is not None and share(self.estimate) > 1:
            return replace(self, value=self.estimate, standing="an estimate")
        if self.upper is None or share(self.upper) > 1:
            return replace(self, value=None, reason=_NO_UPPER if self.upper is None else _BETWEEN)
        return replace(self, value=self.upper, standing="estimated at most")


def bounds_from_reading(reading: Reading | NotApplicable) -> LimitBounds:
    """Return the bounds from one release."""
    if isinstance(reading, NotApplicable):
        return LimitBounds(value=None, reason=reading.reason)
    detail = reading.detail
    known = LimitBounds(
        value=reading.value,
        by=str(detail.get("attacked_by", "")),
        ends=known_ends(detail),
    )
    if detail.get("standing") != "at least":
        return known
    estimate, upper = (detail.get(name) for name in ("estimate", "at_most"))
    return replace(known, standing="at least", estimate=estimate, upper=upper)


def bounds_from_spread(spread: Spread) -> LimitBounds:
    """Return the bounds from a setting's releases: upper ends of one more release."""
    if spread.median is None:
        return LimitBounds(value=None, reason=spread.reason or MISSING)
    end = spread.median if spread.interval is None else spread.interval[1]
    standing = "at least" if spread.is_bound else ""
    return LimitBounds(
        value=end, standing=standing, upper=spread.at_most, by=spread.by, ends=spread.ends
    )


def bounds_from_stated(stated: Mapping[str, float]) -> LimitBounds:
    """Return the bounds that a scenario states; with "at_most" its value is a lower bound."""
    if "median" not in stated:  # of a file that a person wrote
        return LimitBounds(value=None)
    end, upper = stated.get("high", stated["median"]), stated.get("at_most")
    standing = "" if upper is None else "at least"
    return LimitBounds(value=end, standing=standing, upper=upper, ends=known_ends(stated))


def stated_bounds(reading: Reading) -> dict[str, float]:
    """Write the bounds of one release, for `bounds_from_stated`."""
    known = bounds_from_reading(reading)
    low = max(reading.value, known.estimate or 0.0)
    put_down = {"median": low, **known.ends}
    if not known.standing:
        return put_down
    return put_down | {"at_most": 1.0 if known.upper is None else known.upper}


RED_TEAM = "red_team"
RAISED = {"bayes_linkage": "identity", "attribute_gain": "attribute"}
"""Measures that state a worst case, and the kind of finding that may be worse."""

Readings = Mapping[str, Reading | NotApplicable]


def attacked(readings: Readings) -> Readings:
    """Raise stated worst cases to what the red team achieved, where these readings have one."""
    team = readings.get(RED_TEAM)
    if not isinstance(team, Reading):
        return readings
    raised = {key: _raised(readings.get(key), team.detail[kind]) for key, kind in RAISED.items()}
    return {**readings, **{key: each for key, each in raised.items() if each is not None}}


def _raised(stated: Reading | NotApplicable | None, found: Mapping[str, float | str] | None) -> (
    Reading | None
):  # fmt: skip
    if not isinstance(stated, Reading) or found is None or float(found["certain"]) <= stated.value:
        return None
    value = float(found["certain"])
    detail = {**stated.detail, "stated": stated.value, "attacked_by": found["words"]}
    if detail.get("at_most") is not None:
        detail["at_most"] = max(detail["at_most"], value)
    return replace(stated, value=value, interval=None, detail=detail)


def with_attacked(point: Point, few: Point) -> Point:
    """A setting's point with the spreads that simple attacks raised on a few of its releases."""
    raised = {key: each for key, each in few.spreads.items() if each.by}
    return replace(point, spreads={**point.spreads, **raised})
