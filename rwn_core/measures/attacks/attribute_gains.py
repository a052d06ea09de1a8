"""Gain of the attribute attack beyond its baseline, over all people or one level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rwn_core.measures.attacks.attribute_attack import Success
from rwn_core.measures.attacks.named_levels import (
    CERTAINTIES,
    best_score,
    beyond_outside,
)
from rwn_core.measures.statistics.intervals import newcombe, wilson

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Largest gain of one confidential variable.

    Attributes
    ----------
    value : float
        The larger of `overall` and the score of `naming`.
    overall : float
        Success of a strategy for all people less its baseline.
    strategy : str
    attack, reference : float
        The strategy's success, and its baseline.
    interval : tuple of float
        Of the value, 95 %.
    naming : dict
        Best naming of one level or at one certainty: strategy, certainty, level (its number, None
        of a number), people, named, right, base, score.
    """

    value: float
    overall: float
    strategy: str
    attack: float
    reference: float
    interval: Interval
    naming: dict[str, Any]

    @property
    def of_all(self) -> bool:
        """True if the success for all people decides, not a level or a certainty."""
        return self.value <= self.overall


def gain(found: Success, outside: Success | None) -> Gain:
    """Return the largest gain over all strategies, beyond people outside or the majority."""
    overall, strategy, reference = _overall(found, outside)
    naming = _naming(found, outside)
    value = max(overall, naming["score"]) if naming["score"] else overall
    attack = found.rates[strategy]
    people = max(1, found.people)
    others = people if outside is None else max(1, outside.people)
    interval = newcombe((attack * people, people), (reference * others, others))
    if value > overall:
        interval = _interval(naming)
    ends = min(interval[0], value), max(interval[1], value)
    return Gain(
        value=value,
        overall=overall,
        strategy=strategy,
        attack=attack,
        reference=reference,
        interval=ends,
        naming=naming,
    )


def outside_rate(outside: Success, strategy: str) -> float:
    """Return the success of a strategy on people outside, or the majority's if larger."""
    # outside the rows cannot be weighed together: each row is looked at by itself
    same = "source" if strategy not in outside.rates else strategy
    return max(outside.rates[same], outside.rates["majority"])


def _overall(found: Success, outside: Success | None) -> tuple[float, str, float]:
    """Return gain, strategy and baseline: of the best strategy, or a more certain one."""
    best = found.best
    if outside is None:
        reference = found.rates["majority"]
        return found.rates[best] - reference, best, reference
    reference = outside_rate(outside, best)
    most = found.rates[best] - reference, best, reference
    people, others = max(1, found.people), max(1, outside.people)
    for key, rate in found.rates.items():
        reference = outside_rate(outside, key)
        certain = newcombe((rate * people, people), (reference * others, others))[0]
        if certain > most[0]:
            most = rate - reference, key, reference
    return most


def _naming(found: Success, outside: Success | None) -> dict[str, Any]:
    """Return the best score of naming a level, or a value at a certainty."""
    who = found.who
    best: dict[str, Any] = {"score": 0.0, "strategy": None, "certainty": 0.0, "level": None}
    best |= {"people": 0.0, "named": 0.0, "right": 0.0, "base": 0.0}
    of_level, base = who.of_level(), who.base()
    for key, named in found.named.items():
        if outside is None:
            place, score = best_score(named.right, named.named, of_level, base)
        else:
            other = outside.named.get(key, outside.named["source"])
            place, score = beyond_outside(named, who, other, outside.who)
        if score > best["score"]:
            level = place[1]
            best = {
                "score": score,
                "strategy": key,
                "certainty": CERTAINTIES[place[0]],
                "level": None if who.levels is None else level,
                "people": float(of_level[level]),
                "named": float(named.named[place]),
                "right": float(named.right[place]),
                "base": float(base[level]),
            }
    return best


def _interval(naming: dict[str, Any]) -> Interval:
    """Return the interval of a naming score from the ends of recall and of precision."""
    right, named, people = naming["right"], naming["named"], naming["people"]
    ends = [_ends(right / people, people), _ends(min(right / named, 1.0), named)]
    base = naming["base"]
    low, high = (
        recall * max(sure - base, 0.0) / (1 - base) for recall, sure in zip(*ends, strict=True)
    )
    return low, high


def _ends(share: float, count: float) -> Interval:
    centre, half = wilson(share * count, max(1, round(count)))
    return max(0.0, centre - half), min(1.0, centre + half)
