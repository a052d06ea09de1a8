"""A goal: limits to keep and a measure to make good; and what searches answer, first and last."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from rwn_core.data.schema import Slices, slices_words
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.policy import Policy, refuse_percentage
from rwn_core.tuning.short_words import short_setting
from rwn_core.tuning.verdict import Verdict, counted, not_judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(NamedParameters):
    """State a goal: the best `best` that keeps a policy, or one measure within a limit.

    Attributes
    ----------
    keep : Policy or str
        All limits to keep; or one measure: at most `limit`, where lower is better, else at least.
    best : str
        Measure to make as good as possible.
    limit : float, optional
        Of one measure; a policy has its own.

    Raises
    ------
    ParameterError
        A measure has no better side, the policy has no limits, or `limit` is missing or too many.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))
    >>> rwn.Goal(keep=policy, best="association_loss").best
    'association_loss'
    """

    keep: Policy | str
    best: str
    limit: float | None = None

    def __post_init__(self) -> None:
        """Every measure needs a better side, and one measure alone a limit."""
        sign(self.best)
        if isinstance(self.keep, Policy):
            if not self.keep.limits:
                raise ParameterError("The policy has no limits; give it at least one.")
            if self.limit is not None:
                raise ParameterError("A policy has its own limits; leave limit out.")
            return
        sign(self.keep)
        if self.limit is None or not math.isfinite(self.limit):
            raise ParameterError("The limit must be a number.")
        refuse_percentage(self.keep, self.limit)

    @property
    def kept(self) -> tuple[str, ...]:  # words: public name
        """The measures that have a limit."""
        return self.keep.measures if isinstance(self.keep, Policy) else (self.keep,)

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures that a search for it reads."""
        return tuple(dict.fromkeys((*self.kept, self.best)))

    def worst(self, point: Point) -> float:
        """The unfavorable end of where one more release falls; lower is better, inf without one.

        Of a policy the largest share of a limit that is used there. Inf with too few records
        released, too.
        """
        if point.few:
            return math.inf
        if isinstance(self.keep, Policy):
            verdict = self.keep.judge(point)
            return math.inf if verdict.unread else verdict.shares[str(verdict.first)]
        spread = point.spreads.get(self.keep)
        if spread is None or spread.median is None:
            return math.inf
        if spread.is_bound:  # a lower bound keeps no limit
            return math.inf if spread.at_most is None else spread.at_most
        low, high = spread.interval or (spread.median, spread.median)
        return high if sign(self.keep) > 0 else -low

    def excess(self, point: Point) -> float:
        """Return the distance of that end beyond the limit; at most 0 if every limit is met."""
        if isinstance(self.keep, Policy):
            return self.worst(point) - 1.0
        return self.worst(point) - sign(self.keep) * float(self.limit or 0.0)

    def loss(self, point: Point) -> float:
        """The measure to make good, lower is better; inf where it has no answer."""
        median = point.median(self.best)
        return math.inf if median is None else sign(self.best) * median

    def answers(self, point: Point) -> bool:
        """True if a setting has an answer for every measure."""
        return all(point.median(key) is not None for key in self.measures)

    @property
    def words(self) -> str:
        """The goal in words."""
        return f"{self.limit_words} with the best {MEASURES[self.best].title.lower()}"

    @property
    def limit_words(self) -> str:
        """The limits in words."""
        if isinstance(self.keep, Policy):
            each = (_limit_words(limit.measure, limit.at_most) for limit in self.keep.limits)
            return ", ".join(each)
        return _limit_words(self.keep, float(self.limit or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalAnswer:
    """The answer of a search.

    Attributes
    ----------
    goal : Goal
    point : Point
        Read on fresh releases, a linkage with both intruders. If no setting keeps the limits, the
        one that comes closest.
    reached : bool
        Whether it keeps each limit that could be read: 19 of 20 further releases should.
    tried : int
        Settings that were looked at.
    unread : mapping of str to str
        Limits of the policy that no setting of the sweep has an answer for, and why.
    note : str
        What else is to be known of the answer, in sentences.
    """

    goal: Goal
    point: Point
    reached: bool
    tried: int
    unread: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def kept(self) -> bool:  # words: public name
        """True if every limit was judged and is met."""
        return self.reached and not self.unread

    @property
    def verdict(self) -> Verdict:
        """Verdict of the whole policy on the setting; a goal on one measure has no limits."""
        judged = self.goal.keep if isinstance(self.goal.keep, Policy) else Policy(limits=())
        found = judged.judge(self.point)
        return replace(found, unread={**found.unread, **self.unread})

    @property
    def sentence(self) -> str:
        """The answer in words, with its uncertainty; a linkage with both intruders."""
        spreads, wanted = self.point.spreads, {*self.goal.measures}
        shown = [*self.goal.kept, *([self.goal.best] if self.reached else [])]
        shown += [key for key in spreads if key not in wanted]
        stated = [spread_words(spreads[key]) for key in shown]
        few = " It releases too few records to be chosen." if self.point.few else ""
        note = f" {self.note}" if self.note else ""
        words = f"{'; '.join(stated)}.{not_judged(self.unread)}{few}{note}"
        setting = self.point.setting.words
        if self.reached:
            return f"{setting}: {words}"
        if isinstance(self.goal.keep, Policy):
            verdict, far = self.goal.keep.judge(self.point), ""
            if verdict.first is not None:
                uses = f"{verdict.uses(verdict.first)} the limit"
                far = f", which uses {uses} on {verdict.title(verdict.first)}"
            return (
                "No setting within the sweep's ranges keeps all limits; nearest is "
                f"{setting}{far}: {words}"
            )
        keep, limit = str(self.goal.keep), float(self.goal.limit or 0.0)
        wanted_words = _limit_words(keep, limit, self.point.spreads[keep].title)
        return (
            f"No setting within the sweep's ranges keeps {wanted_words}. The closest is "
            f"{setting}: {words}"
        )


TO_CONFIRM = "Fresh releases have not confirmed it yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialAnswer:
    """Hold the best setting so far, or the nearest."""

    point: Point  # what was read of it on trial releases, at least one measure
    goal: Policy | Goal  # the limits, or one measure's
    loss: float | None = None  # the expected loss of relations, where the search goes by one
    confirmed: bool = False  # whether fresh releases meet the limits
    # records, of: how many records it was read on, and how many the table has
    records: int
    of: int  # words: public name

    @property
    def setting(self) -> Setting:
        """The setting."""
        return self.point.setting

    @property
    def _policy(self) -> Policy | None:
        """All limits; None for a goal on one measure."""
        keep = self.goal.keep if isinstance(self.goal, Goal) else self.goal
        return keep if isinstance(keep, Policy) else None

    @property
    def met(self) -> bool:
        """True if trial releases meet every limit."""
        if isinstance(self.goal, Goal):
            return self.goal.excess(self.point) <= 0
        return self.goal.judge(self.point).kept

    @property
    def beyond(self) -> float:
        """The largest share of a limit that is known to be used; 0 where all limits are kept."""
        if self.met:
            return 0.0
        if self._policy is None:
            assert isinstance(self.goal, Goal)
            return self.goal.excess(self.point)
        largest = self._policy.judge(self.point).largest
        return math.inf if largest is None else largest

    @property
    def sentence(self) -> str:
        """The answer in words, and what is open about it."""
        # how many limits are kept or broken
        verdict = None if self._policy is None else self._policy.judge(self.point)
        if verdict is None or self._policy is None:
            assert isinstance(self.goal, Goal)
            words = f"reads {spread_words(self.point.spreads[str(self.goal.keep)])}"
        else:
            count, broken = len(self._policy.limits), len(verdict.broken)
            words = f"keeps {len(verdict.shares)} of {counted(count, 'limit')}"
            if verdict.kept:
                words = "keeps the limit" if count == 1 else f"keeps all {count} limits"
            if broken and verdict.first is not None:
                first = verdict.first
                words = f"breaks {broken} of {counted(count, 'limit')}; {verdict.title(first)}"
                words += f" uses {verdict.uses(first)} its limit"
            words += f"; {len(verdict.unread)} not read" if verdict.unread else ""
        # what is lost
        if self.loss is not None:
            lost = number_words(UTILITY, self.loss)
            words += f"; it is expected to lose {lost} of the relations"
        elif isinstance(self.goal, Goal) and self.point.median(self.goal.best) is not None:
            words += f"; {spread_words(self.point.spreads[self.goal.best])}"
        sample = ""
        if self.records < self.of:
            sample = f" It was read on {self.records:,} random records of {self.of:,}."
        which = "Best so far" if self.met else "Nearest so far"
        ends = "Fresh releases confirm it." if self.confirmed else TO_CONFIRM
        return f"{which}: {short_setting(self.setting)} {words}.{sample} {ends}"


Found = Callable[[PartialAnswer], None]
"""Takes the answer so far, whenever a search has a better one."""


def answers_to(progress: Progress | None) -> Found:
    """Return what takes the answers so far: a method of what takes the share done, or nothing."""
    found: Found = getattr(progress, "found", lambda answer: None)
    return found


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
        # what RWN as published gives
        other = self.published
        if other is None or other.setting.key == self.point.setting.key:
            return words
        lost = other.median(UTILITY)
        loses = "" if lost is None else f" and loses {number_words(UTILITY, lost)} of the relations"
        met = self.policy.judge(other).kept
        keeps = "keeps the same limits at" if met else "keeps not all limits; nearest is"
        return f"{words} RWN as published {keeps} {short_setting(other.setting)}{loses}."


def spread_words(spread: Spread) -> str:
    """Write the median of a measure, and where one more release falls."""
    if spread.median is None:
        return f"{spread.title} without an answer"
    words = f"{spread.title} {number_words(spread.measure, spread.median)}"
    if spread.at_most is not None:
        words += f", at most {number_words(spread.measure, spread.at_most)}"
    if spread.interval is None:
        return words
    low, high = (number_words(spread.measure, end) for end in spread.interval)
    return f"{words} (one more release: {low} to {high})"


def _limit_words(measure: str, limit: float, title: str | None = None) -> str:
    side = "at most" if sign(measure) > 0 else "at least"
    return f"{title or MEASURES[measure].title} {side} {number_words(measure, limit)}"


def number_words(measure: str, value: float) -> str:
    """Write a measure's value as people read it."""
    return MEASURES[measure].words(value)
