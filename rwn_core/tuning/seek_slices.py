"""Slice search: which variables share a donor, and how strong the masking must then be.

Choices of slices, weights and kernels are compared by their expected loss, and read at their best
strength. The answer is stated on fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN, SoftRWN
from rwn_core.measures import USE, UTILITY
from rwn_core.parallel import clock
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress, thread_count
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.evaluate import Plan, Plans, SettingPool, confirmed, random_records
from rwn_core.tuning.goal import Goal
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.releases_left import several_left
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import (
    PRESETS,
    SliceRanges,
    masked_names,
    preset_slices,
    slice_steps,
    weight_steps,
)
from rwn_core.tuning.strength import StrengthTrial, TableSearch
from rwn_core.tuning.ways import kind

_STRENGTHS = 40  # between the ends of the slider
_TRIAL, _CHOOSING, _STATED = 6, 24, 59  # releases: of a trial, of a leader, behind the interval
_EXPLORED = 0.2  # of the seconds at least; what is left confirms the answer
_MARGIN = 1.2  # times what the check on fresh releases is expected to take
_BUSY = 4.0  # times the processor seconds: what the check may take on a busy machine
_LEFT = 12  # releases behind the parts that are left
_ATTEMPTS = 8  # choices checked on fresh releases before the search gives up


def _refuse_search(
    microdata: Microdata, policy: Policy, start: Setting, ranges: SliceRanges
) -> None:
    """Refuse a table, a policy or a setting for which no slices can be sought."""
    if not policy.limits:
        raise ParameterError("The policy has no limit; give it at least one.")
    if len(masked_names(microdata)) < 2:
        raise ParameterError("A slice search needs two masked variables; describe more of them.")
    why = policy.unjudged(start.params)
    if not why and ranges.kernels:
        why = kernels_refused(start.params)
    if why:
        raise ParameterError(why)


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
    """Find which variables should travel together: most left of the use within all limits.

    Starts at usual slices, then joins slices, moves variables between them, and halves and doubles
    weights while the expected loss falls and trial releases meet every limit. For each choice the
    weakest strength that meets them is found by halves. The answer is checked on releases that
    had no part in the search. With `SliceRanges.kernels` soft and balanced neighborhoods take part.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy
    setting : Setting, optional
        Method, other levers and precision, which stay; RWN with k = 5 and q = 1 by default. Its
        strength (epsilon), slices and, where none are given, weights are sought.
    ranges : SliceRanges, optional
    workers : int, optional
        Processes that check the answer; one for each processor by default. 1 works in this process.
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
    ranges = ranges or SliceRanges()
    start = setting or Setting(params=RWN(epsilon=1.0, k=5))
    _refuse_search(microdata, policy, start, ranges)
    # the search works on a sample, within the limits that can be judged there and on the table
    sample = random_records(microdata, ranges.records)
    unread = policy.judgeable(sample)[1] | policy.judgeable(microdata)[1]
    kinds = each_kernel(start.params, own=policy.needs_own) if ranges.kernels else (start.params,)
    reports = Part(progress)
    begin = clock.processor_seconds()
    answer: Callable[..., SearchAnswer] = partial(
        SearchAnswer.of_point, policy, records=sample.n, of=microdata.n
    )
    search = SliceSearch(
        microdata=sample,
        policy=policy.without(unread),
        tries=ranges.tries,
        places=_STRENGTHS - 1,
        # a soft kernel that is tried with an even one has all strengths of its slider
        values={} if ranges.strengths is None else {kinds[0].strength: ranges.strengths},
        least=math.inf,
        closer=1.0,
        releases=_TRIAL,
        stays=frozenset(METHODS),
        ranges=ranges,
        kinds=kinds,
        start=replace(start, params=kinds[0]).resolved(sample),
        after=lambda _: search.after_each(),
        workers=thread_count(workers),
        report=reports,
        tell=lambda point, **more: reports.found(answer(point, so_far=True, **more)),
        begin=begin,
        end=begin + ranges.seconds,
        until=begin + ranges.seconds,
    )
    # no slices come first, so that a time limit cuts the others; each with every kernel
    starts = ranges.starts or [preset_slices(sample, key) for key in PRESETS]
    for slices in sorted(dict.fromkeys(starts), key=bool):
        for params in kinds:
            search.step(replace(search.start, slices=slices, params=params))
    search.descend()
    late = search.over or search.skipped or clock.processor_seconds() > search.until
    tried = search.read
    # fresh releases judge the best
    plan = Plan(measures=policy.measures, releases=_TRIAL, seed=ranges.seed)
    until = on_the_wall(search.end)
    with SettingPool(sample, (), workers=search.workers, until=until) as pool:
        point, met, note = search.verified(pool, plan)
    reports(1.0)
    left = several_left(search.tables, point.setting, range(ranges.seed, ranges.seed + _LEFT))
    more = {"left": left, "unread": unread, "tried": tried, "late": late, "note": note}
    return answer(point, reached=met and not unread, confirmed=met and not note, **more)


