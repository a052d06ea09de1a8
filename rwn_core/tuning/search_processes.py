"""A crew: worker processes that try whatever settings a search sends them, until it ends.

The settings of a search depend on what the earlier ones read, so that nobody can hand them all
out at once, as a `Run` does. Only readings come back.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Self

from rwn_core.data.microdata import Microdata
from rwn_core.errors import RWNError
from rwn_core.tuning.point import Point, Spread
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.sweep_processes import SPAWN, end_with_the_parent, start_alone, stop
from rwn_core.tuning.trials import Plan, Trials

Tell = Callable[[float], None]


def _serve(channel: Connection, microdata: Microdata, reach: Sequence[Setting], plan: Plan) -> None:
    """Try what is sent, and send back what was read."""
    from threadpoolctl import threadpool_limits

    end_with_the_parent()
    os.environ["RWN_THREADS"] = "1"  # as many processes as processors: threads would only queue
    with threadpool_limits(1):
        trials = Trials(microdata, reach, plan)
        with suppress(EOFError):  # nobody asks any more
            while True:
                place, setting, trials.plan = channel.recv()
                channel.send((place, trials.run(setting)))


class Crew:
    """Tries settings in processes that keep their neighbors ranked from one call to the next.

    Parameters
    ----------
    microdata : Microdata
    reach : sequence of Setting
        Resolved; no setting may need farther neighbors than these.
    plan : Plan
        Its measures are those that are read.
    workers : int
        Processes; 1 works in this one.
    """

    def __init__(
        self, microdata: Microdata, reach: Sequence[Setting], plan: Plan, *, workers: int
    ) -> None:
        self._here = Trials(microdata, reach, plan) if workers == 1 else None
        self._processes: list[SpawnProcess] = []
        self._channels: list[Connection] = []
        # a job of the app is a daemon, which may have no children; these end with it, too
        multiprocessing.current_process().daemon = False
        for _ in range(workers if workers > 1 else 0):
            mine, theirs = SPAWN.Pipe()
            process = SPAWN.Process(
                target=_serve, args=(theirs, microdata, tuple(reach), plan), daemon=True
            )
            start_alone(process)
            theirs.close()
            self._processes.append(process)
            self._channels.append(mine)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes."""
        stop(self._processes)
        for channel in self._channels:
            channel.close()

    def points(self, settings: Sequence[Setting], plan: Plan, tell: Tell) -> list[Point]:
        """Try settings.

        Parameters
        ----------
        settings : sequence of Setting
        plan : Plan
        tell : callable
            Called with the share done, from 0 to 1.

        Returns
        -------
        list of Point
            In the order of the settings; the same for any number of workers.

        Raises
        ------
        RWNError
            A process ended, for instance for lack of memory.
        """
        plans = self._parts(plan, len(settings))
        tasks = [(setting, part) for setting in settings for part in plans]
        found: list[Point | None] = [None] * len(tasks)
        for done, (place, point) in enumerate(self._tried(tasks), start=1):
            found[place] = point
            tell(done / len(tasks))
        whole = [point for point in found if point is not None]
        size = len(plans)
        return [_joined(whole[i * size : (i + 1) * size]) for i in range(len(settings))]

    def _parts(self, plan: Plan, settings: int) -> list[Plan]:
        """The plan in parts, so that few settings keep all workers busy, too."""
        workers = len(self._channels)
        parts = min(plan.releases, workers) if 0 < settings < 2 * workers else 1
        size = math.ceil(plan.releases / parts)
        return [
            replace(plan, seed=plan.seed + first, releases=min(size, plan.releases - first))
            for first in range(0, plan.releases, size)
        ]

    def _tried(self, tasks: Sequence[tuple[Setting, Plan]]) -> Iterator[tuple[int, Point]]:
        """Each task's place and point, as they come."""
        if self._here is not None:
            for place, (setting, self._here.plan) in enumerate(tasks):
                yield place, self._here.run(setting)
            return
        waiting = deque((place, *task) for place, task in enumerate(tasks))
        idle = list(self._channels)
        open_ = len(waiting)
        try:
            while open_:
                while idle and waiting:
                    idle.pop().send(waiting.popleft())
                for channel in wait(self._channels):
                    assert isinstance(channel, Connection)
                    yield channel.recv()
                    idle.append(channel)
                    open_ -= 1
        except (EOFError, OSError):
            raise RWNError(
                "A process of the search ended, perhaps for lack of memory; start it again."
            ) from None


def _joined(parts: Sequence[Point]) -> Point:
    """One point of the parts of a plan, releases in their order."""
    first = parts[0]
    spreads = {key: _together(key, [part.spreads[key] for part in parts]) for key in first.spreads}
    seconds = sum(part.seconds for part in parts)
    return Point(setting=first.setting, spreads=spreads, seconds=seconds)


def _together(key: str, parts: Sequence[Spread]) -> Spread:
    refused = next((part for part in parts if part.reason is not None), None)
    if refused is not None:
        return refused
    values = tuple(value for part in parts for value in part.values)
    return Spread(measure=key, values=values, baseline=parts[0].baseline)
