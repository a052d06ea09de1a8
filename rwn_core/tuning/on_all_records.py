"""The last step of a search: its answer is read on all records before it is reported.

Where it keeps nothing, the safest end of every way is read, too: only where each breaks a limit is
it known that none keeps the policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, TypeVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, SoftRWN
from rwn_core.measures import UTILITY
from rwn_core.measures.sentence import percent
from rwn_core.measures.utility.use_left import UseLeft
from rwn_core.parallel import clock
from rwn_core.parallel.deadline import Deadline
from rwn_core.parallel.threads import Cancelled, work
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.evaluate import PreparedTables, evaluate
from rwn_core.tuning.point import Point, Setting, Spread, short_setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.releases_left import several_left
from rwn_core.tuning.several_draws import (
    FEW_RELEASES,
    FIRST,
    Late,
    draw_verdicts,
    further_keys,
    read_draws,
    read_limits,
)
from rwn_core.tuning.strength import MOST_LOST
from rwn_core.tuning.verdict import counted
from rwn_core.tuning.ways import LATER, WAYS, in_way, later_donors

SEARCHED = 0.8  # of the time of a search; in the rest its answer is read on all records
_READ = 3  # of the best settings of an answer, which are read until one keeps the policy
_STRONG = "Strong"  # the preset where levers but the strength stand at a safest end
_T = TypeVar("_T")


def safest_of_rwn(
    slices: Slices, policy: Policy, *, records: int, soft: bool = True
) -> Iterator[Setting]:
    """Yield a setting of each way of RWN, of which the strongest place is the safest.

    Parameters
    ----------
    slices : tuple of tuple of str
        What travels together in a way that relates slices; else each variable is alone.
    policy : Policy
    records : int
        Of the table; ways that are not tried on so many are left out.
    soft : bool
        Soft neighborhoods, too.
    """
    even = RWN(epsilon=0.0, k=5)
    methods: list[Any] = [SoftRWN(balance=1.0, own=True)] if soft else []
    if not policy.needs_own:
        methods.append(even)
    for params in methods:
        yield Setting(params=params, slices=())
    start = methods[0] if methods else even
    for key, way in WAYS.items():
        if way.parameters and records <= way.never_beyond:
            related = replace(
                in_way(start, key),
                later=later_donors(records, LATER[0]),
                later_balance=records <= way.plain_beyond,
            )
            yield Setting(params=related, slices=slices)


def on_all_records(
    microdata: Microdata,
    policy: Policy,
    answer: SearchAnswer,
    safest: Iterable[Setting],
    seconds: float,
) -> SearchAnswer:
    """Return an answer whose best settings were read as every page and command judges them.

    Parameters
    ----------
    microdata : Microdata
        The whole table.
    policy : Policy
    answer : SearchAnswer
    safest : iterable of Setting
        One of each way that was looked at: its strongest place is read where nothing else keeps
        the policy. None where the target is a loss, so that the first setting is the answer.
    seconds : float
        Of processor time, after which what was not read is left out.
    """
    judged, _ = policy.judgeable(microdata)
    nothing = not answer.late and not any(each.point.spreads for each in answer.settings)
    if judged is None or nothing or not answer.settings:
        return answer
    until = clock.processor_seconds() + seconds
    reader = _Reader(microdata, policy, judged, until, _expected(microdata, answer))
    ends = tuple(safest)
    # what a search on all records refused does not come to keep the policy
    whole = answer.records == microdata.n
    one = not ends or (whole and not answer.reached)
    settings = answer.settings[: 1 if one else _READ]
    if not whole:
        settings = tuple(replace(each, left=None) for each in settings)
    read, late = reader.until_kept(settings)
    late = late or answer.late
    if not ends or any(each.kept for each in read):
        return _told(answer, read, microdata.n, late=late)
    return _with_safest(reader, answer, read, ends, late=late)


def _with_safest(
    reader: _Reader,
    answer: SearchAnswer,
    read: Sequence[FoundSetting],
    ends: Sequence[Setting],
    *,
    late: bool,
) -> SearchAnswer:
    """Read the safest end of each way, where nothing else keeps the policy."""
    safe, unread = reader.safest(ends)
    broken = [each for each in safe if each.verdict.state == "broken"]
    refused = bool(read) and not unread and len(broken) == len(safe)
    kept = [each for each in safe if each.kept]
    useful = [each for each in kept if (1.0 if each.loss is None else each.loss) <= MOST_LOST]
    late = late or unread
    n = reader.microdata.n
    told = _told(answer, [*useful, *read], n, late=late, refused=refused)
    return told if useful or not kept else _with_end(told, kept[0])


def as_judged(
    microdata: Microdata, policy: Policy, found: FoundSetting, seconds: float
) -> FoundSetting | None:
    """Return a setting with the draws by which every page judges it; None where time is over."""
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return None
    until = clock.processor_seconds() + seconds
    expected = found.point.seconds / max(found.releases, 1)
    try:
        read = _Reader(microdata, policy, judged, until, expected).read(found)
    except Late:
        return None
    return read[0] if read else None


def _expected(microdata: Microdata, answer: SearchAnswer) -> float:
    """Return what a draw of all records takes, as the search found it; without any end if late."""
    first = answer.settings[0]
    seconds = first.point.seconds / max(first.releases, 1)
    if not seconds and answer.late:
        return math.inf
    return seconds * microdata.n / max(answer.records, 1)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of settings of a table on all draws of a verdict, as far as the time goes."""

    microdata: Microdata
    policy: Policy
    judged: Policy
    until: float
    expected: float  # seconds of one draw

    def in_time(self, do: Callable[[], _T]) -> _T | None:
        """Do a step; None where the table refuses the setting. Raise `Late` after the time."""
        if clock.processor_seconds() + self.expected > self.until:
            raise Late
        try:
            with work(cancel=Deadline(self.until)):
                return do()
        except ParameterError:
            return None
        except Cancelled:
            if clock.processor_seconds() > self.until:
                raise Late from None
            raise

    def until_kept(self, settings: Iterable[FoundSetting]) -> tuple[list[FoundSetting], bool]:
        """Read settings until one keeps the policy, and whether the time was over before."""
        read = list[FoundSetting]()
        try:
            for found in settings:
                read += self.read(found)
                if read and read[-1].kept:
                    break
        except Late:
            return read, True
        return read, False

    def read(self, found: FoundSetting) -> list[FoundSetting]:
        """Return a setting with all draws that judge it; nothing where the table refuses it."""
        setting = found.setting.resolved(self.microdata)
        draws = self.in_time(
            partial(
                read_draws,
                self.microdata,
                setting,
                self.policy,
                until=self.until,
                expected=self.expected,
            )
        )
        if draws is None:
            return []
        left = found.left
        relations = found.point.spreads.get(UTILITY)
        if left is None or relations is None:
            lost = self.in_time(partial(self._lost, setting))
            if lost is not None:
                left, relations = lost
        spreads = {
            key: each for key, each in found.point.spreads.items() if key not in draws.spreads
        }
        if relations is not None:
            spreads[UTILITY] = relations
        point = replace(draws, spreads={**spreads, **draws.spreads})
        return [self._found(found, point, left)]

    def _lost(self, setting: Setting) -> tuple[UseLeft | None, Spread]:
        """Read what a few draws leave of the use, and of the relations."""
        tables = PreparedTables(self.microdata, [setting], metrics=1, held=FEW_RELEASES)
        keys = further_keys(FEW_RELEASES)
        left = several_left(tables, setting, keys)
        return left, evaluate(tables, setting, keys, (UTILITY,)).spreads[UTILITY]

    def _found(self, found: FoundSetting, point: Point, left: UseLeft | None) -> FoundSetting:
        """Return a setting with what its draws use of the limits."""
        verdict = self.judged.judge(point)
        verdicts = draw_verdicts(self.judged, point)
        used = [math.inf if each.largest is None else each.largest for each in verdicts]
        high = math.inf if verdict.largest is None else verdict.largest
        least = None if left is None else left.least
        return replace(
            found,
            point=point,
            verdict=verdict,
            loss=found.loss if least is None else 1.0 - least,
            left=left,
            attacked=True,
            confirmed=True,
            whole=True,
            share=median(used) if used else math.inf,
            interval=(min(used, default=0.0), high),
            releases=len(verdicts),
        )

    def safest(self, ways: Sequence[Setting]) -> tuple[list[FoundSetting], bool]:
        """Read the strongest place of each way, and whether the time was over before.

        It ends with the first that keeps the policy.
        """
        read = list[FoundSetting]()
        try:
            for way in ways:
                if not self.policy.unjudged(way.params):
                    read += self._safest_of(way)
                if read and read[-1].kept:
                    break
        except Late:
            return read, True
        return read, False

    def _safest_of(self, way: Setting) -> list[FoundSetting]:
        found = self.in_time(partial(self._end, way))
        if found is None or found.verdict.broken:
            return [] if found is None else [found]
        return self.read(found)

    def _end(self, way: Setting) -> FoundSetting:
        """Read one draw at the strongest place of a way, up to the first limit that is broken."""
        setting = way.resolved(self.microdata)
        start = setting.params.preview(self.microdata)
        strength = setting.params.strength
        levers = {**start.presets[_STRONG], strength: start.ranges[strength].high}
        end = setting.at_levers(levers)
        limits = partial(read_limits, policy=self.judged, setting=end, stop=1.0)
        point = evaluate(self.microdata, end, (FIRST,), self.judged.measures, read=limits)
        return FoundSetting(point=point, verdict=self.judged.judge(point), releases=1)


