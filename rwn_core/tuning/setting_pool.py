"""A crew: worker processes that try whatever settings a search sends them, until it ends.

The settings of a search depend on what the earlier ones read, so that no caller can hand them all
out at once, as a `Run` does. Only readings come back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import replace
from typing import Any, Self

from rwn_core.data.microdata import Microdata
from rwn_core.parallel.pool import Pool
from rwn_core.parallel.processes import Handle
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import Plan, Trials
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.sweep_processes import one_thread

_PART = 6  # releases after which a long plan tells how far it is


def _prepare(microdata: Microdata, farthest: Sequence[Setting], plan: Plan) -> Handle:
    """Prepare a worker: it keeps the table with its neighbors ranked."""
    one_thread()
    trials = Trials(microdata, farthest, plan)

    def handle(task: tuple[Setting, Plan], progress: Progress) -> Point:
        setting, trials.plan = task
        return trials.run(setting)

    return handle


class SettingPool:
    """Tries settings in processes that keep their neighbors ranked from one call to the next."""

    def __init__(
        self, microdata: Microdata, farthest: Sequence[Setting], plan: Plan, *, workers: int
    ) -> None:
        # no setting may need farther neighbors than `farthest`, which are resolved
        self._local = Trials(microdata, farthest, plan) if workers == 1 else None
        count = workers if workers > 1 else 0
        self._pool = Pool(_prepare, microdata, tuple(farthest), plan, workers=count)
        self._workers = count

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        self._pool.cancel()

    def points(self, settings: Sequence[Setting], plan: Plan, progress: Progress) -> list[Point]:
        """Try settings."""
        plans = self._parts(plan, len(settings))
        tasks = [(setting, part) for setting in settings for part in plans]
        tried: dict[int, Point] = {}
        for index, point in self._tried(tasks):
            tried[index] = point
            progress(len(tried) / len(tasks))
        parts = range(len(plans))
        return [_joined([tried[i * len(plans) + j] for j in parts]) for i in range(len(settings))]

    def _parts(self, plan: Plan, settings: int) -> list[Plan]:
        """Split a plan into parts, so that few settings keep all workers busy."""
        few = 0 < settings < 2 * max(self._workers, 1)
        parts = max(min(plan.releases, self._workers), plan.releases // _PART, 1) if few else 1
        size = math.ceil(plan.releases / parts)
        return [
            replace(plan, seed=plan.seed + first, releases=min(size, plan.releases - first))
            for first in range(0, plan.releases, size)
        ]

    def _tried(self, tasks: Sequence[tuple[Setting, Plan]]) -> Iterator[tuple[int, Point]]:
        """Each task's index and point, as they come."""
        if self._local is not None:
            for index, (setting, self._local.plan) in enumerate(tasks):
                yield index, self._local.run(setting)
            return
        indices: dict[Future[Any], int] = {
            self._pool.submit(task): index for index, task in enumerate(tasks)
        }
        for task in as_completed(indices):
            yield indices[task], task.result()


def _joined(parts: Sequence[Point]) -> Point:
    """One point of the parts of a plan, releases in their order."""
    first = parts[0]
    spreads = {key: _together([part.spreads[key] for part in parts]) for key in first.spreads}
    seconds = sum(part.seconds for part in parts)
    shown = tuple(share for part in parts for share in part.shown)
    return Point(setting=first.setting, spreads=spreads, shown=shown, seconds=seconds)


def _together(parts: Sequence[Spread]) -> Spread:
    refused = next((part for part in parts if part.reason is not None), None)
    if refused is not None:
        return refused
    values = tuple(value for part in parts for value in part.values)
    bound = any(part.is_bound for part in parts)
    # of a part with worst cases as releases these are upper bounds, too
    ends = [(part.upper if part.is_bound else part.values) for part in parts]
    upper = tuple(end for some in ends for end in some) if bound and all(ends) else ()
    by = next((part.by for part in parts if part.by), "")
    return replace(parts[0], values=values, is_bound=bound, upper=upper, by=by)
