"""Paired comparison of matched methods: measures on which one is better beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from rwn_core.measures import MEASURES
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.match import Matched
from rwn_core.tuning.point import Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Two methods, measure by measure."""

    # one, other: keys of the methods
    one: str
    other: str
    # better, worse: measures on which every end of where one more release of the first falls is
    # better, or worse, than every end of the other's
    better: tuple[str, ...]
    worse: tuple[str, ...]
    open: tuple[str, ...]  # measures that both have an answer to and that say neither


def compare_pair(one: Matched, other: Matched, measures: Sequence[str]) -> PairedComparison:
    """Hold one method against another."""
    better, worse, undecided = [], [], []
    for key in measures:
        mine, others = one.at_loss.spreads.get(key), other.at_loss.spreads.get(key)
        if mine is None or others is None or not (mine.values and others.values):
            continue
        if MEASURES[key].better == "neutral":
            continue
        if beats(mine, others):
            better.append(key)
        elif beats(others, mine):
            worse.append(key)
        else:
            undecided.append(key)
    return PairedComparison(
        one=one.method,
        other=other.method,
        better=tuple(better),
        worse=tuple(worse),
        open=tuple(undecided),
    )


def beats(one: Spread, other: Spread) -> bool:
    """True if one is better than another beyond the intervals of one more release."""
    if one.interval is None or other.interval is None or one.is_bound:
        return False
    if sign(one.measure) > 0:
        return one.interval[1] < other.interval[0]
    return one.interval[0] > other.interval[1]


def best_methods(found: Sequence[Matched], measure: str) -> list[str]:
    """The compared methods with the best median of a measure, of two or more that have one."""
    compared = {each.method: each.at_loss.median(measure) for each in found if each.reached}
    known = {key: value for key, value in compared.items() if value is not None and isfinite(value)}
    if len(known) < 2 or MEASURES[measure].better == "neutral":
        return []
    top = min(sign(measure) * value for value in known.values())
    return [key for key, value in known.items() if sign(measure) * value == top]
