"""Trying settings on a table: releases are drawn, measured and forgotten; only readings stay.

One memory of what is prepared and drawn serves every search; a crew of processes tries settings
that depend on what the earlier ones read.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple, cast

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.units import random_places
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import known_measures
from rwn_core.evaluation.control_group import (
    AttributeDifference,
    Halves,
    Ways,
    with_difference,
)
from rwn_core.masking import Prepared, SoftRWN, family, lever_values
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.slider_range import STORED_PAIRS
from rwn_core.parallel import clock
from rwn_core.parallel.memory import budget_bytes
from rwn_core.parallel.pool import Pool
from rwn_core.parallel.processes import Handle
from rwn_core.parallel.threads import Progress, steps, work
from rwn_core.randomness import SecretKey
from rwn_core.tuning.goal import Goal
from rwn_core.tuning.point import Point, Setting, Spread, released_share
from rwn_core.tuning.verdict import RAISED, RED_TEAM, attacked

SHARE_A_WORKER = 0.35  # of the free memory, for one worker's neighbor table
FRESH = 1_000_000  # seeds between one set of releases and the next
HELD = 24  # releases of a small table in memory, where a search reads them measure by measure
_FEW_HELD = 6  # of a large one
ATTACKED = 5  # releases of an answer that simple attacks are tried on


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(NamedParameters):
    """The measures, releases and seed that every setting is read with.

    Attributes
    ----------
    measures : tuple of str
        Keys of the catalogue.
    releases : int
        Releases drawn at each setting, at least 1.
    seed : int
        Release r is drawn from the teaching seed ``seed + r``, the same at every setting, so
        that settings differ by their parameters and not by luck.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Plan(measures=("il1s", "hellinger"), releases=8).releases
    8
    """

    measures: tuple[str, ...]
    releases: int = 8
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each part."""
        if not known_measures(self.measures):
            raise ParameterError("Choose at least one measure.")
        if isinstance(self.releases, bool) or not 1 <= self.releases <= 10_000:
            raise ParameterError("releases must be a whole number from 1 to 10,000.")
        SecretKey.from_seed(self.seed)

    @property
    def keys(self) -> range:
        """The teaching seeds of its releases, one for each."""
        return range(self.seed, self.seed + self.releases)


class PreparedTables:
    """A table made ready for many settings, and its releases: what settings share is found once.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of Setting
        Resolved; those that are known before say how far the neighbors are needed.
    metrics : float
        Tables with ranked neighbors that are in memory at once, of other weights or families.
    held : int
        Releases in memory, with what was read of them; of a large table a few at most.
    """

    def __init__(
        self,
        microdata: Microdata,
        settings: Sequence[Setting] = (),
        *,
        metrics: float = math.inf,
        held: int = HELD,
    ) -> None:
        self._microdata, self._metrics = microdata, metrics
        self._held = held if microdata.n <= QUICK_RECORDS else min(held, _FEW_HELD)
        self._families: dict[Hashable, list[Any]] = {}
        for setting in settings:
            self._families.setdefault(together(setting), []).append(setting.params)
        self._starts: dict[Hashable, Prepared] = {}
        self._moved: dict[Hashable, Prepared] = {}
        self.releases: dict[tuple[Setting, int], Comparison] = {}
        self.floors: dict[Hashable, float] = {}  # the least widths of soft kernels
        self._untouched: Comparison | None = None

    def start(self, setting: Setting) -> Prepared:
        """Return the table prepared for a setting, with its slices.

        Raises
        ------
        ParameterError
            The method refuses the setting on this table, with these slices.
        """
        data = setting.applied_to(self._microdata)
        setting.params.check(data)  # what was prepared may have had other slices
        same = together(setting)
        if same not in self._starts:
            if len(self._starts) >= self._metrics:  # memory goes before the next is made ready
                self._starts.clear()
                self._moved.clear()
            # a worker holds one table, in one thread, while others hold theirs
            own = self._metrics == 1
            settings = self._families.get(same, ())
            share = SHARE_A_WORKER * budget_bytes() if own and data.n > LARGEST_DENSE else None
            with work(threads=1 if own else None, memory=share):
                self._starts[same] = setting.params.prepare(data, settings=settings)
        start = self._starts[same].with_levers(**lever_values(setting.params))
        return _sliced(start, data.schema.slices)

    def moved(self, setting: Setting) -> Prepared:
        """Return the table at the levers of a setting; the last neighborhoods are remembered."""
        params = setting.params
        key = setting.weights, params
        if key not in self._moved:
            if len(self._moved) >= STORED_PAIRS // self._microdata.n**2:
                self._moved.clear()
            self._moved[key] = self.start(setting).with_levers(**lever_values(params))
            if params.method == SoftRWN.method:  # slices share what is found
                _ = self._moved[key].exact_law
        return _sliced(self._moved[key], setting.applied_to(self._microdata).schema.slices)

    def compared(self, setting: Setting, seed: int) -> Comparison:
        """Return the comparison of one release of a setting; the last few are remembered."""
        about = setting, seed
        if about not in self.releases:
            while len(self.releases) >= self._held:
                del self.releases[next(iter(self.releases))]
            moved = self.moved(setting)
            if getattr(setting.params, "by_prediction", False):  # from rounded values, once
                moved = replace(moved, precision=setting.precision)
            drawn = moved.release(SecretKey.from_seed(seed), threads=1)
            made = drawn.rounded(dict(setting.precision))
            data = setting.applied_to(self._microdata)
            if self._untouched is None or self._untouched.original.schema != data.schema:
                self._untouched = Comparison(original=data, masked=data)
            self.releases[about] = self._untouched.with_masked(made.masked, made.law)
        return self.releases[about]


