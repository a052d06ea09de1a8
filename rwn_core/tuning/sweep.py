"""The sweep: every setting of a grid, several releases each, all chosen measures.

Finished points are kept in a folder, where one is given: a second call goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Plotted, Summary
from rwn_core.measures import MEASURES, measures_of
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress, thread_count, work
from rwn_core.tuning.evaluate import Plan, SettingPool, by_family
from rwn_core.tuning.grid import Grid, unique_settings
from rwn_core.tuning.point import Point, Setting, Spread, few_words
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.sweep_folder import JobFolder
from rwn_core.tuning.verdict import counted, not_judged

USUAL = measures_of("sweep")
"""Measures of a sweep that names none."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Plotted):
    """The finished points of a sweep; iterating gives those of the settings asked for.

    Attributes
    ----------
    plan : Plan
    points : tuple of Point
        In the order of the settings; those not finished are left out.
    wanted : int
        Number of settings asked for.
    """

    plan: Plan
    points: tuple[Point, ...]
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
                for point in self.points
            ],
        )

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
        for point in self.points:
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


def prepared(
    microdata: Microdata, what: Grid | Setting | Sequence[Grid | Setting]
) -> list[Setting]:
    """The settings of a sweep on a table, each once."""
    settings = (one.resolved(microdata) for one in unique_settings(what))
    return list({setting.key: setting for setting in settings}.values())


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
        A worker ended, for instance for lack of memory; with a folder a second call goes on.

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
    settings, now = prepared(microdata, what), work(progress=progress)
    kept = None if folder is None else JobFolder(folder, microdata, plan)
    points = {} if kept is None else kept.points(settings)
    left = by_family([setting for setting in settings if setting.key not in points])

    def done() -> Sweep:
        """The finished points, in the order of the settings."""
        found = tuple(points[each.key] for each in settings if each.key in points)
        return Sweep(plan=plan, points=found, wanted=len(settings))

    count = thread_count(workers)
    size = 1 if count == 1 else 2 * count  # of the settings that processes try side by side
    with SettingPool(microdata, left, workers=count) as crew:
        for first in range(0, len(left), size):
            some = left[first : first + size]
            ends = (len(points) / len(settings), (len(points) + len(some)) / len(settings))
            for point in crew.points(some, plan, Part(now.report, *ends)):
                points[point.setting.key] = point
                if kept is not None:
                    kept.save(point)
            now.found(done())
    now.report(1.0)
    return done()
