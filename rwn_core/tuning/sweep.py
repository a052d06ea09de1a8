"""The sweep: every setting of a grid, several releases each, all chosen measures; its processes.

Workers write finished points to a folder, which is the only way back. So whatever ends early, a
worker, this process or a browser tab, no finished point is lost, and no process needs to listen
while the work goes on.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Plotted, Summary
from rwn_core.errors import RWNError
from rwn_core.masking.baseline_methods import BASELINE_METHODS, Original, Shuffled
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.parallel.pace import Pace
from rwn_core.parallel.pool import Pool, Stopped, Task
from rwn_core.parallel.threads import Progress, thread_count, work
from rwn_core.tuning.evaluate import Plan, PreparedTables, by_family, evaluate, prepare_worker
from rwn_core.tuning.grid import Grid, unique_settings
from rwn_core.tuning.point import Point, Setting, Spread, few_words
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.sweep_folder import JobFolder
from rwn_core.tuning.verdict import counted, not_judged

USUAL = (
    "bayes_linkage",
    "distance_linkage",
    UTILITY,
    "correlation",
    "regression",
    "principal_components",
    "marginals",
)
"""Measures of a sweep that names none."""

_LOOK = 0.1  # seconds between two looks at the workers
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Plotted):
    """The finished points of a sweep; iterating gives those of the settings asked for.

    Attributes
    ----------
    plan : Plan
    points : tuple of Point
        In the order of the settings; those not finished are left out.
    references : dict of str to Point
        The ends of the map, "original" and "no data", where they were asked for.
    wanted : int
        Number of settings asked for.
    """

    plan: Plan
    points: tuple[Point, ...]
    references: dict[str, Point] = field(default_factory=dict)
    wanted: int = 0

    def _summary(self) -> Summary:
        def median(point: Point, measure: str) -> str:
            value = point.median(measure)
            return "not applicable" if value is None else MEASURES[measure].words(value)

        return Summary(
            title=f"Sweep({counted(len(self.points), 'setting')} of {self.wanted:,}, "
            f"{counted(self.plan.releases, 'release')} each)",
            columns=("setting", *self.plan.measures),
            rows=[
                (point.setting.words, *(median(point, key) for key in self.plan.measures))
                for point in (*self.points, *self.references.values())
            ],
        )

    @classmethod
    def from_points(cls, plan: Plan, points: list[Point], wanted: int) -> Sweep:
        """Set the references apart from the settings."""
        ends = {p.setting.method: p for p in points if p.setting.method in BASELINE_METHODS}
        others = tuple(p for p in points if p.setting.method not in BASELINE_METHODS)
        return cls(plan=plan, points=others, references=ends, wanted=wanted)

    @property
    def complete(self) -> bool:
        """True if every setting is finished."""
        return len(self.points) >= self.wanted

    def __len__(self) -> int:
        """Number of finished settings."""
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        """The finished points."""
        return iter(self.points)

    def records(self, policy: Policy | None = None) -> list[dict[str, Any]]:
        """A plain row for each setting and measure."""
        of_any = [name for point in self.points for name in point.setting.parameters]
        names = list(dict.fromkeys(["epsilon", "k", "q", *of_any]))
        rows = []
        for point in (*self.points, *self.references.values()):
            verdict = None if policy is None else policy.judge(point)
            for key in self.plan.measures:
                rows.append(_row(point, point.spreads[key], names, self.plan.releases))
                if policy is None or verdict is None:
                    continue
                limit = policy.limit(key)
                rows[-1] |= {
                    "limit": None if limit is None else limit.at_most,
                    "share_of_limit": verdict.shares.get(key),
                    "keeps_all_limits": verdict.kept,
                }
        return rows

    def frame(self, policy: Policy | None = None) -> pd.DataFrame:
        """The same rows as a pandas frame."""
        return pd.DataFrame(self.records(policy))

    def words(self, policy: Policy) -> str:
        """Which of the settings keep all limits, in a sentence."""
        verdicts = [(policy.judge(point), point) for point in self.points]
        met = sum(verdict.kept for verdict, _ in verdicts)
        settings = counted(len(verdicts), "setting")
        few = " ".join(["", few_words(self.points)]).rstrip()
        if met:
            keep = "keeps" if len(verdicts) == 1 else "keep"
            return f"{met:,} of {settings} {keep} all limits.{few}"
        open_one = next((verdict for verdict, _ in verdicts if verdict.unread), None)
        words = f"None of {settings} is known to keep all limits."
        shares = [(v.largest, v, p) for v, p in verdicts if v.largest is not None and not p.few]
        if shares:
            _, judged, nearest = min(shares, key=lambda each: each[0])
            first = str(judged.first)
            words = (
                f"None of {settings} {'is known to keep' if open_one else 'keeps'} all limits; "
                f"nearest is {nearest.setting.words}, which uses {judged.uses(first)} the limit on "
                f"{judged.title(first)}."
            )
        return words + few + (not_judged(open_one.unread, open_one.standing) if open_one else "")


def _row(point: Point, spread: Spread, names: list[str], releases: int) -> dict[str, Any]:
    measure, interval = MEASURES[spread.measure], spread.interval
    params = point.setting.params
    return {
        "method": point.setting.method,
        **{name: getattr(params, name, None) for name in names},
        "weights": " ".join(f"{name}={weight:g}" for name, weight in point.setting.weights),
        "precision": " ".join(f"{name}={step:.10g}" for name, step in point.setting.precision),
        "slices": " ".join("+".join(names) for names in point.setting.slices or ()),
        "measure": spread.measure,
        "side": measure.side,
        "better": measure.better,
        "unit": measure.unit,
        "releases": releases,
        "records_released": point.released,
        "median": spread.median,
        "low": None if interval is None else interval[0],
        "high": None if interval is None else interval[1],
        "at_most": spread.at_most,
        "baseline": spread.baseline,
        "not_applicable": spread.reason,
    }


_NEXT_LOOK = 0.4  # seconds between two looks into the folder


class SweepRun:
    """A sweep in processes of its own."""

    def __init__(
        self,
        microdata: Microdata,
        settings: Sequence[Setting],
        plan: Plan,
        folder: JobFolder,
        *,
        workers: int,
    ) -> None:
        # settings: resolved, each once
        self.plan, self.folder = plan, folder
        self.settings = list(settings)
        self._keys = [setting.key for setting in self.settings]
        self._ends = sum(setting.method in BASELINE_METHODS for setting in self.settings)
        self._points: dict[str, Point] = {}
        self._looked = -math.inf
        self._collect()
        open_ = by_family([s for s in self.settings if s.key not in self._points])
        self._pace = Pace()
        self._before = len(self._points)
        self.cancelled = False
        count = min(workers, len(open_))
        about = microdata, open_, 1, folder.save
        self._pool = Pool(prepare_worker, *about, workers=count)
        asked = plan.keys, plan.measures
        self._tasks: list[Task] = [self._pool.submit((each, *asked)) for each in open_]
        self._pool.close()

    @property
    def running(self) -> bool:
        """True while a worker runs."""
        return self._pool.running

    @property
    def share(self) -> float:
        """Share of all settings that is done, from 0 to 1."""
        if not self.settings:
            return 1.0
        done = self._before + sum(task.share for task in self._tasks)
        return min(1.0, done / len(self.settings))

    @property
    def words(self) -> str:
        """Words for the number of settings done, and the time left."""
        done = self.sweep()
        if any(
            task.share for task in self._tasks
        ):  # what came before, and what prepares a worker, is no pace of this run
            self._pace.report(self.share)
        return f"{len(done):,} of {done.wanted:,} settings · {self._pace.words}"

    @property
    def refusal(self) -> str:
        """Why it ended before it was done; empty while it runs and after it is done."""
        if self.running or len(self._collect()) == len(self.settings):
            return ""
        done = self.sweep()
        missing = f"{done.wanted - len(done):,} of {done.wanted:,} settings"
        if self.cancelled:
            return f"Cancelled; {missing} are open."
        stopped = f"The work stopped with {missing} open"
        for task in self._tasks:  # a worker's own refusal, such as to write on a full disk
            if task.done() and not task.cancelled():
                why = task.exception()
                if isinstance(why, RWNError) and not isinstance(why, Stopped):
                    return f"{stopped}. {why} Start it again to go on."
        return f"{stopped}, perhaps for lack of memory; start it again to go on."

    def sweep(self) -> Sweep:
        """Return the finished points so far."""
        points = self._collect()
        done = [points[key] for key in self._keys if key in points]
        return Sweep.from_points(self.plan, done, len(self.settings) - self._ends)

    def cancel(self) -> None:
        """End all workers; finished points stay."""
        self.cancelled = self.cancelled or self.running
        self._pool.cancel()

    def join(self, seconds: float) -> None:
        """Wait until the workers have ended, or so long."""
        self._pool.join(seconds)

    def _collect(self) -> dict[str, Point]:
        """Take in what is new in the folder; while it fills, not at every call."""
        if time.monotonic() - self._looked < _NEXT_LOOK and self.running:
            return self._points
        self._looked = time.monotonic()
        there = self.folder.keys()
        for key, setting in zip(self._keys, self.settings, strict=True):
            if key in there and key not in self._points:
                point = self.folder.load(setting)
                if point is not None:
                    self._points[key] = point
        return self._points


def prepared(
    microdata: Microdata, what: Grid | Setting | Sequence[Grid | Setting], *, references: bool
) -> list[Setting]:
    """The settings of a sweep on a table, each once, with the two ends of the map if wanted."""
    settings = unique_settings(what)
    if references:
        settings += [Setting(params=Original()), Setting(params=Shuffled())]
    return list({s.key: s for s in (one.resolved(microdata) for one in settings)}.values())


@takes_tables
def sweep(
    microdata: Microdata,
    what: Grid | Setting | Sequence[Grid | Setting],
    *,
    plan: Plan | None = None,
    workers: int | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Try every setting of a grid.

    Parameters
    ----------
    microdata : Microdata
    what : Grid, Setting or a sequence of them
        Grids of several methods may be swept together.
    plan : Plan, optional
        Measures, releases and seed; six usual measures over 8 releases from seed 1 by default.
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    folder : Path, optional
        Where finished points are kept. A second call with the same folder goes on where the first
        one ended, and may have further settings.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with the `Sweep` of the settings done so far.

    Returns
    -------
    Sweep
        The same for any number of workers.

    Raises
    ------
    ParameterError
        A setting, a measure or the folder is refused.
    RWNError
        The workers stopped, for instance for lack of memory.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> swept = sweep(
    ...     rwn.load_demo("bodyfat"),
    ...     Grid(axes={"k": (3, 10)}),
    ...     plan=Plan(measures=("correlation",), releases=2),
    ...     workers=1,
    ... )
    >>> [point.setting.words for point in swept]
    ['k = 3 · q = 1', 'k = 10 · q = 1']
    """
    plan = plan or Plan(measures=USUAL)
    settings = prepared(microdata, what, references=False)
    count, now = thread_count(workers), work(progress=progress)
    with tempfile.TemporaryDirectory(prefix="rwn-sweep-") as path:
        finished = JobFolder.open(folder or Path(path) / "job", microdata, plan, settings)
        if count == 1:
            points = dict[str, Point]()
            tables = PreparedTables(microdata, settings, metrics=1, held=1)
            with now:
                for number, setting in enumerate(by_family(settings)):
                    point = finished.load(setting)
                    if point is None:
                        with now.part(number / len(settings), (number + 1) / len(settings)):
                            point = evaluate(tables, setting, plan.keys, plan.measures)
                        finished.save(point)
                    points[setting.key] = point
                    now.found(Sweep.from_points(plan, list(points.values()), len(settings)))
                    now.report((number + 1) / len(settings))
            return Sweep.from_points(plan, [points[s.key] for s in settings], len(settings))
        # in worker processes; if some die, the rest of the settings get a second attempt
        for _ in range(_ATTEMPTS):
            run = SweepRun(microdata, settings, plan, finished, workers=count)
            try:
                while run.running:
                    run.join(_LOOK)
                    now.report(run.share)
                    now.found(run.sweep())
            finally:
                run.cancel()  # also after Ctrl-C: no process stays behind
            if not run.refusal:
                return run.sweep()
    raise RWNError(run.refusal)
