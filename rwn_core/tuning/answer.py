"""The one answer of every search: settings, best first, and what is known of them, in words.

Goal seek, slice search, recommendation and quick verdict end with it, and tell it on their way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from rwn_core.data.schema import Schema, Slices
from rwn_core.data.summary import Summarized, Summary
from rwn_core.measures import MEASURES, USE
from rwn_core.measures.sentence import percent
from rwn_core.measures.utility.use_left import UseLeft
from rwn_core.tuning.point import Point, Setting, Spread, short_setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import Mark, State, Verdict, counted, not_judged, share_words

TO_CONFIRM = "Fresh releases have not confirmed it yet."
LATE = " The time was over before all was tried; more seconds may find a better one."
_APART = 1.15  # times the middle release: an upper end beyond stands as a range


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSetting:
    """A setting that was tried: what its releases use of the limits, and what they lose.

    Attributes
    ----------
    point : Point
        The setting, with what was read of it.
    verdict : Verdict
        On the limits that were judged, at the upper ends of one more release.
    loss : float, optional
        1 less the least of the shares that its releases leave of the use.
    left : UseLeft, optional
        Those shares, and the largest change of a slope, means over its releases.
    attacked : bool
        Whether simple attacks were tried on its releases.
    confirmed : bool
        Whether it was read as every page judges a setting: on all records, on all draws of a
        verdict, with simple attacks.
    whole : bool
        Whether it was read on all records.
    share : float
        How much of its worst limit a release uses, the middle one of a few; infinite where a limit
        has no answer.
    interval : tuple of float
        Where this share of one more release falls, 9 times in 10, as the policy judges it.
    releases : int
        How many releases were read.
    """

    point: Point
    verdict: Verdict = field(default_factory=lambda: Verdict(shares={}, unread={}))
    loss: float | None = None
    left: UseLeft | None = None
    attacked: bool = False
    confirmed: bool = False
    whole: bool = True
    share: float = 0.0
    interval: tuple[float, float] = (0.0, math.inf)
    releases: int = 0

    @property
    def setting(self) -> Setting:
        """The setting itself."""
        return self.point.setting

    @property
    def kept(self) -> bool:
        """True if one more release keeps all limits that were judged, 9 times in 10."""
        return self.verdict.kept and self.share <= 1

    @property
    def mark(self) -> Mark:
        """The state as every page shows it: nothing is kept that was not confirmed."""
        if self.verdict.state == "not judged":
            return "not judged"
        if self.kept:
            return "kept" if self.confirmed else "one draw"
        # draws that a confirmation reads, too, have broken it
        broken = self.confirmed or (self.whole and self.verdict.draws > 1)
        return "broken" if broken else "one draw"

    @property
    def used(self) -> float | None:
        """How much one more release uses of its worst limit; None where no limit was judged."""
        judged = self.verdict.largest
        return judged if judged is None else max(judged, self.share)

    @property
    def lost(self) -> str:
        """What is lost of the part of the use that has least left, in words."""
        return percent(self.loss or 0.0)

    @property
    def left_words(self) -> str:
        """What is left of the use, in words; of an answer that has no parts its least share."""
        words = "" if self.left is None else self.left.sentence
        return words or f"Left: {percent(1.0 - (self.loss or 0.0))} of the use"

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Sort key: settings that keep the policy by their loss, then the others by their share."""
        loss = 1.0 if self.loss is None else self.loss
        return not self.kept, loss if self.kept else self.share, loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy(FoundSetting):
    """A change that may help, tried before it is named, with what it then gives.

    Attributes
    ----------
    title : str
        What is done, in a few words, for a button.
    schema : Schema, optional
        Describe the table so, before the setting is taken.
    policy : Policy, optional
        Judge by it from then on.
    asks_less : bool
        Whether less is asked of the release: of an intruder who knows less, or by other limits.
    unread : mapping of str to str
        Limits that cannot be judged on the table, and why.
    """

    title: str = ""
    schema: Schema | None = None
    policy: Policy | None = None
    asks_less: bool = False
    unread: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        found: FoundSetting,
        *,
        title: str,
        schema: Schema | None = None,
        unread: Mapping[str, str] = MappingProxyType({}),
    ) -> Remedy:
        """Return a remedy that leads to a setting that was tried."""
        known = {each.name: getattr(found, each.name) for each in fields(FoundSetting)}
        return cls(**known, title=title, schema=schema, unread=unread)

    @property
    def words(self) -> str:
        """The title, and what the setting gives: a range where releases differ much."""
        if self.loss is None:
            return self.title
        return f"{self.title}: {self._used_words()}. {self.left_words}"

    def _used_words(self) -> str:
        """Say that the limits are kept, or how much one more release uses of the worst one."""
        if self.kept:
            count = len(self.verdict.shares)
            used = "keeps its limit" if count == 1 else f"keeps all {count} limits"
        else:
            low, high = self.interval
            differs = high > _APART * self.share
            used = f"uses {share_words(high, low if differs else None)} a limit"
        if self.unread:
            apart = ", ".join(MEASURES[key].title.lower() for key in self.unread)
            used += f" that can be judged ({apart} not judged)"
        return used


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchAnswer(Summarized):
    """The answer of a search: settings best first, each with its verdict, and one sentence.

    Attributes
    ----------
    goal : Policy
        What was to be kept.
    settings : tuple of FoundSetting
        Best first; where none keeps all limits, the nearest first. Empty where nothing was found.
    reached : bool
        Whether the first one keeps every limit that can be judged.
    refused : bool
        Whether it is known that no setting of the kind keeps the policy.
    confirmed : bool
        Whether that was read on releases that chose nothing.
    so_far : bool
        Whether the search goes on.
    late : bool
        Whether its time ran out before all was tried.
    tried : int
        Settings that were looked at.
    records, of : int
        How many records it was read on, and how many the table has.
    unread : mapping of str to str
        Limits that cannot be judged on this table, and why; the search goes by the others.
    reason : str
        Of a recommendation or a quick verdict, what is said in place of `sentence`.
    note : str
        What else is to be known, in sentences.
    alternative : FoundSetting, optional
        Of another method, where that keeps the policy and loses less, or keeps it alone.
    unfit : mapping of str to str
        By key of a method that is no alternative on this table, why, in one sentence.
    remedies : tuple of Remedy
        What helps, each tried before it is named; those that keep the policy first, by their loss.
    caution : str
        That no remedy keeps the policy, with the best that is attainable.
    """

    goal: Policy
    settings: tuple[FoundSetting, ...] = ()
    reached: bool = False
    refused: bool = False
    confirmed: bool = False
    so_far: bool = False
    late: bool = False
    tried: int = 0
    records: int = 0
    of: int = 0
    unread: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    note: str = ""
    alternative: FoundSetting | None = None
    unfit: Mapping[str, str] = field(default_factory=dict)
    remedies: tuple[Remedy, ...] = ()
    caution: str = ""

    @classmethod
    def of_point(
        cls,
        goal: Policy,
        point: Point,
        *,
        loss: float | None = None,
        left: UseLeft | None = None,
        **more: Any,
    ) -> SearchAnswer:
        """Return the answer of one setting with its readings."""
        share = point.median(USE)
        if loss is None and share is not None:
            loss = 1.0 - share
        whole = more.get("records", 0) >= more.get("of", 0)
        found = FoundSetting(
            point=point, verdict=goal.judge(point), loss=loss, left=left, whole=whole
        )
        return cls(goal=goal, settings=(found,), **more)

    def _summary(self) -> Summary:
        found = [("next" if at else "setting", each) for at, each in enumerate(self.settings)]
        if self.alternative:
            found.append(("alternative", self.alternative))
        rows = [("policy", str(self.state))]
        rows += [(what, each.setting.words) for what, each in found]
        rows += [("remedy", each.words) for each in self.remedies]
        rows += [(f"unfit: {key}", why) for key, why in self.unfit.items()]
        return Summary(title=self.sentence, columns=("", ""), rows=rows)

    @property
    def point(self) -> Point:
        """Point of the best setting, with its readings."""
        return self.settings[0].point

    @property
    def setting(self) -> Setting | None:
        """The best setting; None where nothing was found."""
        return self.settings[0].setting if self.settings else None

    @property
    def slices(self) -> Slices:
        """The variables that share a donor in it; every other one has its own."""
        return self.point.setting.slices or ()

    @property
    def loss(self) -> float | None:
        """1 less the least of the shares that its releases leave of the use."""
        return self.settings[0].loss if self.settings else None

    @property
    def left(self) -> UseLeft | None:
        """What its releases leave of the use, where its parts were read."""
        return self.settings[0].left if self.settings else None

    @property
    def worst_slope(self) -> float | None:
        """The largest change of a slope of a stated regression, in the original's SE."""
        return None if self.left is None else self.left.worst_slope

    @property
    def shares(self) -> Mapping[str, float]:
        """By measure, what the verdict says of its limit: of one release, what that one uses.

        Of several, what one more uses at most, 9 times in 10.
        """
        return self.settings[0].verdict.shares if self.settings else {}

    @property
    def state(self) -> State:
        """State of the policy at the best setting: kept, broken, or not judged."""
        if self.reached:
            return "not judged" if self.unread else "kept"
        if self.refused or (self.settings and self.settings[0].share > 1):
            return "broken"
        return self.settings[0].verdict.state if self.settings else "not judged"

    @property
    def answer(self) -> str:
        """Word for the state: "can", "cannot" or "unknown"."""
        return {"kept": "can", "broken": "cannot", "not judged": "unknown"}[self.state]

    @property
    def kept(self) -> bool:
        """True if every limit was judged and is met."""
        return self.state == "kept"

    @property
    def verdict(self) -> Verdict:
        """Verdict of the whole policy on the best setting."""
        found = self.goal.judge(self.point, self.unread)
        return replace(found, unread={**found.unread, **self.unread})

    @property
    def met(self) -> bool:
        """True if the releases that were read meet every limit."""
        return self.goal.judge(self.point).kept

    @property
    def attainable(self) -> str:
        """What is left of the use at most within the limits, of all that was tried."""
        if not self.settings or self.loss is None:
            return ""
        where = f" on {self.records:,} of {self.of:,} records" if self.records < self.of else ""
        words = f"Of {counted(self.tried, 'setting')} tried{where},"
        limits = "every limit that can be judged" if self.unread else "all limits"
        kept = [each.loss for each in self.settings if each.kept and each.loss is not None]
        left = percent(1 - min(kept, default=self.loss))
        best = self.settings[0]
        if kept:
            return f"{words} the best that keeps {limits} leaves {left} of each part of the use."
        used = "" if best.used is None else f" and uses {share_words(best.used)} a limit"
        near = f"the nearest leaves {left} of each part of the use{used}"
        return f"{words} none is known to keep {limits}; {near}."

    @property
    def sentence(self) -> str:
        """The answer in words, with its uncertainty and what is open about it."""
        if self.reason or not self.settings:
            return self.reason
        if self.so_far:
            return self._best_so_far()
        point = self.point
        stated = "; ".join(spread_words(spread) for spread in point.spreads.values())
        words = f"{point.setting.words}: {stated}."
        if not self.reached:
            # how far the nearest is from the limits
            known = "is known to keep" if self.unread else "keeps"
            verdict = self.goal.judge(point)
            far = ""
            if first := verdict.first:
                far = f", which uses {verdict.uses(first)} the limit on {verdict.title(first)}"
            words = f"{self._none(known)} {point.setting.words}{far}: {stated}."
        if self.records < self.of:
            words += (
                f" Searched and read on {self.records:,} random records of {self.of:,}; read it on "
                "all of them before it is used."
            )
        if self.settings[0].left is not None:
            words += f" {self.settings[0].left_words}."
        words += not_judged(self.unread)
        words += " It releases too few records to be chosen." if point.few else ""
        words += f" {self.note}" if self.note else ""
        return words + LATE * self.late

    def _none(self, known: str) -> str:
        """Say how far it is known that no setting keeps the policy, before the nearest one."""
        if self.refused:
            return (
                f"None {known} all limits: {counted(self.tried, 'setting')} tried, and the safest "
                "end of every way tried breaks one; nearest is"
            )
        if self.late:
            tried = f"Not finished: {counted(self.tried, 'setting')} tried, and"
            if self.records < self.of:
                return f"{tried} none was read on all {self.of:,} records; the best so far is"
            return f"{tried} none of them {known} all limits; the nearest so far is"
        return f"None of {self.tried:,} {known} all limits; nearest is"

    def _best_so_far(self) -> str:
        """Say what the best setting so far keeps, and what is open."""
        words = _limits_kept(self.goal, self.goal.judge(self.point))
        if self.loss is not None:
            verb = "leaves" if self.confirmed else "is expected to leave"
            words += f"; it {verb} {percent(1.0 - self.loss)} of each part of the use"
        sample = ""
        if self.records < self.of:
            sample = f" It was read on {self.records:,} random records of {self.of:,}."
        which = "Best so far" if self.met else "Nearest so far"
        ends = "Fresh releases confirm it." if self.confirmed else TO_CONFIRM
        return f"{which}: {short_setting(self.point.setting)} {words}.{sample} {ends}"


def _limits_kept(policy: Policy, verdict: Verdict) -> str:
    """Say how many limits are kept, or broken and by how much, and how many are not read."""
    count = len(policy.limits)
    broken = len(verdict.broken)
    words = f"keeps {len(verdict.shares)} of {counted(count, 'limit')}"
    if verdict.kept:
        words = "keeps the limit" if count == 1 else f"keeps all {count} limits"
    if broken and (first := verdict.first) is not None:
        words = f"breaks {broken} of {counted(count, 'limit')}; {verdict.title(first)}"
        words += f" uses {verdict.uses(first)} its limit"
    if verdict.unread:
        words += f"; {len(verdict.unread)} not read"
    return words


def spread_words(spread: Spread) -> str:
    """Write the median of a measure, and where one more release falls."""
    if spread.median is None:
        return f"{spread.title} without an answer"
    number = MEASURES[spread.measure].words
    words = f"{spread.title} {number(spread.median)}"
    if spread.at_most is not None:
        words += f", at most {number(spread.at_most)}"
    if spread.interval is None:
        return words
    low, high = map(number, spread.interval)
    return f"{words} (one more release: {low} to {high})"
