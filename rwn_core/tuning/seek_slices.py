"""Slice search: which variables share a donor, and how strong the masking must then be.

Choices of slices and weights are compared by their expected loss and tried on common seeds. The
answer is stated on fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, SoftRWN, at_levers
from rwn_core.measures import UTILITY
from rwn_core.parallel.threads import Progress, thread_count
from rwn_core.tuning.answer import Found, SearchAnswer, answers_to
from rwn_core.tuning.evaluate import (
    ATTACKED,
    FRESH,
    Plan,
    SettingPool,
    attack_plan,
    fresh_plan,
    random_records,
    stated_in_time,
)
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.policy import QUICK, Policy
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import (
    PRESETS,
    SliceRanges,
    Weights,
    masked_names,
    preset_slices,
    slice_steps,
    weight_steps,
)
from rwn_core.tuning.strength import edge

_STRENGTHS = 40  # between the ends of the slider
_TRIAL, _CHOOSING, _STATED = 6, 24, 59  # releases: of a trial, of a leader, behind the interval
_CHECKED = 2 * _CHOOSING + _STATED  # releases of a check in which one choice is refused
_BROKEN, _FAR = 1.5, 0.5  # of a limit: one release is enough to refuse, and to go on
_EXPLORED = 0.2  # of the seconds at least; what is left confirms the answer
_MARGIN = 1.2  # times what the check on fresh releases is expected to take
_ATTEMPTS = 8  # choices checked on fresh releases before the search gives up
_READINGS = 8  # of a trial, as long as few have been made


class Choice(NamedTuple):
    """Slices, the weights of the variables in the distance, and the number of the kernel."""

    slices: Slices
    weights: Weights = ()
    kernel: int = 0


@takes_tables
def seek_slices(
    microdata: Microdata,
    policy: Policy,
    *,
    setting: Setting | None = None,
    ranges: SliceRanges | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SearchAnswer:
    """Find which variables should travel together: least loss of relations within all limits.

    Starts at usual slices, then joins slices, moves variables between them, and halves and doubles
    weights while the expected loss falls and trial releases meet every limit. For each choice the
    weakest strength that meets them is found by bisection. The answer is checked on releases that
    had no part in the search. With `SliceRanges.kernels` soft and balanced neighborhoods take part,
    and the answer says what RWN as published loses under the same limits.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy
    setting : Setting, optional
        Method, other levers and precision, which stay; RWN with k = 5 and q = 1 by default. Its
        strength (epsilon), slices and, where none are given, weights are sought.
    ranges : SliceRanges, optional
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with each answer so far that is better than those before.

    Returns
    -------
    SearchAnswer
        The same for any number of workers.

    Raises
    ------
    ParameterError
        The policy has no limit, or none that can be broken on this table; the table has fewer
        than two masked variables, or a method's strength cannot be moved.
    RWNError
        A worker ended, for instance for lack of memory.

    References
    ----------
    METHODS 4.10; anatomy (Xiao, Tao 2006) and slicing (Li, Li, Zhang, Molloy 2012) cut tables so.
    """
    if not policy.limits:
        raise ParameterError("The policy has no limit; give it at least one.")
    if len(masked_names(microdata)) < 2:
        raise ParameterError("A slice search needs two masked variables; describe more of them.")
    # the search works on a sample, within the limits that can be judged there and on the table
    ranges = ranges or SliceRanges()
    progress = progress or (lambda share: None)
    sample = random_records(microdata, ranges.records)
    unread = policy.judgeable(sample)[1] | policy.judgeable(microdata)[1]
    judged = policy.without(unread)
    # a list of strengths for each kernel that may take part
    start = setting or Setting(params=RWN(epsilon=1.0, k=5))
    if why := policy.unjudged(start.params):
        raise ParameterError(why)
    if ranges.kernels and (why := kernels_refused(start.params)):
        raise ParameterError(why)
    kinds = each_kernel(start.params) if ranges.kernels else (start.params,)
    settings = [_strengths(sample, replace(start, params=each), ranges) for each in kinds]
    plan = Plan(measures=policy.measures, releases=_TRIAL, seed=ranges.seed)
    # one pool of processes tries all settings, until the time or the tries are used up
    count, end = thread_count(workers), time.monotonic() + ranges.seconds
    with SettingPool(sample, list(chain(*settings)), workers=count, until=end) as pool:
        search = SliceSearch(
            microdata=sample,
            settings=settings,
            pool=pool,
            policy=judged,
            plan=plan,
            ranges=ranges,
            progress=progress,
            tell=answers_to(progress),
            end=end,
            total=microdata.n,
            expected=ranges.tries if ranges.weights else ranges.tries // 2,
        )
        # no slices come first, so that a time limit cuts the others; each with every kernel
        starts = ranges.starts or [preset_slices(sample, key) for key in PRESETS]
        ungrouped_first = sorted(dict.fromkeys(starts), key=bool)
        search.descend(
            [
                Choice(slices, settings[0][0].weights, kernel)
                for slices in ungrouped_first
                for kernel in range(len(kinds))
            ]
        )
        # fresh releases judge the best; RWN as published is the comparison
        point, met = search.verified()
        confirmed, published = met and not search.note, None
        if ranges.kernels and time.monotonic() + search.check <= search.end:
            published = search.published()
        elif ranges.kernels:
            search.note += " What RWN as published loses was not read in time."
    progress(1.0)
    return SearchAnswer.of_point(
        policy,
        point,
        reached=met and not unread,
        confirmed=confirmed,
        note=search.note.strip(),
        unread=unread,
        tried=search.tried,
        late=search.late,
        records=sample.n,
        of=microdata.n,
        published=published,
    )


def kernels_refused(params: Any) -> str:
    """Return why soft kernels cannot be tried for a setting; nothing where they can."""
    if params.method not in (RWN.method, SoftRWN.method):
        return "Kernels are searched for the method rwn only; search without them."
    if not params.scheme.exact:
        return "Soft kernels need neighbors to be exact; search without kernels."
    return ""


def each_kernel(params: Any) -> tuple[RWN, SoftRWN, SoftRWN]:
    """Return the same with the even kernel, a soft one, and a soft one with balance."""
    names = ("q", "scale", "encoding", "weights", "outside_household")
    shared: dict[str, Any] = {name: getattr(params, name) for name in names}
    soft = params if params.method == SoftRWN.method else SoftRWN(**shared)
    even = params if params.method == RWN.method else RWN(epsilon=1.0, k=5, **shared)
    return even, replace(soft, balance=0.0), replace(soft, balance=1.0)


def _strengths(microdata: Microdata, setting: Setting, ranges: SliceRanges) -> list[Setting]:
    """Return the setting at several strengths, weakest first."""
    setting = setting.resolved(microdata)
    params, values = setting.params, ranges.strengths
    if values is None or (params.strength == "width" and ranges.kernels):
        ends = params.prepare(setting.applied_to(microdata)).ranges[params.strength]
        count = max(2, min(_STRENGTHS, round((ends.high - ends.low) / ends.step) + 1))
        places = np.linspace(0, (ends.high - ends.low) / ends.step, count).round()
        values = [round(ends.low + float(place) * ends.step, 6) for place in places]
    moved = [at_levers(params, {params.strength: each}) for each in values]
    return list({each.key: each for each in (replace(setting, params=p) for p in moved)}.values())


@dataclass(slots=True, kw_only=True)
class SliceSearch:
    """A greedy descent of the expected loss among choices that meet a policy on trial releases."""

    microdata: Microdata
    # by kernel one for each strength, weakest first, with the weights to begin with
    settings: Sequence[Sequence[Setting]]
    pool: SettingPool
    policy: Policy
    plan: Plan  # releases and seed of a trial, and the measures that are stated
    ranges: SliceRanges
    progress: Progress
    tell: Found  # called with the answer so far
    total: int  # records of the whole table
    end: float  # monotonic seconds by which it answers
    check: float = 0.0  # seconds that the check on fresh releases is expected to take
    late: bool = False  # whether the time ended the search
    note: str = ""  # what the time left unread in the last check
    expected: int  # trials ahead, as far as is known
    # the weakest strength at which a choice meets all limits
    found: dict[Choice, int] = field(default_factory=dict)
    # largest share of a limit that trial releases use
    trials: dict[tuple[Choice, int], float] = field(default_factory=dict)
    losses: dict[tuple[int, Weights], SliceLoss] = field(default_factory=dict)
    seen: set[Choice] = field(default_factory=set)
    refused: str = ""  # the measure of the limit that the last refused trial broke
    readings: int = 0  # releases on which a measure was read
    done: float = 0.0  # share of the search that was reported
    # what the releases of the last trial or check read
    spreads: dict[str, Spread] = field(default_factory=dict)
    # whether the answer so far breaks a limit, and its loss or largest share of a limit
    reported: tuple[bool, float] = (True, math.inf)

    @property
    def tried(self) -> int:
        """Number of trials."""
        return len(self.trials)

    @property
    def best(self) -> Choice | None:
        """The choice of least expected loss that meets all limits."""
        return min(self.found, key=lambda each: self._loss(each, self.found[each]), default=None)

    @property
    def _moves_weights(self) -> bool:
        """True if all variables have the same weight to begin with, and others may be tried."""
        return self.ranges.weights and not self.settings[0][0].weights

    def _loss_table(self, choice: Choice) -> SliceLoss:
        """Return the expected losses under a choice's kernel and weights, computed once."""
        about = choice.kernel, choice.weights
        if about not in self.losses:
            settings = [replace(each, weights=about[1]) for each in self.settings[about[0]]]
            soft = settings[0].params.strength == "width"  # each strength has weights of its own
            drawn = soft or self.ranges.kernels
            self.losses[about] = SliceLoss.from_settings(self.microdata, settings, drawn=drawn)
        return self.losses[about]

    def _loss(self, choice: Choice, strength: int) -> float:
        return float(self._loss_table(choice).loss(choice.slices)[strength])

    def descend(self, starts: Sequence[Choice]) -> None:
        """Try some choices, then change the best one step by step while its loss falls."""
        for choice in starts:
            self._look(choice)
        fell = True
        while fell:
            fell = self._step_slices()
            leader, _ = self._leader()  # with the other kernels
            others = (leader._replace(kernel=each) for each in range(len(self.settings)))
            fell |= any(self._look(each) for each in others)
            fell |= self._step_weights()

    def _step_slices(self) -> bool:
        """Join slices and move variables; True if the loss fell."""
        fell = False
        while not self.ranges.only_starts:
            leader, strength = self._leader()
            slices, losses = leader.slices, self._loss_table(leader)
            steps = sorted(
                slice_steps(slices, masked_names(self.microdata)),
                key=lambda each: (losses.loss(each)[strength], each),
            )
            if not self._moves_weights:  # weights may be moved as long as there are trials
                best = math.inf if self.best is None else losses.loss(slices)[strength]
                left = (each for each in steps if leader._replace(slices=each) not in self.seen)
                self.expected = sum(losses.loss(each).min() < best for each in left)
            if not any(self._look(leader._replace(slices=each)) for each in steps):
                break
            fell = True
        return fell

    def _step_weights(self) -> bool:
        """Halve and double weights of slices, roles and variables; True if the loss fell."""
        if not self._moves_weights:
            return False
        several = (
            *self._leader()[0].slices,
            *(masked_names(self.microdata, role) for role in Role),
            *([name] for name in masked_names(self.microdata)),
        )
        fell = False
        for names in dict.fromkeys(map(tuple, several)):
            leader, _ = self._leader()
            moved = (leader._replace(weights=each) for each in weight_steps(leader.weights, names))
            fell |= any(self._look(choice) for choice in moved)
        return fell

    def _leader(self) -> tuple[Choice, int]:
        """Return the best choice; if none meets all limits, the one nearest to it."""
        if self.best is not None:
            return self.best, self.found[self.best]
        return min(self.trials, key=lambda each: (self.trials[each], each))

    def _look(self, choice: Choice) -> bool:
        """Find the weakest strength at which a choice meets the policy; True if it leads now."""
        checks = self.check * (1 + self.ranges.kernels)  # RWN as published is checked, too
        ahead = min(checks, (1 - _EXPLORED) * self.ranges.seconds)
        self.late |= time.monotonic() > self.end - ahead
        if choice in self.seen or self.tried >= self.ranges.tries or (self.late and self.trials):
            return False
        best = self.best
        limit = math.inf if best is None else self._loss(best, self.found[best])
        losses = self._loss_table(choice).loss(choice.slices)
        better = np.flatnonzero(losses < limit - 1e-9)
        if not len(better):
            return False
        self.seen.add(choice)
        high = int(better[-1])
        if not self._meets(choice, high):
            return best is None and self._leader()[0] == choice
        self.found[choice] = edge(high, -1, partial(self._meets, choice))
        return self.best == choice

    def _meets(self, choice: Choice, strength: int) -> bool:
        """True if trial releases meet every limit."""
        if (choice, strength) not in self.trials:
            self.trials[choice, strength] = self._used(choice, strength, self.plan, quick=True)
            if not self.check and math.isfinite(self.end):
                self._expect(choice, strength)
            self.expected -= 1
            self._tell(choice, strength, self.trials[choice, strength])
        return self.trials[choice, strength] <= 1

    def _tell(self, choice: Choice, strength: int, share: float) -> None:
        """Tell the answer so far, if the last trial or check has a better one."""
        loss = self._loss(choice, strength)
        reported = (share > 1, loss if share <= 1 else share)
        if self.spreads and reported < self.reported:
            self.reported = reported
            point = Point(setting=self._at(choice, strength), spreads=dict(self.spreads))
            self._say(point, loss=loss)

    def _say(self, point: Point, **more: Any) -> None:
        n = self.microdata.n
        more |= {"so_far": True, "records": n, "of": self.total}
        self.tell(SearchAnswer.of_point(self.policy, point, **more))

    def _used(self, choice: Choice, strength: int, plan: Plan, *, quick: bool) -> float:
        """Return the largest share of a limit that is used, up to the first limit broken."""
        largest, self.spreads = 0.0, {}
        for measure in sorted(  # quickly read ones first, then the one that refused last
            self.policy.measures, key=lambda key: (key not in QUICK, key != self.refused)
        ):
            asked, share = replace(plan, measures=(measure,)), _BROKEN
            if quick:
                share = self._share(choice, strength, replace(asked, releases=1))
            if _FAR < share <= _BROKEN:
                share = self._share(choice, strength, asked)
            largest = max(largest, share)
            if share > 1:
                self.refused = measure
                break
        return largest

    def _share(self, choice: Choice, strength: int, plan: Plan) -> float:
        setting = self._at(choice, strength)
        (point,) = self.pool.points([setting], plan, lambda share: None)
        self.spreads.update(point.spreads)
        self.readings += plan.releases
        self._report()
        share = self.policy.judge(point).shares.get(plan.measures[0])
        return math.inf if share is None or point.few else share

    def _at(self, choice: Choice, strength: int) -> Setting:
        """Return the setting of a choice at a strength."""
        setting = self.settings[choice.kernel][strength]
        return replace(setting, slices=choice.slices, weights=choice.weights)

    def _report(self, checked: float = 0.0) -> None:
        """Report the share of the expected readings that is made; it never falls."""
        each = (self.readings + 20 * _READINGS) / (self.tried + 20)
        left = max(min(self.expected, self.ranges.tries - self.tried), 0)
        check = _STATED * (len(self.plan.measures) + 1)
        made = self.readings + checked * check
        ahead = left * each + (1 - checked) * check if checked < 1 else 0.0
        self.done = max(self.done, min(made / (made + ahead), 0.99))
        self.progress(self.done)

    def _expect(self, choice: Choice, strength: int) -> None:
        """Read a release as the check on fresh ones does, to know what that will take."""
        count, setting = self.pool.processes, self._at(choice, strength)
        plan = fresh_plan(self.plan, 0, count, [UTILITY])
        plans = plan, replace(attack_plan(plan), releases=count)
        for _ in range(2):  # the second time every process is ready for this setting
            points = [self.pool.points([setting], each, lambda share: None) for each in plans]
        read, attacks = (point.seconds for (point,) in points)
        releases = _CHECKED * read + ATTACKED * attacks
        self.check = _MARGIN * releases / count**2  # seconds are sums over the processes

    def verified(self) -> tuple[Point, bool]:
        """Return the best choice as read on fresh releases, and whether these meet all limits."""
        nearest: tuple[float, Choice, int] = (math.inf, *self._leader())
        read: dict[tuple[Choice, int], tuple[Point, str]] = {}
        steps: dict[Choice, int] = {}
        more = replace(self.plan, releases=_CHOOSING, seed=self.plan.seed + FRESH)
        attempt = 0
        # as long as the check of a choice would end in time
        last = self.end - self.check * (_CHOOSING + _STATED) / _CHECKED
        while self.found and attempt < _ATTEMPTS and time.monotonic() <= last:
            even = [each for each in self.found if each.weights == self.settings[0][0].weights]
            alone = [each for each in even if not each.slices]
            first = (list(self.found), even, alone)[max(attempt - 2, 0) // 2]
            choice = min(first or self.found, key=lambda each: self._loss(each, self.found[each]))
            strength = self.found.pop(choice)
            share = self._used(choice, strength, more, quick=False)
            if share <= 1:
                point = self._fresh(choice, strength, attempt)
                read[choice, strength] = point, self.note
                verdict = self.policy.judge(point)
                if verdict.kept:
                    self._say(point, confirmed=not self.note)
                    return point, True
                share = math.inf if verdict.unread else verdict.largest or math.inf
                nearest = min(nearest, (share, choice, strength))
                attempt, self.spreads = attempt + 1, dict(point.spreads)
            self.reported = (True, math.inf)  # the reported answer is refused
            self._tell(choice, strength, share)
            steps[choice] = 2 * steps.get(choice, 0) or 1
            if strength + steps[choice] < len(self.settings[choice.kernel]):
                self.found[choice] = strength + steps[choice]
            self.trials[choice, strength] = math.inf
            self.seen = set(steps)
            self.descend(())  # what lost more than a refused choice may lead now
        known = read.get(nearest[1:]) if time.monotonic() > last else None
        point, self.note = known or (self._fresh(*nearest[1:], _ATTEMPTS), self.note)
        return point, self.policy.judge(point).kept

    def published(self) -> Point:
        """Return what the first kernel reads with each variable alone, found in the same way."""
        ranges = replace(self.ranges, only_starts=True, weights=False)
        alone = replace(
            self,
            settings=self.settings[:1],
            ranges=ranges,
            note="",
            found={},
            trials={},
            seen=set(),
            tell=lambda answer: None,
        )
        alone.descend([Choice((), self.settings[0][0].weights)])
        point, _ = alone.verified()
        self.note += f" RWN as published: {alone.note}" if alone.note else ""
        return point

    def _fresh(self, choice: Choice, strength: int, attempt: int) -> Point:
        """Read the stated measures on releases of this attempt's own."""
        setting = self._at(choice, strength)
        plan = fresh_plan(self.plan, attempt, _STATED, [UTILITY])
        point, self.note = stated_in_time(self.pool, setting, plan, self._report, self.end)
        return point