def on_the_wall(until: float) -> float:
    """Return monotonic seconds for an end in processor seconds, of work in other processes."""
    return time.monotonic() + _BUSY * (until - clock.processor_seconds())


def kernels_refused(params: Any) -> str:
    """Return why soft kernels cannot be tried for a setting; nothing where they can."""
    if params.method not in (RWN.method, SoftRWN.method):
        return "Kernels are searched for the method rwn only; search without them."
    if not params.scheme.exact:
        return "Soft kernels need neighbors to be exact; search without kernels."
    return ""


def each_kernel(params: Any, *, own: bool = False) -> tuple[RWN, SoftRWN, SoftRWN]:
    """Return the same with the even kernel, a soft one, and a soft one with balance.

    With `own` a soft one may copy a record's own values.
    """
    names = ("q", "scale", "encoding", "weights", "outside_household")
    shared: dict[str, Any] = {name: getattr(params, name) for name in names}
    soft = params if params.method == SoftRWN.method else SoftRWN(**shared)
    soft = replace(soft, own=soft.own or own)
    even = params if params.method == RWN.method else RWN(epsilon=1.0, k=5, **shared)
    return even, replace(soft, balance=0.0), replace(soft, balance=1.0)


def _about(setting: Setting) -> tuple[object, ...]:
    """Return what a setting is apart from its strength and its slices."""
    return kind(replace(setting, slices=None), levers=True)