def _sliced(prepared: Prepared, slices: Slices) -> Prepared:
    same = prepared.microdata.schema.slices == slices
    return prepared if same else prepared.with_slices(slices)


Read = Callable[[Comparison], "Mapping[str, Reading | NotApplicable] | None"]
"""Reads measures of one release; None where the trial ends before it."""


def evaluate(
    table: Microdata | PreparedTables,
    setting: Setting,
    keys: Iterable[int],
    measures: Sequence[str],
    until: float = math.inf,
    *,
    read: Read | None = None,
) -> Point:
    """Draw releases of a setting, read measures of each, and forget them: what every trial is.

    Parameters
    ----------
    table : Microdata or PreparedTables
        With the latter, what settings of one table share is found once.
    setting : Setting
        Resolved.
    keys : iterable of int
        A teaching seed for each release.
    measures : sequence of str
        Keys of the catalogue.
    until : float
        Monotonic seconds after which no further release is drawn.
    read : callable, optional
        Reads a release in another way than all measures as they are, or ends the trial with None;
        a refusal of the setting is then raised, where otherwise it is the reason of each measure.

    Returns
    -------
    Point
        With a spread for each measure that was read at all.
    """
    tables = table
    if isinstance(tables, Microdata):
        tables = PreparedTables(tables, [setting], metrics=1, held=1)
    start = clock.processor_seconds()
    readings: dict[str, list[Reading | NotApplicable]] = {key: [] for key in measures}
    shown: list[float] = []
    try:
        for seed in steps(keys) if isinstance(keys, Sequence) else keys:
            if time.monotonic() > until:
                break
            release = tables.compared(setting, seed)
            one = read_all(release, measures, setting) if read is None else read(release)
            if one is None:
                break
            shown.append(released_share(release.original, release.masked))
            for key in one.keys() & readings.keys():
                readings[key].append(one[key])
    except ParameterError as refusal:
        if read is not None:
            raise
        readings = {key: [NotApplicable(str(refusal))] for key in measures}
    spreads = {key: spread_over_releases(key, each) for key, each in readings.items() if each}
    seconds = clock.processor_seconds() - start
    return Point(setting=setting, spreads=spreads, shown=tuple(shown), seconds=seconds)