def _told(
    answer: SearchAnswer,
    read: Sequence[FoundSetting],
    records: int,
    *,
    late: bool,
    refused: bool = False,
) -> SearchAnswer:
    """Return an answer with what was read on all records; what no record could say is late."""
    if not read:
        if answer.records == records:  # as the search itself has read it
            return replace(answer, late=True, confirmed=False)
        return _said(replace(answer, late=True, reached=False, confirmed=False), answer)
    ranked = sorted(read, key=lambda each: each.rank)
    known = {each.setting.key for each in ranked}
    others = [each for each in answer.settings if each.setting.key not in known]
    if answer.records < records:
        others = []
    best = ranked[0]
    told = replace(
        answer,
        settings=(*ranked, *others),
        reached=best.kept,
        confirmed=True,
        refused=refused,
        late=late,
        records=records,
        of=records,
        note=f"It was read on {counted(best.releases, 'release')}.",
    )
    same = best.setting.key == answer.settings[0].setting.key and answer.reached == best.kept
    return told if same and best.kept else _said(told, answer)


def _said(told: SearchAnswer, before: SearchAnswer) -> SearchAnswer:
    """Return an answer with words of its own, where the search gave it others."""
    if not before.reason:
        return told
    return replace(told, reason=replace(told, reason="").sentence)


def _with_end(told: SearchAnswer, end: FoundSetting) -> SearchAnswer:
    """Say that the safest end keeps the policy, and how little it leaves."""
    left = percent(1.0 - (end.loss or 0.0))
    words = f"Every limit is kept at {short_setting(end.setting)}, which leaves {left} of the use."
    reason = f"{told.reason} {words}" if told.reason else ""
    return replace(told, note=f"{told.note} {words}".strip(), reason=reason)
