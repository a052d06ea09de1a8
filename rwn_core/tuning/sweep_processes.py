"""A sweep under way: worker processes that write finished points to its folder.

The folder is the only way back. So whatever ends early, a worker, this process or a browser tab,
no finished point is lost, and no process needs to listen while the work goes on.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rwn_core.data.microdata import Microdata
from rwn_core.errors import RWNError
from rwn_core.masking.baseline_methods import BASELINE_METHODS
from rwn_core.parallel.pace import Pace
from rwn_core.parallel.pool import Pool, Stopped, Task
from rwn_core.parallel.processes import Handle, be_polite
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import Plan, Trials, by_family
from rwn_core.tuning.forecast import expected
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.sweep_folder import JobFolder
from rwn_core.tuning.sweep_result import Sweep

_LOOK = 0.4  # seconds between two looks into the folder
_Forecasts = tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Hold the input of a worker."""

    microdata: Microdata
    settings: tuple[Setting, ...]
    plan: Plan
    folder: JobFolder
    watched: bool


def _prepare(work: _Work) -> Handle:
    """Prepare a worker: it keeps the table with its neighbors ranked."""
    one_thread()
    trials: list[Trials] = []

    def handle(task: Setting | _Forecasts, progress: Progress) -> None:
        if isinstance(task, tuple):  # quick, and not yet polite: a user waits to see it
            for part in expected(work.microdata, task):
                work.folder.save_forecasts(part)
            return
        if not trials:
            if work.watched:
                be_polite()
            trials.append(Trials(work.microdata, work.settings, work.plan))
        _try(trials[0], task, work, progress)

    return handle


def _try(trials: Trials, setting: Setting, work: _Work, progress: Progress) -> None:
    """Try one setting and keep its point."""
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done / work.plan.releases)

    work.folder.save(trials.run(setting, tick))
    progress(1.0)


def one_thread() -> None:
    """Keep this process to one thread: with as many as processors, more would only queue."""
    from threadpoolctl import threadpool_limits

    os.environ["RWN_THREADS"] = "1"
    threadpool_limits(1)


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
        watched: bool = False,
    ) -> None:
        # settings: resolved, each once. watched: a person sits before it: leave the processors to
        # them, and forecast the table before its first release is drawn
        self.plan, self.folder = plan, folder
        self.settings = list(settings)
        self._keys = [setting.key for setting in self.settings]
        self._ends = sum(setting.method in BASELINE_METHODS for setting in self.settings)
        self._points: dict[str, Point] = {}
        self._expected: dict[str, dict[str, float]] = {}
        self._looked = -math.inf
        self._collect()
        open_ = by_family([s for s in self.settings if s.key not in self._points])
        self._pace = Pace()
        self._before = len(self._points)
        self.cancelled = False
        work = _Work(
            microdata=microdata, settings=tuple(open_), plan=plan, folder=folder, watched=watched
        )
        unknown = self._unknown() if watched and open_ else ()
        self._pool = Pool(_prepare, work, workers=min(workers, len(open_)))
        if unknown:
            self._pool.submit(unknown)
        self._tasks: list[Task] = [self._pool.submit(setting) for setting in open_]
        self._pool.close()

    @property
    def running(self) -> bool:
        """True while a worker runs."""
        return self._pool.running

    @property
    def _done(self) -> float:
        """Releases that this run has measured."""
        return sum(task.share for task in self._tasks) * self.plan.releases

    @property
    def share(self) -> float:
        """Share of all settings that is done, from 0 to 1."""
        if not self.settings:
            return 1.0
        done = self._before * self.plan.releases + self._done
        return min(1.0, done / (len(self.settings) * self.plan.releases))

    @property
    def words(self) -> str:
        """Words for the number of settings done, and the time left."""
        done = self.sweep()
        if self._done:  # what came before, and what prepares a worker, is no pace of this run
            self._pace.report(self.share)
        return f"{len(done):,} of {done.wanted:,} settings · {self._pace.words}"

    @property
    def refusal(self) -> str:
        """Why it ended before it was done; empty while it runs and after it is done."""
        if self.running:
            return ""
        if len(self._collect()) == len(self.settings):
            return ""
        done = self.sweep()
        missing = f"{done.wanted - len(done):,} of {done.wanted:,} settings"
        if self.cancelled:
            return f"Cancelled; {missing} are open."
        stopped = f"The work stopped with {missing} open"
        why = self._refused()
        if why:
            return f"{stopped}. {why} Start it again to go on."
        return f"{stopped}, perhaps for lack of memory; start it again to go on."

    def _refused(self) -> str:
        """Return a worker's refusal, such as to write on a full disk; else empty."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                refusal = task.exception()
                if isinstance(refusal, RWNError) and not isinstance(refusal, Stopped):
                    return str(refusal)
        return ""

    def sweep(self) -> Sweep:
        """Return the finished points so far."""
        points = self._collect()
        done = [points[key] for key in self._keys if key in points]
        return Sweep.from_points(self.plan, done, len(self.settings) - self._ends)

    def forecasts(self) -> dict[str, dict[str, float]]:
        """Return the known forecasts by setting's key, see `expected`."""
        if self.running or not self._expected:
            self._expected = self.folder.forecasts()
        return self._expected

    def _unknown(self) -> tuple[Setting, ...]:
        """The settings that the workers should forecast first."""
        known = self.folder.forecasts()
        return tuple(setting for setting in self.settings if setting.key not in known)

    def cancel(self) -> None:
        """End all workers; finished points stay."""
        self.cancelled = self.cancelled or self.running
        self._pool.cancel()

    def join(self, seconds: float) -> None:
        """Wait until the workers have ended, or so long."""
        self._pool.join(seconds)

    def _collect(self) -> dict[str, Point]:
        """Take in what is new in the folder; while it fills, not at every call."""
        if time.monotonic() - self._looked < _LOOK and self.running:
            return self._points
        self._looked = time.monotonic()
        there = self.folder.keys()
        for key, setting in zip(self._keys, self.settings, strict=True):
            if key in there and key not in self._points:
                point = self.folder.load(setting)
                if point is not None:
                    self._points[key] = point
        return self._points