def read_all(
    release: Comparison, measures: Sequence[str], setting: Setting | None = None
) -> Mapping[str, Reading | NotApplicable]:
    """Read measures of a release; worst cases are raised to what simple attacks achieve on it.

    With its setting also to what they achieve beyond people outside, on fresh files of the setting.
    """
    readings = {key: read_safely(key, release) for key in measures}
    return attacked(readings) if setting is None else raised(readings, release, setting)


class _LastHalves:
    """The halves of the setting that was asked about last; those of others are given back."""

    def __init__(self) -> None:
        self._setting: Setting | None = None
        self._halves: Halves | None = None

    def difference(self, original: Microdata, setting: Setting, ways: Ways) -> AttributeDifference:
        """Return the worst difference of a setting by these attacks."""
        halves = self._halves
        if halves is None or self._setting != setting:
            halves = Halves(original, setting.params, precision=dict(setting.precision))
            self._setting = setting
            self._halves = halves
        return halves.difference(ways)


def raised(
    readings: Mapping[str, Reading | NotApplicable], release: Comparison, setting: Setting
) -> Mapping[str, Reading | NotApplicable]:
    """Raise worst cases to what simple attacks achieve, also beyond people outside of the file."""
    if RAISED[1] in readings:
        last = release.cached_for_original("halves", _LastHalves)

        def find(ways: Ways) -> AttributeDifference:
            """Halve the table once for all releases of a setting."""
            about = ("attribute difference", setting, ways)
            tried = partial(last.difference, release.original, setting, ways)
            return release.cached_for_original(about, tried)

        readings = with_difference(readings, find)
    return attacked(readings)


def random_records(microdata: Microdata, records: int) -> Microdata:
    """Return the same random records at each call; the table itself if it has no more.

    A person's or household's rows are all among them, or none.
    """
    if microdata.n <= records:
        return microdata
    place = random_places(microdata, 0)
    return microdata.take(np.flatnonzero(place < max(np.sort(place)[records], 1)))


def read_safely(key: str, comparison: Comparison, *, bare: bool = False) -> Reading | NotApplicable:
    """Read a measure; a fault of one measure must not end a sweep of all."""
    try:
        return MEASURES[key].read(comparison, bare=bare)
    except Exception as error:  # its text may hold a value: only its type is stated
        return NotApplicable(f"The measure failed ({type(error).__name__}); please report it.")


def spread_over_releases(key: str, readings: Sequence[Reading | NotApplicable]) -> Spread:
    """Return the spread of a measure's readings, one for each release."""
    reasons = [each.reason for each in readings if isinstance(each, NotApplicable)]
    if reasons:
        return Spread(measure=key, reason=reasons[0])
    answers = [each for each in readings if isinstance(each, Reading)]
    bound = any(each.detail.standing == "at least" for each in answers)
    upper = [float(most) for x in answers if (most := x.detail.at_most) is not None]
    return Spread(
        measure=key,
        values=tuple(float(each.value) for each in answers),
        baseline=answers[0].baseline,
        is_bound=bound,
        upper=tuple(upper) if bound and len(upper) == len(answers) else (),
        by=_first_words(each.detail.attacked_by for each in answers),
        scope=_first_words(each.detail.scope.strip() for each in answers),
        ends=answers[0].ends,
        parts=mean_parts([(1, each.detail.stated_parts) for each in answers]),
    )


def _first_words(several: Iterable[str]) -> str:
    """Return the first words that say something; nothing where none do."""
    return next(filter(None, several), "")


def mean_parts(counted: Sequence[tuple[int, Mapping[str, float]]]) -> dict[str, float]:
    """Return means of numbers by name, each over the releases that have it."""
    names: dict[str, None] = {}
    for _, parts in counted:
        names |= dict.fromkeys(parts)
    means = {}
    for name in names:
        known = [(count, parts[name]) for count, parts in counted if name in parts]
        releases = sum(count for count, _ in known)
        means[name] = sum(count * value for count, value in known) / releases
    return means


