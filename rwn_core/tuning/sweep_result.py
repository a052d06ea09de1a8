"""The result of a sweep: points in the order of the grid, and a table of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from rwn_core.data.summary import Plotted, Summary
from rwn_core.masking.baseline_methods import BASELINE_METHODS
from rwn_core.measures import MEASURES
from rwn_core.tuning.evaluate_settings import Plan
from rwn_core.tuning.point import Point, Spread, few_words
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import counted, not_judged


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
        return Summary(
            title=f"Sweep({counted(len(self.points), 'setting')} of {self.wanted:,}, "
            f"{counted(self.plan.releases, 'release')} each)",
            columns=("setting", *self.plan.measures),
            rows=[
                (point.setting.words, *(_median(point, key) for key in self.plan.measures))
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
        names = self._parameter_names()
        return [
            _row(point, point.spreads[key], names, self.plan.releases) | _judged(point, key, policy)
            for point in (*self.points, *self.references.values())
            for key in self.plan.measures
        ]

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

    def _parameter_names(self) -> list[str]:
        names = ["epsilon", "k", "q"]
        for point in self.points:
            names += [name for name in point.setting.parameters if name not in names]
        return names


def _median(point: Point, measure: str) -> str:
    value = point.median(measure)
    return "not applicable" if value is None else MEASURES[measure].words(value)


def _judged(point: Point, measure: str, policy: Policy | None) -> dict[str, Any]:
    """The columns of a policy; nothing without one."""
    if policy is None:
        return {}
    verdict, limit = policy.judge(point), policy.limit(measure)
    return {
        "limit": None if limit is None else limit.at_most,
        "share_of_limit": verdict.shares.get(measure),
        "keeps_all_limits": verdict.kept,
    }


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
