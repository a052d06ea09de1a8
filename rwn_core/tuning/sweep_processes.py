"""A sweep under way: worker processes that write finished points to its folder.

The folder is the only way back. So whatever ends early, a worker, this process or a browser tab,
no finished point is lost, and nobody needs to listen while the work goes on.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.masking.references import REFERENCES
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning.forecast import expected
from rwn_core.tuning.point import Point
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.sweep_folder import JobFolder
from rwn_core.tuning.sweep_result import Sweep
from rwn_core.tuning.trials import Plan, Trials, by_space

SPAWN = multiprocessing.get_context("spawn")
_GRACE = 0.4  # seconds between asking a worker to end and ending it
POLITE = 19  # what workers add to their niceness while a person uses the same machine
_AT_ONCE = 200_000  # records times settings that are forecast within a redraw
_LOOK = 0.4  # seconds between two looks into the folder
_WATCH = 0.25  # seconds between a worker's looks at whether anybody still wants its work


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What a worker is given."""

    microdata: Microdata
    settings: tuple[Setting, ...]
    plan: Plan
    folder: JobFolder
    watched: bool
    unknown: tuple[Setting, ...]


def _labor(work: _Work, taken: Any, ticks: Any, place: int) -> None:
    """Take the next setting until there is none; the table is loaded once."""
    from threadpoolctl import threadpool_limits

    end_with_the_parent()
    os.environ["RWN_THREADS"] = "1"  # as many processes as processors: threads would only queue
    with threadpool_limits(1):
        if place == 0:  # while this is quick it need not be polite: somebody waits to see it
            for part in expected(work.microdata, work.unknown):
                work.folder.save_forecasts(part)
        if work.watched and hasattr(os, "nice"):
            os.nice(POLITE)
        trials = Trials(work.microdata, work.settings, work.plan)
        while (number := _take(taken)) < len(work.settings):

            def tick() -> None:
                ticks[place] += 1

            before = ticks[place]
            work.folder.save(trials.run(work.settings[number], tick))
            ticks[place] = before + work.plan.releases


def _take(taken: Any) -> int:
    with taken.get_lock():
        number = int(taken.value)
        taken.value = number + 1
    return number


def end_with_the_parent() -> None:
    """Watch, in a thread, whether the parent is there; data must not outlive its session."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        while parent is not None and parent.is_alive():
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def start_alone(process: SpawnProcess) -> None:
    """Start a process that does not run the calling program's main file again.

    Under Streamlit that file is the app, and in a notebook or a script without a guard it is what
    called this; a worker needs none of them.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        process.start()
    finally:
        sys.modules["__main__"] = main


class Run:
    """A sweep in processes of its own.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of Setting
        Resolved, each once.
    plan : Plan
    folder : JobFolder
    workers : int
    watched : bool
        A person sits before it: leave the processors to them, and forecast a large table before
        its first release is drawn.
    """

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
        self.plan, self.folder = plan, folder
        self.settings = list(settings)
        self._keys = [setting.key for setting in self.settings]
        self._ends = sum(setting.method in REFERENCES for setting in self.settings)
        self._points: dict[str, Point] = {}
        self._expected: dict[str, dict[str, float]] = {}
        self._processes: list[SpawnProcess] = []
        self._looked = -math.inf
        self._collect()
        open_ = by_space([s for s in self.settings if s.key not in self._points])
        self._start = time.monotonic()
        self._before = len(self._points)
        self._taken = SPAWN.Value("q", 0)
        self._ticks = SPAWN.RawArray("q", max(workers, 1))
        self.cancelled = False
        work = _Work(
            microdata=microdata,
            settings=tuple(open_),
            plan=plan,
            folder=folder,
            watched=watched,
            unknown=self._unknown(microdata) if watched else (),
        )
        for place in range(min(workers, len(open_))):
            process = SPAWN.Process(
                target=_labor, args=(work, self._taken, self._ticks, place), daemon=True
            )
            start_alone(process)
            self._processes.append(process)
        weakref.finalize(self, stop, self._processes)

    @property
    def running(self) -> bool:
        """Whether a worker is still at work."""
        return any(process.is_alive() for process in self._processes)

    @property
    def _done(self) -> int:
        """Releases that this run has measured."""
        return int(sum(self._ticks))

    @property
    def share(self) -> float:
        """How much of all the settings is done, from 0 to 1."""
        if not self.settings:
            return 1.0
        done = self._before * self.plan.releases + self._done
        return min(1.0, done / (len(self.settings) * self.plan.releases))

    @property
    def seconds_left(self) -> float | None:
        """How long it will still take; None until the first release is measured."""
        done = self._done
        total = (len(self.settings) - self._before) * self.plan.releases
        if not done:
            return None
        return (time.monotonic() - self._start) * max(total - done, 0) / done

    @property
    def refusal(self) -> str:
        """Why it ended before it was done; empty while it runs and after it is done."""
        if self.running:
            return ""
        missing = len(self.settings) - len(self._collect())
        if not missing:
            return ""
        if self.cancelled:
            return f"Cancelled; {missing:,} of {len(self.settings):,} settings are open."
        return (
            f"The work stopped with {missing:,} of {len(self.settings):,} settings open, perhaps "
            "for lack of memory; start it again to go on."
        )

    def sweep(self) -> Sweep:
        """What is finished so far."""
        points = self._collect()
        found = [points[key] for key in self._keys if key in points]
        return Sweep.of(self.plan, found, len(self.settings) - self._ends)

    def forecasts(self, microdata: Microdata) -> dict[str, dict[str, float]]:
        """What is expected of the settings, as far as it is known: by key, see `expected`.

        What is a matter of a moment is forecast at once; of all else the workers tell as they go.
        """
        if self._is_quick(microdata):
            if not self._expected:
                for part in expected(microdata, self.settings):
                    self._expected.update(part)
        elif self.running or not self._expected:
            self._expected = self.folder.forecasts()
        return self._expected

    def _is_quick(self, microdata: Microdata) -> bool:
        small = microdata.n <= LARGEST_DENSE
        return small and microdata.n * len(self.settings) <= _AT_ONCE

    def _unknown(self, microdata: Microdata) -> tuple[Setting, ...]:
        """The settings that the workers should forecast first."""
        if self._is_quick(microdata):
            return ()
        known = self.folder.forecasts()
        return tuple(setting for setting in self.settings if setting.key not in known)

    def cancel(self) -> None:
        """End all workers; finished points stay."""
        self.cancelled = self.cancelled or self.running
        stop(self._processes)

    def join(self, seconds: float) -> None:
        """Wait until the workers have ended, or so long."""
        end = time.monotonic() + seconds
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))

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


def stop(processes: Sequence[SpawnProcess]) -> None:
    """End processes within half a second, whatever they do."""
    for process in processes:
        with contextlib.suppress(ValueError):
            process.terminate()
    end = time.monotonic() + _GRACE
    for process in processes:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