def together(setting: Setting) -> Hashable:
    """Return the key of settings that share a prepared table."""
    return setting.weights, family(setting.params)


PART = 6  # releases after which a long plan tells how far it is; the first are read at any time


def prepare_worker(microdata: Microdata, settings: Sequence[Setting], held: int) -> Handle:
    """Prepare a process that tries settings of a table and keeps its neighbors ranked.

    A task is what `evaluate` takes after the table. `settings` and `held` as `PreparedTables` takes
    them.
    """
    from threadpoolctl import threadpool_limits

    # one thread: with as many as processors, more would only queue
    os.environ["RWN_THREADS"] = "1"
    threadpool_limits(1)
    tables = PreparedTables(microdata, settings, metrics=1, held=held)

    def handle(task: Any, progress: Progress) -> Point:
        return evaluate(tables, *task)

    return handle


class SettingPool(AbstractContextManager["SettingPool"]):
    """A pool of processes that try settings and keep their neighbors ranked between calls."""

    def __init__(
        self,
        microdata: Microdata,
        farthest: Sequence[Setting],
        *,
        workers: int,
        until: float = math.inf,
    ) -> None:
        # no setting may need farther neighbors than `farthest`, which are resolved
        held = HELD if microdata.n <= QUICK_RECORDS else 1
        about = microdata, tuple(farthest), held
        self.processes = max(workers, 1)
        self.until = until
        self.last = until
        self._tables = None if workers > 1 else PreparedTables(*about[:2], metrics=1, held=held)
        self._pool = Pool(prepare_worker, *about, workers=workers if workers > 1 else 0)

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        self._pool.cancel()

    def points(self, settings: Sequence[Setting], plan: Plan, progress: Progress) -> list[Point]:
        """Try settings; after `until` on those releases that are read by then.

        The first part of them is always read, so that words about one more release have a ground.
        """
        # splits the plan into parts, so that few settings keep all workers busy
        few = 0 < len(settings) < 2 * self.processes
        number = max(min(plan.releases, self.processes), plan.releases // PART, 1) if few else 1
        size = math.ceil(plan.releases / number)
        plans = [plan.keys[first : first + size] for first in range(0, plan.releases, size)]
        tasks = [
            (setting, part, plan.measures, self.until if number else math.inf)
            for setting, (number, part) in product(settings, enumerate(plans))
        ]
        tried: dict[int, Point] = {}
        with closing(self._as_they_come(tasks)) as found:
            for index, point in found:
                tried[index] = point
                progress(len(tried) / len(tasks))
        parts = range(len(plans))
        return [joined([tried[i * len(plans) + j] for j in parts]) for i in range(len(settings))]

    def _as_they_come(self, tasks: Sequence[tuple[Any, ...]]) -> Generator[tuple[int, Point]]:
        """Yield each task's number and point; close it before the pool is cancelled."""
        if self._tables is not None:
            yield from enumerate(evaluate(self._tables, *task) for task in tasks)
            return
        numbers = dict[Future[Any], int]()
        numbers |= {self._pool.submit(task): number for number, task in enumerate(tasks)}
        # not closed by the garbage collector, which may run where this thread has stopped a task
        # and holds what a worker's thread waits for: the one would wait for the other for ever
        waiting = cast("Generator[Future[Any]]", as_completed(numbers))
        with closing(waiting) as completed:
            for each in completed:
                yield numbers[each], each.result()


def joined(parts: Sequence[Point]) -> Point:
    """Join the parts of a plan to one point, releases in their order; late parts have none."""
    first = parts[0]
    parts = [part for part in parts if part.spreads.keys() == first.spreads.keys()]
    spreads = {key: _together([part.spreads[key] for part in parts]) for key in first.spreads}
    seconds = sum(part.seconds for part in parts)
    shown = tuple(chain.from_iterable(part.shown for part in parts))
    return Point(setting=first.setting, spreads=spreads, shown=shown, seconds=seconds)


def _together(parts: Sequence[Spread]) -> Spread:
    refused = next((part for part in parts if part.reason is not None), None)
    if refused is not None:
        return refused
    values = tuple(chain.from_iterable(part.values for part in parts))
    bound = any(part.is_bound for part in parts)
    upper = _upper_ends(parts) if bound else ()
    by = next((part.by for part in parts if part.by), "")
    means = mean_parts([(len(part.values), part.parts) for part in parts])
    return replace(parts[0], values=values, is_bound=bound, upper=upper, by=by, parts=means)


def _upper_ends(parts: Sequence[Spread]) -> tuple[float, ...]:
    """Return the upper end of each release; none where a part has none."""
    # of a part with worst cases as releases its values are upper bounds, too
    ends = [(part.upper if part.is_bound else part.values) for part in parts]
    return tuple(chain.from_iterable(ends)) if all(ends) else ()


def stated(
    crew: SettingPool, setting: Setting, plan: Plan, progress: Progress
) -> tuple[Point, str]:
    """Return the point of an answer, and what was left unread where the time was over.

    Simple attacks raise the readings of its first releases.
    """
    (point,) = crew.points([setting], plan, progress)
    read = len(point.shown) or plan.releases
    words = ""
    if read < plan.releases:
        made = f"{read} of {plan.releases} fresh releases"
        words = f"Time was over after {made}; its ranges are rough."
    if time.monotonic() > crew.until:
        words += " Simple attacks on its releases were not tried and may reach more."
        return point, words.strip()
    measures = (*(key for key in RAISED if key in plan.measures), RED_TEAM)
    attacks = replace(plan, measures=measures, releases=min(ATTACKED, plan.releases))
    (tried,) = crew.points([setting], attacks, lambda share: None)
    raised = {key: each for key, each in tried.spreads.items() if each.by}
    return replace(point, spreads={**point.spreads, **raised}), words


class Plans(NamedTuple):
    """The two plans of a proposal; their seeds are those of the trials."""

    first: Plan  # how it is read first
    answer: Plan  # how it is stated


def confirmed(
    crew: SettingPool,
    goal: Goal,
    plans: Plans,
    propose: Callable[[Point | None], Setting | None],
    closest: Callable[[bool], Setting | None],
    progress: Progress,
) -> tuple[Point, bool, str]:
    """Read proposals on releases that chose nothing until one keeps a goal; else state the nearest.

    Parameters
    ----------
    crew : SettingPool
        After its `last` no other proposal is read.
    goal : Goal
    plans : Plans
    propose : callable
        Returns the next setting; it takes what the last one read that broke the goal.
    closest : callable
        Returns what is stated where all proposals break the goal; it takes whether one of them was
        stated.
    progress : callable

    Returns
    -------
    point : Point
    kept : bool
    note : str
        What was left unread where the time was over.
    """
    failed: Point | None = None
    read = list[tuple[float, Point, str]]()
    answer = plans.answer

    def state(setting: Setting) -> Point:
        """Read a setting on releases of its own."""
        plan = replace(answer, seed=answer.seed + FRESH * (2 + len(read)))
        point, note = stated(crew, setting, plan, progress)
        read.append((goal.excess(point), point, note))
        return point

    while time.monotonic() <= crew.last and (setting := propose(failed)) is not None:
        spreads: dict[str, Spread] = {}  # what is quickly read refuses first
        for key in sorted(goal.keep.measures, key=lambda key: MEASURES[key].effort):
            plan = replace(plans.first, measures=(key,), seed=plans.first.seed + FRESH)
            (part,) = crew.points([setting], plan, lambda share: None)
            spreads |= part.spreads
            failed = replace(part, spreads=spreads)
            if 0 < goal.excess(failed) < math.inf:
                break
        if failed is not None and goal.excess(failed) <= 0:
            failed = state(setting)
            if goal.excess(failed) <= 0:
                return failed, True, read[-1][2]
    setting = closest(bool(read))
    if setting is not None and (not read or time.monotonic() <= crew.last):
        state(setting)
    _, point, note = min(read, key=lambda each: each[0])
    return point, goal.excess(point) <= 0, note