@dataclass(slots=True, kw_only=True)
class SliceSearch(TableSearch):
    """A greedy descent of the expected loss among choices that meet a policy on trial releases.

    Attributes
    ----------
    ranges : SliceRanges
    kinds : sequence of Method
        One for each kernel.
    start : Setting
        Resolved, with the first of them.
    report, tell : callable
        Take the share done, and an answer so far with what is known of it.
    workers : int
        Processes of the check.
    begin, end : float
        Processor seconds at which it began, and by which it answers.
    check : float
        Seconds that the check on fresh releases is expected to take.
    losses : dict
        By all of a setting but strength and slices, its strengths and their expected losses.
    """

    ranges: SliceRanges
    kinds: Sequence[Any]
    start: Setting
    report: Progress
    tell: Callable[..., None]
    begin: float
    end: float
    workers: int = 1
    check: float = 0.0
    losses: dict[object, tuple[list[float], SliceLoss]] = field(default_factory=dict)

    def expected(self, setting: Setting, values: Sequence[float]) -> Floats:
        """Return what a choice loses at least at each strength, shape (places,), by pairs."""
        params = setting.params
        about = _about(setting)
        if about not in self.losses:
            settings = [setting.at_levers({params.strength: value}) for value in values]
            found = SliceLoss.from_settings(self.microdata, settings)
            self.losses[about] = list(values), found
        return self.losses[about][1].least_lost(setting.slices or ())

    def _place(self, setting: Setting) -> int:
        """Return the number of a setting's strength among those of its choice."""
        value = getattr(setting.params, setting.params.strength)
        return self.losses[_about(setting)][0].index(value)

    def after_each(self) -> None:
        """Leave time for the check, and tell the answer so far where it is a better one."""
        best = self.best[0]
        if best.releases > 1 and math.isfinite(self.end):
            each = _MARGIN * best.point.seconds / best.releases
            self.check = (_CHOOSING + _STATED) * each / self.workers
            self.until = self.end - min(self.check, (1 - _EXPLORED) * self.ranges.seconds)
        passed = (clock.processor_seconds() - self.begin) / max(self.ranges.seconds, 1e-9)
        self.report(0.8 * min(max(self.read / self.ranges.tries, passed), 1.0))
        if best is self.tried[-1]:
            self.tell(best.point, loss=best.loss, left=best.left)

    def step(self, choice: Setting) -> FoundSetting | None:
        """Try a choice, near the strength of the best one so far."""
        leader = self.best[0].setting.params if self.tried else None
        name = choice.params.strength
        return self.look(choice, near=getattr(leader, name, None))

    def neighbors(self, leader: Setting) -> Iterator[Setting]:
        """Yield choices one step away: slices by expected loss, kernels, then weights."""
        names = masked_names(self.microdata)
        slices = leader.slices or ()
        if not self.ranges.only_starts:
            (_, losses) = self.losses[_about(leader)]
            place = self._place(leader)
            steps = slice_steps(slices, names)
            for each in sorted(steps, key=lambda each: (losses.least_lost(each)[place], each)):
                yield replace(leader, slices=each)
        for params in self.kinds:
            yield replace(leader, params=params)
        if self.ranges.weights and not self.start.weights:
            roles = [masked_names(self.microdata, role) for role in Role]
            several_names = (*slices, *roles, *([each] for each in names))
            for several in dict.fromkeys(map(tuple, several_names)):
                for weights in weight_steps(leader.weights, several):
                    yield replace(leader, weights=weights)

    def descend(self) -> None:
        """Change the best choice step by step while its loss falls."""
        fell = bool(self.tried)
        while fell:
            leader = self.best[0].setting
            fell = any(self.step(each) is self.best[0] for each in self.neighbors(leader))

    def _masked_more(self, refused: FoundSetting, steps: int) -> FoundSetting | None:
        """Return a choice some steps stronger, as it is expected; None beyond the strongest."""
        setting = refused.setting
        values = self.losses[_about(setting)][0]
        place = self._place(setting) + steps
        if place >= len(values):
            return None
        stronger = setting.at_levers({setting.params.strength: values[place]})
        loss = max(float(self.expected(stronger, values)[place]), refused.loss or 0.0)
        return replace(refused, point=Point(setting=stronger, spreads={}), loss=loss)

    def _proposed(self, attempt: int) -> Setting | None:
        """Return the best choice: of later attempts one with even weights, then without slices."""
        kept = [each for each in self.best if each.kept]
        even = [each for each in kept if each.setting.weights == self.start.weights]
        alone = [each for each in even if not each.setting.slices]
        first = (kept, even, alone)[max(attempt - 3, 0) // 2] or kept
        return first[0].setting if first and attempt <= _ATTEMPTS else None

    def verified(self, pool: SettingPool, plan: Plan) -> tuple[Point, bool, str]:
        """Return the best choice as read on fresh releases, whether these keep it, and a note."""
        steps = dict[tuple[object, ...], int]()
        attempts = 0

        def propose(failed: Point | None) -> Setting | None:
            """Return the best choice; a refused one comes again with a stronger masking."""
            nonlocal attempts
            if failed is not None:
                own = next(each for each in self.tried if each.setting == failed.setting)
                self.tried.remove(own)
                self.tell(failed)
                choice = kind(failed.setting, levers=True)
                steps[choice] = 2 * steps.get(choice, 0) or 1
                stronger = self._masked_more(own, steps[choice])
                if stronger is not None:
                    self.tried.append(stronger)
                self.seen = set(steps)
                self.descend()  # what lost more than a refused choice may lead now
            attempts += 1
            return self._proposed(attempts)

        def closest(stated: bool) -> Setting | None:
            if stated:
                return None
            # without any time the strongest is read
            self.until = math.inf
            self.over = False
            return self.best[0].setting if self.tried else StrengthTrial(self, self.start).at(-1)

        goal = Goal(keep=self.policy, best=USE)
        pool.last = on_the_wall(self.end - self.check)
        measures = tuple(dict.fromkeys((*plan.measures, USE, UTILITY)))
        last = replace(plan, measures=measures, releases=_STATED)
        plans = Plans(replace(plan, releases=_CHOOSING), last)
        report = Part(self.report, 0.8, 0.99)
        point, kept, note = confirmed(pool, goal, plans, propose, closest, report)
        if kept:
            self.tell(point, confirmed=not note)
        return point, kept, note
