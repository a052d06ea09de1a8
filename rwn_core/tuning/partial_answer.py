"""The answer of a search so far: read on trial releases, and still to be confirmed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rwn_core.measures import UTILITY
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.goal import Goal, number_words, spread_words
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.short_words import short_setting
from rwn_core.tuning.verdict import counted

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
        if isinstance(self.goal, Goal) and not isinstance(self.goal.keep, Policy):
            return self.goal.excess(self.point)
        policy = self.goal.keep if isinstance(self.goal, Goal) else self.goal
        assert isinstance(policy, Policy)
        largest = policy.judge(self.point).largest
        return math.inf if largest is None else largest

    @property
    def sentence(self) -> str:
        """The answer in words, and what is open about it."""
        sample = ""
        if self.records < self.of:
            sample = f" It was read on {self.records:,} random records of {self.of:,}."
        first = "Best so far" if self.met else "Nearest so far"
        ends = "Fresh releases confirm it." if self.confirmed else TO_CONFIRM
        return f"{first}: {short_setting(self.setting)} {self._limits}{self._lost}.{sample} {ends}"

    @property
    def _limits(self) -> str:
        policy = self.goal.keep if isinstance(self.goal, Goal) else self.goal
        if isinstance(policy, str):
            return f"reads {spread_words(self.point.spreads[policy])}"
        verdict = policy.judge(self.point)
        count, broken = len(policy.limits), len(verdict.broken)
        words = f"keeps {len(verdict.shares)} of {counted(count, 'limit')}"
        if verdict.kept:
            words = "keeps the limit" if count == 1 else f"keeps all {count} limits"
        if broken and verdict.first is not None:
            words = f"breaks {broken} of {counted(count, 'limit')}; {verdict.title(verdict.first)}"
            words += f" uses {verdict.uses(verdict.first)} its limit"
        return words + (f"; {len(verdict.unread)} not read" if verdict.unread else "")

    @property
    def _lost(self) -> str:
        if self.loss is not None:
            return f"; it is expected to lose {number_words(UTILITY, self.loss)} of the relations"
        if isinstance(self.goal, Goal) and self.point.median(self.goal.best) is not None:
            return f"; {spread_words(self.point.spreads[self.goal.best])}"
        return ""


Found = Callable[[PartialAnswer], None]
"""Takes the answer so far, whenever a search has a better one."""


def answers_to(progress: Progress | None) -> Found:
    """Return what takes the answers so far: a method of what takes the share done, or nothing."""
    found: Found = getattr(progress, "found", lambda answer: None)
    return found
