"""The sweep: every setting of a grid, several releases each, all chosen measures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.errors import RWNError
from rwn_core.masking.baseline_methods import Original, Shuffled
from rwn_core.measures import UTILITY
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning.evaluate_settings import Plan, Trials, by_family
from rwn_core.tuning.grid import Grid, unique_settings
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.sweep_folder import JobFolder
from rwn_core.tuning.sweep_processes import SweepRun
from rwn_core.tuning.sweep_result import Sweep

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

Progress = Callable[[float], None]


def prepared(
    microdata: Microdata, what: Grid | Setting | Sequence[Grid | Setting], *, references: bool
) -> list[Setting]:
    """The settings of a sweep on a table, each once, with the two ends of the map if wanted."""
    settings = unique_settings(what)
    if references:
        settings += [Setting(params=Original()), Setting(params=Shuffled())]
    return list({s.key: s for s in (each.resolved(microdata) for each in settings)}.values())


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
    count = thread_count(workers)
    if count == 1:
        return _in_process(microdata, settings, plan, folder, progress)
    if folder is not None:
        return _in_workers(microdata, settings, plan, folder, count, progress)
    with tempfile.TemporaryDirectory(prefix="rwn-sweep-") as path:
        return _in_workers(microdata, settings, plan, Path(path) / "job", count, progress)


def _in_process(
    microdata: Microdata,
    settings: list[Setting],
    plan: Plan,
    path: Path | None,
    progress: Progress | None,
) -> Sweep:
    """In this process, setting after setting."""
    folder = None if path is None else JobFolder.open(path, microdata, plan, settings)
    trials, points, done = Trials(microdata, settings, plan), {}, 0
    found = getattr(progress, "found", lambda sweep: None)

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(1.0, done / (len(settings) * plan.releases)))

    for setting in by_family(settings):
        point: Point | None = None if folder is None else folder.load(setting)
        if point is None:
            point = trials.run(setting, tick)
            if folder is not None:
                folder.save(point)
        points[setting.key] = point
        found(Sweep.from_points(plan, list(points.values()), len(settings)))
        done = len(points) * plan.releases - 1
        tick()
    return Sweep.from_points(plan, [points[s.key] for s in settings], len(settings))


def _in_workers(
    microdata: Microdata,
    settings: list[Setting],
    plan: Plan,
    path: Path,
    workers: int,
    progress: Progress | None,
) -> Sweep:
    """In worker processes; if some die, the rest of the settings get a second attempt."""
    folder = JobFolder.open(path, microdata, plan, settings)
    refusal, found = "", getattr(progress, "found", lambda sweep: None)
    for _ in range(_ATTEMPTS):
        run = SweepRun(microdata, settings, plan, folder, workers=workers)
        try:
            while run.running:
                run.join(_LOOK)
                if progress is not None:
                    progress(run.share)
                    found(run.sweep())
        finally:
            run.cancel()  # also after Ctrl-C: no process stays behind
        refusal = run.refusal
        if not refusal:
            return run.sweep()
    raise RWNError(refusal)
